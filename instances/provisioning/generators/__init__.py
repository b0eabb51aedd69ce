"""Seeded generators of provisioning instances."""

from schedgap.instances.provisioning.generators.clusters import cluster_of_kind, write_cluster
from schedgap.instances.provisioning.generators.kubernetes_like import consolidation, karpenter_basic, kubernetes_like
from schedgap.instances.provisioning.generators.snapshots import (
    alibaba_like,
    alibaba_like_running,
    distinct,
    table3,
    table7,
)

__all__ = [
    "alibaba_like",
    "alibaba_like_running",
    "cluster_of_kind",
    "consolidation",
    "distinct",
    "karpenter_basic",
    "kubernetes_like",
    "table3",
    "table7",
    "write_cluster",
]
