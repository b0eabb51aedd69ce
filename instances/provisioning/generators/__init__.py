"""Seeded generators of provisioning instances."""

from schedgap.instances.provisioning.generators.alibaba_like import alibaba_like, alibaba_like_running
from schedgap.instances.provisioning.generators.clusters import cluster_of_kind, write_cluster
from schedgap.instances.provisioning.generators.consolidation import consolidation
from schedgap.instances.provisioning.generators.distinct import distinct
from schedgap.instances.provisioning.generators.eva import table3, table7
from schedgap.instances.provisioning.generators.karpenter_basic import karpenter_basic
from schedgap.instances.provisioning.generators.kubernetes_like import kubernetes_like

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
