"""Methods of the waiting family; `policy` registers one of your own."""

from schedgap.heuristics.waiting.actions import Buy, Rent, Start
from schedgap.heuristics.waiting.observation import Observation, Terms
from schedgap.heuristics.waiting.player import Player, policy

__all__ = ["Buy", "Observation", "Player", "Rent", "Start", "Terms", "policy"]
