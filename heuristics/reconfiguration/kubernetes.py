"""An observation as a cluster of the provisioning rules, and the plan that they made of it.

Karpenter over time: kubernetes-sigs/karpenter, commit 2266468 (August 2026).

cluster-autoscaler over time: kubernetes/autoscaler, cluster-autoscaler-release-1.37, commit a16f0ae (2026).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from schedgap.heuristics.provisioning.kubernetes.cluster import PLENTY, Cluster
from schedgap.heuristics.provisioning.kubernetes.cluster_autoscaler import (
    EXPANDERS,
    ScaleUp,
    grow,
    is_little_used,
    shrink,
)
from schedgap.heuristics.provisioning.kubernetes.karpenter import (
    ORDERS,
    POOLS,
    consolidate,
    place_waiting,
    pools_of,
    queued,
)
from schedgap.heuristics.provisioning.kubernetes.state import GONE
from schedgap.heuristics.reconfiguration.actions import ELSEWHERE, Plan
from schedgap.heuristics.reconfiguration.observation import MIGRATING, Observation
from schedgap.heuristics.reconfiguration.player import policy
from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.provisioning.running import ANY_NUMBER


@dataclass(frozen=True, slots=True, eq=False)
class Present:
    """The cluster, and which of its first M nodes may go.

    is_movable : (M,) bool, whether a machine runs and none of its tasks belongs to a job that migrates.
    """

    observation: Observation
    cluster: Cluster
    is_movable: BoolArray

    @classmethod
    def of(cls, observation: Observation, queue: IntArray) -> Present:
        """Return the present at a plan. queue : (T,) int64."""
        market = observation.market
        stock = np.full(market.price.shape[0], PLENTY)
        if observation.stock_left is not None:
            stock = np.where(observation.stock_left == ANY_NUMBER, PLENTY, observation.stock_left)
        offer = (observation.demand, market.type2family, market.capacity, market.price, stock)
        home, classes = observation.task_machine, observation.task_class
        cluster = Cluster.start(offer, observation.machine_type, home, classes, queue)
        is_movable = observation.machine_running.copy()
        migrates = (observation.job_phase == MIGRATING)[observation.task_job]
        is_movable[home[migrates & (home >= 0)]] = False
        return cls(observation, cluster, is_movable)

    def since(self, what: str, marks: dict[int, object]) -> dict[int, int]:
        """Return since when each machine, by its number, has had the mark that it has now, as far as plans have seen it."""
        memory, now = self.observation.memory.get(what, {}), self.observation.now_s
        found = {m: memory.get(m, (None, now)) for m in marks}
        kept = {m: found[m] if found[m][0] == mark else (mark, now) for m, mark in marks.items()}
        self.observation.memory[what] = kept
        return {m: since for m, (_, since) in kept.items()}

    def hide(self) -> IntArray:
        """Take nodes that do not run yet out of the tests, which put no task on such; return the types of all nodes."""
        cluster = self.cluster
        types: IntArray = cluster.nodes.machine_type[: cluster.number].copy()
        known = self.observation.num_machines
        cluster.nodes.machine_type[np.flatnonzero(~self.observation.machine_running)] = GONE
        cluster.nodes.machine_type[known : cluster.number] = GONE
        return types

    def show(self, types: IntArray) -> None:
        """Bring back what `hide` took out."""
        nodes, known = self.cluster.nodes, self.observation.num_machines
        hidden = np.append(~self.observation.machine_running, np.ones(types.shape[0] - known, np.bool_))
        nodes.machine_type[np.flatnonzero(hidden)] = types[hidden]

    def plan(self, keep: BoolArray | None = None) -> Plan:
        """Return the plan. keep : (M,) bool, machines to keep although they have no task."""
        cluster, known = self.cluster, self.observation.num_machines
        types = cluster.nodes.machine_type[known : cluster.number]
        # The last for tasks that wait, whose place is -1.
        row = np.concatenate((np.arange(known), known + np.cumsum(types != GONE) - 1, [ELSEWHERE]))
        return Plan(row[cluster.tasks.place], types[types != GONE], keep)


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


@policy("cluster-autoscaler", stochastic=True, choices={"expander": EXPANDERS}, handles=("stock",))
def cluster_autoscaler(
    observation: Observation,
    rng: np.random.Generator,
    expander: str = "least-waste",
    utilisation_percent: int = 50,
    unneeded_s: int = 600,
    delay_after_add_s: int = 600,
) -> Plan:
    """Add nodes for new tasks and drop little used ones at each plan, by the rules of `cluster-autoscaler` of `provisioning`.

    A machine goes if at all plans of the last `unneeded_s` its use was at most `utilisation_percent`, nothing was rented for
    `delay_after_add_s`, it runs, none of its tasks belongs to a job that migrates, and its tasks fit on machines that run.
    Empty machines wait for the same time. Interference and delays are not looked at.
    """
    present = Present.of(observation, np.arange(observation.num_tasks))
    cluster, known, now = present.cluster, observation.num_machines, observation.now_s
    grow(cluster, ScaleUp(cluster, observation.market.resources, expander, rng))
    if cluster.waiting.size:
        # Machines ran out: the play ends.
        return present.plan()
    little = is_little_used(cluster, observation.market.resources, utilisation_percent)[:known]
    since = present.since("little", dict(zip(observation.machine.tolist(), little.tolist(), strict=True)))
    unneeded = little & (now - np.array([since[m] for m in observation.machine.tolist()], np.int64) >= unneeded_s)
    if cluster.number > known:
        observation.memory["added_s"] = now
    if now - observation.memory.get("added_s", -delay_after_add_s) < delay_after_add_s:
        unneeded[:] = False
    types = present.hide()
    empty = np.bincount(cluster.tasks.place, minlength=cluster.number)[:known] == 0
    shrink(cluster, np.flatnonzero(unneeded & present.is_movable & ~empty))
    present.show(types)
    return present.plan(empty & ~unneeded)
