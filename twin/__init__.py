"""A stand-in AKS on this machine: real Pulumi engine and Kubernetes control plane, simulated Azure and nodes."""
