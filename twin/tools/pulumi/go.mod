module aksgpu/tools/pulumi

go 1.26

tool github.com/pulumi/pulumi/pkg/v3/cmd/pulumi

require (
	github.com/pulumi/pulumi/pkg/v3 v3.274.1
	github.com/pulumi/pulumi/sdk/v3 v3.274.1
)

// The engine's own go.mod replaces this module; replacements of dependencies are not inherited.
replace github.com/atotto/clipboard => github.com/tgummerer/clipboard v0.0.0-20241001131231-d02d263e614e
