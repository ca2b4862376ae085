package main

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func manyGPUs(count int) *NodePlan {
	return &NodePlan{
		Name: "n", Pool: "p", GPUMode: modeDRA, DriverVersion: "580.126.09", CUDAVersion: "13.0",
		GPUs: make([]GPUPlan, count),
	}
}

func withFault(name string) *Plan {
	return &Plan{Faults: map[string]*string{name: nil}}
}

func TestSlicesHoldAtMostWhatTheAPIAllows(t *testing.T) {
	if specs := sliceSpecs(&Plan{}, manyGPUs(200)); len(specs) != 2 || len(specs[0].Devices) != 128 ||
		specs[1].Pool.ResourceSliceCount != 2 {
		t.Errorf("%d slices", len(specs))
	}
	if specs := sliceSpecs(withFault(faultTaintedDevices), manyGPUs(65)); len(specs) != 2 || len(specs[0].Devices) != 64 {
		t.Errorf("%d slices with taints", len(specs))
	}
}

func TestSlicesPerModeAndFault(t *testing.T) {
	for _, mode := range []string{modeDevicePlugin, modeDriverOnly, modeDriverless, modeNone} {
		node := manyGPUs(1)
		node.GPUMode = mode
		if specs := sliceSpecs(&Plan{}, node); len(specs) != 0 {
			t.Errorf("%s publishes %d slices", mode, len(specs))
		}
	}
	if specs := sliceSpecs(withFault(faultNoSlices), manyGPUs(1)); len(specs) != 0 {
		t.Error("slices in spite of the fault")
	}
	if specs := sliceSpecs(withFault(faultIncompletePool), manyGPUs(1)); specs[0].Pool.ResourceSliceCount != 2 {
		t.Error("the pool is complete")
	}
	if specs := sliceSpecs(withFault(faultStaleGeneration), manyGPUs(1)); len(specs) != 2 || specs[1].Pool.Generation != -1 {
		t.Error("no older generation")
	}
}

// server is a fake API server whose slices the publisher sees at once, as if its cache were never behind.
func server(t *testing.T) (*fake.Clientset, *publisher) {
	t.Helper()
	client := fake.NewClientset()
	number := 0
	client.PrependReactor("create", "resourceslices", func(action clienttesting.Action) (bool, runtime.Object, error) {
		number++
		slice := action.(clienttesting.CreateAction).GetObject().(*resourcev1.ResourceSlice)
		slice.Name = slice.GenerateName + string(rune('a'+number))
		return false, nil, nil
	})
	list := func(string) []*resourcev1.ResourceSlice {
		found, err := client.ResourceV1().ResourceSlices().List(context.Background(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		result := make([]*resourcev1.ResourceSlice, len(found.Items))
		for i := range found.Items {
			result[i] = &found.Items[i]
		}
		return result
	}
	return client, &publisher{client: client, list: list, published: map[string]publication{}}
}

func TestEveryChangeIsANewGenerationAndNothingElseIs(t *testing.T) {
	client, publisher := server(t)
	owner := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "1"}}
	sync := func(plan *Plan, node *NodePlan) int64 {
		if err := publisher.sync(context.Background(), owner, sliceSpecs(plan, node)); err != nil {
			t.Fatal(err)
		}
		return newestGeneration(publisher.list("n"))
	}
	first := sync(&Plan{}, manyGPUs(1))
	if again := sync(&Plan{}, manyGPUs(1)); again != first {
		t.Errorf("generation %d after %d without a change", again, first)
	}
	publisher.forget() // as after a restart
	if again := sync(&Plan{}, manyGPUs(1)); again != first {
		t.Errorf("generation %d after %d because of a restart", again, first)
	}
	if next := sync(&Plan{}, manyGPUs(2)); next != first+1 {
		t.Errorf("generation %d after %d", next, first)
	}
	sync(withFault(faultNoSlices), manyGPUs(2))
	if len(publisher.list("n")) != 0 {
		t.Error("slices are left")
	}
	if next := sync(&Plan{}, manyGPUs(2)); next <= first+1 {
		t.Errorf("generation %d is not newer than what was withdrawn", next)
	}
	writes := 0
	for _, action := range client.Actions() {
		if action.GetVerb() == "update" || action.GetVerb() == "create" || action.GetVerb() == "delete" {
			writes++
		}
	}
	if writes != 4 {
		t.Errorf("%d writes for four changes", writes)
	}
}

// A server of an older minor drops what it does not serve; that must not look like a change that needs writing.
func TestDroppedFieldsDoNotLoop(t *testing.T) {
	client, publisher := server(t)
	client.PrependReactor("create", "resourceslices", func(action clienttesting.Action) (bool, runtime.Object, error) {
		slice := action.(clienttesting.CreateAction).GetObject().(*resourcev1.ResourceSlice)
		for i := range slice.Spec.Devices {
			slice.Spec.Devices[i].Taints = nil
		}
		return false, nil, nil
	})
	owner := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "1"}}
	generations := map[int64]bool{}
	for range 3 {
		if err := publisher.sync(context.Background(), owner, sliceSpecs(withFault(faultTaintedDevices), manyGPUs(1))); err != nil {
			t.Fatal(err)
		}
		generations[newestGeneration(publisher.list("n"))] = true
	}
	if len(generations) != 1 {
		t.Errorf("generations %v", generations)
	}
}

func TestVersionsBecomeSemantic(t *testing.T) {
	for given, want := range map[string]string{"580.126.09": "580.126.9", "13.0": "13.0.0", "8.0.0": "8.0.0"} {
		if got, err := semanticVersion(given); err != nil || got != want {
			t.Errorf("%s became %s, %v", given, got, err)
		}
	}
	for _, given := range []string{"", "1.2.3.4", "new"} {
		if got, err := semanticVersion(given); err == nil {
			t.Errorf("%s became %s", given, got)
		}
	}
}
