"""The online rule of the fair schedulers on a snapshot: the user with the lowest share goes first.

Eunomia, section III-B; Choosy, TSF and DRF with their own shares. All machines are free, and tasks are given out whole, one
at a time, to the user with the lowest share that some machine can still serve. The papers leave the order of machines open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.fairness.whole import Machines, too_many_tasks
from schedgap.instances.fairness.model import FAMILY, NOTIONS, FairnessInstance
from schedgap.instances.fairness.shares import value_and_scale
from schedgap.instances.method import method

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.fairness.solution import FairnessAllocation

ORDERS = ("index", "fastest", "scarce")
TIES = ("index", "constrained")


@method(
    "lowest-share-first",
    version=2,
    family=FAMILY,
    supports=too_many_tasks,
    choices={"notion": ("", *NOTIONS), "order": ORDERS, "ties": TIES},
)
def lowest_share_first(
    instance: FairnessInstance, notion: str = "", order: str = "scarce", ties: str = "index"
) -> FairnessAllocation:
    """Give whole tasks to the user with the lowest share, one at a time, on the first machine with room.

    notion : whose share; empty for the instance's own. order : which machine classes a user tries first: as they are
        listed, where its tasks are `fastest`, or the `scarce` ones that it can use and few others can (their part of what
        users demand, each split evenly over all its machines). ties : who goes first at the same share: as listed, or
        the most `constrained`, which can use the least.
    """
    machines = Machines(instance)
    machines.place(*value_and_scale(instance, notion), class_order(instance, order), user_rank(instance, ties))
    return machines.allocation()


def class_order(instance: FairnessInstance, order: str) -> IntArray:
    """Return (N, K) int64: the classes that each user can use, in the order in which it tries them, then -1."""
    usable = instance.allowed & (instance.fitting() >= 1)
    if order == "fastest":
        key = -instance.performance.astype(np.float64)
    elif order == "scarce":
        alone = np.where(usable, instance.fitting() * instance.machine_count, 0.0)
        part = alone / np.maximum(alone.sum(axis=1, keepdims=True), 1e-300)
        key = np.broadcast_to((part / np.maximum(alone, 1e-300)).sum(axis=0), usable.shape)
    else:
        key = np.zeros(usable.shape)
    ranked = np.argsort(np.where(usable, key, np.inf), axis=1, kind="stable")
    return np.where(np.take_along_axis(usable, ranked, axis=1), ranked, -1)


def user_rank(instance: FairnessInstance, ties: str) -> IntArray:
    """Return (N,) int64, a permutation: who goes first at the same share."""
    rank = np.arange(instance.num_users)
    if ties == "constrained":
        usable = np.where(instance.allowed, instance.fitting() * instance.machine_count, 0.0).sum(axis=1)
        total = (instance.fitting() * instance.machine_count).sum(axis=1)
        rank = np.empty_like(rank)
        rank[np.argsort(usable / total, kind="stable")] = np.arange(instance.num_users)
    return rank
