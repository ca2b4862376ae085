package main

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Delays of a kubelet, kept short where only waiting would be gained.
const (
	prepareRetry   = 5 * time.Second
	pullRetry      = 5 * time.Second
	firstBackoff   = 10 * time.Second
	longestBackoff = 5 * time.Minute
)

const (
	reasonCreating       = "ContainerCreating"
	reasonInitializing   = "PodInitializing"
	reasonCrashLoop      = "CrashLoopBackOff"
	reasonErrImagePull   = "ErrImagePull"
	reasonPullBackOff    = "ImagePullBackOff"
	reasonConfigError    = "CreateContainerConfigError"
	reasonStartError     = "StartError"
	stoppedBySignal      = 143
	imagePullFailedText  = "failed to pull and unpack image: the simulated registry was told to fail (fault image-pull)"
	deadlineExceededText = "Pod was active on the node longer than the specified deadline"
)

// podStep carries one pod as far as it can go at one moment. It changes the record and reports events; it does not talk
// to the API server.
type podStep struct {
	pod    *corev1.Pod
	record *podRecord
	node   *NodePlan
	plan   *Plan
	now    time.Time
	disk   store
	// prepare checks the pod's claims and returns what each container is granted.
	prepare func() (func(*corev1.Container) grants, error)
	// admit takes the device plugin's GPUs for the pod.
	admit func() error
	// address hands out the pod's address.
	address func() (string, error)
	event   func(kind, reason, message string)

	granted func(*corev1.Container) grants
	wake    time.Duration
}

// wakeIn asks to be called again; the earliest wish wins.
func (s *podStep) wakeIn(delay time.Duration) {
	if s.wake == 0 || delay < s.wake {
		s.wake = max(delay, time.Millisecond)
	}
}

// advance is the whole life of a pod, one step at a time.
func (s *podStep) advance() error {
	if s.record.finished() || !s.plan.isReady(s.node) {
		return nil
	}
	if s.record.status.StartTime == nil && !s.enter() {
		return nil
	}
	if s.overDeadline() {
		return nil
	}
	started := s.record.status.PodIP != ""
	if !started && !s.startSandbox() {
		s.publish()
		return nil
	}
	if err := s.runContainers(); err != nil {
		return err
	}
	s.publish()
	return nil
}

// enter is the kubelet's admission: it accepts the pod or ends it.
func (s *podStep) enter() bool {
	s.record.unsent = true
	s.record.status.StartTime = ptr.To(metav1.NewTime(s.now))
	if err := s.admit(); err != nil {
		s.fail("OutOf"+gpuResource, "Pod was rejected: "+err.Error())
		s.event(corev1.EventTypeWarning, "OutOf"+gpuResource, err.Error())
		return false
	}
	s.record.status.Phase = corev1.PodPending
	s.record.status.HostIP = hostAddress
	s.record.status.HostIPs = []corev1.HostIP{{IP: hostAddress}}
	waiting := reasonCreating
	if len(s.pod.Spec.InitContainers) > 0 {
		waiting = reasonInitializing
	}
	s.record.status.InitContainerStatuses = waitingStatuses(s.pod.Spec.InitContainers, reasonInitializing)
	s.record.status.ContainerStatuses = waitingStatuses(s.pod.Spec.Containers, waiting)
	return true
}

func waitingStatuses(containers []corev1.Container, reason string) []corev1.ContainerStatus {
	list := make([]corev1.ContainerStatus, len(containers))
	for i, container := range containers {
		list[i] = corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, Started: ptr.To(false),
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}},
		}
	}
	return list
}

func (s *podStep) fail(reason, message string) {
	s.record.status.Phase, s.record.status.Reason, s.record.status.Message = corev1.PodFailed, reason, message
	s.record.unsent = true
}

func (s *podStep) overDeadline() bool {
	seconds := s.pod.Spec.ActiveDeadlineSeconds
	if seconds == nil {
		return false
	}
	left := s.record.status.StartTime.Add(time.Duration(*seconds) * time.Second).Sub(s.now)
	if left > 0 {
		s.wakeIn(left)
		return false
	}
	s.stop("DeadlineExceeded", deadlineExceededText)
	return true
}

