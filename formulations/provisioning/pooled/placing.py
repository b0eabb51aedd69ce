"""Which tasks go on machines of which type: the program by types with whole tasks, for clusters of a few dozen machines.

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
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.provisioning.bounds import type_blocks
from schedgap.formulations.provisioning.pooled.packing import pack
from schedgap.formulations.provisioning.pooled.program import coarse, spread
from schedgap.formulations.provisioning.resource_bound import block_model
from schedgap.formulations.trusted import proven_cost
from schedgap.instances.errors import BackendError
from schedgap.instances.provisioning.classes import part_of
from schedgap.instances.provisioning.running import ANY_NUMBER

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance

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
