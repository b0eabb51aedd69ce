"""Classes of which only so many tasks may share a machine, as rows of programs.

A row for each class and machine type would be exact; of many classes that differ in little, few rows say nearly as much:
those of the classes that need the most machines of all that fit the same types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.provisioning.running import ANY_NUMBER

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance


def classes_apart(instance: ProvisioningInstance) -> IntArray:
    """Return the classes of which only so many tasks may share a machine."""
    if instance.per_machine is None:
        return np.empty(0, np.int64)
    return np.flatnonzero(instance.per_machine != ANY_NUMBER)


def machines_apart(instance: ProvisioningInstance) -> IntArray:
    """(C,) int64: on how many machines at least the tasks of each class are."""
    machines: IntArray = -(-instance.counts // instance.most_together)
    return machines


def hardest_apart(instance: ProvisioningInstance) -> IntArray:
    """Return those of `classes_apart` that need the most machines of all that fit the same types; the first of equal ones."""
    apart = classes_apart(instance)
    machines, fits = machines_apart(instance), instance.fits()
    hardest: dict[bytes, int] = {}
    for c in apart[np.argsort(-machines[apart], kind="stable")].tolist():
        hardest.setdefault(fits[:, c].tobytes(), c)
    return np.sort(np.array(list(hardest.values()), np.int64))


def fewest_machines(instance: ProvisioningInstance, fits: BoolArray) -> int:
    """Return micro-dollars: what so many machines cost at least as the classes that are kept apart need.

    Of classes that fit no machine type in common the machines are different ones, and their prices add up. fits : (K, C).
    O(C K), and C^2 K at worst for the distinct sets of types.
    """
    apart = classes_apart(instance)
    paid = machines_apart(instance).astype(object) * instance.reservation_price
    best: dict[bytes, int] = {}
    for c in apart[np.argsort(-paid[apart], kind="stable")].tolist():
        best.setdefault(fits[:, c].tobytes(), c)
    used, total = np.zeros(instance.num_types, np.bool_), 0
    for c in best.values():
        if not (used & fits[:, c]).any():
            used |= fits[:, c]
            total += int(paid[c])
    return total
