"""Methods of the waiting family; `policy` registers one of your own."""

from schedgap.heuristics.waiting.player import Buy, Observation, Player, Rent, Start, Terms, policy

__all__ = ["Buy", "Observation", "Player", "Rent", "Start", "Terms", "policy"]
