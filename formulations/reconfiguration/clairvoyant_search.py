"""Branch and bound over plans: every decision worth a thought, played by the cloud's own rules.

A node is the true state of the cloud at the second of a plan. Its children are all decisions that some optimal schedule
may take:

- each task that may be sent stays, goes to a machine in the plan with room, or to a new one. New machines are told apart
  by their lowest task. Types with the same delays that can hold the same sets of the instance's tasks differ in nothing
  but their price: the cheapest is enough.
- a machine without tasks is kept or given back; one that is never used again is better given back now.
- a machine may be rented before it is used, but not earlier than it takes to run by then: until its first task it
  changes nothing but the price, so the last plan that is early enough is best.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.reconfiguration.clairvoyant_decisions import Decisions
from schedgap.formulations.reconfiguration.clairvoyant_nodes import TABLES, Decision, Node, copied, micro, schedule_of
from schedgap.formulations.reconfiguration.clairvoyant_sets import covering_prices, fitting_sets, useful_types
from schedgap.formulations.reconfiguration.kernels_clairvoyant import phases, rest, step
from schedgap.instances.reconfiguration.cloud import Cloud
from schedgap.instances.reconfiguration.kernels_state import (
    DONE,
    NUM_MACHINES,
    PAID_FROM,
    PHASE,
    RELEASED,
    SENT_TO,
    TYPE,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedgap.instances.arrays import IntArray
    from schedgap.instances.reconfiguration.model import ReconfigurationInstance
    from schedgap.instances.reconfiguration.schedule import ReconfigurationSchedule

KEYS = ("clock", "task", "job", "active", "machine", "used", "contending", "images")


@dataclass(slots=True)
class Search:
    """The search of one instance, and what it has found. prune : False visits every decision, for tests."""

    instance: ReconfigurationInstance
    work_price: IntArray
    prune: bool = True
    best: int | None = None
    schedule: ReconfigurationSchedule | None = None
    nodes: int = 0
    open: list[Node] = field(default_factory=list)
    root_bound: int = 0
    seen: dict[bytes, int] = field(default_factory=dict)
    price: IntArray = field(init=False)
    first_plan: IntArray = field(init=False)
    fits: list[list[bool]] = field(init=False)
    kinds: list[int] = field(init=False)
    cover: IntArray = field(init=False)
    early: list[int] = field(init=False)
    acquire: int = field(init=False)
    task2job: list[int] = field(init=False)

    def __post_init__(self) -> None:
        instance = self.instance
        self.price = instance.catalogue.price.copy()
        self.first_plan = instance.first_plan_s().copy()
        self.task2job = np.repeat(np.arange(instance.num_jobs), instance.num_tasks).tolist()
        self.fits = fitting_sets(instance)
        self.kinds = useful_types(instance, self.fits)
        self.cover = covering_prices(instance, self.fits, self.kinds)
        boots = instance.acquire_s + instance.setup_s
        self.early = (-(-boots // instance.period_s)).tolist()
        self.acquire = max(int(instance.acquire_s[k]) for k in self.kinds)

    def run(self, deadline: float | None) -> bool:
        """Search until the best schedule is proven, and return True, or until the deadline of `perf_counter`."""
        root = self._root()
        self.root_bound = micro(root.bound)
        if deadline is not None and time.perf_counter() >= deadline:
            self.open = [root]
            return False
        if self.prune:
            self._alone(root)
        self.open = [root]
        while self.open:
            node = self.open[-1]
            if deadline is not None and time.perf_counter() >= deadline:
                return False
            if self.is_hopeless(node.bound):
                self.open.pop()
                continue
            children = self._children(node, deadline)
            if children is None:
                return False
            self.open.pop()
            children.sort(key=lambda child: -child.bound)
            self.open.extend(children)
        return True

    def bound(self) -> int:
        """Return what is proven: the best schedule's cost, or the least that an open node may still cost."""
        values = [micro(node.bound) for node in self.open]
        if self.best is not None:
            values.append(self.best)
        return min(values, default=self.root_bound)

    def _root(self) -> Node:
        instance = self.instance
        start = int(self.first_plan[0]) - max(self.early[k] for k in self.kinds) * instance.period_s
        start = max(start, 0)
        cloud = Cloud(instance, 0)
        node = Node(cloud.state, start - instance.period_s, 0, 0, 0, np.empty(0, np.int64))
        child = self._child(node, Decision((), (), ()))
        assert child is not None
        return Node(child.state, start, 0, child.bound, child.later, child.serial)

    def is_hopeless(self, amount: int) -> bool:
        """Whether a schedule that costs so much, in micro-dollars an hour times seconds, is not better than the best."""
        return self.prune and self.best is not None and micro(amount) >= self.best

    def _alone(self, root: Node) -> None:
        """Find a first schedule: every task alone on the cheapest machine, never moved."""
        reservation = self.instance.catalogue.reservation_type
        assert reservation is not None
        node = root
        while not self._ended(node):
            found = phases(node.state, node.at)
            rows = int(node.state.clock[NUM_MACHINES])
            stay = node.state.task[:, SENT_TO].tolist()
            new = [k for k, j in enumerate(self.task2job) if found[j] and stay[k] < 0]
            used = {stay[k] for k, j in enumerate(self.task2job) if found[j]}
            types = tuple(int(reservation[self.instance.job2class[self.task2job[k]]]) for k in new)
            empty = tuple(m for m in range(rows) if m not in used and node.state.machine[m, RELEASED] < 0)
            child = self._child(node, Decision(types, empty, tuple((k, rows + i) for i, k in enumerate(new))))
            assert child is not None
            node = child
        self._accept(node)

    def _ended(self, node: Node) -> bool:
        return bool((node.state.job[:, PHASE] == DONE).all())

    def _accept(self, node: Node) -> None:
        machine, live = node.state.machine, int(node.state.clock[NUM_MACHINES])
        closing = 0
        for m in range(live):
            paid = max(node.at + self.instance.terminate_s - int(machine[m, PAID_FROM]), 0)
            closing += int(self.price[machine[m, TYPE]]) * paid
        cost = micro(node.spent + closing)
        if self.best is None or cost < self.best:
            self.best, self.schedule = cost, schedule_of(node)

    def _children(self, node: Node, deadline: float | None) -> list[Node] | None:
        if self._ended(node):
            self._accept(node)
            return []
        children: list[Node] = []
        for decision in self._decisions(node):
            self.nodes += 1
            if deadline is not None and self.nodes % 64 == 0 and time.perf_counter() >= deadline:
                return None
            child = self._child(node, decision)
            if child is None or self.is_hopeless(child.bound):
                continue
            if self.prune:
                key = child.at.to_bytes(8) + b"".join(getattr(child.state, name).tobytes() for name in KEYS)
                if self.seen.get(key, child.spent + 1) <= child.spent:
                    continue
                self.seen[key] = child.spent
            children.append(child)
        return children

    def _child(self, node: Node, decision: Decision) -> Node | None:
        state, serial = copied(node, len(decision.new_types))
        for task, row in decision.sent:
            state.target[task] = row
        period = self.instance.period_s
        new_types, released = np.array(decision.new_types, np.int64), np.array(decision.released, np.int64)
        spent = step(state, node.at, period, self.price, new_types, released, serial)
        if spent < 0:
            return None
        live, at = int(state.clock[NUM_MACHINES]), node.at + period
        state = state._replace(**{name: getattr(state, name)[:live].copy() for name in TABLES})
        worth, later = rest(state, at, period, self.acquire, self.price, self.first_plan, self.cover, self.work_price)
        spent += node.spent
        rented = node.rented + len(decision.new_types)
        return Node(
            state, at, spent, max(spent + worth, node.bound), later, serial[:live].copy(), rented, node, decision
        )

    def _decisions(self, node: Node) -> Iterator[Decision]:
        """Yield all decisions of a plan that may be part of an optimal schedule, but those that cost too much."""
        return Decisions(self, node).all()
