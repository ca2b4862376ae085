package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// grantedGPU is a GPU that a container may use.
type grantedGPU struct {
	GPUPlan
	UUID  string `json:"uuid"`
	BusID string `json:"busId"`
}

// grants is what a container sees of its node's GPUs. Outside a grant there is no driver in the container.
type grants struct {
	GPUs   []grantedGPU
	Driver string
	CUDA   string
	// ThroughCDI: the devices were injected by the DRA driver, which blanks NVIDIA_VISIBLE_DEVICES.
	ThroughCDI bool
}

// grant returns the GPUs of a node with the given indices, in order and without repetition.
func grant(node *NodePlan, indices []int, throughCDI bool) grants {
	given := grants{Driver: node.DriverVersion, CUDA: node.CUDAVersion, ThroughCDI: throughCDI}
	sorted := slices.Sorted(slices.Values(indices))
	for _, i := range slices.Compact(sorted) {
		given.GPUs = append(given.GPUs, grantedGPU{node.GPUs[i], gpuUUID(node.Name, i), pciBusID(i)})
	}
	return given
}

// visibleDevices is the value of NVIDIA_VISIBLE_DEVICES in the container; empty when it is not set.
func (g grants) visibleDevices() string {
	if len(g.GPUs) == 0 {
		return ""
	}
	if g.ThroughCDI {
		return "void"
	}
	uuids := make([]string, len(g.GPUs))
	for i, gpu := range g.GPUs {
		uuids[i] = gpu.UUID
	}
	return strings.Join(uuids, ",")
}

// nvidiaSMI writes what nvidia-smi prints for the granted GPUs and returns its exit code.
func nvidiaSMI(out, errors io.Writer, given grants, arguments []string, now time.Time) int {
	switch {
	case len(arguments) == 0:
		table(out, given, now)
	case len(arguments) == 1 && (arguments[0] == "-L" || arguments[0] == "--list-gpus"):
		for i, gpu := range given.GPUs {
			fmt.Fprintf(out, "GPU %d: %s (UUID: %s)\n", i, gpu.Product, gpu.UUID)
		}
	case strings.HasPrefix(arguments[0], "--query-gpu="):
		return query(out, given, arguments)
	default:
		fmt.Fprintf(errors, "The twin's nvidia-smi knows -L and --query-gpu=... --format=csv only, not: %s\n",
			strings.Join(arguments, " "))
		return 2
	}
	return 0
}

// queryFields are the columns of --query-gpu that the twin knows.
var queryFields = map[string]func(grants, int) string{
	"index":          func(_ grants, i int) string { return strconv.Itoa(i) },
	"name":           func(g grants, i int) string { return g.GPUs[i].Product },
	"gpu_name":       func(g grants, i int) string { return g.GPUs[i].Product },
	"uuid":           func(g grants, i int) string { return g.GPUs[i].UUID },
	"gpu_uuid":       func(g grants, i int) string { return g.GPUs[i].UUID },
	"count":          func(g grants, _ int) string { return strconv.Itoa(len(g.GPUs)) },
	"driver_version": func(g grants, _ int) string { return g.Driver },
	"pci.bus_id":     func(g grants, i int) string { return "0000" + strings.ToUpper(g.GPUs[i].BusID) },
	"memory.total":   func(g grants, i int) string { return fmt.Sprintf("%d MiB", g.GPUs[i].MemoryMiB) },
	"memory.used":    func(grants, int) string { return "0 MiB" },
	"compute_cap":    func(g grants, i int) string { return strings.TrimSuffix(g.GPUs[i].ComputeCapability, ".0") },
}

func query(out io.Writer, given grants, arguments []string) int {
	fields := strings.Split(strings.TrimPrefix(arguments[0], "--query-gpu="), ",")
	format := strings.Split(strings.TrimPrefix(strings.Join(arguments[1:], " "), "--format="), ",")
	for _, field := range fields {
		if queryFields[field] == nil {
			fmt.Fprintf(out, "Field \"%s\" is not a valid field to query.\n", field)
			return 2
		}
	}
	if !slices.Contains(format, "csv") {
		fmt.Fprintln(out, "\"--format=\" is missing or not csv.")
		return 2
	}
	if !slices.Contains(format, "noheader") {
		fmt.Fprintln(out, strings.Join(fields, ", "))
	}
	for i := range given.GPUs {
		row := make([]string, len(fields))
		for k, field := range fields {
			row[k] = queryFields[field](given, i)
			if slices.Contains(format, "nounits") {
				row[k] = strings.TrimSuffix(row[k], " MiB")
			}
		}
		fmt.Fprintln(out, strings.Join(row, ", "))
	}
	return 0
}

const tableHeader = `+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI %-23sDriver Version: %-15sCUDA Version: %-9s|
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
`

const tableRow = `|%4d  %-31sOn  |   %-16s Off |                    0 |
| N/A   33C    P0             42W /  N/A  | %22s |      0%%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
`

const tableFooter = `
+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|  No running processes found                                                             |
+-----------------------------------------------------------------------------------------+
`

func table(out io.Writer, given grants, now time.Time) {
	fmt.Fprintln(out, now.UTC().Format("Mon Jan _2 15:04:05 2006"))
	fmt.Fprintf(out, tableHeader, given.Driver, given.Driver, given.CUDA)
	for i, gpu := range given.GPUs {
		name := gpu.Product
		if len(name) > 30 {
			name = name[:27] + "..."
		}
		fmt.Fprintf(out, tableRow, i, name, "0000"+strings.ToUpper(gpu.BusID),
			fmt.Sprintf("0MiB / %6dMiB", gpu.MemoryMiB))
	}
	fmt.Fprint(out, tableFooter)
}
