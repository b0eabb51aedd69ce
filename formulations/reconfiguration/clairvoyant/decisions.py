"""The decisions of one plan that may be part of an optimal schedule, task by task (see `search`).

Nodes of the search for the clairvoyant optimum: the simulator's state at a plan, and the decisions that led there.

The space of decisions of the exact search: which sets of tasks machines hold, and at what least price.

Tasks are few, and sets of them are the bits of a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from schedgap.formulations.reconfiguration.clairvoyant.kernels_step import BEFORE, phases
from schedgap.instances.arrays import IntArray
from schedgap.instances.provisioning.running import ANY_NUMBER
from schedgap.instances.reconfiguration.model import ReconfigurationInstance, ReconfigurationSchedule
from schedgap.instances.reconfiguration.simulator.state import DONE, UNSEEN, State, copied
from schedgap.instances.units import HOUR_S


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


@dataclass(frozen=True, slots=True, eq=False)
class DecisionSpace:
    """What is the same at every plan of an instance.

    price : (K,) micro-dollars an hour. first_plan : (J,) seconds. task2job : of each task. fits : whether each type
    holds each set of tasks. kinds : the types that are of use. cover : (2**T,), see `covering_prices`. early : how many
    periods a machine of each type takes to run. acquire : the longest acquisition of a type that is of use, seconds.
    """

    instance: ReconfigurationInstance
    price: IntArray
    first_plan: IntArray
    task2job: list[int]
    fits: list[list[bool]]
    kinds: list[int]
    cover: IntArray
    early: list[int]
    acquire: int


def decision_space(instance: ReconfigurationInstance) -> DecisionSpace:
    """Return the space of decisions of an instance."""
    fits = fitting_sets(instance)
    kinds = useful_types(instance, fits)
    boots = instance.acquire_s + instance.setup_s
    return DecisionSpace(
        instance=instance,
        price=instance.catalogue.price.copy(),
        first_plan=instance.first_plan_s().copy(),
        task2job=np.repeat(np.arange(instance.num_jobs), instance.num_tasks).tolist(),
        fits=fits,
        kinds=kinds,
        cover=covering_prices(instance, fits, kinds),
        early=(-(-boots // instance.period_s)).tolist(),
        acquire=max(int(instance.acquire_s[k]) for k in kinds),
    )


def fitting_sets(instance: ReconfigurationInstance) -> list[list[bool]]:
    """Return whether each machine type (K) can hold each set of tasks (2**T) at once."""
    catalogue = instance.catalogue
    classes = np.repeat(instance.job2class, instance.num_tasks)
    sets = np.arange(1 << classes.shape[0])[:, None] >> np.arange(classes.shape[0]) & 1
    fits = []
    for k in range(catalogue.num_types):
        demand = catalogue.demand[catalogue.type2family[k]][classes]
        barred = (demand < 0).any(axis=1)
        room = (sets @ np.maximum(demand, 0) <= catalogue.capacity[k]).all(axis=1)
        fits.append((room & ~sets[:, barred].any(axis=1)).tolist())
    return fits


def useful_types(instance: ReconfigurationInstance, fits: list[list[bool]]) -> list[int]:
    """Return the cheapest of all machine types that behave alike, without those that hold nothing; by rising price.

    Types with the same delays that can hold the same sets of tasks leave the same jobs the same time. Where the cheapest may
    run out, the next one is of use too.
    """
    found: list[int] = []
    replaced: set[tuple[int, int, tuple[bool, ...]]] = set()
    stock = instance.catalogue.stock
    for k in np.argsort(instance.catalogue.price, kind="stable").tolist():
        alike = (int(instance.acquire_s[k]), int(instance.setup_s[k]), tuple(fits[k]))
        if not any(fits[k][1:]) or alike in replaced:
            continue
        found.append(k)
        if stock is None or stock[k] == ANY_NUMBER:
            replaced.add(alike)
    return found


def covering_prices(instance: ReconfigurationInstance, fits: list[list[bool]], kinds: list[int]) -> IntArray:
    """(2**T,) int64: the least price of machines that hold a set of tasks together, micro-dollars an hour."""
    number = len(fits[0])
    price = instance.catalogue.price.tolist()
    alone = [min((price[k] for k in kinds if fits[k][mask]), default=None) for mask in range(number)]
    cover = np.zeros(number, np.int64)
    for mask in range(1, number):
        lowest = mask & -mask
        others = part = mask ^ lowest
        values = []
        while True:
            if (one := alone[part | lowest]) is not None:
                values.append(one + int(cover[others ^ part]))
            if not part:
                break
            part = (part - 1) & others
        cover[mask] = min(values)
    return cover


class Decisions:
    """The decisions of one plan, task by task.

    is_hopeless : whether a schedule that costs so much, in micro-dollars an hour times seconds, is of no use.
    """

    def __init__(self, space: DecisionSpace, node: Node, is_hopeless: Callable[[int], bool]) -> None:
        self.space, self.node, self.is_hopeless = space, node, is_hopeless
        state, instance = node.state, space.instance
        self.rows = int(state.clock[0].num_machines)
        self.types = state.machines.lease["type"].tolist()
        self.open = [bool(r < 0) for r in state.machines.lease["released"]]
        self.stay = state.task["sent_to"].tolist()
        self.mask = [0] * self.rows
        found = phases(state, node.at)
        self.movable: list[int] = []
        for k, j in enumerate(space.task2job):
            if found[j] == 1:
                self.mask[self.stay[k]] |= 1 << k
            elif found[j] == 2:
                self.movable.append(k)
        self.sent: list[int] = []
        next_s = node.at + instance.period_s
        # What a machine costs until the next plan.
        self.row_cost = [
            int(space.price[kind]) * max(next_s - int(state.machines.lease[m].paid_from), 0)
            for m, kind in enumerate(self.types)
        ]
        self.new_cost = {
            k: int(space.price[k]) * max(instance.period_s - int(instance.acquire_s[k]), 0) for k in space.kinds
        }
        unfinished = [j for j in range(instance.num_jobs) if state.job[j].phase != DONE and found[j] != 0]
        unseen = [j for j in range(instance.num_jobs) if space.first_plan[j] > node.at and state.job[j].phase == UNSEEN]
        self.later_tasks = [k for k, j in enumerate(space.task2job) if j in unfinished or j in unseen]
        nobody = not unfinished
        self.first_use = next_s if not nobody or not unseen else int(min(space.first_plan[j] for j in unseen))
        before = state.machines.lease["rented"] == BEFORE
        self.unused = [
            m for m in range(self.rows) if self.open[m] and not before[m] and not state.machines.images[m].any()
        ]

    def all(self) -> Iterator[Decision]:
        """Yield them, but those that cost too much."""
        cost = self.node.spent + self.node.later
        cost += sum(self.row_cost[m] for m in range(self.rows) if self.mask[m])
        yield from self._place(0, cost, [])

    def _place(self, n: int, cost: int, new: list[tuple[int, int]]) -> Iterator[Decision]:
        """Place the movable tasks from the n-th on; new : (type, tasks) of new machines."""
        space = self.space
        if self.is_hopeless(cost):
            return
        if n == len(self.movable):
            yield from self._keep(cost, new)
            return
        task = self.movable[n]
        bit = 1 << task
        here = self.stay[task]
        rows = [m for m in range(self.rows) if self.open[m]]
        for m in sorted(rows, key=lambda row: row != here):
            before = self.mask[m]
            if not space.fits[self.types[m]][before | bit]:
                continue
            self.mask[m] = before | bit
            self.sent.append(m)
            yield from self._place(n + 1, cost + (0 if before else self.row_cost[m]), new)
            self.sent.pop()
            self.mask[m] = before
        for i, (kind, mask) in enumerate(new):
            if space.fits[kind][mask | bit]:
                new[i] = (kind, mask | bit)
                self.sent.append(self.rows + i)
                yield from self._place(n + 1, cost, new)
                self.sent.pop()
                new[i] = (kind, mask)
        for kind in space.kinds:
            if space.fits[kind][bit]:
                new.append((kind, bit))
                self.sent.append(self.rows + len(new) - 1)
                yield from self._place(n + 1, cost + self.new_cost[kind], new)
                self.sent.pop()
                new.pop()

    def _keep(self, cost: int, new: list[tuple[int, int]]) -> Iterator[Decision]:
        """Decide about the machines without tasks, then about those rented for later."""
        space, node = self.space, self.node
        period = space.instance.period_s
        empty = [m for m in range(self.rows) if self.open[m] and not self.mask[m]]
        must = []
        for m in self.unused:
            if self.mask[m]:
                continue
            # Rented earlier than its first task needs it: a later plan had been as good, and cheaper.
            if self.first_use - int(node.state.machines.lease[m].rented) > space.early[self.types[m]] * period:
                return
            must.append(m)
            cost += self.row_cost[m]
        useful = [m for m in empty if m not in must and self._wanted(self.types[m])]
        sent = tuple((k, m) for k, m in zip(self.movable, self.sent, strict=True) if m != self.stay[k])
        types = tuple(kind for kind, _ in new)
        for choice in range(1 << len(useful)):
            kept = must + [m for i, m in enumerate(useful) if choice >> i & 1]
            total = cost + sum(self.row_cost[m] for m in kept if m not in must)
            if self.is_hopeless(total):
                continue
            released = tuple(m for m in empty if m not in kept)
            for early in self._rented_early(total, len(must)):
                yield Decision(types + early, released, sent)

    def _wanted(self, kind: int) -> bool:
        return any(self.space.fits[kind][1 << k] for k in self.later_tasks)

    def _rented_early(self, cost: int, already: int) -> Iterator[tuple[int, ...]]:
        """Yield the types of machines to rent for later."""
        space = self.space
        ahead = self.first_use - self.node.at
        kinds = [k for k in space.kinds if ahead <= space.early[k] * space.instance.period_s and self._wanted(k)]
        # At every plan each task goes to one machine.
        most = len(self.later_tasks) * max((space.early[k] for k in kinds), default=0) - already
        yield ()
        for number in range(1, most + 1):
            some = False
            for chosen in combinations_with_replacement(kinds, number):
                if not self.is_hopeless(cost + sum(self.new_cost[k] for k in chosen)):
                    some = True
                    yield chosen
            if not some:
                return
