"""An allocation of machines to users, a solution of the fairness problem, with the proof of its fairness if it has one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.arrays import Brief, FloatArray, IntArray, lock, locked_floats
from schedgap.instances.errors import SolutionError
from schedgap.instances.fairness.model import UNLIMITED, FairnessInstance

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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
