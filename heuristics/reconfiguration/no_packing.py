"""No-Packing (Eva, section 6.1): every task on a machine of its own, the cheapest type that fits it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.reconfiguration.play import policy
from schedgap.heuristics.reconfiguration.view import Plan

if TYPE_CHECKING:
    from schedgap.heuristics.reconfiguration.view import View


@policy("no-packing")
def no_packing(view: View) -> Plan:
    """Rent the cheapest machine that fits for each task, and keep it there."""
    new = np.flatnonzero(view.task_machine < 0)
    machine = view.task_machine.copy()
    machine[new] = view.num_machines + np.arange(new.shape[0])
    return Plan(machine, view.reservation_type[view.task_class[new]])
