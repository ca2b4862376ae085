package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Annotations of a pod that say how its containers end, for commands the twin cannot run.
const (
	annotationExitCode   = "twin.aksgpu/exit-code"
	annotationRunSeconds = "twin.aksgpu/run-seconds"
)

// ending is what the annotations of a pod ask for.
type ending struct {
	code  int32
	after time.Duration
}

// askedEnding reads the annotations; nil when there are none, an error when one is not understood.
func askedEnding(pod *corev1.Pod) (*ending, error) {
	code, hasCode := pod.Annotations[annotationExitCode]
	seconds, hasSeconds := pod.Annotations[annotationRunSeconds]
	if !hasCode && !hasSeconds {
		return nil, nil
	}
	asked := &ending{after: time.Second}
	if hasCode {
		number, err := strconv.ParseUint(code, 10, 8)
		if err != nil {
			return nil, fmt.Errorf("annotation %s: %q is not a number from 0 to 255", annotationExitCode, code)
		}
		asked.code = int32(number)
	}
	if hasSeconds {
		number, err := strconv.ParseFloat(seconds, 64)
		if err != nil || !(number >= 0 && number <= maxVirtualTime.Seconds()) {
			return nil, fmt.Errorf("annotation %s: %q is not a number of seconds", annotationRunSeconds, seconds)
		}
		asked.after = time.Duration(number * float64(time.Second))
	}
	return asked, nil
}

// startRun works out what one start of a container does.
func startRun(pod *corev1.Pod, container *corev1.Container, given grants, start time.Time) (run, error) {
	asked, err := askedEnding(pod)
	if err != nil {
		return run{}, err
	}
	env := containerEnv(pod, container, given)
	result := simulate(commandLine(container, env), env, given, start)
	if asked != nil && result.StartError == "" {
		result.Forever, result.Length, result.Code = false, asked.after, asked.code
	}
	return result, nil
}

// containerEnv lists NAME=value as the process would see them. References to Secrets and ConfigMaps are not resolved:
// no simulated program reads them.
func containerEnv(pod *corev1.Pod, container *corev1.Container, given grants) []string {
	env := []string{
		"PATH=/usr/local/nvidia/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOSTNAME=" + pod.Name,
	}
	if visible := given.visibleDevices(); visible != "" {
		env = append(env, "NVIDIA_VISIBLE_DEVICES="+visible)
	}
	for _, variable := range container.Env {
		value := expandReferences(variable.Value, env)
		if source := variable.ValueFrom; source != nil {
			if source.FieldRef == nil {
				continue
			}
			value = podField(pod, source.FieldRef.FieldPath)
		}
		env = append(env, variable.Name+"="+value)
	}
	return env
}

func podField(pod *corev1.Pod, path string) string {
	switch path {
	case "metadata.name":
		return pod.Name
	case "metadata.namespace":
		return pod.Namespace
	case "metadata.uid":
		return string(pod.UID)
	case "spec.nodeName":
		return pod.Spec.NodeName
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName
	case "status.podIP":
		return pod.Status.PodIP
	case "status.hostIP":
		return hostAddress
	}
	return ""
}

// commandLine returns the container's command and arguments; empty when both are left to the image.
func commandLine(container *corev1.Container, env []string) []string {
	argv := make([]string, 0, len(container.Command)+len(container.Args))
	for _, word := range append(append(argv, container.Command...), container.Args...) {
		argv = append(argv, expandReferences(word, env))
	}
	return argv
}

var reference = regexp.MustCompile(`\$\$|\$\([A-Za-z_][A-Za-z0-9_.-]*\)`)

// expandReferences replaces $(NAME) by the variable's value; $$ stands for one dollar sign, unknown names stay.
func expandReferences(text string, env []string) string {
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		if found == "$$" {
			return "$"
		}
		name := found[2 : len(found)-1]
		for i := len(env) - 1; i >= 0; i-- {
			if value, ok := strings.CutPrefix(env[i], name+"="); ok {
				return value
			}
		}
		return found
	})
}
