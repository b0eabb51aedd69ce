"""Methods of the placement family; `policy` registers one of your own."""

from schedgap.heuristics.placement.observation import Mix, Nodes, Observation
from schedgap.heuristics.placement.player import Player, policy

__all__ = ["Mix", "Nodes", "Observation", "Player", "policy"]
