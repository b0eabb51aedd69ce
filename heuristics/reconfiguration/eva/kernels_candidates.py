"""Eva's two candidate plans, compiled: what stays, what is inserted, what Algorithm 1 places, and what a plan saves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from schedgap.heuristics.reconfiguration.eva.kernels_pack import pack
from schedgap.heuristics.reconfiguration.kernels_catalogue import Catalogue, Packing, Present, aligned
from schedgap.heuristics.reconfiguration.kernels_worth import contents, put, worth_of
from schedgap.instances.jit import kernel

if TYPE_CHECKING:
    from schedgap.heuristics.reconfiguration.kernels_monitor import Table
    from schedgap.instances.arrays import BoolArray, IntArray


class EvaRules(NamedTuple):
    """by_list : no alignment among equal choices. downsizing : rent the cheapest type that takes a set. insertion : put
    tasks on machines that stay, whether that pays or not. sizes : job sizes count wherever a set is valued, not only in
    Algorithm 1.
    """  # noqa: D205

    by_list: bool
    downsizing: bool
    insertion: bool
    sizes: bool


@kernel
def full(catalogue: Catalogue, table: Table, present: Present, frozen: BoolArray, rules: EvaRules) -> Packing:
    """Return the plan of Full Reconfiguration: every task is placed anew that is not frozen."""
    num_tasks, num_machines = present.task_class.shape[0], present.machine_type.shape[0]
    packing = _new_packing(num_tasks, num_machines)
    for t in range(num_tasks):
        if frozen[t]:
            packing.place[t] = present.sent_to[t]
            packing.chosen[present.sent_to[t]] = True
    listed = np.flatnonzero(~frozen)
    if rules.insertion:
        listed = _inserted(catalogue, table, present, packing, listed, rules)
    pack(catalogue, table, present, packing, listed, rules.by_list, rules.downsizing)
    return packing


@kernel
def partial(catalogue: Catalogue, table: Table, present: Present, frozen: BoolArray, rules: EvaRules) -> Packing:
    """Return the plan of Partial Reconfiguration: new tasks are placed, and those on machines that do not pay."""
    num_tasks, num_machines = present.task_class.shape[0], present.machine_type.shape[0]
    packing = _new_packing(num_tasks, num_machines)
    content = contents(catalogue, present, present.machine_type, present.sent_to)
    for t in range(num_tasks):
        if frozen[t]:
            packing.chosen[present.sent_to[t]] = True
    listed = np.empty(num_tasks, np.int64)
    number = 0
    for t in range(num_tasks):
        if not frozen[t] and present.sent_to[t] < 0:
            listed[number] = t
            number += 1
    for m in range(num_machines):
        t = content.first[m]
        if t < 0:
            continue
        if not packing.chosen[m]:
            worth = worth_of(catalogue, table, present, content, m, rules.sizes, -1)
            own = content.after[t] < 0 and catalogue.kmin[present.task_class[t]] == present.machine_type[m]
            packing.chosen[m] = own or worth >= catalogue.price[present.machine_type[m]]
        while t >= 0:
            if packing.chosen[m]:
                packing.place[t] = m
            else:
                listed[number] = t
                number += 1
            t = content.after[t]
    listed = listed[:number].copy()
    if rules.insertion:
        listed = _inserted(catalogue, table, present, packing, listed, rules)
    pack(catalogue, table, present, packing, listed, rules.by_list, rules.downsizing)
    return packing


@kernel
def worth_and_price(
    catalogue: Catalogue, table: Table, present: Present, packing: Packing, sizes: bool
) -> tuple[float, float, float]:
    """Return the summed TNRP and price of a plan, and the price of its new machines."""
    num_machines, fresh = present.machine_type.shape[0], packing.size[0]
    types = np.concatenate((present.machine_type, packing.new_type[:fresh]))
    content = contents(catalogue, present, types, packing.place)
    worth, price, new_price = 0.0, 0.0, 0.0
    for m in range(types.shape[0]):
        if content.first[m] >= 0:
            worth += worth_of(catalogue, table, present, content, m, sizes, -1)
            price += catalogue.price[types[m]]
            if m >= num_machines:
                new_price += catalogue.price[types[m]]
    return worth, price, new_price


@kernel
def _new_packing(num_tasks: int, num_machines: int) -> Packing:
    return Packing(
        np.full(num_tasks, -1), np.zeros(num_machines, np.bool_), np.empty(num_tasks, np.int64), np.zeros(1, np.int64)
    )


@kernel
def _inserted(
    catalogue: Catalogue, table: Table, present: Present, packing: Packing, listed: IntArray, rules: EvaRules
) -> IntArray:
    """Put listed tasks on machines of the plan as long as any has room; return those that found none.

    Always the pair of a task and a machine whose content, with the task, is worth the most; then one where the task
    is held; then the best aligned; then the first task and machine. The gain is not looked at.
    """
    content = contents(catalogue, present, present.machine_type, packing.place)
    num_machines, length = present.machine_type.shape[0], listed.shape[0]
    # Tasks of equal class and job size are worth the same anywhere, so one row serves them all.
    row = np.empty(length, np.int64)
    for i in range(length):
        row[i] = i
        for other in range(i):
            a, b = listed[i], listed[other]
            if present.task_class[a] == present.task_class[b] and present.job_size[a] == present.job_size[b]:
                row[i] = row[other]
                break
    worth = np.full((length, num_machines), np.nan)
    while True:
        best, best_on, best_worth, best_held, best_score = -1, -1, 0.0, False, 0.0
        for i in range(length):
            t = listed[i]
            if packing.place[t] >= 0:
                continue
            for m in range(num_machines):
                if not packing.chosen[m]:
                    continue
                machine_type = present.machine_type[m]
                demand = catalogue.demand[catalogue.family[machine_type], present.task_class[t]]
                fits = True
                for r in range(demand.shape[0]):
                    fits &= 0 <= demand[r] <= content.left[m, r]
                if not fits:
                    continue
                if np.isnan(worth[row[i], m]):
                    worth[row[i], m] = worth_of(catalogue, table, present, content, m, rules.sizes, t)
                held, score = present.held_on[t] == m, 0.0
                if not rules.by_list:
                    score = aligned(demand, content.left[m], catalogue.capacity[machine_type])
                better = best < 0 or worth[row[i], m] > best_worth
                if not better and worth[row[i], m] == best_worth:
                    better = (held and not best_held) or (held == best_held and score > best_score)
                if better:
                    best, best_on, best_worth, best_held, best_score = i, m, worth[row[i], m], held, score
        if best < 0:
            return np.array([t for t in listed if packing.place[t] < 0], dtype=np.int64)
        packing.place[listed[best]] = best_on
        put(catalogue, present, content, listed[best], best_on, present.machine_type[best_on])
        worth[:, best_on] = np.nan
