"""A stand-in AKS on this machine: the real Pulumi engine and Kubernetes control plane, simulated Azure and nodes."""
