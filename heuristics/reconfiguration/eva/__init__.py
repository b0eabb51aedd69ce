"""Eva's policy."""

from schedgap.heuristics.reconfiguration.eva.policy import eva

__all__ = ["eva"]
