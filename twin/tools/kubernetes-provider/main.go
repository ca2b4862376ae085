// The Kubernetes provider of Pulumi. Its own command embeds generated files that its module
// leaves out, so this one embeds the schema and the Terraform mapping that the module ships.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

var (
	//go:embed schema.json
	schema []byte
	//go:embed terraform-mapping.json
	terraformMapping []byte
	// Set at build time to the version of the Python SDK in uv.lock.
	version = "0.0.0"
)

func main() { provider.Serve("kubernetes", version, schema, terraformMapping) }
