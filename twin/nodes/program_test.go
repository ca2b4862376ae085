package main

import (
	"strings"
	"testing"
	"time"
)

var twoGPUs = &NodePlan{
	Name: "n", GPUMode: modeDRA, DriverVersion: "580.126.09", CUDAVersion: "13.0",
	GPUs: []GPUPlan{
		{Product: "NVIDIA A100 80GB PCIe", MemoryMiB: 81920, ComputeCapability: "8.0.0"},
		{Product: "NVIDIA A100 80GB PCIe", MemoryMiB: 81920, ComputeCapability: "8.0.0"},
	},
}

func printed(result run) string {
	text := []string{}
	for _, entry := range result.Lines {
		text = append(text, entry.Text)
	}
	return strings.Join(text, "\n")
}

func TestWhatCommandsDo(t *testing.T) {
	second := grant(twoGPUs, []int{1}, true)
	cases := []struct {
		name    string
		argv    []string
		given   grants
		output  string
		code    int32
		length  time.Duration
		forever bool
	}{
		{name: "true", argv: []string{"true"}},
		{name: "false", argv: []string{"false"}, code: 1},
		{name: "exit", argv: []string{"sh", "-c", "exit 7"}, code: 7},
		{name: "echo", argv: []string{"echo", "a b", "$X"}, output: "a b $X"},
		{name: "sleep", argv: []string{"sleep", "1.5"}, length: 1500 * time.Millisecond},
		{name: "minutes", argv: []string{"/bin/sleep", "2m"}, length: 2 * time.Minute},
		{name: "bad sleep", argv: []string{"sleep", "soon"}, output: "sleep: invalid time interval 'soon'", code: 1},
		{name: "infinity", argv: []string{"sleep", "infinity"}, forever: true},
		{name: "script", argv: []string{"/bin/sh", "-ec", "echo one; sleep 2; false; echo never"}, output: "one", code: 1, length: 2 * time.Second},
		{name: "arguments", argv: []string{"bash", "-c", `echo "$1-$X"`, "zero", "first"}, output: "first-env"},
		{name: "redirection", argv: []string{"sh", "-c", "echo hidden > /dev/null; echo seen"}, output: "seen"},
		{name: "no files", argv: []string{"sh", "-c", "test -e /etc/passwd || echo none"}, output: "none"},
		{name: "endless loop", argv: []string{"sh", "-c", "while true; do sleep 60; done"}, forever: true},
		{name: "syntax error", argv: []string{"sh", "-c", "if"}, output: "sh: 1:1: `if` must be followed by a statement list", code: 2},
		{name: "unknown", argv: []string{"python", "train.py"}, forever: true},
		{name: "unknown in a script", argv: []string{"sh", "-c", "echo start; python train.py"}, output: "start", forever: true},
		{name: "image's own", forever: true},
		{name: "list", argv: []string{"nvidia-smi", "-L"}, given: second,
			output: "GPU 0: NVIDIA A100 80GB PCIe (UUID: " + gpuUUID("n", 1) + ")"},
		{name: "query", argv: []string{"nvidia-smi", "--query-gpu=index,uuid,memory.total", "--format=csv,noheader"}, given: second,
			output: "0, " + gpuUUID("n", 1) + ", 81920 MiB"},
		{name: "no driver", argv: []string{"sh", "-c", "nvidia-smi"}, output: "sh: 1: nvidia-smi: not found", code: 127},
		{name: "no driver, carried on", argv: []string{"sh", "-c", "nvidia-smi || exit 5"}, output: "sh: 1: nvidia-smi: not found", code: 5},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := simulate(c.argv, []string{"X=env"}, c.given, time.Now())
			if printed(got) != c.output || got.Code != c.code || got.Forever != c.forever {
				t.Errorf("got %+v", got)
			}
			if c.length > 0 && got.Length != c.length {
				t.Errorf("it took %v, not %v", got.Length, c.length)
			}
		})
	}
}

func TestNvidiaSMICannotStartWithoutADriver(t *testing.T) {
	got := simulate([]string{"nvidia-smi"}, nil, grants{}, time.Now())
	if got.Code != 128 || !strings.HasSuffix(got.StartError, `exec: "nvidia-smi": executable file not found in $PATH`) {
		t.Errorf("got %+v", got)
	}
}

func TestTheTableIsAsWideAsTheRealOne(t *testing.T) {
	got := simulate([]string{"nvidia-smi"}, nil, grant(twoGPUs, []int{0, 1}, true), time.Now())
	for _, entry := range got.Lines[1:] {
		if entry.Text != "" && len(entry.Text) != 91 {
			t.Errorf("%d characters: %s", len(entry.Text), entry.Text)
		}
	}
	if strings.Count(printed(got), "NVIDIA A100 80GB PCIe") != 2 {
		t.Error(printed(got))
	}
}

func TestNothingOfTheMachineIsReached(t *testing.T) {
	for _, script := range []string{"cat /etc/hostname", "echo x > /tmp/aksgpu-was-here", ". /etc/profile", "echo /*"} {
		got := simulate([]string{"bash", "-c", script}, nil, grants{}, time.Now())
		if text := printed(got); strings.Contains(text, "/tmp\n") || strings.Contains(text, "/etc ") {
			t.Errorf("%s saw %q", script, text)
		}
	}
}
