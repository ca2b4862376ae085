package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// The API allows 128 plain devices in a slice, and half of that once a device uses a feature such as taints.
const (
	plainDevicesPerSlice = resourcev1.ResourceSliceMaxDevices
	richDevicesPerSlice  = resourcev1.ResourceSliceMaxDevicesWithAdvancedFeatures
)

// sliceSpecs returns the slices a node's driver publishes, before the generation is known: a slice whose
// generation is negative belongs that many generations before the current one.
func sliceSpecs(plan *Plan, node *NodePlan) []resourcev1.ResourceSliceSpec {
	if node.GPUMode != modeDRA || plan.shows(faultNoSlices, node) {
		return nil
	}
	list, perSlice := devices(node), plainDevicesPerSlice
	if plan.shows(faultTaintedDevices, node) {
		perSlice = richDevicesPerSlice
		for i := range list {
			list[i].Taints = []resourcev1.DeviceTaint{{
				Key: "gpu.nvidia.com/xid", Value: "79", Effect: resourcev1.DeviceTaintEffectNoSchedule,
			}}
		}
	}
	specs := []resourcev1.ResourceSliceSpec{}
	for chunk := range slices.Chunk(list, perSlice) {
		specs = append(specs, resourcev1.ResourceSliceSpec{
			Driver: driverName, NodeName: &node.Name, Devices: chunk,
			Pool: resourcev1.ResourcePool{Name: node.Name},
		})
	}
	count := int64(len(specs))
	if plan.shows(faultIncompletePool, node) {
		count++
	}
	for i := range specs {
		specs[i].Pool.ResourceSliceCount = count
	}
	if plan.shows(faultStaleGeneration, node) && len(specs) > 0 {
		stale := *specs[0].DeepCopy()
		stale.Pool.Generation = -1
		specs = append(specs, stale)
	}
	return specs
}

// publisher keeps the ResourceSlices of all nodes as their drivers would.
type publisher struct {
	client kubernetes.Interface
	list   func(node string) []*resourcev1.ResourceSlice

	mu        sync.Mutex
	published map[string]publication
}

// publication is what was last written for a node. It is compared by what was sent and not by what the server
// kept: a server of an older minor drops fields it does not serve, which must not look like a change.
type publication struct {
	sent       string
	generation int64
	names      []string
}

// forget makes the next sync compare with the server again; needed when the server changes its version.
func (p *publisher) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.published = map[string]publication{}
}

func (p *publisher) last(node string) (publication, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last, known := p.published[node]
	return last, known
}

func (p *publisher) remember(node string, done publication) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.published[node] = done
}

// sync makes the slices of a node equal to the given specs; every change starts a new pool generation.
func (p *publisher) sync(ctx context.Context, owner *corev1.Node, specs []resourcev1.ResourceSliceSpec) error {
	encoded, err := json.Marshal(specs)
	if err != nil {
		return err
	}
	sent := string(owner.UID) + string(encoded)
	last, known := p.last(owner.Name)
	if known && last.sent == sent && p.allThere(owner.Name, last) {
		return nil
	}
	if !known && len(specs) == 0 && len(p.list(owner.Name)) == 0 {
		return nil
	}
	existing, err := p.existing(ctx, owner.Name)
	if err != nil {
		return err
	}
	generation := newestGeneration(existing)
	matches := match(existing, specs, generation, owner)
	if !known && matches {
		p.remember(owner.Name, publication{sent, generation, names(existing)})
		return nil
	}
	if known && last.sent == sent && len(existing) == len(specs) && slices.Equal(names(existing), last.names) {
		return nil // only the cache was behind
	}
	// Two ahead of nothing, so that there is room for a stale generation.
	generation = max(generation, last.generation, 1) + 1
	written, err := p.write(ctx, owner, existing, withGeneration(specs, generation))
	if err != nil {
		return err
	}
	p.remember(owner.Name, publication{sent, generation, written})
	return nil
}

func (p *publisher) allThere(node string, last publication) bool {
	return slices.Equal(names(p.list(node)), last.names)
}

