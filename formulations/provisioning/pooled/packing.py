"""Putting tasks on given machines: the linear program over shares, rounded down, and the rest where it fits best.

    maximise    sum_m sum_c value[c] x[m, c]
    subject to  sum_m x[m, c] <= counts[c]                                  for each class c
                sum_c demand[c, r] x[m, c] <= capacity[m, r]                for each machine m and resource r
                x[m, c] <= most[c]                                          of which so many may share a machine

A vertex of it has at most as many shares that are not whole as there are rows of the second kind, so few tasks are left to
the rest, whatever their number. On few machines the integer program is solved instead. On many, the machines of a type are
one in the program, and its tasks are dealt out to them, each class alike but for one task.

What an optimal solution can do without: machine types in whose place others are as good, and differences of tasks.

Which tasks go on machines of which type: the program by types with whole tasks, for clusters of a few dozen machines.

    minimise    sum_k price[k] Y[k]                      Y[k] machines of type k, X[k, c] tasks of class c on them, whole
    subject to  sum_k X[k, c] >= counts[c]                                          for each class c
                sum_c demand[k, c, r] X[k, c] <= capacity[k, r] Y[k]                for each type k and resource r
                X[k, c] <= copies[k, c] Y[k]       copies: tasks of c that one machine holds, for each type and class

Where a type is rented once, its tasks are what one machine holds; where it is rented more often, they are packed. Types of which
the solution that a search begins at has several machines are told apart machine by machine. Every solution is one of the
program, so its bound is one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.linear_model import LinearModel, Rows, proven_cost
from schedgap.formulations.provisioning.bounds import type_blocks
from schedgap.formulations.provisioning.column_generation.filling import fleet_of
from schedgap.formulations.provisioning.column_generation.kernels_fill import anneal
from schedgap.formulations.provisioning.pooled.kernels_place import place_best
from schedgap.formulations.provisioning.pooled.program import coarse, spread
from schedgap.formulations.provisioning.resource_bound import block_model
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.errors import BackendError
from schedgap.instances.provisioning.classes import Merged, merge_equal_classes, part_of
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.moves import anew
from schedgap.instances.provisioning.running import ANY_NUMBER
from schedgap.instances.provisioning.solution import Provisioning


@dataclass(frozen=True, slots=True, eq=False)
class Offered:
    """An instance with fewer machine types. kept : (K',) int64, of the source's types, in the order of the instance's."""

    instance: ProvisioningInstance
    kept: IntArray

    def restore(self, solution: Provisioning) -> Provisioning:
        """Return the same solution of the source."""
        return replace(solution, machine_type=self.kept[solution.machine_type])


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """An instance with equal classes merged, dominated types dropped, and what then is equal merged again."""

    instance: ProvisioningInstance
    steps: tuple[Merged, Offered, Merged]

    def restore(self, solution: Provisioning) -> Provisioning:
        """Return the same solution of the source."""
        for step in reversed(self.steps):
            solution = step.restore(solution)
        return solution


def reduced(instance: ProvisioningInstance) -> Reduced:
    """Reduce an instance; what runs and limits on moves go. Classes may differ on dropped machine families only."""
    first = merge_equal_classes(anew(instance))
    offered = without_dominated(first.instance)
    last = merge_equal_classes(offered.instance)
    return Reduced(last.instance, (first, offered, last))


def without_dominated(instance: ProvisioningInstance) -> Offered:
    """Drop each machine type in place of which another is as good; exact without interference and limits on moves.

    Another is, if any number of it can be had, it costs no more, has no less of any resource, and each task that may run on
    the one may run on the other and demands no more there. Of equal types the first stays. O(K^2 R + F^2 C R).
    """
    price, capacity, family = instance.price, instance.capacity, instance.type2family
    demand, allowed = instance.demand, instance.demand[:, :, 0] >= 0
    takes = np.array(
        [
            [bool(b[a].all() and (d[a] >= e[a]).all()) for b, e in zip(allowed, demand, strict=True)]
            for a, d in zip(allowed, demand, strict=True)
        ]
    )
    stock = np.full(instance.num_types, ANY_NUMBER) if instance.stock is None else instance.stock
    kept: list[int] = []
    for k in np.lexsort((np.arange(instance.num_types), -capacity.sum(axis=1), stock != ANY_NUMBER, price)).tolist():
        others = np.array(kept, np.int64)
        better = takes[family[k], family[others]] & (capacity[others] >= capacity[k]).all(axis=1)
        if not (better & (stock[others] == ANY_NUMBER)).any():
            kept.append(k)
    order = np.sort(np.array(kept, np.int64))
    if order.size == instance.num_types:
        return Offered(instance, order)
    families = np.array(list(dict.fromkeys(family[order].tolist())))
    place = np.full(len(instance.families), -1)
    place[families] = np.arange(families.size)
    fewer = instance.replace(
        type_names=tuple(instance.type_names[k] for k in order),
        type2family=place[family[order]],
        families=tuple(instance.families[f] for f in families),
        capacity=capacity[order],
        price=price[order],
        fee=None,
        stock=None if instance.stock is None else stock[order],
        running=None,
        demand=demand[families],
        job_value=instance.job_value,
    )
    return Offered(fewer, order)


# Most tasks that settle by annealing, and its moves for each. Temperatures: what is beyond capacity counts in mean machines.
MOST_SETTLED, SETTLING, HOT, COLD = 5_000, 1_000, 0.03, 5e-5
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


def settle(
    instance: ProvisioningInstance, machine_type: IntArray, fits: BoolArray, counts: IntArray, random: Any
) -> IntArray | None:
    """(M, C) int64: tasks (C,) of each class all on machines of given types (M,), by annealing; None if in vain.

    fits : (M, C), whether a task fits the machine. random : (1,) uint64, not 0, in and out.
    """
    if counts.sum() > MOST_SETTLED:
        return None
    task_class = np.repeat(np.arange(instance.num_classes), counts)
    number = fits.sum(axis=0)
    if not number[task_class].all():
        return None
    # Tasks of a class begin on machines that they fit alone, one after the other.
    places = np.argsort(~fits, axis=0, kind="stable")
    machine = places[np.arange(task_class.size) % number[task_class], task_class]
    fleet = fleet_of(instance, machine_type, task_class, counts)
    if not anneal(fleet, machine, HOT, COLD, SETTLING * task_class.size, random):
        return None
    settled = np.zeros(fits.shape, np.int64)
    np.add.at(settled, (machine, task_class), 1)
    return settled


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


# Pairs of a type and a class that fits it up to which a search finds good solutions.
MAX_PAIRS = 8_000


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """types : (M,) of machines. content : (M, C) tasks on them. left : (C,) tasks without a place. bound : micro-dollars."""

    types: IntArray
    content: IntArray
    left: IntArray
    bound: int


def is_small(instance: ProvisioningInstance) -> bool:
    """Whether the program is small enough for a search."""
    return int(instance.fits().sum()) <= MAX_PAIRS


def place(
    instance: ProvisioningInstance,
    time_limit_s: float,
    threads: int,
    start: tuple[IntArray, IntArray] | None = None,
) -> Placed | None:
    """Solve the program in the time given and pack what it says; None without an answer.

    start : types (M,) and contents (M, C) of a solution to begin at.
    """
    machine2type = np.arange(instance.num_types)
    if start is not None:
        instance, machine2type, types = _told_apart(instance, start[0])
        start = types, start[1]
    blocks = [coarse(block, instance.counts) for block in type_blocks(instance, blocking=False, copies=True)]
    model = block_model(instance, blocks, whole=True)
    model = replace(model, integral=np.ones(model.cost.size, np.bool_))
    fits = instance.fits()
    begin = None
    if start is not None:
        amounts = np.zeros(fits.shape, np.int64)
        np.add.at(amounts, start[0], start[1])
        begin = np.concatenate((amounts[fits], np.bincount(start[0], minlength=instance.num_types)))
    try:
        found = solve(model, time_limit_s=max(0.0, time_limit_s), threads=threads, warm_start=begin)
    except BackendError:
        return None
    if found.x is None:
        return None
    rounded = np.rint(found.x).astype(np.int64)
    amounts = np.zeros(fits.shape, np.int64)
    amounts[fits] = rounded[: -instance.num_types]
    types, content, left = _packed(instance, rounded[-instance.num_types :], amounts, max(0.1, 0.05 * time_limit_s))
    return Placed(machine2type[types], content, left, proven_cost(found.bound) * model.objective_scale)


def _told_apart(instance: ProvisioningInstance, types: IntArray) -> tuple[ProvisioningInstance, IntArray, IntArray]:
    """Return the instance with a type more for each machine of types that `types` (M,) has several of.

    Returns with it the type of each of its types (K',), and its types (M,) of the machines.
    """
    number = np.bincount(types, minlength=instance.num_types)
    several = np.flatnonzero(number > 1)
    if several.size == 0:
        return instance, np.arange(instance.num_types), types
    more = np.repeat(several, number[several])
    stock = np.full(instance.num_types, ANY_NUMBER) if instance.stock is None else instance.stock.copy()
    limited = several[stock[several] != ANY_NUMBER]
    stock[limited] -= number[limited]
    chosen = np.concatenate((np.arange(instance.num_types), more))
    apart = instance.replace(
        type_names=(*instance.type_names, *(f"{instance.type_names[k]} #{i}" for i, k in enumerate(more.tolist()))),
        type2family=instance.type2family[chosen],
        capacity=instance.capacity[chosen],
        price=instance.price[chosen],
        stock=np.concatenate((stock, np.ones(more.size, np.int64))),
        fee=None,
        running=None,
        job_value=instance.job_value,
    )
    renamed = types.copy()
    for k in several.tolist():
        renamed[types == k] = instance.num_types + np.flatnonzero(more == k)
    return apart, chosen, renamed


def _packed(
    instance: ProvisioningInstance, machines: IntArray, amounts: IntArray, pack_s: float
) -> tuple[IntArray, IntArray, IntArray]:
    """Return types, contents and what is left of the tasks (K, C) on machines (K,) of each type."""
    left = instance.counts.copy()
    types: list[int] = []
    rows: list[IntArray] = []
    for k in np.flatnonzero(machines).tolist():
        wanted = np.minimum(amounts[k], left)
        classes = np.flatnonzero(wanted)
        if classes.size == 0:
            continue
        part = part_of(instance, classes, wanted[classes])
        for row in spread(pack(part, np.full(machines[k], k), pack_s), classes, instance.num_classes):
            if row.any():
                types.append(k)
                rows.append(row)
                left -= row
    return np.array(types, np.int64), np.array(rows, np.int64).reshape(-1, instance.num_classes), left
