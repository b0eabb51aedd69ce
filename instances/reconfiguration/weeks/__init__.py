"""Clusters' pasts, invented: a week of rollouts, of a daily wave, or of batches at night, in all forms that are read."""

from schedgap.instances.reconfiguration.weeks.generate import cluster_week, seen
from schedgap.instances.reconfiguration.weeks.lives import Week
from schedgap.instances.reconfiguration.weeks.simulation import KINDS, simulate
from schedgap.instances.reconfiguration.weeks.written import (
    write_audit_log,
    write_event_log,
    write_prices,
    write_prometheus,
    write_snapshots,
)

__all__ = [
    "KINDS",
    "Week",
    "cluster_week",
    "seen",
    "simulate",
    "write_audit_log",
    "write_event_log",
    "write_prices",
    "write_prometheus",
    "write_snapshots",
]