// startSandbox prepares the pod's devices and gives it an address.
func (s *podStep) startSandbox() bool {
	granted, err := s.prepare()
	if err != nil {
		s.event(corev1.EventTypeWarning, "FailedPrepareDynamicResources", "Failed to prepare dynamic resources: "+err.Error())
		s.wakeIn(prepareRetry)
		return false
	}
	address, err := s.address()
	if err != nil {
		s.event(corev1.EventTypeWarning, "FailedCreatePodSandBox", "Failed to create pod sandbox: "+err.Error())
		s.wakeIn(prepareRetry)
		return false
	}
	s.granted = granted
	s.record.status.PodIP = address
	s.record.status.PodIPs = []corev1.PodIP{{IP: address}}
	s.record.unsent = true
	return true
}

// runContainers runs the init containers one after another, then all others.
func (s *podStep) runContainers() error {
	for i := range s.pod.Spec.InitContainers {
		container := &s.pod.Spec.InitContainers[i]
		status := &s.record.status.InitContainerStatuses[i]
		if err := s.drive(container, status, initPolicy(s.pod, container)); err != nil {
			return err
		}
		if isSidecar(container) {
			if status.State.Running == nil {
				return nil
			}
			continue
		}
		if ended := status.State.Terminated; ended == nil || ended.ExitCode != 0 {
			return nil
		}
	}
	for i := range s.pod.Spec.Containers {
		container, status := &s.pod.Spec.Containers[i], &s.record.status.ContainerStatuses[i]
		if err := s.drive(container, status, s.pod.Spec.RestartPolicy); err != nil {
			return err
		}
	}
	return nil
}

func isSidecar(container *corev1.Container) bool {
	return container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// initPolicy is when an init container is started again: it runs until it succeeded once, unless the pod says Never.
func initPolicy(pod *corev1.Pod, container *corev1.Container) corev1.RestartPolicy {
	switch {
	case isSidecar(container):
		return corev1.RestartPolicyAlways
	case pod.Spec.RestartPolicy == corev1.RestartPolicyNever:
		return corev1.RestartPolicyNever
	}
	return corev1.RestartPolicyOnFailure
}

// drive carries one container on: start, end, start again.
func (s *podStep) drive(container *corev1.Container, status *corev1.ContainerStatus, policy corev1.RestartPolicy) error {
	if status.State.Running != nil {
		s.finishWhenDue(container, status)
	}
	if ended := status.State.Terminated; ended != nil {
		again := policy == corev1.RestartPolicyAlways || policy == corev1.RestartPolicyOnFailure && ended.ExitCode != 0
		if !again {
			return nil
		}
		s.planRestart(container, status, ended)
	}
	if status.State.Waiting == nil || s.waits(container) {
		return nil
	}
	return s.start(container, status)
}

func (s *podStep) waits(container *corev1.Container) bool {
	left := s.record.backoff[container.Name].Sub(s.now)
	if left > 0 {
		s.wakeIn(left)
	}
	return left > 0
}

func (s *podStep) finishWhenDue(container *corev1.Container, status *corev1.ContainerStatus) {
	current := s.record.runs[container.Name]
	end, ends := current.end()
	if !ends {
		return
	}
	if left := end.Sub(s.now); left > 0 {
		s.wakeIn(left)
		return
	}
	s.terminate(status, current.Run.Code, "", end)
}

// terminate ends a container.
func (s *podStep) terminate(status *corev1.ContainerStatus, code int32, message string, when time.Time) {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	ended := &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, Message: message, FinishedAt: metav1.NewTime(when), ContainerID: status.ContainerID,
	}
	if status.State.Running != nil {
		ended.StartedAt = status.State.Running.StartedAt
	}
	status.State = corev1.ContainerState{Terminated: ended}
	status.Ready, status.Started = false, ptr.To(false)
	delete(s.record.runs, status.Name)
	s.record.unsent = true
}

// planRestart lets a container wait for its next start: at once the first time, then longer and longer.
func (s *podStep) planRestart(container *corev1.Container, status *corev1.ContainerStatus, ended *corev1.ContainerStateTerminated) {
	status.LastTerminationState = corev1.ContainerState{Terminated: ended}
	delay := time.Duration(0)
	if status.RestartCount > 0 {
		delay = min(firstBackoff<<min(status.RestartCount-1, 10), longestBackoff)
	}
	status.RestartCount++
	due := ended.FinishedAt.Add(delay)
	s.record.backoff[container.Name] = due
	s.record.unsent = true
	message := fmt.Sprintf("back-off %v restarting failed container=%s pod=%s_%s(%s)",
		delay, container.Name, s.pod.Name, s.pod.Namespace, s.pod.UID)
	status.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reasonCrashLoop, Message: message}}
	if due.After(s.now) {
		s.event(corev1.EventTypeWarning, "BackOff", fmt.Sprintf("Back-off restarting failed container %s in pod %s_%s(%s)",
			container.Name, s.pod.Name, s.pod.Namespace, s.pod.UID))
	}
}

