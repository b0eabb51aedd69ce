"""What a tick does under the rules of `cant_be_late`, how a job goes on by them, and the table of the clairvoyant optimum.

kind : of a tick: 0 nothing, 1 spot, 2 on demand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.instances.jit import kernel

if TYPE_CHECKING:
    from cant_be_late import LateInstance

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


@dataclass(frozen=True, slots=True)
class Observation:
    """What a policy sees: the present, in numbers. Nothing in it leads to what comes.

    ticks_left : until the deadline, this one included. left_s : work that is left of `work_s`. kind : of the tick before.
    spot : whether it is there at this tick. cost : so far, 1/60000 dollars. memory : the policy's own, kept from tick to tick.
    """

    tick: int
    ticks_left: int
    work_s: int
    left_s: int
    overhead_s: int
    kind: int
    spot: bool
    cost: int
    memory: dict[str, Any]


class Job:
    """A job on its way: the kinds of its ticks, one of nothing before the first, the work that is left, what it cost."""

    def __init__(self, instance: LateInstance) -> None:
        self.instance, self.kinds, self.left_s, self.cost = instance, [NOTHING], instance.work_s, 0

    @property
    def tick(self) -> int:
        """The tick that comes."""
        return len(self.kinds) - 1

    def rule(self) -> int:
        """Return what the rule makes of the tick, `ANY` where it leaves the choice."""
        given = self.instance
        is_spot, ticks_left = int(given.spot[self.tick]), given.deadline - self.tick
        return ruled(given.forced, self.kinds[-1], is_spot, self.left_s, ticks_left, given.overhead_s)

    def refusal(self, kind: int) -> str | None:
        """Return None, or why the tick cannot be of a kind."""
        where = f"tick {self.tick} is {kind}"
        if not NOTHING <= kind <= ON_DEMAND:
            return f"{where}; give {NOTHING}, {SPOT} for spot or {ON_DEMAND} for on demand."
        if self.left_s == 0:
            return None if kind == NOTHING else f"{where}, but the work is done; give {NOTHING}."
        if kind == SPOT and not self.instance.spot[self.tick]:
            return f"{where}, spot, which is not there; give {NOTHING} or {ON_DEMAND}."
        rule = self.rule()
        return (
            None if rule in (ANY, kind) else f"{where}, but the rule makes it {rule}: {self.left_s} s of work are left."
        )

    def go_on(self, kind: int) -> None:
        """Carry out the tick."""
        self.left_s = max(self.left_s - worked(self.kinds[-1], kind, self.instance.overhead_s), 0)
        self.kinds.append(kind)
        self.cost += PRICE[kind]

    def seen(self, memory: dict[str, Any]) -> Observation:
        """Return what a policy sees."""
        given, is_spot = self.instance, bool(self.instance.spot[self.tick])
        work = given.work_s, self.left_s, given.overhead_s
        return Observation(self.tick, given.deadline - self.tick, *work, self.kinds[-1], is_spot, self.cost, memory)


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


def table_shape(instance: LateInstance) -> tuple[int, int, int]:
    """Return the shape of the table. A step is the most work of which all that ticks do, and the whole, are multiples."""
    step_s = math.gcd(TICK_S, instance.overhead_s, instance.work_s)
    return instance.ticks, 3, instance.work_s // step_s + 1


def cheapest(instance: LateInstance) -> tuple[IntArray, int]:
    """Return the kinds of the cheapest plan, (ticks,), and what it costs."""
    choice, kinds = np.zeros(table_shape(instance), np.int8), np.zeros(instance.ticks, np.int64)
    cost, left = np.zeros((2, *choice.shape[1:]), np.int64), choice.shape[2] - 1
    step_s = instance.work_s // left
    least_costs(instance.spot, instance.deadline, instance.overhead_s, instance.forced, step_s, choice, cost)
    before = NOTHING
    for tick in range(instance.ticks):
        if left:
            kinds[tick] = choice[tick, before, left]
            left = max(left - worked(before, int(kinds[tick]), instance.overhead_s) // step_s, 0)
            before = int(kinds[tick])
    return kinds, int(cost[0, NOTHING, -1])
