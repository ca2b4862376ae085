package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
)

// The ways in which a node offers its GPUs.
const (
	modeDRA          = "dra"
	modeDevicePlugin = "device-plugin"
	modeDriverOnly   = "driver-only"
	modeDriverless   = "driverless"
	modeNone         = "none"
)

// Plan is what nodes a cluster should have, and the faults they should show. The Python side writes it
// (twin/nodeplan.py) and replaces the file atomically; it is the whole truth about the nodes.
type Plan struct {
	Nodes  []NodePlan         `json:"nodes"`
	Faults map[string]*string `json:"faults"`

	byName map[string]*NodePlan
}

// NodePlan is one node that should exist. Sizes are Kubernetes quantities.
type NodePlan struct {
	Name                    string            `json:"name"`
	Pool                    string            `json:"pool"`
	Labels                  map[string]string `json:"labels"`
	Taints                  []TaintPlan       `json:"taints"`
	ProviderID              string            `json:"providerId"`
	CPU                     string            `json:"cpu"`
	Memory                  string            `json:"memory"`
	AllocatableCPU          string            `json:"allocatableCpu"`
	AllocatableMemory       string            `json:"allocatableMemory"`
	EphemeralStorage        string            `json:"ephemeralStorage"`
	Pods                    int64             `json:"pods"`
	Architecture            string            `json:"architecture"`
	KubeletVersion          string            `json:"kubeletVersion"`
	OSImage                 string            `json:"osImage"`
	KernelVersion           string            `json:"kernelVersion"`
	ContainerRuntimeVersion string            `json:"containerRuntimeVersion"`
	GPUMode                 string            `json:"gpuMode"`
	DriverVersion           string            `json:"driverVersion"`
	CUDAVersion             string            `json:"cudaVersion"`
	GPUs                    []GPUPlan         `json:"gpus"`
}

// TaintPlan is a taint of the node's pool.
type TaintPlan struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Effect string `json:"effect"`
}

// GPUPlan is one GPU of a node.
type GPUPlan struct {
	Product           string `json:"product"`
	Brand             string `json:"brand"`
	Architecture      string `json:"architecture"`
	ComputeCapability string `json:"computeCapability"`
	MemoryMiB         int64  `json:"memoryMib"`
}

// loadPlan reads a plan and checks it as a whole, so that a plan is carried out entirely or not at all.
func loadPlan(path string) (*Plan, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	plan := &Plan{}
	if err := decoder.Decode(plan); err != nil {
		return nil, fmt.Errorf("%s is not a node plan: %w", path, err)
	}
	plan.byName = make(map[string]*NodePlan, len(plan.Nodes))
	for i := range plan.Nodes {
		node := &plan.Nodes[i]
		if err := node.check(); err != nil {
			return nil, fmt.Errorf("%s: node %d (%q): %w", path, i, node.Name, err)
		}
		if plan.byName[node.Name] != nil {
			return nil, fmt.Errorf("%s: two nodes are called %q", path, node.Name)
		}
		plan.byName[node.Name] = node
	}
	for name := range plan.Faults {
		if !slices.Contains(nodeFaults, name) {
			return nil, fmt.Errorf("%s: there is no node fault %q", path, name)
		}
	}
	return plan, nil
}

func (n *NodePlan) check() error {
	if n.Name == "" {
		return fmt.Errorf("the name is missing")
	}
	quantities := map[string]string{
		"cpu": n.CPU, "memory": n.Memory, "allocatableCpu": n.AllocatableCPU,
		"allocatableMemory": n.AllocatableMemory, "ephemeralStorage": n.EphemeralStorage,
	}
	for key, value := range quantities {
		if _, err := resource.ParseQuantity(value); err != nil {
			return fmt.Errorf("%s %q is not a quantity", key, value)
		}
	}
	modes := []string{modeDRA, modeDevicePlugin, modeDriverOnly, modeDriverless, modeNone}
	if !slices.Contains(modes, n.GPUMode) {
		return fmt.Errorf("gpuMode %q is none of %v", n.GPUMode, modes)
	}
	if n.GPUMode != modeDRA {
		return nil
	}
	for i, gpu := range n.GPUs {
		if _, err := semanticVersion(gpu.ComputeCapability); err != nil {
			return fmt.Errorf("gpus[%d].computeCapability: %w", i, err)
		}
	}
	for key, value := range map[string]string{"driverVersion": n.DriverVersion, "cudaVersion": n.CUDAVersion} {
		if _, err := semanticVersion(value); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// node returns the plan of one node, nil when there is none.
func (p *Plan) node(name string) *NodePlan {
	return p.byName[name]
}
