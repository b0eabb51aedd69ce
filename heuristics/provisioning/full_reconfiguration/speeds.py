"""Machine families of different speeds (Eva, section 4.2, heterogeneous resources): prices of an iteration."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.errors import MethodError

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance

MAX_PRICE = 2**53


def iteration_prices(instance: ProvisioningInstance, speeds: str) -> IntArray:
    """Return (K,) int64: prices of the types per iteration instead of per hour, times one whole number for all.

    With a speed for each family the reservation price of a task is the least of these prices over the types that fit it,
    and what it pays on a machine, that price times the machine's speed, reaches the hourly price where the sum of these
    prices reaches the machine's: so Algorithm 1 is the same, with prices of iterations in place of prices of hours.

    speeds : `FAMILY:SPEED`, with blanks between; to three decimals, 1 for a family that is not named.

    Raises
    ------
    MethodError
        for a family that the instance does not have, or a speed that is none.
    """
    speed = dict.fromkeys(instance.families, 1000)
    for entry in speeds.split():
        family, _, text = entry.partition(":")
        if family not in speed:
            raise MethodError(f"speeds names family '{family:.60}'; the instance has {', '.join(instance.families)}.")
        speed[family] = _thousandths(family, text)
    whole = math.lcm(*speed.values())
    if int(instance.price.max()) * whole // min(speed.values()) > MAX_PRICE:
        raise MethodError(f"speeds '{speeds:.60}' have no common multiple that prices bear; give rounder ones.")
    factor = np.array([whole // speed[family] for family in instance.families])
    prices: IntArray = instance.price * factor[instance.type2family]
    return prices


def _thousandths(family: str, text: str) -> int:
    try:
        thousandths = Decimal(text) * 1000
        if not 0 < thousandths <= 1_000_000 or thousandths % 1:
            raise InvalidOperation
    except InvalidOperation:
        raise MethodError(
            f"the speed of family {family} is '{text:.60}'; give a number above 0, at most 1000, to three decimals."
        ) from None
    return int(thousandths)
