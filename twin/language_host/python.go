package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// python is the interpreter of a program, and the virtual environment it belongs to, if any.
type python struct {
	executable  string
	environment string
}

// options are the `options` under `runtime` in Pulumi.yaml, PulumiPolicy.yaml or PulumiPlugin.yaml.
type options struct {
	virtualenv string // a path from the root directory
	toolchain  string // pip, uv or nothing
}

// optionsOf reads the options; one that this host doesn't know how to honour is an error.
func optionsOf(info *pulumirpc.ProgramInfo) (options, error) {
	read := options{}
	for name, value := range info.GetOptions().AsMap() {
		text, isText := value.(string)
		switch {
		case name == "virtualenv" && isText:
			read.virtualenv = text
		case name == "toolchain" && isText && slices.Contains([]string{"", "pip", "uv"}, text):
			read.toolchain = text
		default:
			return read, fmt.Errorf(
				"%s: the runtime option %s: %v isn't supported by the Python language host in use; it knows "+
					"virtualenv (a folder) and toolchain (pip or uv). With Pulumi's own host on PATH, every option works",
				info.GetRootDirectory(), name, value)
		}
	}
	return read, nil
}

// find returns the interpreter for a program: that of its virtual environment or uv project; else that of
// the environment this command runs in; else python3 on PATH.
func find(info *pulumirpc.ProgramInfo) (python, error) {
	chosen, err := optionsOf(info)
	if err != nil {
		return python{}, err
	}
	if chosen.virtualenv != "" {
		folder := environmentFolder(info, chosen)
		return inEnvironment(folder, "pulumi install", info.GetRootDirectory())
	}
	if chosen.toolchain == "uv" {
		project, err := uvProject(info.GetProgramDirectory())
		if err != nil {
			return python{}, err
		}
		return inEnvironment(filepath.Join(project, ".venv"), "uv sync", project)
	}
	if active := os.Getenv("VIRTUAL_ENV"); active != "" {
		return inEnvironment(active, "uv venv "+active, "any folder")
	}
	for _, name := range []string{"python3", "python"} {
		if path, err := exec.LookPath(name); err == nil {
			return python{executable: path}, nil
		}
	}
	return python{}, fmt.Errorf("no python3 is on PATH: install Python, or name a virtualenv under runtime: options:")
}

func environmentFolder(info *pulumirpc.ProgramInfo, chosen options) string {
	if filepath.IsAbs(chosen.virtualenv) {
		return chosen.virtualenv
	}
	return filepath.Join(info.GetRootDirectory(), chosen.virtualenv)
}

// inEnvironment returns the interpreter of the virtual environment in folder; remedy, run in place, makes it.
func inEnvironment(folder, remedy, place string) (python, error) {
	executable := filepath.Join(folder, "bin", "python")
	if _, err := os.Stat(executable); err != nil {
		return python{}, fmt.Errorf(
			"there is no virtual environment in %s: run `%s` in %s to make it", folder, remedy, place)
	}
	return python{executable: executable, environment: folder}, nil
}

// uvProject returns the nearest folder upwards that holds a uv.lock.
func uvProject(start string) (string, error) {
	for folder := start; ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "uv.lock")); err == nil {
			return folder, nil
		}
		if folder == filepath.Dir(folder) {
			return "", fmt.Errorf("no uv.lock is in %s or above it: run `uv lock` in the project's folder", start)
		}
	}
}

// environ returns this process's environment as seen inside the virtual environment, with additions.
func (p python) environ(additions ...string) []string {
	environ := os.Environ()
	if p.environment != "" {
		environ = slices.DeleteFunc(environ, func(pair string) bool { return strings.HasPrefix(pair, "PYTHONHOME=") })
		bin := filepath.Join(p.environment, "bin")
		environ = append(environ,
			"VIRTUAL_ENV="+p.environment,
			"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	return append(environ, additions...)
}
