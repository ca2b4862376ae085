module aksgpu/tools/pulumi-yaml

go 1.26

tool github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml

require github.com/pulumi/pulumi-yaml v1.25.0
