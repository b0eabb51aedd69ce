"""Iterated local search: batches of the pairwise kernel, machines taken apart, machines joined into larger ones."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from schedgap.formulations.provisioning.bounds import type_multiples
from schedgap.formulations.provisioning.column_generation.kernels_repack import EMPTY, Machines, repack
from schedgap.formulations.provisioning.patterns.patterns import catalogue_of
from schedgap.instances.arrays import IntArray
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.pricing import NANO
from schedgap.instances.provisioning.solution import Provisioning

NODE_LIMIT = 500
BATCH = 20_000


class Repacking:
    """A solution under pairwise local search; `cost` in micro-dollars.

    duals : (C,) int64 nano-dollars, what a task of each class is worth.
    """

    def __init__(
        self, instance: ProvisioningInstance, solution: Provisioning, duals: IntArray, *, seed: int = 1
    ) -> None:
        self.instance, self.duals = instance, duals
        self.machines: Machines
        catalogue = catalogue_of(instance)
        self.types = catalogue._replace(price=catalogue.price * NANO)
        self.state = np.array([seed], np.int64)
        self.rng = np.random.default_rng(seed)
        # Tasks in class order, whatever the instance's own order is.
        self.task_class = np.repeat(np.arange(instance.num_classes), instance.counts)
        self.merges = type_multiples(instance)
        self.take(solution)

    @property
    def cost(self) -> int:
        """Micro-dollars per hour."""
        types = self.machines.machine_type
        return int(self.instance.price[types[types >= 0]].sum())

    def solution(self) -> Provisioning:
        """Return the cheapest solution since the last `take` as patterns, equal machines grouped.

        Of several the first: which moves at equal cost followed depends on the clock.
        """
        _, machine_type, task2machine = self._cheapest
        pattern = np.zeros((machine_type.shape[0], self.instance.num_classes), np.int64)
        np.add.at(pattern, (task2machine, self.task_class), 1)
        rented = machine_type >= 0
        return Provisioning.from_machines(machine_type[rented], pattern[rented])

    def run(self, deadline: float, *, is_merging: bool = True) -> None:
        """Search until a batch saves nothing, or the deadline."""
        saved = 1
        while saved and time.perf_counter() < deadline:
            self._compact(is_merging)
            saved = repack(self.machines, self.types, self.duals, BATCH, NODE_LIMIT, self.state)
        if self.cost < self._cheapest[0]:
            self._remember()

    def search(self, deadline: float, patience: int) -> None:
        """Take some machines apart, search again, go back if that became dearer: iterated local search.

        Ends after `patience` rounds in a row without gain. Every other round joins machines into larger ones first,
        which leaves the local search more freedom, but costs it the machines of odd sizes.
        """
        idle = 0
        while idle < patience and time.perf_counter() < deadline:
            before = self.cost
            kept = Machines(*(array.copy() for array in self.machines))
            self._take_apart()
            self.run(deadline, is_merging=bool(self.rng.integers(2)))
            idle = 0 if self.cost < before else idle + 1
            if self.cost > before:
                self.machines = kept

    def _take_apart(self) -> None:
        """Put every task of some machines alone on its cheapest type."""
        instance = self.instance
        machine_type = self.machines.machine_type
        rented = np.flatnonzero(machine_type >= 0)
        number = int(self.rng.integers(2, 4 + min(30, rented.size // 6)))
        chosen = self.rng.choice(rented, min(number, rented.size), replace=False)
        task2machine = self._task2machine()
        tasks = np.flatnonzero(np.isin(task2machine, chosen))
        kept = np.setdiff1d(rented, chosen)
        number_of = np.zeros(machine_type.shape[0], np.int64)
        number_of[kept] = np.arange(kept.size)
        task2machine = number_of[task2machine]
        task2machine[tasks] = kept.size + np.arange(tasks.size)
        alone = instance.reservation_type[self.task_class[tasks]]
        self._link(np.concatenate((machine_type[kept], alone)), task2machine)

    def take(self, solution: Provisioning) -> None:
        """Start from another solution; which of a class's tasks it names on a machine does not matter."""
        instance = self.instance
        nameless = replace(solution, task2machine=None)
        order = nameless.with_tasks(instance.replace(task2class=None, task_names=None))
        assert order.task2machine is not None
        self._link(np.repeat(solution.machine_type, solution.repeat), order.task2machine)
        self._remember()

    def _remember(self) -> None:
        self._cheapest = (self.cost, self.machines.machine_type.copy(), self._task2machine())

    def _link(self, machine_type: IntArray, task2machine: IntArray) -> None:
        """Build the linked lists, with a few slots that rent nothing."""
        num_machines = machine_type.shape[0]
        spare = max(2, num_machines // 20)
        types = np.concatenate((machine_type, np.full(spare, EMPTY, np.int64)))
        head = np.full(num_machines + spare, EMPTY, np.int64)
        following = np.full(task2machine.shape[0], EMPTY, np.int64)
        order = np.argsort(task2machine, kind="stable")
        machine = task2machine[order]
        last = np.append(machine[1:] != machine[:-1], True)
        following[order[:-1]] = np.where(last[:-1], EMPTY, order[1:])
        first = np.append(True, machine[1:] != machine[:-1])
        head[machine[first]] = order[first]
        self.machines = Machines(self.task_class, types, head, following)

    def _task2machine(self) -> IntArray:
        """(T,) int64: follow all lists at once, one task of each a round."""
        task2machine = np.full(self.task_class.shape[0], EMPTY, np.int64)
        _, _, head, following = self.machines
        machine = np.flatnonzero(head >= 0)
        task = head[machine]
        while task.size:
            task2machine[task] = machine
            task = following[task]
            machine, task = machine[task >= 0], task[task >= 0]
        return task2machine

    def _compact(self, is_merging: bool) -> None:
        """Drop slots that rent nothing and, if asked, join machines into larger ones that cost and hold as much."""
        types = self.machines.machine_type.copy()
        target = np.arange(types.shape[0])
        for small, large, number in self.merges if is_merging else ():
            members = np.flatnonzero((types == small) & (target == np.arange(target.shape[0])))
            groups = members[: members.size // number * number].reshape(-1, number)
            types[groups[:, 0]] = large
            types[groups[:, 1:]] = EMPTY
            for column in range(1, number):
                target[groups[:, column]] = groups[:, 0]
        root = target
        while not np.array_equal(root, root[root]):
            root = root[root]
        rented = types >= 0
        number_of = np.cumsum(rented) - 1
        self._link(types[rented], number_of[root[self._task2machine()]])
