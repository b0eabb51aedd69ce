"""Which of the running machines controllers may give back: pools with budgets, and what keeps single machines.

Only the rules of real clusters look at it; no plan is bound by it, and no bound knows of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.arrays import first_true, lock
from schedgap.instances.errors import InstanceError

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray

EMPTY, UNDERUTILIZED = "empty", "underutilized"
REASONS = (EMPTY, UNDERUTILIZED)
# A machine of no pool: nobody gives it back.
UNMANAGED = -1
# Karpenter may not empty a machine; cluster-autoscaler may not; it has not started yet; it is not well, or about to go.
HELD, NO_SCALE_DOWN, STARTING, GOING = 1, 2, 4, 8
MARKS = {"do-not-disrupt": HELD, "scale-down-disabled": NO_SCALE_DOWN, "starting": STARTING, "going": GOING}


@dataclass(frozen=True, slots=True)
class Budget:
    """At most so many machines of a pool may go at once for some reasons: a number, or a percentage, rounded up."""

    nodes: int
    is_percent: bool
    reasons: tuple[str, ...] = REASONS

    def allows(self, machines: int) -> int:
        """Return how many may go of so many machines."""
        return -(-machines * self.nodes // 100) if self.is_percent else self.nodes


@dataclass(frozen=True, slots=True)
class Pool:
    """Machines under one policy. only_empty : whether none may go that has tasks."""

    name: str
    budgets: tuple[Budget, ...] = ()
    only_empty: bool = False

    def allowed(self, machines: int, reason: str) -> int:
        """Return how many may go for a reason, of so many machines: the least of the budgets."""
        return min((b.allows(machines) for b in self.budgets if reason in b.reasons), default=machines)


@dataclass(frozen=True, slots=True, eq=False)
class Disruption:
    """What controllers may do to E running machines.

    pool : (E,) int64 into `pools`, -1 for none. marks : (E,) int64, sums of the values of `MARKS`.
    spot : (S,) int64, machine types that are spare capacity, which may be taken away.

    Raises `InstanceError` where these do not fit together.
    """

    pools: tuple[Pool, ...]
    pool: IntArray
    marks: IntArray
    spot: IntArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "pools", tuple(self.pools))
        lock(self, ("pool", "marks", "spot"))
        names = [pool.name for pool in self.pools]
        if (twice := next((name for name in names if names.count(name) > 1), None)) is not None:
            raise InstanceError(f"pool '{twice}' is named {names.count(twice)} times; names must be unique.")
        for what, values, least, stop in (
            ("pool", self.pool, UNMANAGED, len(names)),
            ("marks", self.marks, 0, 2 * GOING),
        ):
            if (e := first_true((values < least) | (values >= stop))) is not None:
                raise InstanceError(f"running machine {e} has {what} {values[e]}; give {least} to {stop - 1}.")
        for pool in self.pools:
            for budget in pool.budgets:
                if budget.nodes < 0 or not budget.reasons or not set(budget.reasons) <= set(REASONS):
                    raise InstanceError(
                        f"pool '{pool.name:.60}' has a budget of {budget.nodes} for {', '.join(budget.reasons) or 'no reason'}; "
                        f"give 0 or more, for some of {', '.join(REASONS)}."
                    )

    @classmethod
    def of(cls, size: int, pools: tuple[Pool, ...] = (), spot: object = ()) -> Disruption:
        """Return what is so of machines of which nothing is said: of no pool, without marks."""
        return cls(pools, np.full(size, UNMANAGED), np.zeros(size, np.int64), np.array(spot, np.int64))

    def hashed(self) -> tuple[object, ...]:
        """Return what an instance's digest has of it."""
        plain = [(p.name, p.only_empty, [(b.nodes, b.is_percent, b.reasons) for b in p.budgets]) for p in self.pools]
        return (plain, self.pool, self.marks, self.spot)
