"""What an optimal solution can do without: machine types in whose place others are as good, and differences of tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.provisioning.classes import Merged, merge_equal_classes
from schedgap.instances.provisioning.offer import anew
from schedgap.instances.provisioning.running import ANY_NUMBER

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance
    from schedgap.instances.provisioning.solution import Provisioning


@dataclass(frozen=True, slots=True, eq=False)
class Offered:
    """An instance with fewer machine types. kept : (K',) int64, of the source's types, in the order of the instance's."""

    instance: ProvisioningInstance
    kept: IntArray

    def restore(self, solution: Provisioning) -> Provisioning:
        """Return the same solution of the source."""
        return replace(solution, machine_type=self.kept[solution.machine_type])


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """An instance with equal classes merged, dominated types dropped, and what then is equal merged again."""

    instance: ProvisioningInstance
    steps: tuple[Merged, Offered, Merged]

    def restore(self, solution: Provisioning) -> Provisioning:
        """Return the same solution of the source."""
        for step in reversed(self.steps):
            solution = step.restore(solution)
        return solution


def reduced(instance: ProvisioningInstance) -> Reduced:
    """Reduce an instance; what runs and limits on moves go. Classes may differ on dropped machine families only."""
    first = merge_equal_classes(anew(instance))
    offered = without_dominated(first.instance)
    last = merge_equal_classes(offered.instance)
    return Reduced(last.instance, (first, offered, last))


def without_dominated(instance: ProvisioningInstance) -> Offered:
    """Drop each machine type in place of which another is as good; exact without interference and limits on moves.

    Another is, if any number of it can be had, it costs no more, has no less of any resource, and each task that may run on
    the one may run on the other and demands no more there. Of equal types the first stays. O(K^2 R + F^2 C R).
    """
    price, capacity, family = instance.price, instance.capacity, instance.type2family
    demand, allowed = instance.demand, instance.demand[:, :, 0] >= 0
    takes = np.array(
        [
            [bool(b[a].all() and (d[a] >= e[a]).all()) for b, e in zip(allowed, demand, strict=True)]
            for a, d in zip(allowed, demand, strict=True)
        ]
    )
    stock = np.full(instance.num_types, ANY_NUMBER) if instance.stock is None else instance.stock
    kept: list[int] = []
    for k in np.lexsort((np.arange(instance.num_types), -capacity.sum(axis=1), stock != ANY_NUMBER, price)).tolist():
        others = np.array(kept, np.int64)
        better = takes[family[k], family[others]] & (capacity[others] >= capacity[k]).all(axis=1)
        if not (better & (stock[others] == ANY_NUMBER)).any():
            kept.append(k)
    order = np.sort(np.array(kept, np.int64))
    if order.size == instance.num_types:
        return Offered(instance, order)
    families = np.array(list(dict.fromkeys(family[order].tolist())))
    place = np.full(len(instance.families), -1)
    place[families] = np.arange(families.size)
    fewer = instance.replace(
        type_names=tuple(instance.type_names[k] for k in order),
        type2family=place[family[order]],
        families=tuple(instance.families[f] for f in families),
        capacity=capacity[order],
        price=price[order],
        fee=None,
        stock=None if instance.stock is None else stock[order],
        running=None,
        demand=demand[families],
        job_value=instance.job_value,
    )
    return Offered(fewer, order)
