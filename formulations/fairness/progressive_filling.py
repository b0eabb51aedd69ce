"""The linear program of one round of progressive filling (Eunomia, Algorithm 1, LP), for any notion of a share.

Sets         users i, machine classes k, resources r; pairs (i, k) where a task of i may run, fits and adds a share
Given        n(k) machines, l(k, r) capacity, d(i, r) demand, f(i, k) tasks on one machine, g(i, k) share of a task,
             D(i) tasks or infinity, active users A, shares v(i) that the others keep
Variables    z(i, k) >= 0   tasks of i on k, in the T-th part of what all machines of k hold of it alone
             s >= 0         the share of all active users, in units of about a fair one
Maximise     s
Rows         capacity(k, r)  sum_i d(i, r) f(i, k) / l(k, r) z(i, k)        <= T
             tasks(i)        sum_k n(k) f(i, k) z(i, k)                     <= T D(i)
             share(i), A     sum_k g(i, k) n(k) f(i, k) z(i, k) - T unit s  >= 0
             share(i), else  sum_k g(i, k) n(k) f(i, k) z(i, k)             >= T v(i)

Rows of tasks and shares are divided by what the user would have alone, so that coefficients are at most 1, and T makes
the right-hand sides large: solvers accept errors of 1e-7, absolute, which are T times less of a machine.

Progressive filling, repaired: the fair point by a linear program per round and one per active user in it.

Eunomia's Algorithm 1 with what makes it right: a user that cannot gain keeps its share, not its number of tasks; the test
of user i maximises the share of i, while every other active user has at least the round's level; rounds end when no
user is active. A round's level s is the most that all active users can have at once. A user whose share cannot be raised
above s by the test is saturated, and by the duals of its test it is so in every allocation that gives the others what
they have: they are the cut that proves its share.

What it claims is proven at any size: programs are in floating point, and where shares differ so much that their duals are no
proof, or that no back end solves them, nothing is claimed but what the exact fair shares say.

At most N rounds of 1 + N programs; with L levels about N L / 2 programs of P variables, for P pairs of user and class.

Eunomia's Algorithm 1 as it is printed, to show where it stops, or is wrong.

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
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csc_array

from schedgap.formulations.backends import solve
from schedgap.formulations.fairness.fair_point import settled
from schedgap.formulations.linear_model import LinearModel
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.errors import BackendError
from schedgap.instances.fairness.model import FAMILY, UNLIMITED, Certificate, FairnessInstance, allocation_of
from schedgap.instances.fairness.shares import share_of_a_task
from schedgap.instances.fairness.verify import FAIR
from schedgap.instances.method import Outcome, Status, method

# T; a power of two, which changes no digit.
SCALE = 2.0**12


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A solution of the program in the instance's own units.

    tasks : (N, K) float64. shares : (N,) float64, what they come to. level : the common share of the active users.
    """

    tasks: FloatArray
    shares: FloatArray
    level: float


