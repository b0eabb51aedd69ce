"""No-Packing (Eva, section 6.1): every task on a machine of its own, the cheapest type that fits it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.reconfiguration.actions import Plan
from schedgap.heuristics.reconfiguration.player import policy

if TYPE_CHECKING:
    from schedgap.heuristics.reconfiguration.observation import Observation
    from schedgap.instances.arrays import BoolArray, IntArray


@policy("no-packing", handles=("stock",))
def no_packing(observation: Observation) -> Plan:
    """Rent the cheapest machine that fits, of those that can be had, for each task, and keep it there."""
    new = np.flatnonzero(observation.task_machine < 0)
    types = observation.reservation_type[observation.task_class[new]]
    if observation.stock_left is not None:
        types = _cheapest_left(observation, new, observation.stock_left.copy())
        new, types = new[types >= 0], types[types >= 0]
    machine = observation.task_machine.copy()
    machine[new] = observation.num_machines + np.arange(new.shape[0])
    return Plan(machine, types)


def _cheapest_left(observation: Observation, tasks: IntArray, left: IntArray) -> IntArray:
    """Return the cheapest type that each task in turn can have, -1 for none. left : (K,) of each type, -1 for any number."""
    market = observation.market
    demand = observation.demand[market.type2family]
    fits: BoolArray = np.all((demand >= 0) & (demand <= market.capacity[:, None]), axis=2)
    rising = np.argsort(market.price, kind="stable")
    found = np.full(tasks.shape, -1)
    for n, c in enumerate(observation.task_class[tasks].tolist()):
        some = rising[fits[rising, c] & (left[rising] != 0)]
        if some.size:
            found[n] = some[0]
            # Below 0 it never comes to 0.
            left[some[0]] -= 1
    return found
