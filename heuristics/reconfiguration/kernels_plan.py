"""Eva's two candidate plans, compiled: what stays, what is inserted, what Algorithm 1 places, and what a plan saves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from schedgap.heuristics.reconfiguration.kernels_monitor import BESIDE, ITSELF, Table, find
from schedgap.heuristics.reconfiguration.kernels_pack import pack
from schedgap.heuristics.reconfiguration.kernels_wares import Now, Sketch, Wares, aligned, normalised
from schedgap.instances.jit import inner_kernel, kernel

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, IntArray


class Rules(NamedTuple):
    """by_list : no alignment among equal choices. downsizing : rent the cheapest type that takes a set. insertion : put
    tasks on machines that stay, whether that pays or not. sizes : job sizes count wherever a set is valued, not only in
    Algorithm 1.
    """  # noqa: D205

    by_list: bool
    downsizing: bool
    insertion: bool
    sizes: bool


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
def full(wares: Wares, table: Table, now: Now, frozen: BoolArray, rules: Rules) -> Sketch:
    """Return the plan of Full Reconfiguration: every task is placed anew that is not frozen."""
    num_tasks, num_machines = now.task_class.shape[0], now.machine_type.shape[0]
    sketch = _sketch(num_tasks, num_machines)
    for t in range(num_tasks):
        if frozen[t]:
            sketch.place[t] = now.sent_to[t]
            sketch.chosen[now.sent_to[t]] = True
    listed = np.flatnonzero(~frozen)
    if rules.insertion:
        listed = _inserted(wares, table, now, sketch, listed, rules)
    pack(wares, table, now, sketch, listed, rules.by_list, rules.downsizing)
    return sketch


@kernel
def partial(wares: Wares, table: Table, now: Now, frozen: BoolArray, rules: Rules) -> Sketch:
    """Return the plan of Partial Reconfiguration: new tasks are placed, and those on machines that do not pay."""
    num_tasks, num_machines = now.task_class.shape[0], now.machine_type.shape[0]
    sketch = _sketch(num_tasks, num_machines)
    content = contents(wares, now, now.machine_type, now.sent_to)
    for t in range(num_tasks):
        if frozen[t]:
            sketch.chosen[now.sent_to[t]] = True
    listed = np.empty(num_tasks, np.int64)
    number = 0
    for t in range(num_tasks):
        if not frozen[t] and now.sent_to[t] < 0:
            listed[number] = t
            number += 1
    for m in range(num_machines):
        t = content.first[m]
        if t < 0:
            continue
        if not sketch.chosen[m]:
            worth = worth_of(wares, table, now, content, m, rules.sizes, -1)
            own = content.after[t] < 0 and wares.kmin[now.task_class[t]] == now.machine_type[m]
            sketch.chosen[m] = own or worth >= wares.price[now.machine_type[m]]
        while t >= 0:
            if sketch.chosen[m]:
                sketch.place[t] = m
            else:
                listed[number] = t
                number += 1
            t = content.after[t]
    listed = listed[:number].copy()
    if rules.insertion:
        listed = _inserted(wares, table, now, sketch, listed, rules)
    pack(wares, table, now, sketch, listed, rules.by_list, rules.downsizing)
    return sketch


@kernel
def worth_and_price(wares: Wares, table: Table, now: Now, sketch: Sketch, sizes: bool) -> tuple[float, float, float]:
    """Return the summed TNRP and price of a plan, and the price of its new machines."""
    num_machines, fresh = now.machine_type.shape[0], sketch.size[0]
    types = np.concatenate((now.machine_type, sketch.new_type[:fresh]))
    content = contents(wares, now, types, sketch.place)
    worth, price, new_price = 0.0, 0.0, 0.0
    for m in range(types.shape[0]):
        if content.first[m] >= 0:
            worth += worth_of(wares, table, now, content, m, sizes, -1)
            price += wares.price[types[m]]
            if m >= num_machines:
                new_price += wares.price[types[m]]
    return worth, price, new_price


@kernel
def _sketch(num_tasks: int, num_machines: int) -> Sketch:
    return Sketch(
        np.full(num_tasks, -1), np.zeros(num_machines, np.bool_), np.empty(num_tasks, np.int64), np.zeros(1, np.int64)
    )


@kernel
def contents(wares: Wares, now: Now, machine_type: IntArray, place: IntArray) -> Content:
    """Return which tasks are on which machine, in the order of the tasks."""
    num_tasks, num_machines = place.shape[0], machine_type.shape[0]
    content = Content(
        np.full(num_machines, -1), np.full(num_machines, -1), np.empty(num_tasks, np.int64),
        wares.capacity[machine_type], np.empty(num_tasks + 1, np.int64), np.empty(num_tasks + 1, np.int64),
    )  # fmt: skip
    for t in range(num_tasks):
        if place[t] >= 0:
            put(wares, now, content, t, place[t], machine_type[place[t]])
    return content


@inner_kernel
def put(wares: Wares, now: Now, content: Content, t: int, m: int, machine_type: int) -> None:
    """Append a task to a machine's list and take its room."""
    content.after[t] = -1
    if content.first[m] < 0:
        content.first[m] = t
    else:
        content.after[content.last[m]] = t
    content.last[m] = t
    for r in range(content.left.shape[1]):
        content.left[m, r] -= wares.demand[wares.family[machine_type], now.task_class[t], r]


