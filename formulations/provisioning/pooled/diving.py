"""Filling machines one after the other, each near what the linear program puts on machines of its type.

The program by types says how many machines of a type are rented, and which tasks share them. A machine gets at most its
part of each class, rounded up, and of these the contents of most value: a small integer program. The program's values make
nearly all contents that fill a machine equally good; its shares keep for each machine what goes together. After half of the
whole machines of each type the program is solved anew for what is left, until it rents no whole machine.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.provisioning.pooled.program import Pooled, spread
from schedgap.formulations.rows import Rows
from schedgap.instances.errors import BackendError
from schedgap.instances.provisioning.classes import part_of

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance

# Share of the whole machines of a type that are filled before the program is solved anew.
FILLED = 0.5
# Share of a machine's price that its contents may be worth less, before its type waits for the next program.
MAX_LOSS = 0.05
# By which share values are disturbed, so that equal ones are not taken in the order of classes.
NOISE = 0.002
# Seconds for the contents of one machine.
CONTENT_S = 0.05
# At most such a part of the machines that are still to be filled get the same contents.
COPIES = 8


def dive(instance: ProvisioningInstance, rng: np.random.Generator, end: float) -> tuple[IntArray, IntArray, IntArray]:
    """Return types (M,) and contents (M, C) of full machines, and the tasks (C,) that are left.

    end : of `time.perf_counter()`, when no further machine is filled.
    """
    left = instance.counts.copy()
    types: list[int] = []
    contents: list[IntArray] = []
    while left.any() and time.perf_counter() < end:
        classes = np.flatnonzero(left)
        part = part_of(instance, classes, left[classes], np.array(types, np.int64))
        relaxed = Pooled(part, by_type=True).relax(end - time.perf_counter())
        if relaxed is None:
            break
        number = len(types)
        whole = np.floor(relaxed.machines + 1e-6)
        for k in np.flatnonzero(whole).tolist():
            share, machines = relaxed.shares[k].copy(), relaxed.machines[k]
            to_fill = int(np.ceil(FILLED * whole[k]))
            while to_fill > 0:
                most = np.minimum(np.ceil(share / machines - 1e-7), np.minimum(left[classes], part.most_together))
                most = most.astype(np.int64)
                value = relaxed.value * (1 + NOISE * rng.random(classes.size))
                content = _fill(part, k, most, value)
                if time.perf_counter() > end or content @ relaxed.value < (1 - MAX_LOSS) * instance.price[k]:
                    break
                used = content > 0
                copies = max(1, min(to_fill // COPIES, int((share[used] / content[used]).min())))
                share, machines = np.maximum(share - copies * content, 0), machines - copies
                left[classes] -= copies * content
                to_fill -= copies
                types += [k] * copies
                contents += [spread(content[None], classes, instance.num_classes)[0]] * copies
        if len(types) == number:
            break
    return np.array(types, np.int64), np.array(contents, np.int64).reshape(-1, instance.num_classes), left


def _fill(instance: ProvisioningInstance, k: int, most: IntArray, value: FloatArray) -> IntArray:
    """(C,) int64: contents of a machine of type k with at most so many (C,) tasks of a class, of nearly the most value."""
    content = np.zeros_like(most)
    classes = np.flatnonzero((most > 0) & (value > 0))
    if classes.size == 0:
        return content
    demand, capacity = instance.demand[instance.type2family[k], classes], instance.capacity[k]
    rows = Rows(classes.size)
    for r, resource in enumerate(instance.resources):
        rows.add(resource, (0, np.arange(classes.size), demand[:, r]), upper=capacity[r : r + 1])
    model = rows.model("content", -value[classes] / value[classes].max(), most[classes], 1)
    try:
        x = solve(model, time_limit_s=CONTENT_S).x
    except BackendError:
        return content
    if x is not None:
        content[classes] = np.rint(x).astype(np.int64)
    return content if (content[classes] @ demand <= capacity).all() else np.zeros_like(most)
