"""Putting tasks on given machines: the linear program over shares, rounded down, and the rest where it fits best.

    maximise    sum_m sum_c value[c] x[m, c]
    subject to  sum_m x[m, c] <= counts[c]                                  for each class c
                sum_c demand[c, r] x[m, c] <= capacity[m, r]                for each machine m and resource r
                x[m, c] <= most[c]                                          of which so many may share a machine

A vertex of it has at most as many shares that are not whole as there are rows of the second kind, so few tasks are left to
the rest, whatever their number. On few machines the integer program is solved instead. On many, the machines of a type are
one in the program, and its tasks are dealt out to them, each class alike but for one task.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.provisioning.pooled.kernels_place import place_best
from schedgap.formulations.rows import Rows
from schedgap.instances.errors import BackendError

if TYPE_CHECKING:
    from schedgap.formulations.linear_model import LinearModel
    from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance

# Shares of tasks on machines up to which the program is solved whole, and above which types take the machines' place.
WHOLE_SHARES, MAX_SHARES = 600, 40_000


def pack(instance: ProvisioningInstance, machine_type: IntArray, time_limit_s: float) -> IntArray:
    """(M, C) int64: tasks of each class on machines of given types (M,); not all tasks, where there is no room.

    At least one task is placed if it fits. In place of the linear program, where that is too large or not solved in the time
    given, all tasks are placed in turn.
    """
    fits = instance.fits()[machine_type]
    content = np.zeros(fits.shape, np.int64)
    number = int(fits.sum())
    if number == 0:
        return content
    ways = (_dealt,) if number > MAX_SHARES else (_rounded, _whole) if number <= WHOLE_SHARES else (_rounded,)
    for way in ways:
        shares = way(instance, machine_type, fits, max(0.0, time_limit_s))
        cand = _completed(instance, machine_type, fits, np.zeros_like(content) if shares is None else shares)
        if _worth(instance, cand) > _worth(instance, content):
            content = cand
        if (content.sum(axis=0) == instance.counts).all():
            break
    return content


def _rounded(
    instance: ProvisioningInstance, machine_type: IntArray, fits: BoolArray, time_limit_s: float, *, relax: bool = True
) -> IntArray | None:
    """Return the program's shares (M, C), rounded down; None if it was not solved."""
    machine, task_class = np.nonzero(fits)
    most = instance.most_together[task_class]
    model = _model(instance, machine_type, instance.capacity[machine_type], most, machine, task_class)
    x = _solved(model, time_limit_s, relax=relax)
    if x is None:
        return None
    shares = np.zeros(fits.shape, np.int64)
    # A solver's share just below a whole number is one; what does not fit is taken off later.
    shares[machine, task_class] = np.floor(x + 1e-6).astype(np.int64)
    return shares


_whole = partial(_rounded, relax=False)


def _dealt(
    instance: ProvisioningInstance, machine_type: IntArray, fits: BoolArray, time_limit_s: float
) -> IntArray | None:
    """Return shares (M, C) of the program over types, dealt out to the machines of each type, the emptiest first."""
    types, first, number = np.unique(machine_type, return_index=True, return_counts=True)
    place, task_class = np.nonzero(fits[first])
    most = np.minimum(instance.most_together[task_class] * number[place], instance.counts[task_class])
    model = _model(instance, types, instance.capacity[types] * number[:, None], most, place, task_class)
    x = _solved(model, time_limit_s, relax=True)
    if x is None:
        return None
    of_type = np.zeros((types.size, instance.num_classes), np.int64)
    of_type[place, task_class] = np.floor(x + 1e-6).astype(np.int64)
    shares = np.zeros(fits.shape, np.int64)
    for t, k in enumerate(types.tolist()):
        machines = np.flatnonzero(machine_type == k)
        demand = np.maximum(instance.demand[instance.type2family[k]], 0)
        scale = 1.0 / np.maximum(instance.capacity[k], 1)
        rest = np.tile(instance.capacity[k], (machines.size, 1))
        for c in np.argsort(-(demand * scale).max(axis=1), kind="stable").tolist():
            every, more = divmod(int(of_type[t, c]), machines.size)
            free = (rest * scale).min(axis=1)
            given = np.full(machines.size, every)
            given[np.argsort(-free, kind="stable")[:more]] += 1
            used = demand[c] > 0
            if used.any():
                given = np.minimum(given, (rest[:, used] // demand[c, used]).min(axis=1))
            given = np.minimum(given, instance.most_together[c])
            rest -= given[:, None] * demand[c]
            shares[machines, c] = given
    return shares


def _solved(model: LinearModel, time_limit_s: float, *, relax: bool) -> FloatArray | None:
    try:
        return solve(model, time_limit_s=time_limit_s, relax=relax).x
    except BackendError:
        # HiGHS refuses programs whose numbers are too far apart.
        return None


def _worth(instance: ProvisioningInstance, content: IntArray) -> int:
    return int(content.sum(axis=0).astype(object) @ instance.reservation_price)


def _completed(instance: ProvisioningInstance, machine_type: IntArray, fits: BoolArray, shares: IntArray) -> IntArray:
    """(M, C) int64: whole shares (M, C), without what does not fit or is too many, and all else where it fits best."""
    family = instance.type2family[machine_type]
    demand = np.maximum(instance.demand[family], 0)
    rest = instance.capacity[machine_type] - np.einsum("mc,mcr->mr", shares, demand)
    content = np.where((rest < 0).any(axis=1)[:, None], 0, shares)
    earlier = np.cumsum(content, axis=0) - content
    content = np.asarray(np.minimum(content, np.maximum(instance.counts - earlier, 0)), np.int64)
    rest = instance.capacity[machine_type] - np.einsum("mc,mcr->mr", content, demand)
    left = instance.counts - content.sum(axis=0)
    scale = 1.0 / np.maximum(instance.capacity.max(axis=0), 1)
    sizes = (np.where(fits[:, :, None], demand, 0).max(axis=0, initial=0) * scale).sum(axis=1)
    turn = np.argsort(-sizes, kind="stable")
    place_best(turn, left, fits, instance.most_together, family, instance.demand, rest, scale, content)
    return content


def _model(
    instance: ProvisioningInstance,
    machine_type: IntArray,
    capacity: IntArray,
    most: IntArray,
    machine: IntArray,
    task_class: IntArray,
) -> LinearModel:
    """Build the program over shares of classes (N,) on machines (N,) of given types (M,) and capacities (M, R).

    most : (N,), of each share.
    """
    rows, columns = Rows(machine.size), np.arange(machine.size)
    rows.add("tasks", (task_class, columns, 1.0), upper=instance.counts)
    demand = instance.demand[instance.type2family[machine_type[machine]], task_class]
    for r, resource in enumerate(instance.resources):
        unit = max(1, int(capacity[:, r].max()))
        rows.add(resource, (machine, columns, demand[:, r] / unit), upper=capacity[:, r] / unit)
    # Tasks worth little for what they take stay until last; a different price a machine makes the vertex unique.
    value = instance.reservation_price[task_class] * (1 + 1e-3 * machine / max(machine_type.size, 1))
    return rows.model("packing", -value / 1e6, most, 1_000_000)
