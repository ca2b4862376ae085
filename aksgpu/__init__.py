"""Move the NVIDIA GPUs of AKS clusters to Kubernetes dynamic resource allocation (DRA)."""
