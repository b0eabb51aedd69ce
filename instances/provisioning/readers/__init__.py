"""Readers of traces, clusters and tables as provisioning instances."""

from schedgap.instances.provisioning.readers.alibaba import alibaba
from schedgap.instances.provisioning.readers.csv_tables import csv_tables
from schedgap.instances.provisioning.readers.kubernetes import kubernetes
from schedgap.instances.provisioning.readers.rows import build_provisioning

__all__ = ["alibaba", "build_provisioning", "csv_tables", "kubernetes"]
