"""Progressive filling, repaired: the fair point by a linear program per round and one per active user in it.

Eunomia's Algorithm 1 with what makes it right: a user that cannot gain keeps its share, not its number of tasks; the test
of user i maximises the share of i, while every other active user has at least the round's level; rounds end when no
user is active. A round's level s is the most that all active users can have at once. A user whose share cannot be raised
above s by the test is saturated, and by the duals of its test it is so in every allocation that gives the others what
they have: they are the cut that proves its share.

What it claims is proven at any size: programs are in floating point, and where shares differ so much that their duals are no
proof, or that no back end solves them, nothing is claimed but what the exact fair shares say.

At most N rounds of 1 + N programs; with L levels about N L / 2 programs of P variables, for P pairs of user and class.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.fairness.progressive_filling.round_model import Point, RoundModel
from schedgap.formulations.fairness.settle import settled
from schedgap.instances.errors import BackendError
from schedgap.instances.fairness.model import FAMILY, FairnessInstance
from schedgap.instances.fairness.solution import Certificate, allocation_of
from schedgap.instances.fairness.verify import FAIR
from schedgap.instances.method import Outcome, Status, method

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, FloatArray

# Back ends whose solutions are basic, and accurate to more digits than their tolerances.
BACKENDS = ("highs", "glop")
# The part of the level by which a share has to rise to count as raised; errors of a round are a thousandth of it.
EQUAL = 1e-9
# The part by which kept shares may fall in a program that back ends call infeasible: rounded up, they leave it no room.
GIVE = 1e-10
# Weights of shares that count for less than this part of the user's own are errors of the duals.
NOTHING = 1e-10


class OutOfTime(Exception):
    """The limit was met within a program."""


class NoOptimumError(BackendError):
    """No back end ended a program with an optimum."""


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
            if no back end finds the optimum of a program that has one, in any way.
        """
        left = None if self.time_limit_s is None else self.time_limit_s - (time.perf_counter() - self.start)
        if left is not None and left <= 0:
            raise OutOfTime
        refusal = ""
        for backend, presolve, give in self._attempts():
            model = self.model.build(active, kept * (1 - give), kept_tasks)
            try:
                found = solve(model, backend, time_limit_s=left, presolve=presolve)
            except BackendError as error:
                refusal = str(error)
                continue
            if found.status in (Status.NO_SOLUTION, Status.FEASIBLE):
                raise OutOfTime
            if found.x is not None and found.row_duals is not None:
                self.count += 1
                return self.model.point(found.x), found.row_duals
            refusal = f"{model.name}: {backend} calls program {self.count + 1} {found.status}, which has an optimum."
        raise NoOptimumError(refusal)

    def _attempts(self) -> list[tuple[str, bool, float]]:
        """Return the ways in which a program is tried in turn: back end, presolve, the part that kept shares may fall."""
        others = [name for name in BACKENDS if name != self.backend]
        ways = [(self.backend, True, 0.0), (self.backend, False, 0.0), *((name, True, 0.0) for name in others)]
        return [*ways, *((name, presolve, GIVE) for name, presolve, _ in ways)]


@method("progressive-filling", family=FAMILY, exact=True, choices={"backend": BACKENDS})
def progressive_filling(
    instance: FairnessInstance, *, time_limit_s: float | None = None, backend: str = "highs"
) -> Outcome:
    """Find the fair point by progressive filling, repaired: a linear program per round, and per active user in it.

    At the limit, and where no back end solves a program any more, it returns what the last full round gave, without a
    certificate, or nothing if there was none; so it does with an allocation that nothing proves to be fair (`settle`).
    """
    filling = Filling(instance, backend, time_limit_s)
    num_users = instance.num_users
    active, kept = np.ones(num_users, np.bool_), np.zeros(num_users)
    cuts: list[tuple[FloatArray, FloatArray]] = []
    last: Point | None = None
    rounds = 0
    reason: dict[str, str] = {}
    try:
        while active.any():
            last = _round(filling, active, kept, cuts)
            rounds += 1
    except OutOfTime:
        pass
    except BackendError as error:
        reason = {"reason": str(error)}
    solution, status = None, Status.NO_SOLUTION
    if last is not None and active.any() and not reason:
        solution, status = allocation_of(instance, last.tasks), Status.FEASIBLE
    elif last is not None:
        certificate = None if active.any() else certificate_of(cuts)
        solution, status, said = settled(instance, allocation_of(instance, last.tasks, certificate))
        reason = said | reason
    return Outcome(
        solution=solution,
        bound=FAIR,
        status=status,
        build_s=filling.build_s,
        solve_s=time.perf_counter() - filling.start - filling.build_s,
        backend=backend,
        details={"rounds": rounds, "programs": filling.count, **reason},
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
            f"the level {point.level:.9g}, the highest there is; accuracy was lost."
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
