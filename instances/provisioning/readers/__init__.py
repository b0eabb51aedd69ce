"""Readers of traces as provisioning instances."""

from schedgap.instances.provisioning.readers.alibaba import alibaba

__all__ = ["alibaba"]
