// The Kubernetes API server, unchanged but for one thing: /version tells the version of the cluster it
// stands for (--cluster-version) and not that of the program, which emulates several minors.
package main

import (
	"fmt"
	"os"
	"strconv"
	_ "time/tzdata" // time zones of CronJobs

	"k8s.io/apimachinery/pkg/util/version"
	apiversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/component-base/cli"
	basecompatibility "k8s.io/component-base/compatibility"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// clusterVersion is a flag that holds a full version, e.g. 1.35.4; empty means the program's own.
type clusterVersion struct{ parsed *version.Version }

func (c *clusterVersion) Type() string { return "version" }

func (c *clusterVersion) String() string {
	if c.parsed == nil {
		return ""
	}
	return c.parsed.String()
}

func (c *clusterVersion) Set(text string) error {
	parsed, err := version.ParseSemantic(text)
	if err != nil {
		return fmt.Errorf("want a full version such as 1.35.4: %w", err)
	}
	c.parsed = parsed
	return nil
}

// registry hands out effective versions that answer with the cluster's version.
type registry struct {
	basecompatibility.ComponentGlobalsRegistry
	cluster *clusterVersion
}

func (r registry) EffectiveVersionFor(component string) basecompatibility.EffectiveVersion {
	effective := r.ComponentGlobalsRegistry.EffectiveVersionFor(component)
	if effective == nil {
		return nil
	}
	return effectiveVersion{effective, r.cluster}
}

type effectiveVersion struct {
	basecompatibility.EffectiveVersion
	cluster *clusterVersion
}

// Info is what /version serves. Feature gates and served APIs ask the other methods.
func (e effectiveVersion) Info() *apiversion.Info {
	info := e.EffectiveVersion.Info()
	if own := e.cluster.parsed; own != nil && info != nil {
		info.Major = strconv.FormatUint(uint64(own.Major()), 10)
		info.Minor = strconv.FormatUint(uint64(own.Minor()), 10)
		info.GitVersion = "v" + own.String()
	}
	return info
}

func main() {
	cluster := &clusterVersion{}
	compatibility.DefaultComponentGlobalsRegistry = registry{compatibility.DefaultComponentGlobalsRegistry, cluster}
	command := app.NewAPIServerCommand()
	command.Flags().Var(cluster, "cluster-version", "The version that /version answers, e.g. 1.35.4.")
	os.Exit(cli.Run(command))
}
