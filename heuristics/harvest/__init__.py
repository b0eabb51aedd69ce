"""Methods of the harvest family, and what policies of one's own are written with."""

from schedgap.heuristics.harvest.actions import Decision
from schedgap.heuristics.harvest.observation import Observation
from schedgap.heuristics.harvest.player import policy

__all__ = ["Decision", "Observation", "policy"]
