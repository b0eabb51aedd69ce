"""The cheapest machines of each total size, one machine more at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.jit import kernel
from schedgap.instances.units import NEVER

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray


@kernel
def add_machine(size: IntArray, price: IntArray, before: IntArray, after: IntArray) -> None:
    """Find the least price of n + 1 machines of each total size, from that of n.

    size : (K, 2), steps of two resources. price : (K,). before : (A, B), the least price of n machines whose sizes add up to
    (a, b), `NEVER` where none do; the last row and column stand for all that is larger. after : (A, B), out. O(A B K).
    """
    last_a, last_b = before.shape[0] - 1, before.shape[1] - 1
    after[:] = NEVER
    for a in range(last_a + 1):
        for b in range(last_b + 1):
            paid = before[a, b]
            if paid == NEVER:
                continue
            for k in range(price.shape[0]):
                more_a, more_b = min(last_a, a + size[k, 0]), min(last_b, b + size[k, 1])
                after[more_a, more_b] = min(after[more_a, more_b], paid + price[k])
