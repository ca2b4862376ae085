package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// alreadyExplained is the exit code by which the SDK says that it has shown the error itself.
const alreadyExplained = 32

// host serves the engine. What it doesn't implement (code generation, linking) answers Unimplemented.
type host struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	engine   string
	children *children
}

func (h *host) Handshake(
	context.Context, *pulumirpc.LanguageHandshakeRequest,
) (*pulumirpc.LanguageHandshakeResponse, error) {
	return &pulumirpc.LanguageHandshakeResponse{}, nil
}

func (h *host) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: version}, nil
}

// GetRequiredPackages names no plugin: those that a twin needs are on PATH, and nothing is downloaded.
func (h *host) GetRequiredPackages(
	context.Context, *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

func (h *host) RuntimeOptionsPrompts(
	context.Context, *pulumirpc.RuntimeOptionsRequest,
) (*pulumirpc.RuntimeOptionsResponse, error) {
	return &pulumirpc.RuntimeOptionsResponse{}, nil
}

// Run runs a Pulumi program to its end. What it prints goes to this host's own output, which the engine shows.
func (h *host) Run(_ context.Context, request *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	command, err := h.programCommand(request)
	if err != nil {
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	err = h.children.run(command)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return &pulumirpc.RunResponse{}, nil
	case errors.As(err, &exit) && exit.ExitCode() == alreadyExplained:
		return &pulumirpc.RunResponse{Bail: true}, nil
	case errors.As(err, &exit):
		return &pulumirpc.RunResponse{Error: fmt.Sprintf("the program ended with %s", exit.ProcessState)}, nil
	default:
		return &pulumirpc.RunResponse{Error: fmt.Sprintf("the program could not be run: %s", err)}, nil
	}
}

// programCommand has the SDK's own executor run the program.
func (h *host) programCommand(request *pulumirpc.RunRequest) (*exec.Cmd, error) {
	interpreter, err := find(request.GetInfo())
	if err != nil {
		return nil, err
	}
	executor, err := executorScript()
	if err != nil {
		return nil, err
	}
	configuration, err := json.Marshal(orEmpty(request.GetConfig()))
	if err != nil {
		return nil, err
	}
	secretKeys, err := json.Marshal(append([]string{}, request.GetConfigSecretKeys()...))
	if err != nil {
		return nil, err
	}
	info := request.GetInfo()
	arguments := append([]string{
		"-u", executor,
		"--monitor", request.GetMonitorAddress(),
		"--engine", h.engine,
		"--project", request.GetProject(),
		"--stack", request.GetStack(),
		"--organization", request.GetOrganization(),
		"--root_directory", info.GetRootDirectory(),
		"--pwd", request.GetPwd(),
		"--dry_run", strconv.FormatBool(request.GetDryRun()),
		"--parallel", strconv.Itoa(int(request.GetParallel())),
		filepath.Join(info.GetProgramDirectory(), info.GetEntryPoint()),
	}, request.GetArgs()...)
	command := exec.Command(interpreter.executable, arguments...)
	command.Dir = request.GetPwd()
	command.Env = interpreter.environ(
		"PULUMI_CONFIG="+string(configuration), "PULUMI_CONFIG_SECRET_KEYS="+string(secretKeys))
	return command, nil
}

// orEmpty makes no configuration an empty object instead of null.
func orEmpty(configuration map[string]string) map[string]string {
	if configuration == nil {
		return map[string]string{}
	}
	return configuration
}

// executorScript returns the path of the SDK's executor, which lies beside this program.
func executorScript() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	own, err = filepath.EvalSymlinks(own)
	if err != nil {
		return "", err
	}
	script := own + "-exec"
	if _, err := os.Stat(script); err != nil {
		return "", fmt.Errorf("%s is missing; it belongs beside the language host", script)
	}
	return script, nil
}

// About tells `pulumi about` which Python runs programs.
func (h *host) About(_ context.Context, request *pulumirpc.AboutRequest) (*pulumirpc.AboutResponse, error) {
	interpreter, err := find(request.GetInfo())
	if err != nil {
		return nil, err
	}
	command := exec.Command(interpreter.executable, "-c", "import platform; print(platform.python_version(), end='')")
	command.Env = interpreter.environ()
	said, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s does not tell its version: %w", interpreter.executable, err)
	}
	return &pulumirpc.AboutResponse{Executable: interpreter.executable, Version: string(said)}, nil
}
