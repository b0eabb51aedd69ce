"""The best schedule with all arrivals and ends known, at any size."""

from schedgap.formulations.reconfiguration.hindsight.method import hindsight

__all__ = ["hindsight"]
