"""Which machines cost the gap: a machine loses what its price is above the worth of its tasks at a bound's prices.

The prices are those of the relaxation of `column-generation`, after half a second at most, and scaled down until no content of
a machine is worth more than the machine. So no loss is negative, and since the bound is the worth of all tasks, the losses
add up to the objective less that bound, in exact arithmetic.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.gap_split import SPLITTERS
from schedgap.formulations.provisioning.column_generation.relaxation import FIRST_NODE_LIMIT, Relaxation
from schedgap.formulations.provisioning.limits import too_expensive
from schedgap.instances.errors import SchedgapError
from schedgap.instances.picture import Loss, Split
from schedgap.instances.provisioning.classes import merge_equal_classes
from schedgap.instances.provisioning.dual_bound import NANO
from schedgap.instances.provisioning.model import FAMILY
from schedgap.instances.provisioning.objective import objective
from schedgap.instances.units import DOLLAR

if TYPE_CHECKING:
    from schedgap.instances.provisioning.model import ProvisioningInstance
    from schedgap.instances.provisioning.solution import Provisioning

# More classes than these have no prices within the seconds that a picture may take.
MAX_CLASSES, TIME_LIMIT_S = 400, 0.5
# Types that are told apart, those that lose the most first.
MAX_TYPES = 12


def split(instance: ProvisioningInstance, solution: Provisioning) -> Split | None:
    """Return the losses by machine type; what interference costs is a row of its own."""
    try:
        worth = class_prices(instance)
    except SchedgapError:
        # Prices too far apart for the solver, or contents worth more than 62 bits hold.
        return None
    if worth is None:
        return None
    machines, prices, worths = ([0] * instance.num_types for _ in range(3))
    for g, (k, repeat) in enumerate(zip(solution.machine_type.tolist(), solution.repeat.tolist(), strict=True)):
        inside = slice(int(solution.indptr[g]), int(solution.indptr[g + 1]))
        content = zip(solution.task_class[inside].tolist(), solution.count[inside].tolist(), strict=True)
        machines[k] += repeat
        prices[k] += repeat * int(instance.price[k]) * NANO
        worths[k] += repeat * sum(count * worth[c] for c, count in content)
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
    """Return what a task of each class is worth, nano-dollars an hour; None for too many classes, or too large prices.

    Whatever fits a machine of any type is worth at most the machine's price.
    """
    merged = merge_equal_classes(instance if instance.throughput is None else instance.replace(throughput=None))
    if merged.instance.num_classes > MAX_CLASSES or too_expensive(merged.instance) is not None:
        return None
    relaxation = Relaxation(merged.instance)
    relaxation.solve(time.perf_counter() + TIME_LIMIT_S)
    price = [int(each) * NANO for each in merged.instance.price]
    upper = relaxation.pricer.price(relaxation.proof, merged.instance.price * NANO, FIRST_NODE_LIMIT).upper.tolist()
    # The worst ratio by products: quotients would be floats.
    have, need = 1, 1
    for has, needs in zip(price, upper, strict=True):
        if has * need < have * needs:
            have, need = has, needs
    worth = [int(each) * have // need for each in relaxation.proof]
    return [worth[c] for c in merged.class2merged.tolist()]


def _loss(name: str, count: int, price: int, worth: int) -> Loss:
    return Loss(name, count, price / NANO / DOLLAR, worth / NANO / DOLLAR)
