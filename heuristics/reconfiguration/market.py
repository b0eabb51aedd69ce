"""What can be rented."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Market:
    """What can be rented, known from the start.

    Letters used for shapes: K machine types, F machine families, R resources.

    type2family : (K,) int64. capacity : (K, R) int64. price : (K,) int64, micro-dollars per hour.
    acquire_s, setup_s : (K,) int64 seconds, from an order until a machine is paid, and from then until it runs tasks.
    """

    resources: tuple[str, ...]
    families: tuple[str, ...]
    type_names: tuple[str, ...]
    type2family: IntArray
    capacity: IntArray
    price: IntArray
    acquire_s: IntArray
    setup_s: IntArray
    period_s: int
