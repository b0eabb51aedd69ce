"""Progressive filling, repaired: the fair point by a linear program per round and one per active user in it.

Eunomia's Algorithm 1 with what makes it right: a user that cannot gain keeps its share, not its number of tasks; the test
of user i maximises the share of i, while every other active user has at least the round's level; rounds end when no
user is active. A round's level s is the most that all active users can have at once. A user whose share cannot be raised
above s by the test is saturated, and by the duals of its test it is so in every allocation that gives the others what
they have: they are the cut that proves its share.

At most N rounds of 1 + N programs; with L levels about N L / 2 programs of P variables, for P pairs of user and class.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.fairness.progressive_filling_model import RoundModel
from schedgap.instances.errors import BackendError
from schedgap.instances.fairness.allocation import Certificate, allocation_of
from schedgap.instances.fairness.model import FAMILY
from schedgap.instances.fairness.verify import FAIR
from schedgap.instances.method import Outcome, Status, method

if TYPE_CHECKING:
    from schedgap.formulations.fairness.progressive_filling_model import Point
    from schedgap.instances.arrays import BoolArray, FloatArray
    from schedgap.instances.fairness.model import FairnessInstance

# Back ends whose solutions are basic, and accurate to more digits than their tolerances.
BACKENDS = ("highs", "glop")
# The part of the level by which a share has to rise to count as raised; errors of a round are a thousandth of it.
EQUAL = 1e-9
# Weights of shares that count for less than this part of the user's own are errors of the duals.
NOTHING = 1e-10


class OutOfTime(Exception):
    """The limit was met within a program."""


class NoOptimumError(BackendError):
    """A back end ended a program without an optimum."""


class Filling:
    """The programs of one run, against its clock. count : programs solved."""

    def __init__(self, instance: FairnessInstance, backend: str, time_limit_s: float | None) -> None:
        self.start = time.perf_counter()
        self.model = RoundModel(instance)
        self.build_s = time.perf_counter() - self.start
        self.backend, self.time_limit_s = backend, time_limit_s
        self.count = 0

    def solve(
        self, active: BoolArray, kept: FloatArray, kept_tasks: FloatArray | None = None
    ) -> tuple[Point, FloatArray]:
        """Return an optimal point of a round's program and its row duals.

        Raises
        ------
        OutOfTime
            if the limit is met.
        NoOptimumError
            if the back end has no optimum of a program that has one.
        """
        left = None if self.time_limit_s is None else self.time_limit_s - (time.perf_counter() - self.start)
        if left is not None and left <= 0:
            raise OutOfTime
        model = self.model.build(active, kept, kept_tasks)
        found = solve(model, self.backend, time_limit_s=left)
        if found.status in (Status.NO_SOLUTION, Status.FEASIBLE):
            raise OutOfTime
        if found.x is None or found.row_duals is None:
            raise NoOptimumError(
                f"{model.name}: {self.backend} calls program {self.count + 1} {found.status}, which has an optimum; use "
                "another back end."
            )
        self.count += 1
        return self.model.point(found.x), found.row_duals


@method("progressive-filling", family=FAMILY, bounds=True, exact=True, choices={"backend": BACKENDS})
def progressive_filling(
    instance: FairnessInstance, *, time_limit_s: float | None = None, backend: str = "highs"
) -> Outcome:
    """Find the fair point by progressive filling, repaired: a linear program per round, and per active user in it.

    At the limit it returns what the last full round gave, without a certificate.
    """
    filling = Filling(instance, backend, time_limit_s)
    num_users = instance.num_users
    active, kept = np.ones(num_users, np.bool_), np.zeros(num_users)
    cuts: list[tuple[FloatArray, FloatArray]] = []
    last: Point | None = None
    rounds = 0
    try:
        while active.any():
            last = _round(filling, active, kept, cuts)
            rounds += 1
    except OutOfTime:
        pass
    is_done = last is not None and not active.any()
    solution = None
    if last is not None:
        solution = allocation_of(instance, last.tasks, certificate_of(cuts) if is_done else None)
    return Outcome(
        solution=solution,
        bound=FAIR,
        status=Status.OPTIMAL if is_done else None,
        build_s=filling.build_s,
        solve_s=time.perf_counter() - filling.start - filling.build_s,
        backend=backend,
        details={"rounds": rounds, "programs": filling.count},
    )


def _round(filling: Filling, active: BoolArray, kept: FloatArray, cuts: list[tuple[FloatArray, FloatArray]]) -> Point:
    """Raise all active users to the next level, take out those that it saturates, with their cuts; return its point."""
    point, _ = filling.solve(active, kept)
    users = np.flatnonzero(active)
    kept[users] = point.level
    highest = np.empty(users.shape[0])
    proofs = []
    for place, user in enumerate(users):
        alone = np.zeros(active.shape[0], np.bool_)
        alone[user] = True
        raised, duals = filling.solve(alone, kept)
        highest[place] = raised.level
        weights = filling.model.weights(duals)
        counted = weights * kept > NOTHING * weights[user] * kept[user]
        proofs.append((np.where(counted, weights, 0.0), filling.model.prices(duals)))
    saturated = highest <= point.level * (1 + EQUAL)
    if not saturated.any():
        raise BackendError(
            f"{filling.model.instance.name}: {filling.backend} says that all {users.shape[0]} active users can rise above "
            f"the level {point.level:.9g}, the highest there is; use another back end."
        )
    cuts += [proof for proof, is_cut in zip(proofs, saturated, strict=True) if is_cut]
    active[users[saturated]] = False
    return point


def certificate_of(cuts: list[tuple[FloatArray, FloatArray]]) -> Certificate:
    """Return the certificate of cuts, each the weights of shares (N,) and the prices of capacity (K, R)."""
    weights, prices = np.array([cut[0] for cut in cuts]), np.array([cut[1] for cut in cuts])
    share_cut, share_user = np.nonzero(weights)
    price_cut, price_class, price_resource = np.nonzero(prices)
    return Certificate(
        share_cut,
        share_user,
        weights[share_cut, share_user],
        price_cut,
        price_class,
        price_resource,
        prices[price_cut, price_class, price_resource],
    )
