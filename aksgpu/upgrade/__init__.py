"""Upgrades of AKS clusters, one minor at a time."""
