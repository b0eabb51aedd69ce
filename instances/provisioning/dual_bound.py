"""A lower bound from class prices, proven by exact pricing: nobody needs to trust a solver for it.

Weak duality of the pattern model: if no content of a machine type k is worth more than its price, every solution costs at
least the worth of all tasks. Where some content is worth more, all class prices are scaled down until none is
(Farley's bound). With limits on how many machines of certain types are rented, a price may also be put on a limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.objective import price_step
from schedgap.instances.provisioning.pricing import MAX_WORTH, UNLIMITED, Pricer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from schedgap.instances.arrays import IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance

    # Whole numbers without a limit: a limit's weight times its dual may go beyond 64 bits.
    ObjectArray = NDArray[np.object_]

NANO = 1000


@dataclass(frozen=True, slots=True)
class Limit:
    """A price on a limit: low <= sum_k weight[k] (machines of type k) <= high, nano-dollars for each unit of weight.

    A positive dual prices `low`, a negative one `high`; that side must be given.
    """

    weight: tuple[int, ...]
    low: int | None
    high: int | None
    dual: int

    @property
    def worth(self) -> int:
        """What the limit adds to the bound, in nano-dollars."""
        side = self.low if self.dual > 0 else self.high
        if self.dual and side is None:
            raise InstanceError(f"a limit with dual {self.dual} lacks the side that the dual prices; give it.")
        return self.dual * side if side is not None else 0


def dual_bound(
    instance: ProvisioningInstance,
    duals: IntArray,
    limits: tuple[Limit, ...] = (),
    *,
    node_limit: int = UNLIMITED,
    pricer: Pricer | None = None,
) -> int:
    """Return a proven lower bound, in micro-dollars per hour, on every solution that respects `limits`.

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
    shift = limit_shift(instance, limits)
    priced = (pricer or Pricer(instance)).price(duals, shifted_target(instance, shift), node_limit)
    worth = int(duals.astype(object) @ instance.counts) + sum(limit.worth for limit in limits)
    return scaled_bound(instance, worth, priced.upper + shift)


def limit_shift(instance: ProvisioningInstance, limits: tuple[Limit, ...]) -> ObjectArray:
    """(K,) whole numbers of any size, nano-dollars: by how much the limits' duals lower each machine type's price."""
    shift = np.zeros(instance.num_types, object)
    for limit in limits:
        if len(limit.weight) != instance.num_types:
            raise InstanceError(
                f"{instance.name}: a limit has {len(limit.weight)} weights for {instance.num_types} machine types."
            )
        shift += np.array(limit.weight, object) * limit.dual
    return shift


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
