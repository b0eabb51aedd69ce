"""Policies for provisioning over time, and what is needed to write one."""

from schedgap.heuristics.reconfiguration.actions import Draft, Plan
from schedgap.heuristics.reconfiguration.observation import Observation
from schedgap.heuristics.reconfiguration.player import Player, policy

__all__ = ["Draft", "Observation", "Plan", "Player", "policy"]
