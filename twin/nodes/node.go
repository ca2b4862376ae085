package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	gpuResource = "nvidia.com/gpu"
	// appliedAnnotation remembers which labels and taints came from the plan, so that those set by others
	// are left alone and those that leave the plan are removed.
	appliedAnnotation = "twin.aksgpu/applied"
	// hostAddress is where the API server reaches every simulated kubelet.
	hostAddress = "127.0.0.1"
)

// applied is the content of appliedAnnotation.
type applied struct {
	Labels []string `json:"labels"`
	Taints []string `json:"taints"`
}

// newNode returns the Node object of a plan, complete but for its status.
func newNode(plan *Plan, node *NodePlan) *corev1.Node {
	object := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node.Name}}
	object.Spec.ProviderID = node.ProviderID
	applyMetadata(object, plan, node)
	applyStatus(object, plan, node, metav1.Now())
	return object
}

// applyMetadata brings labels and taints of a Node in line with the plan; what others put there stays.
func applyMetadata(object *corev1.Node, plan *Plan, node *NodePlan) {
	before := applied{}
	// Somebody else's broken annotation only means that nothing is known to be ours.
	_ = json.Unmarshal([]byte(object.Annotations[appliedAnnotation]), &before)

	labels := maps.Clone(object.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	for _, key := range before.Labels {
		delete(labels, key)
	}
	maps.Copy(labels, node.Labels)
	object.Labels = labels

	object.Spec.Taints = desiredTaints(object, before, plan, node)
	now := applied{Labels: slices.Sorted(maps.Keys(node.Labels)), Taints: []string{}}
	for _, taint := range node.Taints {
		now.Taints = append(now.Taints, taintName(taint.Key, taint.Effect))
	}
	encoded, _ := json.Marshal(now) // two lists of strings
	annotations := maps.Clone(object.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[appliedAnnotation] = string(encoded)
	object.Annotations = annotations
}

func taintName(key, effect string) string {
	return key + ":" + effect
}

// desiredTaints are the plan's taints, those of the node's condition, and those somebody else added. The ones of the
// condition are the work of the node lifecycle controller, which cannot run here: it would need a heartbeat
// of every simulated node.
func desiredTaints(object *corev1.Node, before applied, plan *Plan, node *NodePlan) []corev1.Taint {
	taints := []corev1.Taint{}
	for _, taint := range object.Spec.Taints {
		ours := slices.Contains(before.Taints, taintName(taint.Key, string(taint.Effect))) ||
			taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnschedulable
		if !ours {
			taints = append(taints, taint)
		}
	}
	for _, taint := range node.Taints {
		taints = append(taints, corev1.Taint{Key: taint.Key, Value: taint.Value, Effect: corev1.TaintEffect(taint.Effect)})
	}
	if plan.shows(faultNotReady, node) {
		taints = append(taints,
			corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule},
			corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute})
	}
	if object.Spec.Unschedulable {
		taints = append(taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	return keepTimes(taints, object.Spec.Taints)
}

// keepTimes returns the taints in a stable order, with the times at which the NoExecute ones were added.
func keepTimes(taints, existing []corev1.Taint) []corev1.Taint {
	now := metav1.Now()
	for i := range taints {
		if taints[i].Effect != corev1.TaintEffectNoExecute || taints[i].TimeAdded != nil {
			continue
		}
		taints[i].TimeAdded = &now
		for _, old := range existing {
			if old.MatchTaint(&taints[i]) {
				taints[i].TimeAdded = old.TimeAdded
			}
		}
	}
	slices.SortFunc(taints, func(a, b corev1.Taint) int {
		return strings.Compare(taintName(a.Key, string(a.Effect)), taintName(b.Key, string(b.Effect)))
	})
	return taints
}

// applyStatus sets what a kubelet and AKS's node problem detector report.
func applyStatus(object *corev1.Node, plan *Plan, node *NodePlan, now metav1.Time) {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse(node.CPU),
		corev1.ResourceMemory:           resource.MustParse(node.Memory),
		corev1.ResourceEphemeralStorage: resource.MustParse(node.EphemeralStorage),
		corev1.ResourcePods:             *resource.NewQuantity(node.Pods, resource.DecimalSI),
		"hugepages-1Gi":                 resource.MustParse("0"),
		"hugepages-2Mi":                 resource.MustParse("0"),
	}
	if node.GPUMode == modeDevicePlugin {
		capacity[gpuResource] = *resource.NewQuantity(int64(len(node.GPUs)), resource.DecimalSI)
	}
	allocatable := maps.Clone(capacity)
	allocatable[corev1.ResourceCPU] = resource.MustParse(node.AllocatableCPU)
	allocatable[corev1.ResourceMemory] = resource.MustParse(node.AllocatableMemory)

	object.Status.Capacity = capacity
	object.Status.Allocatable = allocatable
	object.Status.Addresses = []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: hostAddress}, {Type: corev1.NodeHostName, Address: node.Name},
	}
	id := gpuUUID(node.Name, -1)[len("GPU-"):]
	object.Status.NodeInfo = corev1.NodeSystemInfo{
		MachineID: strings.ReplaceAll(id, "-", ""), SystemUUID: id, BootID: id,
		KernelVersion: node.KernelVersion, OSImage: node.OSImage,
		ContainerRuntimeVersion: node.ContainerRuntimeVersion, KubeletVersion: node.KubeletVersion,
		OperatingSystem: "linux", Architecture: node.Architecture,
	}
	for _, wanted := range conditions(plan, node) {
		setCondition(object, wanted, now)
	}
}