@inner_kernel
def worth_of(wares: Wares, table: Table, now: Now, content: Content, m: int, sizes: bool, extra: int) -> float:
    """Return the TNRP of the tasks on a machine, with one more unless `extra` is -1. O(E) look-ups for E tasks."""
    number, key, t = 0, 0, content.first[m]
    while t >= 0 or extra >= 0:
        one = t if t >= 0 else extra
        if t >= 0:
            t = content.after[t]
        else:
            extra = -1
        content.list[number], content.job_size[number] = now.task_class[one], now.job_size[one]
        key += table.number[now.task_class[one], BESIDE]
        number += 1
    worth = 0.0
    for i in range(number):
        c = content.list[i]
        if number == 1:
            throughput = table.alone[c]
        elif number == 2:
            throughput = table.pair[c, content.list[1 - i]]
        else:
            slot = find(table, table.number[c, ITSELF] + key - table.number[c, BESIDE])
            if table.times[slot] > 0:
                throughput = table.value[slot]
            else:
                throughput = 1.0
                for other in range(number):
                    if other != i:
                        throughput *= table.pair[c, content.list[other]]
        worth += normalised(wares.worth[c], throughput, content.job_size[i] if sizes else 1)
    return worth


@kernel
def _inserted(wares: Wares, table: Table, now: Now, sketch: Sketch, listed: IntArray, rules: Rules) -> IntArray:
    """Put listed tasks on machines of the plan as long as any has room; return those that found none.

    Always the pair of a task and a machine whose content, with the task, is worth the most; then one where the task
    is held; then the best aligned; then the first task and machine. The gain is not looked at.
    """
    content = contents(wares, now, now.machine_type, sketch.place)
    num_machines, length = now.machine_type.shape[0], listed.shape[0]
    # Tasks of equal class and job size are worth the same anywhere, so one row serves them all.
    row = np.empty(length, np.int64)
    for i in range(length):
        row[i] = i
        for other in range(i):
            a, b = listed[i], listed[other]
            if now.task_class[a] == now.task_class[b] and now.job_size[a] == now.job_size[b]:
                row[i] = row[other]
                break
    worth = np.full((length, num_machines), np.nan)
    while True:
        best, best_on, best_worth, best_held, best_score = -1, -1, 0.0, False, 0.0
        for i in range(length):
            t = listed[i]
            if sketch.place[t] >= 0:
                continue
            for m in range(num_machines):
                if not sketch.chosen[m]:
                    continue
                machine_type = now.machine_type[m]
                demand = wares.demand[wares.family[machine_type], now.task_class[t]]
                fits = True
                for r in range(demand.shape[0]):
                    fits &= 0 <= demand[r] <= content.left[m, r]
                if not fits:
                    continue
                if np.isnan(worth[row[i], m]):
                    worth[row[i], m] = worth_of(wares, table, now, content, m, rules.sizes, t)
                held, score = now.held_on[t] == m, 0.0
                if not rules.by_list:
                    score = aligned(demand, content.left[m], wares.capacity[machine_type])
                better = best < 0 or worth[row[i], m] > best_worth
                if not better and worth[row[i], m] == best_worth:
                    better = (held and not best_held) or (held == best_held and score > best_score)
                if better:
                    best, best_on, best_worth, best_held, best_score = i, m, worth[row[i], m], held, score
        if best < 0:
            return np.array([t for t in listed if sketch.place[t] < 0], dtype=np.int64)
        sketch.place[listed[best]] = best_on
        put(wares, now, content, listed[best], best_on, now.machine_type[best_on])
        worth[:, best_on] = np.nan