// start starts a container, or leaves it waiting with the reason.
func (s *podStep) start(container *corev1.Container, status *corev1.ContainerStatus) error {
	if s.plan.shows(faultImagePull, s.node) {
		s.failPull(container, status)
		return nil
	}
	if s.granted == nil {
		granted, err := s.prepare()
		if err != nil {
			s.event(corev1.EventTypeWarning, "FailedPrepareDynamicResources", "Failed to prepare dynamic resources: "+err.Error())
			s.wakeIn(prepareRetry)
			return nil
		}
		s.granted = granted
	}
	result, err := startRun(s.pod, container, s.granted(container), s.now)
	if err != nil {
		s.wait(status, reasonConfigError, err.Error())
		s.event(corev1.EventTypeWarning, "Failed", "Error: "+err.Error())
		return nil
	}
	begun := &containerRun{Start: s.now, Run: result}
	if err := s.disk.saveRun(s.pod.UID, container.Name, status.RestartCount, begun); err != nil {
		return err
	}
	s.event(corev1.EventTypeNormal, "Pulled", fmt.Sprintf("Container image %q already present on machine", container.Image))
	s.event(corev1.EventTypeNormal, "Created", "Container created")
	status.ImageID = container.Image + "@sha256:" + digest(container.Image)
	status.ContainerID = "containerd://" + digest(string(s.pod.UID), container.Name, fmt.Sprint(status.RestartCount))
	s.record.unsent = true
	if result.StartError != "" {
		s.event(corev1.EventTypeWarning, "Failed", "Error: "+result.StartError)
		s.terminate(status, result.Code, result.StartError, s.now)
		status.State.Terminated.Reason = reasonStartError
		status.State.Terminated.StartedAt = metav1.Unix(0, 0)
		s.wakeIn(time.Millisecond)
		return nil
	}
	s.event(corev1.EventTypeNormal, "Started", "Container started")
	status.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(s.now)}}
	status.Ready, status.Started = true, ptr.To(true)
	s.record.runs[container.Name] = begun
	if end, ends := begun.end(); ends {
		s.wakeIn(end.Sub(s.now))
	}
	return nil
}

// failPull alternates between an attempt and a pause, as a kubelet does.
func (s *podStep) failPull(container *corev1.Container, status *corev1.ContainerStatus) {
	s.record.backoff[container.Name] = s.now.Add(pullRetry)
	s.wakeIn(pullRetry)
	if status.State.Waiting.Reason == reasonErrImagePull {
		s.wait(status, reasonPullBackOff, fmt.Sprintf("Back-off pulling image %q: ErrImagePull: %s", container.Image, imagePullFailedText))
		s.event(corev1.EventTypeNormal, "BackOff", fmt.Sprintf("Back-off pulling image %q", container.Image))
		return
	}
	s.wait(status, reasonErrImagePull, imagePullFailedText)
	s.event(corev1.EventTypeNormal, "Pulling", fmt.Sprintf("Pulling image %q", container.Image))
	s.event(corev1.EventTypeWarning, "Failed", fmt.Sprintf("Failed to pull image %q: %s", container.Image, imagePullFailedText))
	s.event(corev1.EventTypeWarning, "Failed", "Error: "+reasonErrImagePull)
}

func (s *podStep) wait(status *corev1.ContainerStatus, reason, message string) {
	wanted := corev1.ContainerStateWaiting{Reason: reason, Message: message}
	if status.State.Waiting != nil && *status.State.Waiting == wanted {
		return
	}
	status.State = corev1.ContainerState{Waiting: &wanted}
	s.record.unsent = true
}

// stop ends all containers and the pod with them.
func (s *podStep) stop(reason, message string) {
	for _, list := range [][]corev1.ContainerStatus{s.record.status.InitContainerStatuses, s.record.status.ContainerStatuses} {
		for i := range list {
			if list[i].State.Running == nil {
				continue
			}
			s.event(corev1.EventTypeNormal, "Killing", "Stopping container "+list[i].Name)
			s.terminate(&list[i], stoppedBySignal, "", s.now)
		}
	}
	s.record.status.Reason, s.record.status.Message = reason, message
	if !s.record.finished() {
		s.fail(reason, message)
	}
	s.publish()
}
