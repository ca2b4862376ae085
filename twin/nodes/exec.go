package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

const execIdleTimeout = 4 * time.Hour

// exec answers `kubectl exec`.
func (k *kubeletServer) exec(w http.ResponseWriter, request *http.Request) {
	pod, container := k.locate(w, request)
	if pod == nil {
		return
	}
	if problem := k.notRunning(pod, container); problem != "" {
		http.Error(w, problem, http.StatusBadRequest)
		return
	}
	streams, err := remotecommand.NewOptions(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeExec(w, request, &execution{k.pods, pod, container}, pod.Name, string(pod.UID), container.Name,
		request.URL.Query()["command"], streams, execIdleTimeout, remotecommand.DefaultStreamCreationTimeout,
		remotecommand.SupportedStreamingProtocols)
}

func (k *kubeletServer) notRunning(pod *corev1.Pod, container *corev1.Container) string {
	record := k.pods.find(pod.Namespace, pod.Name)
	if record != nil {
		record.mu.Lock()
		defer record.mu.Unlock()
		if status := record.containerStatus(container.Name); status != nil && status.State.Running != nil {
			return ""
		}
	}
	return fmt.Sprintf("container %q in pod %q is not running", container.Name, pod.Name)
}

// execution is the inside of one container for exec.
type execution struct {
	pods      *podController
	pod       *corev1.Pod
	container *corev1.Container
}

// ExecInContainer runs one of the commands that the twin knows; see remotecommand.Executor.
func (e *execution) ExecInContainer(_ context.Context, _, _, _ string, command []string, _ io.Reader, out, errors io.WriteCloser,
	tty bool, _ <-chan remotecommand.TerminalSize, _ time.Duration) error {
	if errors == nil {
		errors = out // a terminal has one stream
	}
	code := e.run(command, lineBreaks{out, tty}, lineBreaks{errors, tty})
	if code == 0 {
		return nil
	}
	return utilexec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", code), Code: code}
}

func (e *execution) run(command []string, out, errors io.Writer) int {
	given, err := e.grants()
	if err != nil {
		fmt.Fprintf(errors, "the claims of pod %s/%s cannot be read: %v\n", e.pod.Namespace, e.pod.Name, err)
		return 1
	}
	program := ""
	if len(command) > 0 {
		program = path.Base(command[0])
	}
	switch {
	case program == "nvidia-smi" && len(given.GPUs) == 0:
		fmt.Fprintf(errors, "exec: %q: executable file not found in $PATH\n", command[0])
		return exitNotFound
	case program == "nvidia-smi":
		return nvidiaSMI(out, errors, given, command[1:], time.Now())
	case slices.Equal(command, []string{"env"}):
		for _, variable := range containerEnv(e.pod, e.container, given) {
			fmt.Fprintln(out, variable)
		}
		return 0
	}
	fmt.Fprintf(errors, "the twin simulates this container and cannot run %q; it answers nvidia-smi and env\n",
		strings.Join(command, " "))
	return 126
}

func (e *execution) grants() (grants, error) {
	node := e.pods.plan.get().node(e.pod.Spec.NodeName)
	if node == nil {
		return grants{}, nil
	}
	granted, err := e.pods.grants(e.pod, node)
	if err != nil {
		return grants{}, err
	}
	return granted(e.container), nil
}

// lineBreaks writes the line breaks that a raw terminal needs.
type lineBreaks struct {
	io.Writer
	tty bool
}

func (l lineBreaks) Write(data []byte) (int, error) {
	if !l.tty {
		return l.Writer.Write(data)
	}
	_, err := io.WriteString(l.Writer, strings.ReplaceAll(string(data), "\n", "\r\n"))
	return len(data), err
}
