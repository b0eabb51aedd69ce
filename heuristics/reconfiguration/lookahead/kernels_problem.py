"""What a plan is made from, and a plan in the making, as compiled code takes them.

Letters used for shapes: K machine types, F machine families, R resources, C task classes, W workloads, T tasks, M
machines of the last plan, B machines of a draft (the M, then room for new ones), L most tasks on a machine; in a
regrouping: n tasks, S = 2^n sets of them, G most machines, X most new ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from schedgap.instances.arrays import record
from schedgap.instances.jit import inner_kernel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


MOST_ON_MACHINE = 48


class Problem(NamedTuple):
    """What a plan is made from; all money is in dollars, all times are in hours.

    capacity : (K, R) int64. price : (K,) an hour. type2family : (K,). by_price : (K,) types, cheapest first.
    boot : (K,) from the order of a machine until it runs tasks. setup : (K,) what that costs.
    demand : (F, C, R) int64. task_class, workload : (T,). weight : (T,) what an hour without progress of it costs.
    leave : (T,) what being stopped and launched again costs, 0 for a task that is nowhere yet. movable : (T,) bool.
    origin : (T,) where the last plan sent it, -1 for nowhere. rate : (W, W) throughput of a workload beside another.
    horizon : for how long a plan is taken to last. known : M.
    """

    capacity: Any
    price: Any
    type2family: Any
    by_price: Any
    boot: Any
    setup: Any
    demand: Any
    task_class: Any
    workload: Any
    weight: Any
    leave: Any
    movable: Any
    origin: Any
    rate: Any
    horizon: float
    known: int


class DraftRows(NamedTuple):
    """A plan in the making.

    kind : (B,) machine types. size : (B,) tasks on it. content : (B, L) which. used : (B, R). place : (T,), -1 for none.
    dirty : (B,) 1 where something changed. random : (1,) uint64.
    """

    kind: Any
    size: Any
    content: Any
    used: Any
    place: Any
    dirty: Any
    random: Any


class Pairs:
    """Fields of `Tables.at`: a machine that changed, the row that its partners are counted from, steps taken, partners left."""

    machine: int
    first: int
    step: int
    left: int


class Tables(NamedTuple):
    """Work space of `regroup`.

    group : (G,) the machines, to be filled before the call. By sets of tasks: need : (S, F, R); rate : (S, n) of each;
    loss : (S,) an hour; leave, weight : (S,) sums; rank : (S,) the cheapest type that fits, an index into `by_price`, K
    for none; alone : (S,) cost on a new machine; here : (S,) on the machine looked at. sets : (S,) those that fit a type.
    best, choice : (G + X + 1, S) least cost after so many machines, and the set on the last of them. task : (n,).
    beside : (n, n) rates. home : (G,) machines that may stay. fixed, num_fixed : (G, L), (G,) tasks that stay there.
    fixed_rate : (L,). room : (R,) of the machine looked at. at : where the search for pairs is.
    """

    group: Any
    need: Any
    rate: Any
    loss: Any
    leave: Any
    weight: Any
    rank: Any
    alone: Any
    here: Any
    sets: Any
    best: Any
    choice: Any
    task: Any
    beside: Any
    home: Any
    fixed: Any
    num_fixed: Any
    fixed_rate: Any
    room: Any
    at: Sequence[Pairs]


def new_tables(most_tasks: int, most_machines: int, most_new: int, num_families: int, num_resources: int) -> Tables:
    """Return work space for that many tasks, machines and new machines beside them."""
    sets, stages = 1 << most_tasks, most_machines + most_new
    ints, floats = (sets, np.int64), (sets, np.float64)
    return Tables(
        group=np.zeros(most_machines, np.int64),
        need=np.zeros((sets, num_families, num_resources), np.int64),
        rate=np.ones((sets, most_tasks)),
        loss=np.zeros(*floats),
        leave=np.zeros(*floats),
        weight=np.zeros(*floats),
        rank=np.zeros(*ints),
        alone=np.zeros(*floats),
        here=np.zeros(*floats),
        sets=np.zeros(*ints),
        best=np.zeros((stages + 1, sets)),
        choice=np.zeros((stages, sets), np.int64),
        task=np.zeros(most_tasks, np.int64),
        beside=np.zeros((most_tasks, most_tasks)),
        home=np.zeros(most_machines, np.int64),
        fixed=np.zeros((most_machines, MOST_ON_MACHINE), np.int64),
        num_fixed=np.zeros(most_machines, np.int64),
        fixed_rate=np.zeros(MOST_ON_MACHINE),
        room=np.zeros(num_resources, np.int64),
        at=record(Pairs),
    )


@inner_kernel
def put(p: Problem, d: DraftRows, b: int, t: int) -> None:
    """Put a task that is nowhere on a machine."""
    d.content[b, d.size[b]] = t
    d.size[b] += 1
    d.place[t] = b
    need = p.demand[p.type2family[d.kind[b]], p.task_class[t]]
    for r in range(need.shape[0]):
        d.used[b, r] += need[r]


@inner_kernel
def loss_on(p: Problem, d: DraftRows, b: int) -> float:
    """Return what the tasks of a machine lose to each other in an hour; O(tasks^2)."""
    loss = 0.0
    for x in range(d.size[b]):
        t = d.content[b, x]
        rate = 1.0
        for y in range(d.size[b]):
            if y != x:
                rate *= p.rate[p.workload[t], p.workload[d.content[b, y]]]
        loss += p.weight[t] * (1.0 - rate)
    return loss
