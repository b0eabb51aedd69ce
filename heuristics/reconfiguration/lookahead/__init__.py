"""Look-ahead: schedgap's own policy."""

from schedgap.heuristics.reconfiguration.lookahead.policy import lookahead

__all__ = ["lookahead"]
