"""Readers of traces, clusters, tables and public packing sets as provisioning instances."""

from schedgap.instances.provisioning.readers.alibaba import alibaba
from schedgap.instances.provisioning.readers.csv_tables import csv_tables
from schedgap.instances.provisioning.readers.kubernetes import kubernetes
from schedgap.instances.provisioning.readers.packing import bpplib, bpplib_csp, build_provisioning, mvp, orlib, vbp

__all__ = ["alibaba", "bpplib", "bpplib_csp", "build_provisioning", "csv_tables", "kubernetes", "mvp", "orlib", "vbp"]
