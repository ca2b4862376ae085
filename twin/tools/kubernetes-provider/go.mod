module aksgpu/tools/kubernetes-provider

go 1.26.0

require github.com/pulumi/pulumi-kubernetes/provider/v4 v4.0.0-20260115033456-f47bc2d6f199

// A later SDK raises pulumi/sdk above pulumi/pkg, and the provider no longer compiles.
replace github.com/pulumi/pulumi-kubernetes/sdk/v4 => github.com/pulumi/pulumi-kubernetes/sdk/v4 v4.22.2
