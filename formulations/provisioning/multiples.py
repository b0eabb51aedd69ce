"""Machine types of which several hold and cost as much as one larger type of the same family.

Where only so many tasks of a class may share a machine, one large machine does not hold what several hold: there are none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.arrays import first_true
from schedgap.instances.provisioning.solution import Provisioning

if TYPE_CHECKING:
    from schedgap.instances.provisioning.model import ProvisioningInstance


def type_multiples(instance: ProvisioningInstance) -> list[tuple[int, int, int]]:
    """Return (small, large, number): `number` machines of the small type cost and hold as much as one large; by size."""
    merges: list[tuple[int, int, int]] = []
    if instance.per_machine is not None:
        return merges
    for small in range(instance.num_types):
        for large in range(instance.num_types):
            number, rest = divmod(int(instance.price[large]), int(instance.price[small]))
            if (
                number >= 2
                and rest == 0
                and instance.type2family[small] == instance.type2family[large]
                and (instance.capacity[large] // number >= instance.capacity[small]).all()
            ):
                merges.append((small, large, number))
    return sorted(merges, key=lambda merge: (int(instance.price[merge[0]]), merge[2]))


def joined_pairs(instance: ProvisioningInstance) -> list[tuple[int, int, int]]:
    """Return pairs of different types of a family, and a third type of which one costs and holds as much as one of each."""
    pairs: list[tuple[int, int, int]] = []
    if instance.per_machine is not None:
        return pairs
    for a in range(instance.num_types):
        for b in np.flatnonzero(instance.type2family[:a] == instance.type2family[a]).tolist():
            same = (instance.type2family == instance.type2family[a]) & (instance.price == instance.price[[a, b]].sum())
            large = first_true(same & (instance.capacity >= instance.capacity[[a, b]].sum(axis=0)).all(axis=1))
            if large is not None:
                pairs.append((b, a, large))
    return pairs


def with_large_machines(instance: ProvisioningInstance, solution: Provisioning) -> Provisioning:
    """Join small machines into larger ones that hold and cost as much, as long as there are enough of a type."""
    types, content = solution.machines(instance.num_classes)
    for small, large, number in type_multiples(instance):
        members = np.flatnonzero(types == small)
        joined = members[: members.size // number * number].reshape(-1, number)
        content[joined[:, 0]] = content[joined].sum(axis=1)
        types[joined[:, 0]], types[joined[:, 1:]] = large, -1
    return Provisioning.from_machines(types[types >= 0], content[types >= 0])
