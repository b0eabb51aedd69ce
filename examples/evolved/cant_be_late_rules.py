"""What a tick does under the rules of `cant_be_late`, and the table of the clairvoyant optimum: compiled code.

kind : 0 nothing, 1 spot, 2 on demand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.jit import kernel

if TYPE_CHECKING:
    import numpy as np

    from schedgap.instances.arrays import IntArray

NOTHING, SPOT, ON_DEMAND, ANY = 0, 1, 2, -1
TICK_S = 600
# $0.9731 and $3.06 an hour are whole numbers of 1/60000 dollars a tick.
PRICE = (0, 9731, 30600)
NEVER = 1 << 60


@kernel
def ruled(forced: int, kind: int, is_spot: int, left_s: int, ticks_left: int, overhead_s: int) -> int:
    """Return what the rule makes of a tick, `ANY` where it leaves the choice. kind : of the tick before."""
    if not forced or -(-(left_s + overhead_s) // TICK_S) < ticks_left:
        return ANY
    if kind == SPOT:
        return SPOT if is_spot else NOTHING
    return ON_DEMAND


@kernel
def worked(before: int, kind: int, overhead_s: int) -> int:
    """Return the seconds of work that a tick does. before : the kind of the tick before."""
    if kind == NOTHING:
        return 0
    return TICK_S if kind == before else TICK_S - overhead_s


@kernel
def least_costs(
    spot: IntArray, deadline: int, overhead_s: int, forced: int, step_s: int, choice: np.ndarray, cost: IntArray
) -> None:
    """Fill the table from its end: the best kind of each tick, by the kind before it and the steps of work left.

    choice : (ticks, 3, steps + 1) int8. cost : (2, 3, steps + 1), what is still paid from a tick on, and from the next on.
    O(ticks steps), each step of `step_s` seconds of work.
    """
    ticks, steps = spot.size, choice.shape[2] - 1
    cost[:] = NEVER
    cost[:, :, 0] = 0
    for tick in range(ticks - 1, -1, -1):
        now, later = cost[tick % 2], cost[1 - tick % 2]
        # No fewer steps can be left at this tick, and no more can be done from it on.
        for left in range(max(1, steps - tick * TICK_S // step_s), steps + 1):
            for before in range(3):
                now[before, left] = NEVER
                if left * step_s > (ticks - tick) * TICK_S:
                    continue
                rule = ruled(forced, before, spot[tick], left * step_s, deadline - tick, overhead_s)
                for kind in range(3):
                    if rule not in (ANY, kind) or (kind == SPOT and not spot[tick]):
                        continue
                    paid = PRICE[kind] + later[kind, max(left - worked(before, kind, overhead_s) // step_s, 0)]
                    if paid < now[before, left]:
                        now[before, left] = paid
                        choice[tick, before, left] = kind
