"""Eva's Full Reconfiguration without interference (section 4.2, Algorithm 1).

Machine families of different speeds (Eva, section 4.2, heterogeneous resources): prices of an iteration.

Eva's Full Reconfiguration with throughput-normalised reservation prices (sections 4.3 and 4.4).
"""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedgap.heuristics.provisioning.full_reconfiguration.kernels_tnrp import pack_tnrp
from schedgap.heuristics.provisioning.full_reconfiguration.packing import (
    TIE_BREAKS,
    group_tasks,
    is_by_list,
    pack_tasks,
)
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import MethodError
from schedgap.instances.method import method
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.moves import PER_MACHINE
from schedgap.instances.provisioning.solution import Provisioning

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
    instance: ProvisioningInstance, tie_break: str = "alignment", downsizing: bool = True
) -> Provisioning:
    """Fill machines as Full Reconfiguration does, with each task worth less beside tasks that slow it down.

    A machine takes the task with which the summed TNRP of its tasks is the largest, until nothing fits or every choice
    would lower the sum, and is rented if the sum reaches its price. TNRP(t) = max(0, RP(t) - J(t) (1 - f(t))): f(t) is
    the product of t's pairwise throughputs beside the other tasks, J(t) the reservation price of its whole job
    (section 4.4; the cut at 0 is in Eva's code). Alone, f = 1, and a choice never lowers the sum: a machine of the
    reservation-price type of any task left pays, so every task is placed, and the rule of Eva's code that places the
    tasks of a rejected type one by one has nothing to do.

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
