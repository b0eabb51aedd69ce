"""Clusters as they are: what kubectl prints of invented ones of nine kinds, with a price list."""

from schedgap.instances.provisioning.generators.clusters.build import cluster_of_kind, write_cluster
from schedgap.instances.provisioning.generators.clusters.kinds import KINDS

__all__ = ["KINDS", "cluster_of_kind", "write_cluster"]
