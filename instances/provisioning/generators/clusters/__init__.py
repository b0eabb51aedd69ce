"""Clusters as they are: what kubectl prints of invented ones of nine kinds, with a price list."""

from schedgap.instances.provisioning.generators.clusters.kinds import KINDS
from schedgap.instances.provisioning.generators.clusters.write import cluster_of_kind, write_cluster

__all__ = ["KINDS", "cluster_of_kind", "write_cluster"]
