"""Prices of presence from prices of resources: machines as a fluid, of every spell at once.

At prices of the resources of each machine type at which no machine is worth more than it costs (`resource_bound.py` of
provisioning), a task of a class is worth what it takes on the type where that is least. So no content of a machine is worth
more than the machine, whoever is there: prices that are found for one spell hold in all others. They need no search for
contents, which machines of many small tasks make hopeless. Where tasks are small, they are nearly as good as prices of contents.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from schedgap.formulations.provisioning.bounds import type_blocks
from schedgap.formulations.provisioning.pooled.packing import reduced
from schedgap.formulations.provisioning.pooled.program import Pooled
from schedgap.formulations.provisioning.resource_bound import PRICE_SCALE, block_worths
from schedgap.formulations.reconfiguration.contents import NANO
from schedgap.formulations.reconfiguration.presence import Spells
from schedgap.formulations.reconfiguration.spell_prices import Offer
from schedgap.instances.arrays import IntArray
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.classes import with_classes
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.reconfiguration.model import ReconfigurationInstance

# Spells between two are priced, too, where prices of others prove less than this share of what their own would.
NEAR = 1e-4
# Seconds for whole machines of a moment, and of all where no limit is given.
MOMENT_S, WHOLE_S = 1.0, 60.0
# The class that is there the most counts as so many tasks that are not there.
PRESENT = 10_000


def fluid_prices(
    instance: ReconfigurationInstance, offers: list[Offer], cut: Spells, deadline: float | None
) -> IntArray:
    """(G, C) int64, nano-dollars an hour: of each spell the best prices that were found for any, 0 after the deadline.

    The first and the last spell are priced, then the middle of two, for as long as that proves more than their prices do.
    """
    pool = np.zeros((1, instance.catalogue.num_classes), np.int64)
    if min(offer.price for offer in offers) < NANO:
        # Below a micro-dollar: no type costs so little in a price list.
        return np.repeat(pool, cut.number, axis=0)
    catalogue = _catalogue(instance, offers)
    presence = cut.presence.astype(np.float64)
    known: set[int] = set()
    to_do = [(0, cut.number - 1)]
    while to_do:
        low, high = to_do.pop(0)
        middle, is_near = (low + high) // 2, True
        for g in sorted({low, middle, high} - known):
            left_s = None if deadline is None else deadline - time.perf_counter()
            counts = cut.presence[g] * PRESENT // cut.presence[g].max() + 1
            worth = None if left_s is not None and left_s <= 0 else _worths(catalogue, counts, left_s)
            if worth is None:
                return _best(pool, presence)
            before = float((pool @ presence[g]).max())
            pool = np.vstack((pool, worth))
            known.add(g)
            is_near = is_near and float(worth @ presence[g]) <= before * (1 + NEAR)
        if not is_near:
            to_do += [part for part in ((low, middle), (middle, high)) if part[1] - part[0] > 1]
    return _best(pool, presence)


def whole_worths(
    instance: ReconfigurationInstance, cut: Spells, worths: Sequence[int], deadline: float | None
) -> list[int]:
    """Return for each spell what whole machines cost that together hold those who are there at all of its plans, or `worths`.

    The higher one counts, nano-dollars an hour times plans. All machines must be paid from their order on.
    """
    given, found = instance.catalogue, list(worths)
    end = time.perf_counter() + WHOLE_S if deadline is None else deadline
    known: dict[bytes, int] = {}
    for g in np.argsort(-cut.presence.sum(axis=1), kind="stable").tolist():
        left_s = end - time.perf_counter()
        classes = np.flatnonzero(cut.least[g])
        if left_s <= 0 or not classes.size:
            continue
        counts = cut.least[g][classes]
        key = cut.least[g].tobytes()
        if key not in known:
            moment = with_classes(given, given.demand[:, classes], counts, workloads=(), throughput=None, stock=None)
            rented = Pooled(reduced(moment).instance, by_type=False).solve(0.0, min(left_s, MOMENT_S), 1)
            known[key] = rented.bound * NANO
        found[g] = max(found[g], known[key] * int(cut.plans[g]))
    return found


def _best(pool: IntArray, presence: np.ndarray) -> IntArray:
    chosen: IntArray = pool[np.argmax(presence @ pool.T, axis=1)]
    return chosen


def _worths(catalogue: ProvisioningInstance, counts: IntArray, left_s: float | None) -> IntArray | None:
    try:
        instance = catalogue.replace(counts=counts)
    except InstanceError:
        # Sums of demands would leave 62 bits.
        return None
    worth = block_worths(instance, type_blocks(instance, blocking=False), time_limit_s=left_s)
    return None if worth is None else np.array([each * NANO // PRICE_SCALE for each in worth], np.int64)


def _catalogue(instance: ReconfigurationInstance, offers: list[Offer]) -> ProvisioningInstance:
    """Return the offers as machine types, for tasks of all classes; prices in whole micro-dollars, rounded down."""
    given, of = instance.catalogue, np.array([offer.machine_type for offer in offers])
    family = given.type2family[of].tolist()
    used = list(dict.fromkeys(family))
    return ProvisioningInstance(
        name=instance.name,
        resources=given.resources,
        families=tuple(given.families[f] for f in used),
        type_names=tuple(str(n) for n in range(of.size)),
        type2family=np.array([used.index(f) for f in family]),
        capacity=given.capacity[of],
        price=np.array([offer.price // NANO for offer in offers]),
        demand=given.demand[used],
        counts=np.ones(given.num_classes, np.int64),
        class_names=tuple(given.class_name(c) for c in range(given.num_classes)),
    )
