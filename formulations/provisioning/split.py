"""Which machines cost the gap: a machine loses what its price is above the worth of its tasks at a bound's prices.

The prices are those of `bound-type-prices`: resources of each machine type, lowered until no pattern of a machine is worth
more than the machine. So no loss is negative, and since the bound is the worth of all tasks, the losses add up to the
objective less that bound, in exact arithmetic. Dearer prices prove more, but every run's picture asks for them.
"""

from __future__ import annotations

import numpy as np

from schedgap.formulations.gap_split import SPLITTERS
from schedgap.formulations.provisioning.bounds import type_blocks
from schedgap.formulations.provisioning.resource_bound import PRICE_SCALE, block_worths
from schedgap.instances.errors import SchedgapError
from schedgap.instances.picture import Loss, Split
from schedgap.instances.provisioning.classes import merge_equal_classes
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.pricing import NANO
from schedgap.instances.provisioning.solution import Provisioning
from schedgap.instances.provisioning.verify import objective
from schedgap.instances.units import DOLLAR

# More classes than these have no prices within the seconds that a picture may take.
MAX_CLASSES, TIME_LIMIT_S = 400, 0.5
# Types that are told apart, those that lose the most first.
MAX_TYPES = 12
# Prices by digest, so that a judge of all methods' solutions finds those of an instance once.
_KNOWN: dict[str, list[int] | None] = {}
MAX_KNOWN = 1000


def split(instance: ProvisioningInstance, solution: Provisioning) -> Split | None:
    """Return the losses by machine type; what interference costs is a row of its own."""
    if instance.digest not in _KNOWN:
        if len(_KNOWN) == MAX_KNOWN:
            _KNOWN.clear()
        try:
            _KNOWN[instance.digest] = class_prices(instance)
        except SchedgapError:
            # Prices too far apart for the solver.
            _KNOWN[instance.digest] = None
    worth = _KNOWN[instance.digest]
    if worth is None:
        return None
    machines, prices, worths = ([0] * instance.num_types for _ in range(3))
    for g, (k, repeat) in enumerate(zip(solution.machine_type.tolist(), solution.repeat.tolist(), strict=True)):
        inside = slice(int(solution.indptr[g]), int(solution.indptr[g + 1]))
        pattern = zip(solution.task_class[inside].tolist(), solution.count[inside].tolist(), strict=True)
        machines[k] += repeat
        prices[k] += repeat * int(instance.price[k]) * NANO
        worths[k] += repeat * sum(count * worth[c] for c, count in pattern)
    order = sorted(np.flatnonzero(machines).tolist(), key=lambda k: worths[k] - prices[k])
    losses = [_loss(instance.type_names[k], machines[k], prices[k], worths[k]) for k in order[:MAX_TYPES]]
    rest = order[MAX_TYPES:]
    if rest:
        losses.append(
            _loss(f"{len(rest)} other types", *(sum(each[k] for k in rest) for each in (machines, prices, worths)))
        )
    interference = objective(instance, solution) * NANO - sum(prices)
    if interference:
        losses.append(_loss("interference", 0, interference, 0))
    bound = sum(int(n) * w for n, w in zip(instance.counts, worth, strict=True))
    return Split("$/h", bound / NANO / DOLLAR, tuple(losses))


SPLITTERS[FAMILY] = split


def class_prices(instance: ProvisioningInstance) -> list[int] | None:
    """Return what a task of each class is worth, nano-dollars an hour; None for too many classes, or too little time.

    Whatever fits a machine of any type is worth at most the machine's price.
    """
    plain = instance if instance.throughput is None else instance.replace(throughput=None)
    merged = merge_equal_classes(plain)
    if merged.instance.num_classes > MAX_CLASSES:
        return None
    worth = block_worths(merged.instance, type_blocks(merged.instance, blocking=False), time_limit_s=TIME_LIMIT_S)
    return None if worth is None else [worth[c] * NANO // PRICE_SCALE for c in merged.class2merged.tolist()]


def _loss(name: str, count: int, price: int, worth: int) -> Loss:
    return Loss(name, count, price / NANO / DOLLAR, worth / NANO / DOLLAR)
