"""Figures of an allocation beside its objective: shares, how equal and how fair they are, envy, use of the machines.

An allocation as a picture: a machine of each class as a bar with its users' parts, and shares beside fair shares.
"""

from __future__ import annotations

import numpy as np

from schedgap.instances.arrays import FloatArray
from schedgap.instances.fairness.model import (
    ONE,
    SPREAD,
    TASK,
    UNLIMITED,
    FairnessAllocation,
    FairnessInstance,
    tasks_per_class,
)
from schedgap.instances.fairness.shares import share_of_a_task
from schedgap.instances.fairness.verify import FAIR, WORST, fair_shares, shares_of
from schedgap.instances.picture import MAX_BARS, MAX_POINTS, Bar, Curve, Part, Picture
from schedgap.instances.units import resource_scales

# A user is below its fair share where it is short of more than this part of it.
BELOW = 0.01
# Envy is left out above so many users times amounts: it looks at each amount through the eyes of each user.
MOST_LOOKS = 50_000_000


def measures(instance: FairnessInstance, allocation: FairnessAllocation) -> dict[str, float]:
    """Return the figures, in the notion of the instance.

    min_share, mean_share, max_share : of the users' shares, in which their weights are counted. jain : Jain's index of
    them, 1 where all are equal, as they cannot always be; jain_fair : of shares over fair shares.
    distance_max, distance_mean : of a user's share from its fair share, as a part of it. shortfall_max, excess_max : the
    same downwards and upwards alone. users_below : the part of the users who are short of more than 1 %.
    incentive : the least share of a user, over what it would have of its part, by weights, of every machine; from 1 on
    nobody would rather have that (sharing incentive).
    envy : how much more, as a part of its own, a user would have of the resources of another, in proportion to their
    weights and where its own constraints let it run; of the pair that envies most. Left out where users times amounts
    are more than 50 million.
    progress : tasks, each counted with its performance. whole : 1 where all tasks are whole and each on one machine.
    utilisation_R : of all machines' resource R, left out where there is none.
    """
    gain = share_of_a_task(instance)
    shares = shares_of(instance, allocation, gain)
    tasks = tasks_per_class(instance, allocation)
    # A certified allocation is the fair one.
    fair = shares if allocation.certificate is not None else fair_shares(instance)
    part = shares / fair
    figures = {
        "min_share": float(shares.min()),
        "mean_share": float(shares.mean()),
        "max_share": float(shares.max()),
        "jain": jain(shares),
        "jain_fair": jain(part),
        "distance_max": float(np.abs(part - 1).max()),
        "distance_mean": float(np.abs(part - 1).mean()),
        "shortfall_max": max(0.0, float((1 - part).max())),
        "excess_max": max(0.0, float((part - 1).max())),
        "users_below": float((part < 1 - BELOW).mean()),
        "incentive": float((shares / equal_part(instance, gain)).min()),
    }
    if instance.num_users * np.count_nonzero(tasks) <= MOST_LOOKS:
        figures["envy"] = envy(instance, gain, tasks, np.maximum(shares, fair * (FAIR / WORST)))
    figures["progress"] = float((tasks * instance.performance).sum()) / ONE
    figures["whole"] = float(bool((allocation.copy != SPREAD).all() and (allocation.amount % TASK == 0).all()))
    used, there = (tasks @ np.ones(tasks.shape[1])) @ instance.demand, instance.machine_count @ instance.capacity
    return figures | {
        f"utilisation_{name}": float(used[r] / there[r]) for r, name in enumerate(instance.resources) if there[r] > 0
    }


def jain(values: FloatArray) -> float:
    """Return Jain's index of values that are not negative: 1 where all are equal, 1 / N where one has everything."""
    # In parts of the largest, whose square is a number in any case.
    largest = float(values.max())
    if largest == 0:
        return 1.0
    parts = values / largest
    return float(parts.sum() ** 2 / (parts.shape[0] * (parts**2).sum()))


def equal_part(instance: FairnessInstance, gain: FloatArray) -> FloatArray:
    """Return (N,) float64, the share of each user if it had its part, by weights, of every machine to itself.

    gain : (N, K) float64, the share of one task.
    """
    part = instance.weight / instance.weight.sum()
    room = instance.fitting() * instance.machine_count * part[:, None]
    own = np.where(instance.tasks == UNLIMITED, np.inf, instance.tasks)
    best = np.argsort(-gain, axis=1, kind="stable")
    room, gain = np.take_along_axis(room, best, axis=1), np.take_along_axis(gain, best, axis=1)
    before = np.cumsum(room, axis=1) - room
    shares: FloatArray = (gain * np.clip(own[:, None] - before, 0.0, room)).sum(axis=1)
    return shares


