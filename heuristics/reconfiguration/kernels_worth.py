"""Which tasks are on which machine, and what they are worth together, compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from schedgap.heuristics.reconfiguration.kernels_catalogue import Catalogue, Present, normalised
from schedgap.heuristics.reconfiguration.kernels_monitor import Table, find
from schedgap.instances.jit import inner_kernel, kernel

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray


class Content(NamedTuple):
    """Tasks by machine, linked. first, last : (M,) a machine's first and last task, -1 for none. after : (T,).

    left : (M, R) room. list : (T + 1,) work space for the classes of one machine, job_size : (T + 1,) for their sizes.
    """

    first: IntArray
    last: IntArray
    after: IntArray
    left: IntArray
    list: IntArray
    job_size: IntArray


@kernel
def contents(catalogue: Catalogue, present: Present, machine_type: IntArray, place: IntArray) -> Content:
    """Return which tasks are on which machine, in the order of the tasks."""
    num_tasks, num_machines = place.shape[0], machine_type.shape[0]
    content = Content(
        np.full(num_machines, -1), np.full(num_machines, -1), np.empty(num_tasks, np.int64),
        catalogue.capacity[machine_type], np.empty(num_tasks + 1, np.int64), np.empty(num_tasks + 1, np.int64),
    )  # fmt: skip
    for t in range(num_tasks):
        if place[t] >= 0:
            put(catalogue, present, content, t, place[t], machine_type[place[t]])
    return content


@inner_kernel
def put(catalogue: Catalogue, present: Present, content: Content, t: int, m: int, machine_type: int) -> None:
    """Append a task to a machine's list and take its room."""
    content.after[t] = -1
    if content.first[m] < 0:
        content.first[m] = t
    else:
        content.after[content.last[m]] = t
    content.last[m] = t
    for r in range(content.left.shape[1]):
        content.left[m, r] -= catalogue.demand[catalogue.family[machine_type], present.task_class[t], r]


@inner_kernel
def worth_of(
    catalogue: Catalogue, table: Table, present: Present, content: Content, m: int, sizes: bool, extra: int
) -> float:
    """Return the TNRP of the tasks on a machine, with one more unless `extra` is -1. O(E) look-ups for E tasks."""
    number, key, t = 0, 0, content.first[m]
    while t >= 0 or extra >= 0:
        one = t if t >= 0 else extra
        if t >= 0:
            t = content.after[t]
        else:
            extra = -1
        content.list[number], content.job_size[number] = present.task_class[one], present.job_size[one]
        key += table.number_beside[present.task_class[one]]
        number += 1
    worth = 0.0
    for i in range(number):
        c = content.list[i]
        if number == 1:
            throughput = table.alone[c]
        elif number == 2:
            throughput = table.pair[c, content.list[1 - i]]
        else:
            slot = find(table, table.number_itself[c] + key - table.number_beside[c])
            if table.times[slot] > 0:
                throughput = table.value[slot]
            else:
                throughput = 1.0
                for other in range(number):
                    if other != i:
                        throughput *= table.pair[c, content.list[other]]
        worth += normalised(catalogue.worth[c], throughput, content.job_size[i] if sizes else 1)
    return worth
