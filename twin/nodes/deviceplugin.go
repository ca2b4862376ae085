package main

import (
	"fmt"
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// assignment says which GPUs of its node each container of a pod got from the device plugin.
type assignment map[string][]int

// pluginLedger is the device plugin's book of all nodes: which pod holds which GPU.
type pluginLedger struct {
	mu   sync.Mutex
	held map[string]map[types.UID]assignment
}

func newPluginLedger() *pluginLedger {
	return &pluginLedger{held: map[string]map[types.UID]assignment{}}
}

// pluginRequest is the number of GPUs a container asks of the device plugin.
func pluginRequest(container *corev1.Container) int64 {
	quantity := container.Resources.Limits[gpuResource]
	return quantity.Value()
}

// assign gives a pod its GPUs; the same again when it has them already. The error is the kubelet's message.
func (l *pluginLedger) assign(pod *corev1.Pod, node *NodePlan) (assignment, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if given := l.held[node.Name][pod.UID]; given != nil {
		return given, nil
	}
	free, wanted := l.free(node), podPluginRequest(pod)
	if wanted == 0 {
		return assignment{}, nil
	}
	if wanted > int64(len(free)) {
		return nil, fmt.Errorf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d",
			gpuResource, wanted, len(node.GPUs)-len(free), len(node.GPUs))
	}
	given := share(pod, free[:wanted])
	l.put(node.Name, pod.UID, given)
	return given, nil
}

// podPluginRequest is what a pod needs at once: init containers run before the others and lend them their GPUs.
func podPluginRequest(pod *corev1.Pod) int64 {
	together, alone := int64(0), int64(0)
	for i := range pod.Spec.Containers {
		together += pluginRequest(&pod.Spec.Containers[i])
	}
	for i := range pod.Spec.InitContainers {
		container := &pod.Spec.InitContainers[i]
		if isSidecar(container) {
			together += pluginRequest(container)
		} else {
			alone = max(alone, pluginRequest(container))
		}
	}
	return max(together, alone)
}

func share(pod *corev1.Pod, indices []int) assignment {
	given, rest := assignment{}, indices
	for i := range pod.Spec.InitContainers {
		container := &pod.Spec.InitContainers[i]
		count := pluginRequest(container)
		if isSidecar(container) {
			given[container.Name], rest = rest[:count], rest[count:]
		} else {
			given[container.Name] = indices[:count]
		}
	}
	for i := range pod.Spec.Containers {
		container := &pod.Spec.Containers[i]
		count := pluginRequest(container)
		given[container.Name], rest = rest[:count], rest[count:]
	}
	return given
}

func (l *pluginLedger) free(node *NodePlan) []int {
	taken := map[int]bool{}
	for _, given := range l.held[node.Name] {
		for _, indices := range given {
			for _, index := range indices {
				taken[index] = true
			}
		}
	}
	free := []int{}
	for i := range node.GPUs {
		if !taken[i] {
			free = append(free, i)
		}
	}
	return free
}

func (l *pluginLedger) put(node string, pod types.UID, given assignment) {
	if l.held[node] == nil {
		l.held[node] = map[types.UID]assignment{}
	}
	l.held[node][pod] = given
}

// restore puts back what a pod held before a restart.
func (l *pluginLedger) restore(node string, pod types.UID, given assignment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.put(node, pod, given)
}

// release takes a finished pod's GPUs back.
func (l *pluginLedger) release(node string, pod types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held[node], pod)
}

// keep releases the GPUs of all pods of a node that are not present.
func (l *pluginLedger) keep(node string, present func(types.UID) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.held[node], func(pod types.UID, _ assignment) bool { return !present(pod) })
}