func (p *publisher) existing(ctx context.Context, node string) ([]*resourcev1.ResourceSlice, error) {
	found, err := p.client.ResourceV1().ResourceSlices().List(ctx, metav1.ListOptions{
		FieldSelector: fmt.Sprintf("%s=%s,%s=%s", resourcev1.ResourceSliceSelectorNodeName, node,
			resourcev1.ResourceSliceSelectorDriver, driverName),
	})
	if err != nil {
		return nil, err
	}
	list := make([]*resourcev1.ResourceSlice, len(found.Items))
	for i := range found.Items {
		list[i] = &found.Items[i]
	}
	return list, nil
}

// write updates slices in place where it can, creates what is missing and deletes what is left over.
func (p *publisher) write(ctx context.Context, owner *corev1.Node, existing []*resourcev1.ResourceSlice,
	specs []resourcev1.ResourceSliceSpec) ([]string, error) {
	client := p.client.ResourceV1().ResourceSlices()
	written := []string{}
	for i, spec := range specs {
		var result *resourcev1.ResourceSlice
		var err error
		if i < len(existing) && ownedBy(existing[i], owner) {
			update := existing[i].DeepCopy()
			update.Spec = spec
			result, err = client.Update(ctx, update, metav1.UpdateOptions{})
		} else {
			result, err = client.Create(ctx, newSlice(owner, i, spec), metav1.CreateOptions{})
		}
		if err != nil {
			return nil, err
		}
		written = append(written, result.Name)
	}
	for i, slice := range existing {
		if i < len(specs) && ownedBy(slice, owner) {
			continue
		}
		if err := client.Delete(ctx, slice.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return nil, err
		}
	}
	slices.Sort(written)
	return written, nil
}

// remove deletes the slices of a node that is gone; the garbage collector would, later.
func (p *publisher) remove(ctx context.Context, node string) error {
	if _, known := p.last(node); !known && len(p.list(node)) == 0 {
		return nil
	}
	selector := fmt.Sprintf("%s=%s", resourcev1.ResourceSliceSelectorNodeName, node)
	err := p.client.ResourceV1().ResourceSlices().DeleteCollection(ctx, metav1.DeleteOptions{},
		metav1.ListOptions{FieldSelector: selector})
	if err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.published, node)
	}
	return err
}

func newSlice(owner *corev1.Node, index int, spec resourcev1.ResourceSliceSpec) *resourcev1.ResourceSlice {
	return &resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: fmt.Sprintf("%05x-%s-%s-", index, driverName, owner.Name),
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "v1", Kind: "Node", Name: owner.Name, UID: owner.UID, Controller: ptr.To(true),
			}},
		},
		Spec: spec,
	}
}

func ownedBy(slice *resourcev1.ResourceSlice, owner *corev1.Node) bool {
	controller := metav1.GetControllerOf(slice)
	return controller != nil && controller.UID == owner.UID
}

func withGeneration(specs []resourcev1.ResourceSliceSpec, generation int64) []resourcev1.ResourceSliceSpec {
	numbered := slices.Clone(specs)
	for i := range numbered {
		numbered[i].Pool.Generation += generation
	}
	return numbered
}

func newestGeneration(existing []*resourcev1.ResourceSlice) int64 {
	newest := int64(0)
	for _, slice := range existing {
		newest = max(newest, slice.Spec.Pool.Generation)
	}
	return newest
}

// match tells whether the slices on the server are already what the driver would publish.
func match(existing []*resourcev1.ResourceSlice, specs []resourcev1.ResourceSliceSpec, generation int64,
	owner *corev1.Node) bool {
	if len(existing) != len(specs) {
		return false
	}
	for _, spec := range withGeneration(specs, generation) {
		same := func(slice *resourcev1.ResourceSlice) bool {
			return ownedBy(slice, owner) && equality.Semantic.DeepEqual(slice.Spec, spec)
		}
		if !slices.ContainsFunc(existing, same) {
			return false
		}
	}
	return true
}

func names(list []*resourcev1.ResourceSlice) []string {
	result := make([]string, len(list))
	for i, slice := range list {
		result[i] = slice.Name
	}
	slices.Sort(result)
	return result
}
