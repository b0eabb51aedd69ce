"""How many machines to buy: the number of the lowest cost that a search finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# Numbers tried between two neighbours of the best so far.
POINTS = 7
# How far beyond the most that are of use numbers are tried, so that the best has neighbours on both sides.
MARGIN = 4
# All numbers this near to the best are tried in the end.
NEAR = 2


def cheapest_number(
    cost: Callable[[int], int], least: int, machine_cost: int, most: int | None = None
) -> tuple[int, int, int]:
    """Return the number of machines of the lowest cost found, that cost, and how many numbers were tried.

    Tries `least` and then 1, 2, 4, ... while that many machines alone cost less than the best so far, which is when no
    larger number can be better, or `most` are passed; then evenly spaced numbers between the neighbours of the best, and
    so on until the neighbours are next to it; then all within two of it. The smallest number wins a tie.

    The cost of a policy over the number of machines need not have one valley: a trace's bursts leave small ones, and
    under bin packing another machine can even do harm. So this is a search from coarse to fine, not a proof; it is exact
    where there is one valley. O(log s) calls.

    cost : of a number of machines. machine_cost : what one machine costs at least, positive. most : from so many on,
    more make no difference but their price; None where nobody knows.
    """
    costs: dict[int, int] = {}

    def best() -> int:
        return min(costs, key=lambda number: (costs[number], number))

    def attempt(numbers: range) -> None:
        for number in numbers:
            if number >= least and number not in costs:
                costs[number] = cost(number)

    attempt(range(least, least + 1))
    ceiling = max(1, least)
    while ceiling * machine_cost < costs[best()] and (most is None or ceiling <= MARGIN * most):
        attempt(range(ceiling, ceiling + 1))
        ceiling *= 2
    while True:
        centre = best()
        below = max((number for number in costs if number < centre), default=centre)
        above = min((number for number in costs if number > centre), default=ceiling)
        if above - below > 2:
            step = max(1, (above - below) // (POINTS + 1))
            attempt(range(below + step, above, step))
            continue
        attempt(range(centre - NEAR, centre + NEAR + 1))
        if best() == centre:
            return centre, costs[centre], len(costs)
