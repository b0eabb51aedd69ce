"""No-Packing (Eva, section 6.1): every task on a machine of its own, the cheapest type that fits it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.reconfiguration.actions import Plan
from schedgap.heuristics.reconfiguration.player import policy

if TYPE_CHECKING:
    from schedgap.heuristics.reconfiguration.observation import Observation


@policy("no-packing")
def no_packing(observation: Observation) -> Plan:
    """Rent the cheapest machine that fits for each task, and keep it there."""
    new = np.flatnonzero(observation.task_machine < 0)
    machine = observation.task_machine.copy()
    machine[new] = observation.num_machines + np.arange(new.shape[0])
    return Plan(machine, observation.reservation_type[observation.task_class[new]])
