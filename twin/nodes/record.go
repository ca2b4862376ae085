package main

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// podRecord is a kubelet's memory of one pod. Its status is the truth about the containers; the API server's copy
// follows it.
type podRecord struct {
	mu      sync.Mutex
	uid     types.UID
	node    string
	status  corev1.PodStatus
	runs    map[string]*containerRun
	backoff map[string]time.Time
	// unsent: the status has changed since it was last written to the API server.
	unsent bool
	// gone: the API server has been asked to remove the pod.
	gone bool
}

// recall builds the record of a pod from what the API server and the disk know of it.
func recall(pod *corev1.Pod, disk store) *podRecord {
	record := &podRecord{
		uid: pod.UID, node: pod.Spec.NodeName, status: *pod.Status.DeepCopy(),
		runs: map[string]*containerRun{}, backoff: map[string]time.Time{},
	}
	for _, list := range [][]corev1.ContainerStatus{record.status.InitContainerStatuses, record.status.ContainerStatuses} {
		for _, status := range list {
			if status.State.Running != nil {
				record.runs[status.Name] = disk.loadRun(pod.UID, status.Name, status.RestartCount)
			}
		}
	}
	return record
}

// finished tells whether the pod has come to its end.
func (r *podRecord) finished() bool {
	return r.status.Phase == corev1.PodSucceeded || r.status.Phase == corev1.PodFailed
}

// containerStatus returns the status of a container, init containers included; nil when there is none yet.
func (r *podRecord) containerStatus(name string) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{r.status.InitContainerStatuses, r.status.ContainerStatuses} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// addresses hands out pod addresses; each is in use once.
type addresses struct {
	mu   sync.Mutex
	last netip.Addr
	used map[netip.Addr]types.UID
}

var podRange = netip.MustParsePrefix("10.244.0.0/16")

func newAddresses() *addresses {
	return &addresses{last: podRange.Addr(), used: map[netip.Addr]types.UID{}}
}

// claim marks an address as used, after a restart.
func (a *addresses) claim(pod types.UID, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if address, err := netip.ParseAddr(text); err == nil {
		a.used[address] = pod
	}
}

// next returns a free address.
func (a *addresses) next(pod types.UID) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for range 1 << 16 {
		a.last = a.last.Next()
		if !podRange.Contains(a.last) {
			a.last = podRange.Addr().Next()
		}
		if _, taken := a.used[a.last]; !taken {
			a.used[a.last] = pod
			return a.last.String(), nil
		}
	}
	return "", fmt.Errorf("no pod address is free in %s", podRange)
}

// free gives an address back, if the pod still holds it.
func (a *addresses) free(pod types.UID, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if address, err := netip.ParseAddr(text); err == nil && a.used[address] == pod {
		delete(a.used, address)
	}
}
