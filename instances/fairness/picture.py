"""An allocation as a picture: a machine of each class as a bar with its users' parts, and shares beside fair shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.fairness.solution import FairnessAllocation, tasks_per_class
from schedgap.instances.fairness.verify import fair_shares, shares_of
from schedgap.instances.picture import MAX_BARS, MAX_POINTS, Bar, Curve, Part, Picture
from schedgap.instances.units import resource_scales

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray
    from schedgap.instances.fairness.model import FairnessInstance

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
