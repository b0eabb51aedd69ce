"""The space of decisions of the exact search: which sets of tasks machines hold, and at what least price.

Tasks are few, and sets of them are the bits of a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.provisioning.running import ANY_NUMBER

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.reconfiguration.model import ReconfigurationInstance


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