class RoundModel:
    """The programs of all rounds on one instance, which differ in their column s and in the bounds of their rows.

    gain : (N, K) float64, the share of one task. user, machine_class : (P,) int64, the pairs.
    """

    def __init__(self, instance: FairnessInstance) -> None:
        self.instance = instance
        self.gain = share_of_a_task(instance)
        fits = instance.fitting()
        self.user, self.machine_class = np.nonzero(instance.allowed & (fits > 0) & (self.gain > 0))
        user, machine_class = self.user, self.machine_class
        self.whole = fits[user, machine_class] * instance.machine_count[machine_class]
        num_users, num_pairs = instance.num_users, user.shape[0]
        self.limit = np.where(instance.tasks == UNLIMITED, np.inf, instance.tasks)
        self.most_tasks = np.minimum(self.limit, np.bincount(user, self.whole, num_users))
        alone = self.gain[user, machine_class] * self.whole
        self.most_share = np.bincount(user, alone, num_users)
        self.unit = float(np.median(self.most_share)) / num_users
        self.priced = np.argwhere(instance.capacity > 0)
        number = self.num_capacity = self.priced.shape[0]
        where = np.full(instance.capacity.shape, -1)
        where[tuple(self.priced.T)] = np.arange(number)
        needs = instance.demand[user] * fits[user, machine_class][:, None]
        held = instance.capacity[machine_class]
        pair, resource = np.nonzero(needs > 0)
        pairs = np.arange(num_pairs)
        entries = (
            np.concatenate(
                (
                    needs[pair, resource] / held[pair, resource],
                    self.whole / self.most_tasks[user],
                    alone / self.most_share[user],
                )
            ),
            (
                np.concatenate((where[machine_class[pair], resource], number + user, number + num_users + user)),
                np.concatenate((pair, pairs, pairs)),
            ),
        )
        self.matrix = csc_array(coo_array(entries, shape=(number + 2 * num_users, num_pairs)))

    def build(self, active: BoolArray, kept: FloatArray, kept_tasks: FloatArray | None = None) -> LinearModel:
        """Return the program of a round.

        active : (N,) bool. kept : (N,) float64, the shares of the other users.
        kept_tasks : (N,) float64, the numbers of tasks that the other users keep instead, and active users then have
        the level itself, not at least that: the program as the paper prints it.
        """
        num_users, (rows, pairs) = self.instance.num_users, self.matrix.shape
        users = np.flatnonzero(active)
        values: FloatArray = np.append(self.matrix.data, -SCALE * self.unit / self.most_share[users])
        places: IntArray = np.append(self.matrix.indices, self.num_capacity + num_users + users)
        starts: IntArray = np.append(self.matrix.indptr, self.matrix.nnz + users.shape[0])
        matrix = csc_array((values, places, starts), shape=(rows, pairs + 1))
        printed = kept_tasks is not None
        keeps_tasks = np.full(num_users, -np.inf)
        keeps_share = np.where(active, 0.0, SCALE * kept / self.most_share)
        if kept_tasks is not None:
            keeps_tasks[~active] = (SCALE * kept_tasks / self.most_tasks)[~active]
            keeps_share[~active] = -np.inf
        free = np.full(num_users, np.inf)
        return LinearModel(
            name=f"progressive-filling-{self.instance.name}",
            cost=np.append(np.zeros(pairs), -SCALE),
            matrix=matrix,
            row_lower=np.concatenate((np.full(self.num_capacity, -np.inf), keeps_tasks, keeps_share)),
            row_upper=np.concatenate(
                (
                    np.full(self.num_capacity, SCALE),
                    SCALE * self.limit / self.most_tasks,
                    np.where(active, 0.0, free) if printed else free,
                )
            ),
            lower=np.zeros(pairs + 1),
            upper=np.full(pairs + 1, np.inf),
            integral=np.zeros(pairs + 1, np.bool_),
            objective_scale=1,
        )

    def point(self, x: FloatArray) -> Point:
        """Return a solution of a program of `build`, (P + 1,), in the instance's units."""
        tasks = np.zeros(self.gain.shape)
        tasks[self.user, self.machine_class] = np.maximum(x[:-1], 0.0) * self.whole / SCALE
        shares: FloatArray = (tasks * self.gain).sum(axis=1)
        return Point(tasks, shares, float(x[-1]) * self.unit)

    def weights(self, row_duals: FloatArray) -> FloatArray:
        """Return (N,) float64: what a share of each user is worth, at the duals of a program."""
        return np.maximum(row_duals[-self.instance.num_users :], 0.0) / self.most_share

    def prices(self, row_duals: FloatArray) -> FloatArray:
        """Return (K, R) float64: what a unit of each resource is worth, at the duals of a program."""
        instance = self.instance
        prices = np.zeros(instance.capacity.shape)
        k, r = self.priced.T
        room = instance.capacity[k, r] * instance.machine_count[k]
        prices[k, r] = np.maximum(-row_duals[: self.num_capacity], 0.0) / room
        return prices


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
