"""A lower bound from class prices, proven by exact pricing: nobody needs to trust a solver for it.

Weak duality of the pattern model: if no content of a machine type k is worth more than its price, every solution costs at
least the worth of all tasks. Where some content is worth more, all class prices are scaled down until none is
(Farley's bound).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.objective import price_step
from schedgap.instances.provisioning.pricing import MAX_WORTH, UNLIMITED, Pricer
from schedgap.instances.units import NANO as NANO

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from schedgap.instances.arrays import IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance

    # Whole numbers without a limit: a limit's weight times its dual may go beyond 64 bits.
    ObjectArray = NDArray[np.object_]


def dual_bound(
    instance: ProvisioningInstance, duals: IntArray, *, node_limit: int = UNLIMITED, pricer: Pricer | None = None
) -> int:
    """Return a proven lower bound, in micro-dollars per hour, on every solution.

    duals : (C,) int64, nano-dollars (1e-3 micro-dollars) per hour for one task of each class, not negative; any such
        numbers give a valid bound. node_limit : for the branch and bound of each type; the bound stays valid, but may
        be weaker.

    Raises
    ------
    InstanceError
        if a dual is negative, the shapes differ, what a machine holds is worth 2**62 or more, or the instance has
        interference (a machine then costs more than its price, and the bound would not be wrong but would ignore it).
    """
    duals = np.asarray(duals, np.int64)
    if instance.throughput is not None:
        raise InstanceError(f"{instance.name}: the dual bound does not price interference; drop `throughput`.")
    if duals.shape != (instance.num_classes,) or (duals < 0).any():
        raise InstanceError(f"{instance.name}: expected {instance.num_classes} duals, none negative.")
    target = shifted_target(instance, np.zeros(instance.num_types, object))
    priced = (pricer or Pricer(instance)).price(duals, target, node_limit)
    return scaled_bound(instance, int(duals.astype(object) @ instance.counts), priced.upper)


def shifted_target(instance: ProvisioningInstance, shift: ObjectArray) -> IntArray:
    """(K,) int64, nano-dollars: each machine type's price less `shift`, for pricing; cut to 0..2**62."""
    left = [int(price) * NANO - int(less) for price, less in zip(instance.price, shift, strict=True)]
    return np.array([min(max(target, 0), MAX_WORTH) for target in left], np.int64)


def scaled_bound(instance: ProvisioningInstance, worth: int, upper: IntArray | ObjectArray) -> int:
    """Scale the worth of all tasks (nano-dollars) by the worst ratio of a type's price to `upper`, its dearest content.

    Returns micro-dollars, rounded up to `price_step`; exact integers throughout.
    """
    nano = [int(p) * NANO for p in instance.price]
    scaled = min([worth, *(worth * p // int(u) for p, u in zip(nano, upper, strict=True) if u > p)])
    step = price_step(instance) * NANO
    return max(0, -(-scaled // step)) * price_step(instance)
