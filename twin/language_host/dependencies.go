package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// listDistributions prints the installed distributions as JSON; without the argument "all" only those that
// no other one asks for.
const listDistributions = `
import importlib.metadata, json, re, sys
def key(name): return re.sub(r"[-_.]+", "-", name).lower()
found = {key(d.name): d for d in importlib.metadata.distributions()}
asked = {key(re.match(r"[\w.-]+", r)[0]) for d in found.values() for r in d.requires or [] if "extra ==" not in r}
json.dump([{"name": d.name, "version": d.version} for k, d in sorted(found.items())
           if sys.argv[1] == "all" or k not in asked], sys.stdout)
`

// GetProgramDependencies tells `pulumi about` what the program's environment holds.
func (h *host) GetProgramDependencies(
	_ context.Context, request *pulumirpc.GetProgramDependenciesRequest,
) (*pulumirpc.GetProgramDependenciesResponse, error) {
	interpreter, err := find(request.GetInfo())
	if err != nil {
		return nil, err
	}
	which := "direct"
	if request.GetTransitiveDependencies() {
		which = "all"
	}
	command := exec.Command(interpreter.executable, "-c", listDistributions, which)
	command.Env = interpreter.environ()
	said, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s does not list its packages: %w", interpreter.executable, err)
	}
	response := &pulumirpc.GetProgramDependenciesResponse{}
	if err := json.Unmarshal(said, &response.Dependencies); err != nil {
		return nil, err
	}
	return response, nil
}

// InstallDependencies does the work of `pulumi install`: makes the virtual environment or uv project that
// the options name and fills it. Without one of them there is nothing to install into.
func (h *host) InstallDependencies(
	request *pulumirpc.InstallDependenciesRequest, stream pulumirpc.LanguageRuntime_InstallDependenciesServer,
) error {
	commands, err := installCommands(request.GetInfo())
	if err != nil {
		return err
	}
	stdout := func(data []byte) error {
		return stream.Send(&pulumirpc.InstallDependenciesResponse{Stdout: data})
	}
	stderr := func(data []byte) error {
		return stream.Send(&pulumirpc.InstallDependenciesResponse{Stderr: data})
	}
	for _, command := range commands {
		if err := h.stream(stream.Context(), command, stdout, stderr); err != nil {
			return fmt.Errorf("`%s` in %s failed: %w", command, command.Dir, err)
		}
	}
	return nil
}

func installCommands(info *pulumirpc.ProgramInfo) ([]*exec.Cmd, error) {
	chosen, err := optionsOf(info)
	if err != nil {
		return nil, err
	}
	if chosen.toolchain == "uv" {
		project, err := uvProject(info.GetProgramDirectory())
		if err != nil {
			return nil, err
		}
		return []*exec.Cmd{commandIn(project, "uv", "sync")}, nil
	}
	if chosen.virtualenv == "" {
		return nil, nil
	}
	folder := environmentFolder(info, chosen)
	interpreter := filepath.Join(folder, "bin", "python")
	root := info.GetRootDirectory()
	var commands []*exec.Cmd
	if _, err := os.Stat(interpreter); err != nil {
		commands = append(commands, commandIn(root, "python3", "-m", "venv", folder))
	}
	if _, err := os.Stat(filepath.Join(root, "requirements.txt")); err == nil {
		commands = append(commands, commandIn(root, interpreter, "-m", "pip", "install", "-r", "requirements.txt"))
	}
	return commands, nil
}

func commandIn(folder string, name string, arguments ...string) *exec.Cmd {
	command := exec.Command(name, arguments...)
	command.Dir = folder
	return command
}
