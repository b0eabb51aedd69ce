"""Putting tasks on given machines: the linear program over shares, rounded down, and the rest where it fits best.

    maximise    sum_m sum_c value[c] x[m, c]
    subject to  sum_m x[m, c] <= counts[c]                                  for each class c
                sum_c demand[c, r] x[m, c] <= capacity[m, r]                for each machine m and resource r

A vertex of it has at most as many shares that are not whole as there are rows of the second kind, so few tasks are left to
the rest, whatever their number. On few machines the integer program is solved instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.provisioning.pooled.kernels_place import place_best
from schedgap.formulations.rows import Rows
from schedgap.instances.errors import BackendError

if TYPE_CHECKING:
    from schedgap.formulations.linear_model import LinearModel
    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance

# Shares of tasks on machines up to which the program is solved whole, and above which there is none.
WHOLE_SHARES, MAX_SHARES = 600, 150_000


def pack(instance: ProvisioningInstance, machine_type: IntArray, time_limit_s: float) -> IntArray:
    """(M, C) int64: tasks of each class on machines of given types (M,); not all tasks, where there is no room.

    At least one task is placed if it fits. In place of the linear program, where that is too large or not solved in the time
    given, all tasks are placed in turn.
    """
    fits = instance.fits()[machine_type]
    machine, task_class = np.nonzero(fits)
    content = np.zeros(fits.shape, np.int64)
    if not 0 < machine.size <= MAX_SHARES:
        return _completed(instance, machine_type, fits, content)
    model = _model(instance, machine_type, machine, task_class)
    for relax in (True, False):
        if machine.size > WHOLE_SHARES and not relax:
            break
        try:
            found = solve(model, time_limit_s=max(0.0, time_limit_s), relax=relax)
        except BackendError:
            # HiGHS refuses programs whose numbers are too far apart.
            continue
        if found.x is None:
            continue
        shares = np.zeros_like(content)
        # A solver's share just below a whole number is one; what does not fit is taken off.
        shares[machine, task_class] = np.floor(found.x + 1e-6).astype(np.int64)
        cand = _completed(instance, machine_type, fits, shares)
        if _worth(instance, cand) >= _worth(instance, content):
            content = cand
        if (content.sum(axis=0) == instance.counts).all():
            return content
    return content if content.any() else _completed(instance, machine_type, fits, content)


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
    place_best(turn, left, fits, family, instance.demand, rest, scale, content)
    return content


def _model(
    instance: ProvisioningInstance, machine_type: IntArray, machine: IntArray, task_class: IntArray
) -> LinearModel:
    rows, number = Rows(machine.size), machine_type.shape[0]
    columns = np.arange(machine.size)
    counts = instance.counts.astype(np.float64)
    rows.add("tasks", task_class, columns, 1.0, np.full(counts.shape[0], -np.inf), counts)
    demand = instance.demand[instance.type2family[machine_type[machine]], task_class]
    for r, resource in enumerate(instance.resources):
        capacity = instance.capacity[machine_type, r]
        unit = max(1, int(capacity.max()))
        rows.add(resource, machine, columns, demand[:, r] / unit, np.full(number, -np.inf), capacity / unit)
    # Tasks worth little for what they take stay until last; a different price a machine makes the vertex unique.
    value = instance.reservation_price[task_class] * (1 + 1e-3 * machine / max(number, 1))
    return rows.model(
        "packing",
        -value / 1e6,
        np.zeros(machine.size),
        counts[task_class],
        np.ones(machine.size, np.bool_),
        1_000_000,
    )
