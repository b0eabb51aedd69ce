"""The fairness problem (Eunomia, section III; Choosy, TSF and DRF in the same notation): what is given.

Letters used for shapes: N users, K machine classes, R resources.

An allocation of machines to users, a solution of the fairness problem, with the proof of its fairness if it has one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from schedgap.instances.arrays import (
    BoolArray,
    Brief,
    FloatArray,
    IntArray,
    content_hash,
    first_true,
    lock,
    locked_bools,
    locked_floats,
)
from schedgap.instances.errors import InstanceError, SolutionError
from schedgap.instances.model import InstanceModel, check_names, check_shapes

FAMILY = "fairness"
SCHEMA = "schedgap/fairness/1"
# How a user's share is measured, see `shares.py`.
NOTIONS = ("eunomia", "tsf", "cmmf", "drf")
UNLIMITED = -1
# Performance and weights are given in thousandths.
ONE = 1000
MAX_AMOUNT = 2**40
# What all machines have of a resource together fits into 64 bits, twice over.
MAX_TOTAL = 2**62
# So many tasks of a user on a machine class are still exact in units of their 10^12-th parts, in 64 bits.
MAX_TASKS = 9_000_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FairnessInstance(InstanceModel):
    """Users that share machines; how many tasks of each user are to run on each machine class.

    All quantities are integers: resources named `*_gib` or `*_mib` in MiB, every other resource in thousandths,
    performance and weights in thousandths.

    notion : one of `NOTIONS`, the share in which users are to be equal as far as they can be.
    machine_count : (K,) int64, positive. capacity : (K, R) int64, of one machine.
    demand : (N, R) int64, of one task; no user's is zero in all resources.
    weight : (N,) int64 thousandths, positive.
    performance : (N, K) int64 thousandths: the progress of one task of the user on a machine of the class.
    allowed : (N, K) bool: where the user's placement constraints let its tasks run.
    tasks : (N,) int64, how many tasks a user has, `UNLIMITED` for more than fit.
    user_names : N names, or None for `user-0`, `user-1`, ...
    notes : what whoever made it has to say, such as users left out; no part of the content.

    Raises `InstanceError` on anything inconsistent, such as a user that no machine can serve.
    """

    name: str
    notion: str
    resources: tuple[str, ...]
    machine_names: tuple[str, ...]
    machine_count: IntArray
    capacity: IntArray
    demand: IntArray
    weight: IntArray
    performance: IntArray
    allowed: BoolArray
    tasks: IntArray
    user_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    digest: str = ""

    def __post_init__(self) -> None:
        self._lock(_INT_FIELDS)
        lock(self, ("allowed",), locked_bools)
        self._check_shapes()
        self._check_values()
        self._check_users()
        self.check_notion(self.notion)
        object.__setattr__(self, "digest", self._content_hash())

    @property
    def num_users(self) -> int:
        """Number of users."""
        return int(self.weight.shape[0])

    @property
    def num_machine_classes(self) -> int:
        """Number of machine classes."""
        return len(self.machine_names)

    def user_name(self, index: int) -> str:
        """Return the name of a user."""
        return self.user_names[index] if self.user_names is not None else f"user-{index}"

    def fitting(self) -> FloatArray:
        """(N, K) float64: how many tasks of a user, alone and unconstrained, run on one machine; fractions count."""
        fits = np.full((self.num_users, self.num_machine_classes), np.inf)
        for r in range(len(self.resources)):
            needs = self.demand[:, r]
            some = needs > 0
            fits[some] = np.minimum(fits[some], self.capacity[None, :, r] / needs[some, None])
        return fits

    def check_notion(self, notion: str) -> None:
        """Refuse a notion in which the users' shares have no meaning.

        Raises
        ------
        InstanceError
            for an unknown notion, or cmmf where a user demands nothing of the first resource.
        """
        if notion not in NOTIONS:
            raise InstanceError(f"{self.name}: notion is '{notion:.60}'; choose one of {', '.join(NOTIONS)}.")
        if notion == "cmmf":
            check_cmmf(self, "user", self.user_name)

    def _check_shapes(self) -> None:
        num_users, num_classes, num_resources = self.num_users, len(self.machine_names), len(self.resources)
        wanted = {
            "machine_count": (num_classes,),
            "capacity": (num_classes, num_resources),
            "demand": (num_users, num_resources),
            "weight": (num_users,),
            "performance": (num_users, num_classes),
            "allowed": (num_users, num_classes),
            "tasks": (num_users,),
        }
        check_shapes(self, wanted)
        if self.user_names is not None and len(self.user_names) != num_users:
            raise InstanceError(f"{self.name}: {len(self.user_names)} names for {num_users} users; give one each.")
        named = (("resource", self.resources), ("machine class", self.machine_names), ("user", self.user_names))
        for what, names in named:
            if names is None:
                continue
            if not names:
                raise InstanceError(f"{self.name}: there is no {what}; give at least one.")
            check_names(self.name, what, names, len(names))

    def _check_values(self) -> None:
        if not self.num_users:
            raise InstanceError(f"{self.name}: there is no user; give at least one.")
        for key, least in (("machine_count", 1), ("capacity", 0), ("demand", 0), ("performance", 0), ("weight", 1)):
            values = getattr(self, key)
            if values.min() < least or values.max() > MAX_AMOUNT:
                bad = values.min() if values.min() < least else values.max()
                row = int(np.argwhere(values == bad)[0][0])
                which = (
                    f"machine class {self.machine_names[row]}"
                    if key in ("machine_count", "capacity")
                    else f"user {self.user_name(row)}"
                )
                raise InstanceError(
                    f"{self.name}: {key} of {which} is {bad}; give {least} to {MAX_AMOUNT} (in integer units)."
                )
        check_total(self)
        if (user := first_true((self.tasks < 1) & (self.tasks != UNLIMITED))) is not None:
            raise InstanceError(
                f"{self.name}: user {self.user_name(user)} has {self.tasks[user]} tasks; give at least one, or none at "
                "all for an unlimited number."
            )

    def _check_users(self) -> None:
        if (user := first_true((self.demand <= 0).all(axis=1))) is not None:
            raise InstanceError(
                f"{self.name}: user {self.user_name(user)} demands nothing of any resource; give its tasks a positive demand."
            )
        fitting = self.fitting()
        # As numbers of tasks are divisible, so is one; but a machine must be large enough for one at least.
        fits = fitting >= 1
        checks = (
            (self.allowed, "is allowed on no machine class", "allow one"),
            (
                self.allowed & fits,
                "demands more than any machine has that it is allowed on",
                "lower its demand, allow a larger machine or drop it",
            ),
            (
                self.allowed & fits & (self.performance > 0),
                "has zero performance wherever its tasks may run",
                "give a positive one or drop it",
            ),
        )
        for serves, what, way_out in checks:
            if (user := first_true((~serves).all(axis=1))) is not None:
                raise InstanceError(f"{self.name}: user {self.user_name(user)} {what}; {way_out}.")
        own = np.where(self.tasks == UNLIMITED, np.inf, self.tasks)[:, None]
        most = np.where(self.allowed, np.minimum(fitting * self.machine_count, own), 0.0)
        if most.max() > MAX_TASKS:
            user, k = divmod(int(np.argmax(most)), self.num_machine_classes)
            raise InstanceError(
                f"{self.name}: {most.max():.0f} tasks of user {self.user_name(user)} fit on machine class "
                f"{self.machine_names[k]}, more than {MAX_TASKS} are not exact; count several as one, or split the class."
            )

    def _content_hash(self) -> str:
        arrays = (getattr(self, key) for key in _INT_FIELDS)
        names = (self.resources, self.machine_names, self.user_names)
        return content_hash([SCHEMA, self.notion, *names, *arrays, self.allowed.astype(np.int64)])


_INT_FIELDS = ("machine_count", "capacity", "demand", "weight", "performance", "tasks")


def check_total(instance: Any) -> None:
    """Refuse machines that together have more of a resource than MAX_TOTAL."""
    total = instance.machine_count.astype(np.float64) @ instance.capacity
    if total.max() > MAX_TOTAL:
        raise InstanceError(
            f"{instance.name}: all machines together have {total.max():.3g} of {instance.resources[int(np.argmax(total))]}; "
            f"give up to {MAX_TOTAL} (in integer units)."
        )


def check_cmmf(instance: Any, who: str, name_of: Callable[[int], str]) -> None:
    """Refuse demands of none of the first resource, in which cmmf measures shares. who : a user, or a job."""
    if (index := first_true(instance.demand[:, 0] == 0)) is not None:
        raise InstanceError(
            f"{instance.name}: {who} {name_of(index)} demands no {instance.resources[0]}, in which cmmf "
            "measures shares; name another resource first, or choose another notion."
        )


# Units of `amount` in one task: allocations are divisible, and still exact.
TASK = 10**12
# Tasks of an entry are spread evenly over all machines of the class.
SPREAD = -1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Certificate(Brief):
    """Why an allocation is max-min fair: cuts, each a weighted sum of shares that no allocation can raise.

    Cut c says: sum_i weight(c, i) share(i) <= what the prices of all machines, at capacity, come to. A user is at its
    fair share if a cut that the allocation meets with equality counts it, and otherwise only users whose shares are
    no larger: whatever raises it takes from one who has no more. A cut need only hold for allocations that meet the cuts
    of lower shares with equality too (`certificate.py`).

    share_cut, share_user : (P,) int64. share_weight : (P,) float64, positive.
    price_cut, price_class, price_resource : (Q,) int64. price : (Q,) float64, positive, of one unit of the resource on
    a machine of the class.
    """

    share_cut: IntArray
    share_user: IntArray
    share_weight: FloatArray
    price_cut: IntArray
    price_class: IntArray
    price_resource: IntArray
    price: FloatArray

    def __post_init__(self) -> None:
        lock(self, ("share_cut", "share_user", "price_cut", "price_class", "price_resource"), error=SolutionError)
        lock(self, ("share_weight", "price"), locked_floats, error=SolutionError)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FairnessAllocation(Brief):
    """How much of each user runs where; an entry each, several of the same user and class add up.

    user, machine_class : (E,) int64. amount : (E,) int64, in units of a task's `TASK`-th part, positive.
    copy : (E,) int64, the machine within its class, or `SPREAD`; for whole tasks, which need a machine each.
    certificate : why it is max-min fair; None where nothing is claimed.
    """

    user: IntArray
    machine_class: IntArray
    amount: IntArray
    copy: IntArray
    certificate: Certificate | None = None

    def __post_init__(self) -> None:
        lock(self, ("user", "machine_class", "amount", "copy"), error=SolutionError)


def shown_tasks(amount: int) -> str:
    """Return an amount as a decimal number of tasks, exactly."""
    return f"{amount // TASK}.{amount % TASK:012d}".rstrip("0").rstrip(".")


def tasks_per_class(instance: FairnessInstance, allocation: FairnessAllocation) -> FloatArray:
    """Return (N, K) float64, the number of tasks of each user on each machine class."""
    tasks = np.zeros((instance.num_users, instance.num_machine_classes))
    np.add.at(tasks, (allocation.user, allocation.machine_class), allocation.amount / TASK)
    return tasks


def allocation_of(
    instance: FairnessInstance, tasks: ArrayLike, certificate: Certificate | None = None
) -> FairnessAllocation:
    """Return the allocation nearest to (N, K) tasks in floating point that is feasible.

    Where rounding errors put a machine class over its capacity or a user over its number of tasks, all amounts that
    matter there shrink by the same factor, and what little is left over comes off the largest.

    Raises
    ------
    SolutionError
        for another shape, or numbers that are not finite.
    """
    given = np.asarray(tasks, np.float64)
    if given.shape != instance.allowed.shape or not np.isfinite(given).all():
        raise SolutionError(
            f"{instance.name}: tasks have shape {given.shape} and {np.count_nonzero(~np.isfinite(given))} numbers that "
            f"are not finite; give {instance.allowed.shape} finite ones."
        )
    # Nobody can have more than fits; what fits nowhere on a class must not shrink what others have there either.
    most = np.where(instance.allowed, instance.fitting() * instance.machine_count, 0.0)
    amounts = np.clip(given, 0.0, most)
    limited = np.flatnonzero(instance.tasks != UNLIMITED)
    used = amounts[limited].sum(axis=1)
    over = used > instance.tasks[limited]
    amounts[limited[over]] *= (instance.tasks[limited[over]] / used[over])[:, None]
    room = instance.capacity * instance.machine_count[:, None]
    load = amounts.T @ instance.demand
    ratio = np.divide(room, load, out=np.ones(load.shape), where=load > room)
    factor = np.ones(amounts.shape)
    for r in np.flatnonzero((ratio < 1).any(axis=0)).tolist():
        np.minimum(factor, ratio[None, :, r], out=factor, where=instance.demand[:, r, None] > 0)
    amounts *= factor
    user, machine_class = np.nonzero(amounts * TASK >= 0.5)
    amount = np.rint(amounts[user, machine_class] * TASK).astype(np.int64)
    starts, ends = np.searchsorted(user, limited, "left"), np.searchsorted(user, limited, "right")
    one = np.ones(user.shape[0], np.int64)
    for i, start, end in zip(limited.tolist(), starts.tolist(), ends.tolist(), strict=True):
        _trim(amount, np.arange(start, end), one, int(instance.tasks[i]) * TASK)
    by_class = np.argsort(machine_class, kind="stable")
    bounds = np.searchsorted(machine_class[by_class], np.arange(instance.num_machine_classes + 1))
    for k in range(instance.num_machine_classes):
        here = by_class[bounds[k] : bounds[k + 1]]
        for r in range(len(instance.resources)):
            _trim(amount, here, instance.demand[user, r], int(room[k, r]) * TASK)
    some = amount > 0
    spread = np.full(int(some.sum()), SPREAD, np.int64)
    return FairnessAllocation(user[some], machine_class[some], amount[some], spread, certificate)


def _trim(amount: IntArray, entries: IntArray, demand: IntArray, room: int) -> None:
    """Lower some amounts, the largest first, until what the entries demand together fits."""
    needs = [d * a for d, a in zip(demand[entries].tolist(), amount[entries].tolist(), strict=True)]
    over = sum(needs) - room
    if over <= 0:
        return
    for place in sorted(range(len(needs)), key=lambda place: -needs[place]):
        entry = int(entries[place])
        if over <= 0 or demand[entry] == 0:
            return
        less = min(int(amount[entry]), -(-over // int(demand[entry])))
        amount[entry] -= less
        over -= less * int(demand[entry])


MAX_USERS = 4
MAX_MACHINES = 2
MOST_TASKS_KEPT = 8


def shrink(instance: FairnessInstance) -> FairnessInstance:
    """Return an instance of the first four users, on a machine class that serves each: to warm up, not to measure."""
    users = np.arange(min(instance.num_users, MAX_USERS))
    serves = instance.allowed[users] & (instance.fitting()[users] > 0) & (instance.performance[users] > 0)
    classes = np.unique(np.append(serves.argmax(axis=1), [0, instance.num_machine_classes - 1]))
    tasks = instance.tasks[users]
    return instance.replace(
        name=f"{instance.name}-shrunk",
        machine_names=tuple(instance.machine_names[k] for k in classes.tolist()),
        machine_count=np.minimum(instance.machine_count[classes], MAX_MACHINES),
        capacity=instance.capacity[classes],
        demand=instance.demand[users],
        weight=instance.weight[users],
        performance=instance.performance[np.ix_(users, classes)],
        allowed=instance.allowed[np.ix_(users, classes)],
        tasks=np.where(tasks == UNLIMITED, UNLIMITED, np.minimum(tasks, MOST_TASKS_KEPT)),
        user_names=None if instance.user_names is None else instance.user_names[: users.shape[0]],
        notes=(),
    )
