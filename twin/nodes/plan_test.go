package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const goodNode = `{"name": "a", "pool": "p", "labels": {"k": "v"}, "taints": [], "providerId": "azure:///a", "cpu": "4",
 "memory": "8Gi", "allocatableCpu": "3", "allocatableMemory": "7Gi", "ephemeralStorage": "100Gi", "pods": 110,
 "architecture": "amd64", "kubeletVersion": "v1.35.4", "osImage": "o", "kernelVersion": "k",
 "containerRuntimeVersion": "c", "gpuMode": "dra", "driverVersion": "580.126.09", "cudaVersion": "13.0",
 "gpus": [{"product": "A", "brand": "B", "architecture": "C", "computeCapability": "8.0.0", "memoryMib": 1024}]}`

func planFrom(t *testing.T, text string) (*Plan, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nodes.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return loadPlan(path)
}

func TestAPlanIsTakenAsAWhole(t *testing.T) {
	plan, err := planFrom(t, `{"nodes": [`+goodNode+`], "faults": {"no-slices": null, "image-pull": "q"}}`)
	if err != nil {
		t.Fatal(err)
	}
	node := plan.node("a")
	if node == nil || !plan.shows(faultNoSlices, node) || plan.shows(faultImagePull, node) || plan.shows(faultNotReady, node) {
		t.Errorf("got %+v", plan)
	}
}

func TestBadPlansAreRefused(t *testing.T) {
	cases := map[string]string{
		`{"nodes": [`:                                                                   "is not a node plan",
		`{"nodes": [], "more": 1}`:                                                      `unknown field "more"`,
		`{"nodes": [], "faults": {"boom": null}}`:                                       `no node fault "boom"`,
		`{"nodes": [` + goodNode + `,` + goodNode + `]}`:                                `two nodes are called "a"`,
		`{"nodes": [` + strings.Replace(goodNode, `"a"`, `""`, 1) + `]}`:                "the name is missing",
		`{"nodes": [` + strings.Replace(goodNode, `"8Gi"`, `"lots"`, 1) + `]}`:          `memory "lots" is not a quantity`,
		`{"nodes": [` + strings.Replace(goodNode, `"dra"`, `"magic"`, 1) + `]}`:         `gpuMode "magic"`,
		`{"nodes": [` + strings.Replace(goodNode, `"580.126.09"`, `"newest"`, 1) + `]}`: "driverVersion",
	}
	for text, why := range cases {
		if _, err := planFrom(t, text); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, not %q", text, err, why)
		}
	}
}

func TestTheLastGoodPlanStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nodes.json")
	file := newPlanFile(path)
	changes := 0
	file.changed = func() { changes++ }
	for _, text := range []string{`{"nodes": [` + goodNode + `]}`, `{`, `{"nodes": 3}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		file.read()
	}
	if changes != 1 || file.get().node("a") == nil {
		t.Errorf("%d changes, plan %+v", changes, file.get())
	}
}
