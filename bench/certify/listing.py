"""The contents that a machine of a solution with so many machines may have, dropped by prices until none is left.

At any prices of tasks let no content be worth more than M >= 0. The machines of a solution hold all tasks, m - 1 of them no
more than (m - 1) M: each of m machines holds something worth at least what all tasks are worth less (m - 1) M. The first prices
make a list, decisions and all prices drop contents from it. Without contents there is no solution. One type, one resource.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.errors import SolutionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Entries of the table, 8 bytes each; contents of a list; sums of prices stay within 64 bits. Less than any content is worth.
MOST_ENTRIES, MOST_LISTED, LARGEST, NEVER = 2**26, 200_000, 2**58, -(2**61)


def remaining(
    sizes: Sequence[int],
    capacity: int,
    spare: int,
    machines: int,
    pairs: Iterable[tuple[int, int, bool]],
    prices: Sequence[Sequence[int]],
) -> tuple[int, int]:
    """Return how many contents were listed, and how many are left.

    sizes : of the tasks. spare : what a machine leaves free at most. pairs : two tasks, and whether they are together.

    Raises
    ------
    SolutionError
        if prices are not one a task, sums would leave 64 bits, or the list is too long to be made.
    """
    if not prices or any(len(row) != len(sizes) or sum(map(abs, row)) > LARGEST for row in prices):
        raise SolutionError(
            f"listed: give prices, one for each of {len(sizes)} tasks, that add up to {LARGEST} at most."
        )
    rows = np.array(prices, np.int64)
    contents = _listed(np.array(sizes, np.int64), rows[0], capacity, spare, machines)
    number = contents.shape[0]
    for s, t, together in pairs:
        contents = contents[contents[:, s] == contents[:, t] if together else ~(contents[:, s] & contents[:, t])]
    for row in rows:
        worth = contents @ row
        contents = contents[worth >= int(row.sum()) - (machines - 1) * int(worth.max(initial=0))]
    return number, contents.shape[0]


def _listed(sizes: np.ndarray, price: np.ndarray, capacity: int, spare: int, machines: int) -> np.ndarray:
    """(P, n) bool: the contents that are worth enough at the first prices. O(n C), and n for each content."""
    num = sizes.shape[0]
    if (num + 1) * (capacity + 1) > MOST_ENTRIES:
        raise SolutionError(f"listed: {num} tasks on a capacity of {capacity} are too many to make a list.")
    # The most that the tasks from one on are worth on what is free.
    most = np.full((num + 1, capacity + 1), NEVER)
    most[num, : max(0, min(spare, capacity) + 1)] = 0
    for i in range(num - 1, -1, -1):
        most[i] = most[i + 1]
        if sizes[i] <= capacity:
            with_it = most[i + 1, : capacity + 1 - sizes[i]] + price[i]
            most[i, sizes[i] :] = np.maximum(most[i, sizes[i] :], with_it)
    least = int(price.sum()) - (machines - 1) * max(0, int(most[0, capacity]))
    contents, free, worth = np.zeros((1, num), np.bool_), np.array([capacity]), np.array([0])
    for i in range(num):
        both = np.concatenate((contents, contents))
        both[contents.shape[0] :, i] = True
        free, worth = np.concatenate((free, free - sizes[i])), np.concatenate((worth, worth + price[i]))
        rest = most[i + 1, free.clip(0)]
        good = (free >= 0) & (rest > NEVER // 2) & (worth + rest >= least)
        contents, free, worth = both[good], free[good], worth[good]
        if contents.shape[0] > MOST_LISTED:
            raise SolutionError(f"listed: more than {MOST_LISTED} contents are worth enough; give better prices.")
    return contents
