"""Kinds of machines to choose from: types to rent, and groups of running machines that are alike; plans of such machines.

A running machine is worth keeping for what it costs and for the tasks that need not move, so pricing sees it as a machine
family of its own, on which some tasks of each class, those that are there, count as staying.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.provisioning.classes import with_classes
from schedgap.instances.provisioning.running import ANY_NUMBER
from schedgap.instances.provisioning.solution import NEW, Provisioning

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """J kinds: the K machine types first, then G groups of running machines of equal type and content.

    machine_type : (J,) int64. limit : (J,) int64, how many there are, -1 for any number; the stock of a type counts its
    running machines, too. before : (G, C) int64, what is on each machine of a group. members : G arrays of running
    machines. stay : tasks that must stay on their machines, at least.
    """

    instance: ProvisioningInstance
    machine_type: IntArray
    limit: IntArray
    before: IntArray
    members: tuple[IntArray, ...]
    stay: int

    @property
    def num_types(self) -> int:
        """Number of machine types, the first kinds."""
        return self.instance.num_types

    def staying(self, kind: IntArray, content: IntArray) -> IntArray:
        """(P, C) int64: of contents (P, C) of machines of these kinds (P,), the tasks that were there before."""
        stays = np.zeros_like(content)
        runs = kind >= self.num_types
        stays[runs] = np.minimum(content[runs], self.before[kind[runs] - self.num_types])
        return stays

    def expanded(self) -> tuple[ProvisioningInstance, IntArray, IntArray]:
        """Return an instance whose machine types are the kinds, for pricing.

        Its classes are those of the instance, and after them a twin of each class for the tasks that stay, which is allowed
        on groups only. With it (S,) int64, the class of each twin, and (F + G, C + S) int64, how many of each class a
        machine of each family holds at most.
        """
        instance, num_families = self.instance, len(self.instance.families)
        num_groups, num_classes = self.before.shape
        family_of_group = instance.type2family[self.machine_type[self.num_types :]]
        fits = instance.fits()[self.machine_type[self.num_types :]]
        twins = np.flatnonzero(((self.before > 0) & fits).any(axis=0))
        demand = np.full((num_families + num_groups, num_classes + twins.size, len(instance.resources)), -1, np.int64)
        demand[:num_families, :num_classes] = instance.demand
        demand[num_families:, :num_classes] = instance.demand[family_of_group]
        stays = (self.before[:, twins] > 0) & fits[:, twins]
        demand[num_families:, num_classes:][stays] = instance.demand[family_of_group][:, twins][stays]
        most = np.zeros(demand.shape[:2], np.int64)
        together = instance.most_together
        stay = np.minimum(self.before, together)
        # A task that stays is worth at least as much as one that comes: where only so many may share a machine, others come
        # once all that may stay do.
        most[:, :num_classes] = together
        most[num_families:, :num_classes] -= np.where(together < instance.counts, stay, 0)
        most[num_families:, num_classes:] = stay[:, twins]
        groups = tuple(f"running-{g}" for g in range(num_groups))
        expanded = with_classes(
            instance,
            demand,
            np.concatenate((instance.counts, np.maximum(self.before[:, twins].max(axis=0, initial=1), 1))),
            name=f"{instance.name}-kinds",
            families=instance.families + groups,
            type_names=instance.type_names + groups,
            type2family=np.concatenate((instance.type2family, num_families + np.arange(num_groups))),
            capacity=instance.capacity[self.machine_type],
            price=instance.price[self.machine_type],
            **dict.fromkeys(("stock", "fee", "max_moves")),
        )
        return expanded, twins, most


def kinds_of(instance: ProvisioningInstance) -> Kinds:
    """Return the kinds of an instance; running machines count only where moves are limited."""
    stock = np.full(instance.num_types, ANY_NUMBER) if instance.stock is None else instance.stock
    types = np.arange(instance.num_types)
    running = instance.running
    if instance.max_moves is None or running is None or running.size == 0:
        return Kinds(instance, types, stock, np.zeros((0, instance.num_classes), np.int64), (), 0)
    content = running.contents(instance.num_classes)
    rows, inverse = np.unique(np.column_stack((running.machine_type, content)), axis=0, return_inverse=True)
    members = tuple(np.flatnonzero(inverse.reshape(-1) == g) for g in range(rows.shape[0]))
    return Kinds(
        instance,
        np.concatenate((types, rows[:, 0])),
        np.concatenate((stock, [len(machines) for machines in members])),
        np.ascontiguousarray(rows[:, 1:]),
        members,
        int(running.count.sum()) - instance.max_moves,
    )


def plan_of(kinds: Kinds, kind: IntArray, repeat: IntArray, content: IntArray) -> Provisioning | None:
    """Return the solution of `repeat` (P,) machines of each kind (P,) with contents (P, C); None if a class is not covered.

    Contents may cover a class too often: what is too much is taken off again, never a task that stays, of which there are
    no more than the class has.
    """
    types, keeps, rows, stays = [], [], [], []
    used = [0] * len(kinds.members)
    for p in np.flatnonzero(repeat > 0).tolist():
        number, j = int(repeat[p]), int(kind[p])
        group = j - kinds.num_types
        stay = kinds.staying(kind[p : p + 1], content[p : p + 1])[0]
        for _ in range(number):
            types.append(int(kinds.machine_type[j]))
            keeps.append(int(kinds.members[group][used[group]]) if group >= 0 else NEW)
            if group >= 0:
                used[group] += 1
            rows.append(content[p])
            stays.append(stay)
    if not rows:
        return None
    matrix = np.array(rows, np.int64)
    surplus = matrix.sum(axis=0) - kinds.instance.counts
    if (surplus < 0).any():
        return None
    _trim(matrix, np.array(stays, np.int64), surplus)
    return _grouped(np.array(types), np.array(keeps), matrix)


def _trim(matrix: IntArray, stays: IntArray, surplus: IntArray) -> None:
    """Take tasks off that are too many, from the last machines first; in place."""
    for c in np.flatnonzero(surplus).tolist():
        free = (matrix[:, c] - stays[:, c])[::-1]
        taken = np.diff(np.minimum(np.cumsum(free), surplus[c]), prepend=0)[::-1]
        matrix[:, c] -= taken


def _grouped(types: IntArray, keeps: IntArray, matrix: IntArray) -> Provisioning:
    """Group the newly rented machines that are alike; machines without tasks go."""
    used = matrix.any(axis=1)
    types, keeps, matrix = types[used], keeps[used], matrix[used]
    rows, first, repeat = np.unique(
        np.column_stack((keeps, types, matrix)), axis=0, return_index=True, return_counts=True
    )
    plan = Provisioning.from_patterns(types[first], repeat, matrix[first])
    return Provisioning(plan.machine_type, plan.repeat, plan.indptr, plan.task_class, plan.count, keeps=rows[:, 0])
