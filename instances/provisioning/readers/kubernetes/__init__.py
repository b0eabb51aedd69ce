"""Kubernetes clusters as instances."""

from schedgap.instances.provisioning.readers.kubernetes.cluster import kubernetes

__all__ = ["kubernetes"]
