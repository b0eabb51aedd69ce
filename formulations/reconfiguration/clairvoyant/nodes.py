"""Nodes of the search for the clairvoyant optimum: the simulator's state at a plan, and the decisions that led there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.reconfiguration.simulator.state import State, copied
from schedgap.instances.reconfiguration.solution import ReconfigurationSchedule
from schedgap.instances.units import HOUR_S

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What one plan does, in rows of its node's machines; new ones are numbered on from them.

    new_types : their types. released : rows. sent : (task, row), of all tasks that change their machine.
    """

    new_types: tuple[int, ...]
    released: tuple[int, ...]
    sent: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A canonical state at a plan. spent, bound, later : micro-dollars an hour times seconds; `bound` includes `spent`.

    later : bound on what is paid after the next plan. serial : (M,), the numbers of its machines, of all that were
    `rented` so far.
    """

    state: State
    at: int
    spent: int
    bound: int
    later: int
    serial: IntArray
    rented: int = 0
    parent: Node | None = None
    decision: Decision | None = None


def with_more(node: Node, more: int) -> tuple[State, IntArray]:
    """Return a copy of a node's state and serial numbers with room for some more machines."""
    state = copied(node.state, int(node.state.clock[0].num_machines) + more)
    return state, np.concatenate((node.serial, node.rented + np.arange(more)))


def micro(amount: int) -> int:
    """Return micro-dollars an hour times seconds in whole micro-dollars, rounded up as costs are."""
    return -(-amount // HOUR_S)


def schedule_of(last: Node) -> ReconfigurationSchedule:
    """Return the schedule whose decisions led to a node at which all jobs have ended."""
    path = []
    node = last
    while node.parent is not None:
        path.append(node)
        node = node.parent
    # Machines of the root run at second 0.
    types = node.state.machines.lease["type"][np.argsort(node.serial)].tolist()
    rented = [0] * len(types)
    released = [last.at] * len(types)
    moves: list[tuple[int, int, int]] = []
    for child in reversed(path):
        before, decision = child.parent, child.decision
        assert before is not None and decision is not None
        numbers = before.serial.tolist() + list(range(before.rented, child.rented))
        types.extend(decision.new_types)
        rented.extend([before.at] * len(decision.new_types))
        released.extend([last.at] * len(decision.new_types))
        for row in decision.released:
            released[numbers[row]] = before.at
        moves.extend((before.at, task, numbers[row]) for task, row in decision.sent)
    columns = np.array(moves, np.int64).reshape(-1, 3).T
    return ReconfigurationSchedule(
        np.array(types, np.int64), np.array(rented, np.int64), np.array(released, np.int64), *columns
    )
