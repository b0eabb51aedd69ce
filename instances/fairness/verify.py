"""Feasibility and objective of an allocation; feasibility in exact integers."""

from __future__ import annotations

import numpy as np

from schedgap.instances.arrays import FloatArray, IntArray, first_true
from schedgap.instances.errors import VerifyError
from schedgap.instances.fairness.certificate import (
    FairPoint,
    allocation_at,
    check_certificate,
    check_fair_point,
    find_fair_point,
    keep_fair_shares,
    known_fair_shares,
)
from schedgap.instances.fairness.model import (
    SPREAD,
    TASK,
    UNLIMITED,
    FairnessAllocation,
    FairnessInstance,
    shown_tasks,
    tasks_per_class,
)
from schedgap.instances.fairness.shares import share_of_a_task

# The objective of the fair point itself, and the bound on every other: nobody can give all users more than it does.
FAIR = 1_000_000
# A user with less than a millionth of its fair share counts as if it had a millionth.
WORST = 1_000_000 * FAIR


def verify(instance: FairnessInstance, allocation: FairnessAllocation) -> int:
    """Return how many times more than it gets the worst-off user would have at the fair point, in millionths.

    An allocation with a certificate is checked by it, and is itself the fair point; any other is compared with the
    fair point, which is found and proven first unless it is known. It is never another method's
    certified allocation: both agree only up to a tolerance, and objectives must not depend on what was verified before.

    Raises
    ------
    VerifyError
        naming the first violation.
    """
    check_feasible(instance, allocation)
    gain = share_of_a_task(instance)
    if allocation.certificate is not None:
        check_certificate(instance, gain, tasks_per_class(instance, allocation), allocation.certificate)
        return FAIR
    return objective(shares_of(instance, allocation, gain), fair_shares(instance))


def shares_of(instance: FairnessInstance, allocation: FairnessAllocation, gain: FloatArray | None = None) -> FloatArray:
    """Return (N,) float64, the users' shares. gain : (N, K), the share of one task, if it is at hand."""
    gain = share_of_a_task(instance) if gain is None else gain
    shares: FloatArray = (gain * tasks_per_class(instance, allocation)).sum(axis=1)
    return shares


def fair_shares(instance: FairnessInstance) -> FloatArray:
    """Return (N,) float64, the proven max-min fair shares.

    Raises
    ------
    VerifyError
        if they are neither known nor found, or what was found is not proven.
    """
    known = known_fair_shares(instance)
    return fair_point(instance)[1] if known is None else known


def fair_point(instance: FairnessInstance) -> tuple[FairnessAllocation, FloatArray]:
    """Return the max-min fair allocation, and (N,) float64, the proven fair shares, which it has as near as amounts allow.

    Raises
    ------
    VerifyError
        if it is not found, or what was found is not proven.
    """
    found = find_fair_point(instance)
    if isinstance(found, FairPoint):
        shares = np.array([float(share) for share in check_fair_point(instance, found)])
        found = allocation_at(instance, found)
        check_feasible(instance, found)
    else:
        check_feasible(instance, found)
        gain = share_of_a_task(instance)
        shares = shares_of(instance, found, gain)
        if found.certificate is None:
            raise VerifyError(f"the fair point found for {instance.name} has no certificate.")
        check_certificate(instance, gain, tasks_per_class(instance, found), found.certificate)
    keep_fair_shares(instance, shares)
    return found, shares


def objective(shares: FloatArray, fair: FloatArray) -> int:
    """Return the objective of shares, (N,) float64, beside the fair ones."""
    least = float((shares / fair).min())
    return WORST if least * WORST <= FAIR else max(FAIR, round(FAIR / least))


def check_feasible(instance: FairnessInstance, allocation: FairnessAllocation) -> None:
    """Check an allocation in exact integers: places that exist and are allowed, tasks that there are, capacities.

    Raises
    ------
    VerifyError
        naming the first violation.
    """
    _check_entries(instance, allocation)
    for user, amount in _sums(allocation.user, allocation.amount).items():
        has = int(instance.tasks[user])
        if has != UNLIMITED and amount > has * TASK:
            raise VerifyError(f"user {instance.user_name(user)} runs {shown_tasks(amount)} tasks; it has {has}.")
    for k, name in enumerate(instance.machine_names):
        here = np.flatnonzero(allocation.machine_class == k)
        if here.size:
            _check_class(instance, allocation, here, k, name)


def _check_class(instance: FairnessInstance, allocation: FairnessAllocation, here: IntArray, k: int, name: str) -> None:
    count = int(instance.machine_count[k])
    copies = allocation.copy[here]
    spread, single = here[copies == SPREAD], here[copies != SPREAD]
    for r, resource in enumerate(instance.resources):
        capacity = int(instance.capacity[k, r]) * TASK
        evenly = sum(_uses(instance, allocation, spread, r))
        loads: dict[int, int] = {}
        for copy, use in zip(allocation.copy[single].tolist(), _uses(instance, allocation, single, r), strict=True):
            loads[copy] = loads.get(copy, 0) + use
        fullest = max(loads, key=lambda copy: loads[copy], default=-1)
        used = count * loads.get(fullest, 0) + evenly
        if used > count * capacity:
            where = f"machine {fullest} of class {name}" if fullest >= 0 else f"a machine of class {name}"
            raise VerifyError(
                f"{where} is over its {resource}: {shown_tasks(-(-used // count))} used, it has {capacity // TASK} "
                "(in integer units)."
            )


def _uses(instance: FairnessInstance, allocation: FairnessAllocation, entries: IntArray, r: int) -> list[int]:
    """Return what entries use of a resource, in units of a `TASK`-th, as integers of any size."""
    demand = instance.demand[allocation.user[entries], r].tolist()
    return [d * a for d, a in zip(demand, allocation.amount[entries].tolist(), strict=True)]


def _check_entries(instance: FairnessInstance, allocation: FairnessAllocation) -> None:
    size = allocation.user.shape
    for key in ("machine_class", "amount", "copy"):
        if getattr(allocation, key).shape != size or len(size) != 1:
            raise VerifyError(f"{key} has shape {getattr(allocation, key).shape} beside {size} users; give one each.")
    if not size[0]:
        return
    for key, number in (("user", instance.num_users), ("machine_class", instance.num_machine_classes)):
        values = getattr(allocation, key)
        if values.min() < 0 or values.max() >= number:
            bad = values.min() if values.min() < 0 else values.max()
            raise VerifyError(f"an entry names {key} {bad}; there are {number}.")
    if allocation.amount.min() <= 0:
        raise VerifyError(f"an entry has the amount {allocation.amount.min()}; leave out what is not positive.")
    count = instance.machine_count[allocation.machine_class]
    if (entry := first_true((allocation.copy < SPREAD) | (allocation.copy >= count))) is not None:
        name = instance.machine_names[allocation.machine_class[entry]]
        raise VerifyError(f"an entry names machine {allocation.copy[entry]} of class {name}; there are {count[entry]}.")
    if (entry := first_true(~instance.allowed[allocation.user, allocation.machine_class])) is not None:
        user, k = int(allocation.user[entry]), int(allocation.machine_class[entry])
        raise VerifyError(
            f"user {instance.user_name(user)} runs tasks on class {instance.machine_names[k]}; its constraints forbid it."
        )


def _sums(keys: IntArray, amounts: IntArray) -> dict[int, int]:
    sums: dict[int, int] = {}
    for key, amount in zip(keys.tolist(), amounts.tolist(), strict=True):
        sums[key] = sums.get(key, 0) + amount
    return sums
