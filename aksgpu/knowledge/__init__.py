"""Dated tables of what Azure, AKS and Kubernetes offer. Each says as of when it holds and where it comes from."""
