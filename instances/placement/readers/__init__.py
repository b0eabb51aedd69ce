"""Real clusters as placement instances."""

from schedgap.instances.placement.readers.csv_tables import csv_tables
from schedgap.instances.placement.readers.kubernetes import kai_snapshot, kubernetes

__all__ = ["csv_tables", "kai_snapshot", "kubernetes"]
