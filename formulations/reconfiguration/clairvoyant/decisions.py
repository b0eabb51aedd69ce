"""The decisions of one plan that may be part of an optimal schedule, task by task (see `search`)."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from schedgap.formulations.reconfiguration.clairvoyant.kernels_bound import phases
from schedgap.formulations.reconfiguration.clairvoyant.kernels_step import BEFORE
from schedgap.formulations.reconfiguration.clairvoyant.nodes import Decision, Node
from schedgap.instances.reconfiguration.simulator.state import DONE, UNSEEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from schedgap.formulations.reconfiguration.clairvoyant.space import DecisionSpace


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
