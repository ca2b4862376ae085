package main

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

const driverName = "gpu.nvidia.com"

// uuidSpace makes the UUIDs of simulated GPUs the same on every run.
var uuidSpace = uuid.NewSHA1(uuid.NameSpaceDNS, []byte("gpu.aksgpu"))

// gpuUUID is the UUID of a node's GPU in nvidia-smi's form; it depends on node name and index only.
func gpuUUID(node string, index int) string {
	return "GPU-" + uuid.NewSHA1(uuidSpace, fmt.Appendf(nil, "%s/%d", node, index)).String()
}

// pciBusID is the address of a node's GPU. Azure presents each passed-through device in a PCI domain of its own.
func pciBusID(index int) string {
	return fmt.Sprintf("%04x:00:00.0", index+1)
}

func deviceName(index int) string {
	return fmt.Sprintf("gpu-%d", index)
}

// deviceIndex is the inverse of deviceName; false when the name is not one of this node's GPUs.
func deviceIndex(node *NodePlan, name string) (int, bool) {
	number, found := strings.CutPrefix(name, "gpu-")
	index, err := strconv.Atoi(number)
	return index, found && err == nil && index >= 0 && index < len(node.GPUs)
}

// devices lists a node's GPUs with the attributes that the NVIDIA DRA driver 0.4.1 publishes.
func devices(node *NodePlan) []resourcev1.Device {
	list := make([]resourcev1.Device, len(node.GPUs))
	for i, gpu := range node.GPUs {
		list[i] = resourcev1.Device{
			Name: deviceName(i),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"type":                            text("gpu"),
				"uuid":                            text(gpuUUID(node.Name, i)),
				"productName":                     text(gpu.Product),
				"brand":                           text(gpu.Brand),
				"architecture":                    text(gpu.Architecture),
				"cudaComputeCapability":           version(gpu.ComputeCapability),
				"driverVersion":                   version(node.DriverVersion),
				"cudaDriverVersion":               version(node.CUDAVersion),
				"resource.kubernetes.io/pciBusID": text(pciBusID(i)),
				"resource.kubernetes.io/pcieRoot": text("pci" + strings.TrimSuffix(pciBusID(i), ":00.0")),
			},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
				"memory": {Value: *resource.NewQuantity(gpu.MemoryMiB<<20, resource.BinarySI)},
			},
		}
	}
	return list
}

func text(value string) resourcev1.DeviceAttribute {
	return resourcev1.DeviceAttribute{StringValue: &value}
}

func version(value string) resourcev1.DeviceAttribute {
	normal, _ := semanticVersion(value) // checked when the plan was read
	return resourcev1.DeviceAttribute{VersionValue: ptr.To(normal)}
}

// semanticVersion turns a vendor version into a semantic one, as the driver does: `580.126.09` becomes
// `580.126.9`, `13.0` becomes `13.0.0`.
func semanticVersion(value string) (string, error) {
	parts := strings.Split(value, ".")
	if len(parts) > 3 {
		return "", fmt.Errorf("%q is not a version of at most three numbers", value)
	}
	numbers := [3]uint64{}
	for i, part := range parts {
		number, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return "", fmt.Errorf("%q is not a version of at most three numbers", value)
		}
		numbers[i] = number
	}
	return fmt.Sprintf("%d.%d.%d", numbers[0], numbers[1], numbers[2]), nil
}

// digest is a stable made-up content hash, for image and container ids.
func digest(parts ...string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(parts, "/"))))
}
