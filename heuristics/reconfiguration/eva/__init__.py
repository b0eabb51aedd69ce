"""Eva's policy."""

from schedgap.heuristics.reconfiguration.eva.ensemble import eva

__all__ = ["eva"]
