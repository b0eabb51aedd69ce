"""Which machines could be of use to `clairvoyant-program`: types that no other type replaces, and how many of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.provisioning.running import ANY_NUMBER

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.reconfiguration.model import ReconfigurationInstance


def slots(instance: ReconfigurationInstance) -> tuple[IntArray, IntArray]:
    """Return the type of each slot and which one of its type it is: as many as could be of use at a time.

    No type takes longer than a period and the termination to acquire. A type is left out if another, no dearer and no
    slower, that never runs out, holds whatever it holds.
    """
    fits = allowed(instance)
    ample = _ample(instance, fits)
    kept = np.flatnonzero(fits.any(axis=1)).tolist()
    # One after the other, so that of types that replace each other one stays.
    for k in reversed(list(kept)):
        if any(_replaces(instance, fits, ample, other, k) for other in kept if other != k):
            kept.remove(k)
    # Two machines at a time that each could hold everything would not be dearer as one. No machine is ever empty.
    copies = [1 if ample[k].all() else int(instance.num_tasks @ fits[k]) for k in kept]
    if (stock := instance.catalogue.stock) is not None:
        # One at least, so that there are variables; the program's rows know better.
        copies = [
            n if stock[k] == ANY_NUMBER else max(min(n, int(stock[k])), 1) for k, n in zip(kept, copies, strict=True)
        ]
    return np.repeat(np.array(kept, np.int64), copies), np.concatenate([np.arange(number) for number in copies])


def allowed(instance: ReconfigurationInstance) -> BoolArray:
    """(K, J): whether a task of the job fits a machine of the type."""
    demand = _demand(instance)
    fits: BoolArray = (demand >= 0) & (demand <= instance.catalogue.capacity[:, None])
    everywhere: BoolArray = np.all(fits, axis=2)
    return everywhere


def _demand(instance: ReconfigurationInstance) -> IntArray:
    """(K, J, R): of a task of the job on a machine of the type."""
    catalogue = instance.catalogue
    return catalogue.demand[catalogue.type2family][:, instance.job2class]


def _ample(instance: ReconfigurationInstance, fits: BoolArray) -> BoolArray:
    """(K, R): whether the type has enough of the resource for all tasks that fit it, together."""
    total = (_demand(instance) * (fits * instance.num_tasks)[:, :, None]).sum(axis=1)
    found: BoolArray = np.less_equal(total, instance.catalogue.capacity)
    return found


def _replaces(instance: ReconfigurationInstance, fits: BoolArray, ample: BoolArray, other: int, k: int) -> bool:
    """Whether each machine of type k could be one of the other type, for all that matters."""
    capacity, price = instance.catalogue.capacity, instance.catalogue.price
    slower = instance.acquire_s[other] != instance.acquire_s[k] or instance.setup_s[other] > instance.setup_s[k]
    runs_out = instance.catalogue.stock is not None and instance.catalogue.stock[other] != ANY_NUMBER
    if slower or runs_out or price[other] > price[k] or (fits[k] & ~fits[other]).any():
        return False
    demand = _demand(instance)[:, fits[k]]
    roomier: BoolArray = (demand[other] <= demand[k]).all(axis=0) & (capacity[other] >= capacity[k])
    return bool((ample[other] | roomier).all())