// conditions lists a node's conditions. Besides the kubelet's own they are those of AKS's node problem detector;
// managed GPU nodes have two more.
func conditions(plan *Plan, node *NodePlan) []corev1.NodeCondition {
	list := []corev1.NodeCondition{}
	add := func(kind, reason, message string) {
		list = append(list, corev1.NodeCondition{
			Type: corev1.NodeConditionType(kind), Status: corev1.ConditionFalse, Reason: reason, Message: message,
		})
	}
	add("NetworkUnavailable", "RouteCreated", "RouteController created a route")
	add("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available")
	add("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure")
	add("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available")
	add("KernelDeadlock", "KernelHasNoDeadlock", "kernel has no deadlock")
	add("ReadonlyFilesystem", "FilesystemIsNotReadOnly", "Filesystem is not read-only")
	add("FilesystemCorruptionProblem", "FilesystemIsOK", "Filesystem is healthy")
	add("ContainerRuntimeProblem", "ContainerRuntimeIsUp", "container runtime service is up")
	add("KubeletProblem", "KubeletIsUp", "kubelet service is up")
	add("FrequentKubeletRestart", "NoFrequentKubeletRestart", "kubelet is functioning properly")
	add("FrequentContainerdRestart", "NoFrequentContainerdRestart", "containerd is functioning properly")
	add("VMEventScheduled", "NoVMEventScheduled", "VM has no scheduled event")
	if node.Labels["kubernetes.azure.com/dcgm-exporter"] == "enabled" {
		add("UnhealthyNvidiaDCGMServices", "HealthyNvidiaDCGMServices", "NVIDIA DCGM services are running properly")
		if node.GPUMode == modeDevicePlugin {
			add("UnhealthyNvidiaDevicePlugin", "HealthyNvidiaDevicePlugin", "NVIDIA device plugin is running properly")
		}
	}
	ready := corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue,
		Reason: "KubeletReady", Message: "kubelet is posting ready status"}
	if plan.shows(faultNotReady, node) {
		ready.Status, ready.Reason = corev1.ConditionFalse, "KubeletNotReady"
		ready.Message = "container runtime is down"
	}
	return append(list, ready)
}

func setCondition(object *corev1.Node, wanted corev1.NodeCondition, now metav1.Time) {
	wanted.LastHeartbeatTime, wanted.LastTransitionTime = now, now
	for i, old := range object.Status.Conditions {
		if old.Type != wanted.Type {
			continue
		}
		if old.Status != wanted.Status || old.Reason != wanted.Reason || old.Message != wanted.Message {
			object.Status.Conditions[i] = wanted
		}
		return
	}
	object.Status.Conditions = append(object.Status.Conditions, wanted)
}

// isReady tells whether the kubelet of a node works; one that does not starts no pods.
func (p *Plan) isReady(node *NodePlan) bool {
	return !p.shows(faultNotReady, node)
}
