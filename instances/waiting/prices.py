"""Prices and sizes of the paper's machines: Amazon's m5 family (Waiting Game, sections II, V and VI).

All sizes cost the same per core and have 4 GiB a core. The eight size classes of the authors' simulator end at 64 cores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.documents.amounts import to_units
from schedgap.instances.errors import InstanceError
from schedgap.instances.units import DOLLAR

if TYPE_CHECKING:
    from typing import Any

CORE_HOUR = 48_000
MIB_PER_CORE = 4096
SIZES = np.array([1, 2, 4, 8, 16, 32, 48, 64])
# What a machine reserved for three years costs beside the same machine on demand.
DISCOUNT = 0.4
# Of a spot machine beside the same machine on demand; section IV-D says 10 to 20%.
SPOT_PRICE = 0.15


def m5(machine_cores: int, discount: float) -> dict[str, Any]:
    """Return the fields of an instance that tell of machines: fixed ones of `machine_cores`, and m5 on demand.

    Raises
    ------
    InstanceError
        for a discount outside 0 to 1, or no cores.
    """
    check_discount(discount)
    if machine_cores < 1:
        raise InstanceError(f"machine_cores is {machine_cores}; a fixed machine has at least one core.")
    return {
        "machine_cores": machine_cores,
        "machine_memory_mib": machine_cores * MIB_PER_CORE,
        "fixed_price": round(machine_cores * CORE_HOUR * discount),
        "rented_cores": SIZES,
        "rented_memory_mib": SIZES * MIB_PER_CORE,
        "rented_price": SIZES * CORE_HOUR,
    }


def waiting(wait_price: float, max_wait_h: float) -> dict[str, Any]:
    """Return the fields of an instance that tell what waiting costs, from dollars an hour and hours.

    max_wait_h : below 0 for no limit.
    """
    return {
        "wait_price": int(to_units(wait_price, DOLLAR, "wait_price", InstanceError)),
        "max_wait_us": None
        if max_wait_h < 0
        else int(to_units(max_wait_h, 3_600_000_000, "max_wait_h", InstanceError)),
    }


def check_discount(discount: float) -> None:
    """Refuse a share of the on-demand price that is none.

    Raises
    ------
    InstanceError
        outside 0 to 1.
    """
    if not 0 < discount <= 1:
        raise InstanceError(f"discount is {discount:g}; give the fixed price as a share of the on-demand one, 0 to 1.")
