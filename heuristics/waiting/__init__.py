"""Methods of the waiting family; `policy` registers one of your own."""

from schedgap.heuristics.waiting.observation import Observation, Terms
from schedgap.heuristics.waiting.player import Buy, Player, Rent, Start, policy

__all__ = ["Buy", "Observation", "Player", "Rent", "Start", "Terms", "policy"]
