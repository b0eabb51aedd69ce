"""Up to which prices the search for contents stays within 62 bits."""

from __future__ import annotations

from schedgap.formulations.reconfiguration.kernels_items import FAR, RATE_UNIT
from schedgap.instances.reconfiguration.model import ReconfigurationInstance
from schedgap.instances.units import NANO as NANO

# Prices are nano-dollars (1e-3 micro-dollars) an hour.
LARGEST = (1 << 62) - 1
# A class is there as tasks that progress, that are only there, and that need not be there any more.
ITEMS = 3


def largest_price(instance: ReconfigurationInstance) -> int:
    """Return the largest price, micro-dollars an hour, for which contents are priced without overflow.

    A price times a rate, rounded up, stays within 62 bits; and so does what the tasks that fit a machine are worth
    together, each at most twice the dearest price (for being there and for progress), beside the rounding of resource
    prices, at most 1 for each unit of capacity.
    """
    catalogue = instance.catalogue
    largest = (LARGEST - RATE_UNIT + 1) // RATE_UNIT
    counts = catalogue.counts.tolist()
    for k, row in enumerate(catalogue.capacity.tolist()):
        tasks = 0
        for count, needs in zip(counts, catalogue.demand[catalogue.type2family[k]].tolist(), strict=True):
            if needs[0] >= 0:
                tasks += ITEMS * min([count, *(c // d for c, d in zip(row, needs, strict=True) if d > 0)])
        if tasks:
            largest = min(largest, (FAR - sum(row)) // (2 * tasks))
    return max(0, largest // NANO)


def too_dear(instance: ReconfigurationInstance) -> str | None:
    """Return why the bounds cannot take this instance, or None: prices whose sums leave 62 bits."""
    dearest, largest = int(instance.catalogue.price.max()), largest_price(instance)
    if dearest > largest:
        return (
            f"its dearest machine costs {dearest} micro-dollars an hour, of which contents would overflow 62 bits; "
            f"give at most {largest}"
        )
    return None
