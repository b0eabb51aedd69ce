"""Methods of the sharing family; `policy` registers one of your own."""

from schedgap.heuristics.sharing.observation import Machines, Observation
from schedgap.heuristics.sharing.player import Player, policy

__all__ = ["Machines", "Observation", "Player", "policy"]
