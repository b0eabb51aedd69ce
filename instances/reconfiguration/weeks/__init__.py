"""Clusters' pasts, invented: a week of rollouts, of a daily wave, or of batches at night, read as a user's."""

from schedgap.instances.reconfiguration.weeks.documents import write_prices
from schedgap.instances.reconfiguration.weeks.generate import cluster_week, seen
from schedgap.instances.reconfiguration.weeks.lives import Week
from schedgap.instances.reconfiguration.weeks.simulation import KINDS, simulate

__all__ = [
    "KINDS",
    "Week",
    "cluster_week",
    "seen",
    "simulate",
    "write_prices",
]
