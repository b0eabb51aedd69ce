"""Eva's Full Reconfiguration: Algorithm 1, with speeds of families, with interference (sections 4.2 to 4.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedgap.heuristics.provisioning.full_reconfiguration.kernels_pack import (
    class_demand,
    group_rows,
    list_members,
    pack,
    reservation_ranks,
)
from schedgap.heuristics.provisioning.full_reconfiguration.kernels_query import Classes, Plan, Query, Types
from schedgap.heuristics.provisioning.full_reconfiguration.kernels_tnrp import pack_tnrp
from schedgap.heuristics.provisioning.full_reconfiguration.kernels_tree import FANOUT, MAX_HEIGHT, Tree
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import InstanceError, MethodError
from schedgap.instances.method import method
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.moves import PER_MACHINE
from schedgap.instances.provisioning.running import ANY_NUMBER
from schedgap.instances.provisioning.solution import Provisioning

TIE_BREAKS = ("alignment", "paper")


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """What kernels ask for: types, classes of equal rows, room for the plan, and the first row of each class."""

    types: Types
    classes: Classes
    plan: Plan
    first: NDArray[np.int32]

    def solution(self, instance: ProvisioningInstance) -> Provisioning:
        """Return what a kernel has written into `plan`, of the classes and tasks of `instance`."""
        plan, groups, entries = self.plan, int(self.plan.size[0]), int(self.plan.size[1])
        machine_type, repeat = plan.machine_type[:groups], plan.repeat[:groups]
        if self.first.shape[0] < instance.num_classes:
            return Provisioning.from_tasks(instance, np.repeat(machine_type, repeat), plan.task2machine)
        return Provisioning(
            machine_type,
            repeat,
            plan.indptr[: groups + 1],
            plan.task_class[:entries],
            plan.count[:entries],
            plan.task2machine,
        )


def group_tasks(
    instance: ProvisioningInstance, labels: IntArray | None = None, worth: IntArray | None = None
) -> Grouped:
    """Make classes of equal rows of demand; rows of different `labels` (X, C, R) stay apart.

    worth : (K,) int64, what a machine of each type has to be worth; its price if not given.

    Raises `InstanceError` if a row fits no type.
    """
    demand, type2family, capacity = instance.demand, instance.type2family, instance.capacity
    price = instance.price if worth is None else worth
    _num_families, num_rows, num_resources = demand.shape
    row2class, first = np.empty(num_rows, np.int32), np.empty(num_rows, np.int32)
    table = np.full(1 << (2 * num_rows - 1).bit_length(), -1, np.int32)
    parts = [part for part in (demand, labels, _limits(instance)) if part is not None]
    keys = parts[0] if len(parts) == 1 else np.concatenate(parts)
    num_classes = group_rows(keys, _multipliers(keys.shape[0], num_resources), table, row2class, first)
    first = first[:num_classes]
    most = np.bincount(row2class, instance.counts, num_classes).astype(np.int64)
    if instance.per_machine is not None:
        limit = instance.per_machine[first]
        most = np.where(limit == ANY_NUMBER, most, np.minimum(most, limit))
    task2class = row2class[instance.task_classes()]

    used, type2group = np.unique(type2family, return_inverse=True)
    largest = np.stack([capacity[type2family == f].max(axis=0) for f in used])
    dtype = np.int32 if int(capacity.max()) < np.iinfo(np.int32).max else np.int64
    rows = np.empty((used.shape[0], num_classes, num_resources), dtype)
    class_demand(demand, first, used, largest, rows)
    rows, type2group = _merge_families(rows, type2group)
    rising = np.argsort(price, kind="stable")
    # A copy: Numba compiles read-only arrays, as instances hold them, apart from others.
    types = Types(type2group, capacity.astype(dtype), price.copy(), np.argsort(-instance.price, kind="stable"), rising)
    rank = np.empty(num_classes, np.int32)
    unplaceable = reservation_ranks(rows, type2group, capacity, rising, rank)
    if unplaceable >= 0:
        raise InstanceError(f"task row {first[unplaceable]} fits no machine type; drop it or add a type.")
    value, rank2kind = np.unique(-price[rising], return_inverse=True)
    kind = rank2kind.astype(np.int32)[rank]
    kind_start, kind_classes = _listed(kind, value.shape[0])
    member_start, members = _listed(task2class, num_classes)
    head = members[member_start[:-1]]
    classes = Classes(
        rows,
        kind,
        -value,
        kind_start,
        kind_classes,
        np.diff(member_start),
        members,
        member_start[:-1].copy(),
        head.astype(np.int64),
        np.full(rows.shape[:2], -1, np.int32),
        np.empty(rows.shape[:2], np.int32),
        most,
    )
    return Grouped(types, classes, _new_plan(members.shape[0], num_classes), first)


def pack_tasks(
    instance: ProvisioningInstance, *, tie_break: str, downsizing: bool, worth: IntArray | None = None
) -> Provisioning:
    """Run Full Reconfiguration; worth : see `group_tasks`.

    Raises `MethodError` for a `tie_break` other than `alignment` and `paper`.
    """
    by_list = is_by_list(tie_break)
    grouped = group_tasks(instance, worth=worth)
    classes = grouped.classes
    groups, num_classes, num_resources = classes.demand.shape
    dtype = classes.demand.dtype
    build_work = (
        np.empty((num_resources, num_classes), dtype),
        np.empty(num_classes, np.int32),
        np.empty((64, 2), np.int64),
        np.empty(1, np.float32),
    )
    work = (
        build_work,
        np.empty(classes.members.shape[0], np.int32),
        np.empty(groups, np.int64),
        np.zeros(groups, np.int64),
        np.empty((groups, num_resources), np.int64),
    )
    forest = _forest(classes.demand.shape, classes.value.shape[0], int(instance.capacity.max()) + 1, dtype)
    flags = np.array([by_list, downsizing])
    pack(grouped.types, classes, forest, _query(num_resources, dtype), grouped.plan, work, flags)
    return grouped.solution(instance)


def is_by_list(tie_break: str) -> bool:
    """Whether list order decides among equal reservation prices, as in `paper`, or first the `alignment`.

    Raises `MethodError` for any other word.
    """
    if tie_break not in TIE_BREAKS:
        raise MethodError(f"tie_break is 'alignment' or 'paper', not '{tie_break}'.")
    return tie_break == "paper"


def _limits(instance: ProvisioningInstance) -> IntArray | None:
    """(1, C, R): what keeps apart classes of which only so many tasks may share a machine; None without any."""
    if instance.per_machine is None:
        return None
    labels = np.zeros((1, instance.num_classes, len(instance.resources)), np.int64)
    labels[0, :, 0] = np.where(instance.per_machine == ANY_NUMBER, ANY_NUMBER, np.arange(instance.num_classes))
    return labels


def _new_plan(num_tasks: int, num_classes: int) -> Plan:
    return Plan(
        machine_type=np.empty(num_tasks, np.int64),
        repeat=np.empty(num_tasks, np.int64),
        indptr=np.zeros(num_tasks + 1, np.int64),
        task_class=np.empty(num_tasks, np.int64),
        count=np.empty(num_tasks, np.int64),
        task2machine=np.empty(num_tasks, np.int64),
        size=np.zeros(3, np.int64),
        entry=np.zeros(num_classes, np.int64),
    )


def _forest(shape: tuple[int, ...], kinds: int, dead: int, dtype: np.dtype[Any]) -> Tree:
    groups, num_classes, resources = shape
    leaves = num_classes // FANOUT + kinds
    nodes = leaves // FANOUT + leaves // FANOUT**2 + MAX_HEIGHT * kinds
    return Tree(
        np.empty((groups, leaves, resources, FANOUT), dtype),
        np.empty((groups, nodes, 2, resources, FANOUT), dtype),
        np.empty((groups, leaves, FANOUT), np.int32),
        np.empty((groups, leaves, FANOUT), np.int32),
        np.empty((groups, nodes, FANOUT), np.int32),
        np.empty((groups, kinds, resources), np.float32),
        np.empty((groups, kinds, MAX_HEIGHT + 2), np.int64),
        np.empty((groups, kinds, resources), dtype),
        np.array([dead, -1], dtype),
    )


def _query(resources: int, dtype: np.dtype[Any]) -> Query:
    keys = np.empty((MAX_HEIGHT + 2, FANOUT), np.int32)
    return Query(
        np.empty(resources, dtype),
        np.empty((2, resources)),
        np.empty((2, resources), np.float32),
        keys,
        keys.view(np.float32),
        np.empty(MAX_HEIGHT + 2, np.int64),
    )


def _merge_families(demand: NDArray[Any], type2group: IntArray) -> tuple[NDArray[Any], IntArray]:
    """Make one group of the families on which every class has the same demand: one index serves them all."""
    kept: list[int] = []
    group2kept = []
    for g in range(demand.shape[0]):
        same = next((i for i, h in enumerate(kept) if np.array_equal(demand[g], demand[h])), len(kept))
        if same == len(kept):
            kept.append(g)
        group2kept.append(same)
    return (demand if len(kept) == demand.shape[0] else demand[kept]), np.array(group2kept)[type2group]


def _listed(labels: NDArray[np.int32], number: int) -> tuple[IntArray, NDArray[np.int32]]:
    start = np.empty(number + 1, np.int64)
    members = np.empty(labels.shape[0], np.int32)
    list_members(labels, start, members)
    return start, members


@cache
def _multipliers(families: int, resources: int) -> IntArray:
    """Odd 64-bit constants for the hash: its answer does not depend on them, only its speed."""
    return np.random.default_rng(1).integers(-(2**62), 2**62, (families, resources)) * 2 + 1


MAX_PRICE = 2**53


def iteration_prices(instance: ProvisioningInstance, speeds: str) -> IntArray:
    """Return (K,) int64: prices of the types per iteration instead of per hour, times one whole number for all.

    With a speed for each family the reservation price of a task is the least of these prices over the types that fit it,
    and what it pays on a machine, that price times the machine's speed, reaches the hourly price where the sum of these
    prices reaches the machine's: so Algorithm 1 is the same, with prices of iterations in place of prices of hours.

    speeds : `FAMILY:SPEED`, with blanks between; to three decimals, 1 for a family that is not named.

    Raises `MethodError` for a family that the instance does not have, or a speed that is none.
    """
    speed = dict.fromkeys(instance.families, 1000)
    for entry in speeds.split():
        family, _, text = entry.partition(":")
        if family not in speed:
            raise MethodError(f"speeds names family '{family:.60}'; the instance has {', '.join(instance.families)}.")
        speed[family] = _thousandths(family, text)
    whole = math.lcm(*speed.values())
    if int(instance.price.max()) * whole // min(speed.values()) > MAX_PRICE:
        raise MethodError(f"speeds '{speeds:.60}' have no common multiple that prices bear; give rounder ones.")
    factor = np.array([whole // speed[family] for family in instance.families])
    prices: IntArray = instance.price * factor[instance.type2family]
    return prices


def _thousandths(family: str, text: str) -> int:
    try:
        thousandths = Decimal(text) * 1000
        if not 0 < thousandths <= 1_000_000 or thousandths % 1:
            raise InvalidOperation
    except InvalidOperation:
        raise MethodError(
            f"the speed of family {family} is '{text:.60}'; give a number above 0, at most 1000, to three decimals."
        ) from None
    return int(thousandths)


@method("full-reconfiguration", family=FAMILY, choices={"tie_break": TIE_BREAKS}, handles=(PER_MACHINE,))
def full_reconfiguration(
    instance: ProvisioningInstance, tie_break: str = "alignment", downsizing: bool = True, speeds: str = ""
) -> Provisioning:
    """Fill machines of falling price with tasks of falling reservation price while that pays (Eva, Algorithm 1).

    The reservation price of a task is the price of the cheapest type that fits it. Types are visited once, by falling
    price, in file order on ties. A machine takes, as long as anything fits, the task of the highest reservation price;
    it is rented if its tasks' reservation prices add up to its price or more, otherwise the next type follows. A task
    that is left at its own reservation-price type pays for it alone, so every task is placed.
    Interference, if the instance has any, is not looked at: see `full-reconfiguration-tnrp`.

    tie_break : Algorithm 1 does not say which of the tasks of equal reservation price goes first, and that is most of
        its quality. `alignment`, as in Eva's code: the largest sum over resources of (demand / capacity) * (left /
        capacity) (Tetris), first in list order on exact ties. `paper`, nothing added: first in list order.
    downsizing : as in Eva's code: rent, in place of the type tried, the cheapest type that takes the machine's tasks.
        Unlike there, with the tasks' demand on that type's family and only where they may run on it. False is
        Algorithm 1 to the letter.
    speeds : how many iterations an hour tasks do on each machine family, such as `p3:2 c7i:0.5`; reservation prices are
        then prices of an iteration (section 4.2, heterogeneous resources). The objective stays the hourly price.

    The defaults are what Eva runs and measured. Cost: `kernels_pack.py`.
    """
    worth = iteration_prices(instance, speeds) if speeds else None
    return pack_tasks(instance, tie_break=tie_break, downsizing=downsizing, worth=worth)


@method("full-reconfiguration-tnrp", family=FAMILY, choices={"tie_break": TIE_BREAKS})
def full_reconfiguration_tnrp(
    instance: ProvisioningInstance, tie_break: str = "alignment", downsizing: bool = True, cut: bool = True
) -> Provisioning:
    """Fill machines as Full Reconfiguration does, with each task worth less beside tasks that slow it down.

    A machine takes the task with which the summed TNRP of its tasks is the largest, until nothing fits or every choice
    would lower the sum, and is rented if the sum reaches its price. TNRP(t) = max(0, RP(t) - J(t) (1 - f(t))): f(t) is
    the product of t's pairwise throughputs beside the other tasks, J(t) the reservation price of its whole job
    (section 4.4; the cut at 0 is in Eva's code, and `cut=false` leaves it out). Alone, f = 1, and a choice never
    lowers the sum: a machine of the reservation-price type of any task left pays, so every task is placed, and the
    rule of Eva's code that places the tasks of a rejected type one by one has nothing to do.

    tie_break, downsizing : as in `full-reconfiguration`, the alignment deciding among equal sums.

    Sums are float64, added up in the order in which classes came to the machine. O(contents C E), C distinct classes
    and E on a machine: quadratic in T if all tasks differ.
    """
    by_list = is_by_list(tie_break)
    grouped = group_tasks(instance, _labels(instance))
    first, classes = grouped.first, grouped.classes
    throughput, workload = throughput_table(instance)
    jobs = (
        throughput,
        workload[first],
        classes.value[classes.kind].astype(np.float64),
        instance.job_value[first].astype(np.float64),
        0.0 if cut else -np.inf,
    )
    groups, num_classes, num_resources = classes.demand.shape
    work: tuple[NDArray[Any], ...] = (
        np.empty(num_resources, classes.demand.dtype),
        np.empty(num_resources),
        np.empty(num_classes),
        np.empty((groups, num_resources), np.int64),
    )
    pack_tnrp(grouped.types, classes, jobs, grouped.plan, work, np.array([by_list, downsizing]))
    return grouped.solution(instance)


def throughput_table(instance: ProvisioningInstance) -> tuple[FloatArray, IntArray]:
    """Return (W + 1, W + 1) float64 throughputs whose last row and column are 1, and (C,) each class's index there.

    Classes without a workload, and all classes of an instance without interference, get the last index.
    """
    size = 0 if instance.throughput is None else instance.throughput.shape[0]
    table = np.ones((size + 1, size + 1))
    if instance.throughput is not None:
        table[:size, :size] = instance.throughput / 1000
    known = (instance.class2workload >= 0) & (size > 0)
    return table, np.where(known, instance.class2workload, size)


def _labels(instance: ProvisioningInstance) -> IntArray | None:
    """(2, C, R): workload and job value, which keep classes of equal demand apart; None without interference."""
    if instance.throughput is None:
        return None
    labels = np.zeros((2, instance.num_classes, len(instance.resources)), np.int64)
    labels[0, :, 0] = instance.class2workload
    labels[1, :, 0] = instance.job_value
    return labels
