"""Readers of traces as fairness instances."""

from schedgap.instances.fairness.readers.openb import openb_constraints

__all__ = ["openb_constraints"]
