"""Eunomia's Algorithm 1 as it is printed, to show where it stops, or is wrong.

It differs from `progressive_filling` in what the paper's lines say:

- lines 19, 31 and Equation 2: a user that is to keep what it has keeps its number of tasks. Where machines differ in
  speed, the next program may exchange them for as many slow ones: of two users on two machines of speeds 1 and 2 with a
  slot each, which could have half each, one ends with three quarters (from a vertex) or nobody is ever saturated
  (from the middle).
- line 21: the test of user i maximises the share of j, the last value of line 18's loop. Taken for a slip of the pen;
  `tested=j` does what is printed.
- line 23: shares are compared for equality, here up to `tolerance`.

What had to be changed to run it at all: line 9 looks at the users still active after the round, not before it, without
which line 8 next has no active user and an unbounded share; line 14 is within the loop. Where it would loop for ever,
since a round in which nobody is saturated is repeated unchanged, it ends. Equation 3 counts tasks on machines where
they may not run; there are no variables for these here. A finite number of tasks, which the paper does not have, is a
row of its own. Other notions of a share than Eunomia's take the place of Equation 1's left-hand side.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.fairness.progressive_filling.progressive_filling import (
    BACKENDS,
    Filling,
    NoOptimumError,
    OutOfTime,
)
from schedgap.instances.fairness.model import FAMILY, FairnessInstance
from schedgap.instances.fairness.solution import allocation_of
from schedgap.instances.method import Outcome, method

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.formulations.fairness.progressive_filling.round_model import Point
    from schedgap.instances.arrays import FloatArray

TESTED = ("i", "j")


@method("progressive-filling-literal", family=FAMILY, choices={"backend": BACKENDS, "tested": TESTED})
def progressive_filling_literal(
    instance: FairnessInstance,
    *,
    time_limit_s: float | None = None,
    backend: str = "highs",
    tested: str = "i",
    tolerance: float = 1e-9,
) -> Outcome:
    """Run Eunomia's Algorithm 1 as printed, which may stall and need not find the fair point.

    tested : whose share line 21 maximises. tolerance : the part of the level up to which shares are equal.

    The allocation is the last round's; where nobody was saturated in it, `stalled_in_round` tells which it was. Numbers of
    tasks that are kept to the last digit leave the next program no room for rounding: where back ends find that it has
    none left, the run ends, and `no_optimum_in_round` tells where. It claims no bound, at any size.
    """
    filling = Filling(instance, backend, time_limit_s)
    users = list(range(instance.num_users))
    x = np.zeros(instance.num_users)
    last: Point | None = None
    details: dict[str, bool | int | float | str] = {}
    rounds = 0
    try:
        while users:
            last = _program(filling, users, x)
            rounds += 1
            remaining = saturated_as_printed(filling, users, x, last, tested, tolerance)
            if remaining == users:
                details["stalled_in_round"] = rounds
                break
            users = remaining
    except OutOfTime:
        pass
    except NoOptimumError as error:
        details |= {"no_optimum_in_round": rounds, "reason": str(error)}
    return Outcome(
        solution=None if last is None else allocation_of(instance, last.tasks),
        build_s=filling.build_s,
        solve_s=time.perf_counter() - filling.start - filling.build_s,
        backend=backend,
        details={"rounds": rounds, "programs": filling.count, "left_active": len(users), **details},
    )


def saturated_as_printed(
    filling: Filling, users: Sequence[int], x: FloatArray, point: Point, tested: str, tolerance: float
) -> list[int]:
    """Do lines 16 to 34, SATURATED: return the users still active and leave the kept numbers of tasks in x, (N,).

    users : the active ones. point : the round's solution.
    """
    number = point.tasks.sum(axis=1)
    saturated = []
    for i in users:
        others = [j for j in users if j != i]
        x[others] = number[others]
        chosen = others[-1] if tested == "j" and others else i
        raised = _program(filling, [chosen], x)
        if abs(raised.level - point.level) <= tolerance * point.level:
            saturated.append(i)
        if others:
            x[i] = 0.0
    for i in users:
        x[i] = number[i]
    return [i for i in users if i not in saturated]


def _program(filling: Filling, users: Sequence[int], x: FloatArray) -> Point:
    active = np.zeros(x.shape[0], np.bool_)
    active[list(users)] = True
    return filling.solve(active, np.zeros(x.shape[0]), x)[0]
