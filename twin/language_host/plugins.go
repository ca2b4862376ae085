package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// RunPlugin runs a policy pack or a component provider until it ends or the engine has enough of it.
func (h *host) RunPlugin(request *pulumirpc.RunPluginRequest, stream pulumirpc.LanguageRuntime_RunPluginServer) error {
	command, err := pluginCommand(request)
	if err != nil {
		return status.Error(codes.FailedPrecondition, err.Error())
	}
	output := &pluginOutput{stream: stream}
	err = h.stream(stream.Context(), command, output.stdout, output.stderr)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	return output.end(command.ProcessState.ExitCode())
}

func pluginCommand(request *pulumirpc.RunPluginRequest) (*exec.Cmd, error) {
	info := request.GetInfo()
	interpreter, err := find(info)
	if err != nil {
		return nil, err
	}
	folder := info.GetProgramDirectory()
	var command *exec.Cmd
	switch request.GetKind() {
	case "analyzer":
		arguments := append([]string{"-u", "-m", "pulumi.policy"}, request.GetArgs()...)
		command = exec.Command(interpreter.executable, append(arguments, folder)...)
		command.Dir = folder
	case "resource":
		if _, err := os.Stat(filepath.Join(folder, "__main__.py")); err != nil {
			return nil, fmt.Errorf("%s has no __main__.py, which is what runs a component provider", folder)
		}
		command = exec.Command(interpreter.executable, append([]string{"-u", folder}, request.GetArgs()...)...)
		command.Dir = request.GetPwd()
	default:
		return nil, fmt.Errorf(
			"%s: the Python language host in use runs policy packs and component providers, not plugins of kind %q. "+
				"With Pulumi's own host on PATH, every kind works", folder, request.GetKind())
	}
	command.Env = interpreter.environ(request.GetEnv()...)
	return command, nil
}

type pluginOutput struct {
	stream pulumirpc.LanguageRuntime_RunPluginServer
}

func (o *pluginOutput) stdout(data []byte) error {
	return o.stream.Send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Stdout{Stdout: data}})
}

func (o *pluginOutput) stderr(data []byte) error {
	return o.stream.Send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Stderr{Stderr: data}})
}

func (o *pluginOutput) end(code int) error {
	return o.stream.Send(&pulumirpc.RunPluginResponse{
		Output: &pulumirpc.RunPluginResponse_Exitcode{Exitcode: int32(code)},
	})
}
