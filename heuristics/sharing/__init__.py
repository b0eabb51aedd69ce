"""Methods of the sharing family; `policy` registers one of your own."""

from schedgap.heuristics.sharing.player import Machines, Observation, Player, policy

__all__ = ["Machines", "Observation", "Player", "policy"]
