"""Karpenter over time: kubernetes-sigs/karpenter, commit 2266468 (August 2026)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.provisioning.kubernetes.cluster import PLENTY
from schedgap.heuristics.provisioning.kubernetes.consolidation import ORDERS, consolidate
from schedgap.heuristics.provisioning.kubernetes.karpenter import POOLS, place_waiting, pools_of, queued
from schedgap.heuristics.reconfiguration.kubernetes.present import Present
from schedgap.heuristics.reconfiguration.player import policy

if TYPE_CHECKING:
    from schedgap.heuristics.reconfiguration.actions import Plan
    from schedgap.heuristics.reconfiguration.observation import Observation


@policy("karpenter", choices={"order": ORDERS, "pools": POOLS}, handles=("stock",))
def karpenter(
    observation: Observation,
    order: str = "savings-ratio",
    consolidate_after_s: int = 0,
    budget_percent: int = 10,
    pools: str = "one",
) -> Plan:
    """Place new tasks as Karpenter does a batch of pods, then consolidate: `karpenter-consolidation` of `provisioning`.

    Each plan is one batch, and as many passes as the budget leaves: of the machines that run, rounded up, at most
    `budget_percent` go at a plan (10 is the default of a NodePool). A machine may go, also for want of tasks, if for
    `consolidate_after_s` no task came or went, as far as plans see it, it runs, and none of its tasks belongs to a job that
    migrates; tasks go to machines that run, or to the one new machine. Interference and delays are not looked at.
    """
    market, classes = observation.market, observation.task_class
    sizes = observation.demand[market.type2family[observation.reservation_type], np.arange(observation.demand.shape[1])]
    present = Present.of(observation, queued(market.resources, sizes, classes))
    cluster, known = present.cluster, observation.num_machines
    content: dict[int, list[int]] = {int(m): [] for m in observation.machine}
    number = observation.machine.tolist()
    for task, m in zip(observation.task.tolist(), observation.task_machine.tolist(), strict=True):
        if m >= 0:
            content[number[m]].append(task)
    since = present.since("content", {m: tuple(tasks) for m, tasks in content.items()})
    settled = observation.now_s - np.array([since[m] for m in number], np.int64) >= consolidate_after_s
    pool = pools_of(cluster, pools)
    place_waiting(cluster, pool)
    if cluster.waiting.size:
        # Machines ran out: the play ends.
        return present.plan()
    changed = np.unique(cluster.tasks.place[cluster.tasks.home < 0])
    keep = ~settled
    allowed = -(-int(observation.machine_running.sum()) * budget_percent // 100)
    gone = 1
    while gone and allowed > 0:
        empty = np.bincount(cluster.tasks.place, minlength=cluster.number)[:known] == 0
        stays = np.flatnonzero(~(settled & present.is_movable) | empty)
        types = present.hide()
        kept = np.concatenate((stays, changed))
        stock = cluster.stock.copy()
        gone = consolidate(cluster, pool, order, allowed, PLENTY, kept)
        # What goes is still paid at this plan, so that nothing can be had for it.
        np.subtract.at(stock, cluster.nodes.machine_type[types.shape[0] : cluster.number], 1)
        cluster.stock[:] = stock
        present.show(types)
        allowed -= gone
    return present.plan(keep)