def envy(instance: FairnessInstance, gain: FloatArray, tasks: FloatArray, shares: FloatArray) -> float:
    """Return the largest relative gain of a user from the resources of another; O(N E) for E amounts, or O(N E log E).

    gain, tasks : (N, K) float64. shares : (N,) float64, positive.
    """
    owner, k = np.nonzero(tasks > 0)
    bundle = tasks[owner, k][:, None] * instance.demand[owner]
    limit = np.where(instance.tasks == UNLIMITED, np.inf, instance.tasks)
    most = 0.0
    for i in range(instance.num_users):
        needs = instance.demand[i] > 0
        fits = (bundle[:, needs] / instance.demand[i, needs]).min(axis=1)
        fits *= instance.weight[i] / instance.weight[owner]
        would = np.bincount(owner, fits * gain[i, k], instance.num_users)
        # Of what is more than it has tasks for, the user wants the best; few bundles need a closer look.
        more = (np.bincount(owner, fits, instance.num_users) > limit[i]) & (would > (1 + most) * shares[i])
        if more.any():
            closer = np.flatnonzero(more[owner])
            kept = _capped(owner[closer], fits[closer], -gain[i, k[closer]], float(limit[i]))
            would[more] = np.bincount(owner[closer], kept * gain[i, k[closer]], instance.num_users)[more]
        most = max(most, float(would.max(initial=0.0)) / float(shares[i]) - 1)
    return most


def _capped(owner: np.ndarray, fits: FloatArray, order: FloatArray, limit: float) -> FloatArray:
    """Return as many of the tasks that fit into each owner's amounts as the limit leaves, in an order within each."""
    by = np.lexsort((order, owner))
    total = np.cumsum(fits[by])
    starts = np.searchsorted(owner[by], owner[by], "left")
    before = total - fits[by] - np.where(starts > 0, total[starts - 1], 0.0)
    kept = np.empty_like(fits)
    kept[by] = np.clip(limit - before, 0.0, fits[by])
    return kept


# A bar names so many users, those with the most of it; all others are one part.
MAX_PARTS = 8


def picture(instance: FairnessInstance, allocation: FairnessAllocation) -> Picture:
    """Return what a machine of each class does on average, largest classes first, and the users' shares."""
    shown = np.argsort(-instance.machine_count, kind="stable")[:MAX_BARS]
    tasks = tasks_per_class(instance, allocation) / instance.machine_count
    scale = resource_scales(instance.resources)
    bars = [_bar(instance, tasks[:, k], scale, k) for k in shown.tolist()]
    left_out = int(instance.machine_count.sum() - instance.machine_count[shown].sum())
    shares = shares_of(instance, allocation)
    fair = shares if allocation.certificate is not None else fair_shares(instance)
    return Picture(instance.resources, tuple(bars), left_out, _curves(shares, fair))


def _bar(instance: FairnessInstance, tasks: FloatArray, scale: np.ndarray, k: int) -> Bar:
    amounts = tasks[:, None] * instance.demand / scale
    size = (tasks[:, None] * instance.demand / np.maximum(instance.capacity[k], 1)).max(axis=1)
    order = [i for i in np.argsort(-size, kind="stable").tolist() if size[i] > 0]
    parts = [Part(instance.user_name(i), 1, tuple(amounts[i].tolist())) for i in order[:MAX_PARTS]]
    rest = order[MAX_PARTS:]
    if rest:
        parts.append(Part(f"{len(rest)} other users", 1, tuple(amounts[rest].sum(axis=0).tolist())))
    capacity = tuple((instance.capacity[k] / scale).tolist())
    return Bar(instance.machine_names[k], int(instance.machine_count[k]), capacity, tuple(parts))


def _curves(shares: FloatArray, fair: FloatArray) -> tuple[Curve, ...]:
    users = shares.shape[0]
    points = np.unique(np.linspace(0, users - 1, min(users, MAX_POINTS)).astype(np.int64))
    x = tuple((points + 1.0).tolist())
    by_fair = np.lexsort((shares, fair))[points]
    part = np.sort(shares / fair)[points]
    return (
        Curve("Shares", "users, by fair share", "share", x, tuple(shares[by_fair].tolist())),
        Curve("Shares over fair shares", "users, the worst-off first", "share / fair share", x, tuple(part.tolist())),
    )
