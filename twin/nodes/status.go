package main

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// publish derives the pod's phase and conditions from its containers.
func (s *podStep) publish() {
	status := &s.record.status
	if !s.record.finished() {
		if phase := s.phase(); phase != status.Phase {
			status.Phase = phase
			s.record.unsent = true
		}
	}
	if s.record.finished() {
		s.stopSidecars()
	}
	initialized := s.initialized()
	s.condition(corev1.PodReadyToStartContainers, status.PodIP != "" && !s.record.finished(), "", "")
	switch {
	case initialized:
		s.condition(corev1.PodInitialized, true, "", "")
	default:
		s.condition(corev1.PodInitialized, false, "ContainersNotInitialized", "containers with incomplete status")
	}
	switch {
	case s.record.finished() && status.Phase == corev1.PodSucceeded:
		s.condition(corev1.ContainersReady, false, "PodCompleted", "")
		s.condition(corev1.PodReady, false, "PodCompleted", "")
	case s.record.finished():
		s.condition(corev1.ContainersReady, false, "PodFailed", "")
		s.condition(corev1.PodReady, false, "PodFailed", "")
	case !s.allReady():
		s.condition(corev1.ContainersReady, false, "ContainersNotReady", "containers with unready status")
		s.condition(corev1.PodReady, false, "ContainersNotReady", "containers with unready status")
	case !s.gatesOpen():
		s.condition(corev1.ContainersReady, true, "", "")
		s.condition(corev1.PodReady, false, "ReadinessGatesNotReady", "the status of a pod readiness gate is not True")
	default:
		s.condition(corev1.ContainersReady, true, "", "")
		s.condition(corev1.PodReady, true, "", "")
	}
	s.condition(corev1.PodScheduled, true, "", "")
}

// stopSidecars ends the containers that only accompany the others.
func (s *podStep) stopSidecars() {
	for i := range s.record.status.InitContainerStatuses {
		if status := &s.record.status.InitContainerStatuses[i]; status.State.Running != nil {
			s.terminate(status, 0, "", s.now)
		}
	}
}

// phase is the kubelet's summary of the containers' states.
func (s *podStep) phase() corev1.PodPhase {
	status := &s.record.status
	if phase, ended := s.initPhase(); ended {
		return phase
	}
	running, waiting, failed := 0, 0, false
	for _, container := range status.ContainerStatuses {
		switch {
		case container.State.Running != nil:
			running++
		case container.State.Terminated != nil:
			failed = failed || container.State.Terminated.ExitCode != 0
		case container.LastTerminationState.Terminated != nil:
			running++ // between two starts
		default:
			waiting++
		}
	}
	switch {
	case waiting > 0:
		return corev1.PodPending
	case running > 0:
		return corev1.PodRunning
	case failed && s.pod.Spec.RestartPolicy != corev1.RestartPolicyAlways:
		return corev1.PodFailed
	case s.pod.Spec.RestartPolicy != corev1.RestartPolicyAlways:
		return corev1.PodSucceeded
	}
	return corev1.PodRunning
}

// initPhase is the phase while init containers decide about it.
func (s *podStep) initPhase() (corev1.PodPhase, bool) {
	for i, container := range s.record.status.InitContainerStatuses {
		if isSidecar(&s.pod.Spec.InitContainers[i]) {
			continue
		}
		ended := container.State.Terminated
		switch {
		case ended == nil:
			return corev1.PodPending, true
		case ended.ExitCode != 0 && s.pod.Spec.RestartPolicy == corev1.RestartPolicyNever:
			return corev1.PodFailed, true
		case ended.ExitCode != 0:
			return corev1.PodPending, true
		}
	}
	return "", false
}

func (s *podStep) initialized() bool {
	for i, container := range s.record.status.InitContainerStatuses {
		done := container.State.Terminated != nil && container.State.Terminated.ExitCode == 0
		if isSidecar(&s.pod.Spec.InitContainers[i]) {
			done = container.State.Running != nil || s.record.finished()
		}
		if !done {
			return false
		}
	}
	return true
}

func (s *podStep) allReady() bool {
	for _, container := range s.record.status.ContainerStatuses {
		if !container.Ready {
			return false
		}
	}
	return len(s.record.status.ContainerStatuses) > 0
}

func (s *podStep) gatesOpen() bool {
	for _, gate := range s.pod.Spec.ReadinessGates {
		open := false
		for _, condition := range s.pod.Status.Conditions {
			open = open || condition.Type == gate.ConditionType && condition.Status == corev1.ConditionTrue
		}
		if !open {
			return false
		}
	}
	return true
}

// condition sets one condition of the pod.
func (s *podStep) condition(kind corev1.PodConditionType, holds bool, reason, message string) {
	wanted := corev1.PodCondition{
		Type: kind, Status: corev1.ConditionFalse, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(s.now),
	}
	if holds {
		wanted.Status = corev1.ConditionTrue
	}
	for i, old := range s.record.status.Conditions {
		if old.Type != kind {
			continue
		}
		if old.Status == wanted.Status {
			wanted.LastTransitionTime = old.LastTransitionTime
		}
		if old.Status != wanted.Status || old.Reason != reason || old.Message != message {
			s.record.status.Conditions[i] = wanted
			s.record.unsent = true
		}
		return
	}
	s.record.status.Conditions = append(s.record.status.Conditions, wanted)
	s.record.unsent = true
}

// ownConditions are the condition types that a kubelet writes; the others in a pod belong to others.
var ownConditions = map[corev1.PodConditionType]bool{
	corev1.PodReadyToStartContainers: true, corev1.PodInitialized: true, corev1.ContainersReady: true,
	corev1.PodReady: true, corev1.PodScheduled: true,
}

// patch is the part of the status that a kubelet writes, as a strategic merge patch body.
func (r *podRecord) patch() map[string]any {
	conditions := []map[string]any{}
	for _, condition := range r.status.Conditions {
		if ownConditions[condition.Type] {
			conditions = append(conditions, map[string]any{
				"type": condition.Type, "status": condition.Status, "lastTransitionTime": condition.LastTransitionTime,
				"reason": orNull(condition.Reason), "message": orNull(condition.Message),
			})
		}
	}
	status := map[string]any{
		"phase": r.status.Phase, "conditions": conditions, "startTime": r.status.StartTime,
		"hostIP": r.status.HostIP, "hostIPs": r.status.HostIPs, "podIP": r.status.PodIP, "podIPs": r.status.PodIPs,
		"containerStatuses": r.status.ContainerStatuses,
	}
	if len(r.status.InitContainerStatuses) > 0 {
		status["initContainerStatuses"] = r.status.InitContainerStatuses
	}
	if r.status.Reason != "" {
		status["reason"], status["message"] = r.status.Reason, r.status.Message
	}
	return map[string]any{"metadata": map[string]any{"uid": r.uid}, "status": status}
}

// orNull makes an empty text null: a merge patch would otherwise keep what stood there before.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}
