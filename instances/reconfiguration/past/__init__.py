"""A real cluster's past as instances: who ran when, on which machines."""

from schedgap.instances.reconfiguration.past.history import History, NodeLife, PodLife

__all__ = ["History", "NodeLife", "PodLife"]
