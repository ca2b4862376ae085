"""Where software runs that has to touch devices."""

from typing import Final

SYSTEM_NAMESPACES: Final = (
    "aks-command",
    "aks-istio-egress",
    "aks-istio-ingress",
    "aks-istio-system",
    "app-routing-system",
    "calico-system",
    "dapr-system",
    "flux-system",
    "gatekeeper-system",
    "gpu-operator",
    "kube-node-lease",
    "kube-public",
    "kube-system",
    "network-operator",
    "nvidia-dra-driver-gpu",
    "nvidia-gpu-operator",
    "tigera-operator",
)
"""Namespaces of Kubernetes, of AKS and its add-ons, and of NVIDIA's own software, which has to touch devices."""
