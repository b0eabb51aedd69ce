"""Methods of the harvest family, and what policies of one's own are written with."""

from schedgap.heuristics.harvest.player import Decision, Observation, policy

__all__ = ["Decision", "Observation", "policy"]
