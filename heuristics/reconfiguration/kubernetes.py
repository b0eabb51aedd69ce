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
    candidates,
    consolidate,
    place_waiting,
    pools_of,
    queued,
)
from schedgap.heuristics.provisioning.kubernetes.state import GONE
from schedgap.heuristics.reconfiguration.actions import ELSEWHERE, Plan
from schedgap.heuristics.reconfiguration.observation import MIGRATING, Observation
from schedgap.heuristics.reconfiguration.player import policy
from schedgap.heuristics.reconfiguration.upkeep import Log, Watch, looked_up
from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.provisioning.running import ANY_NUMBER, EMPTY, NO_SCALE_DOWN, Budget, Pool


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
        weight = None
        if observation.upkeep is not None:
            weight = observation.upkeep.of_classes(observation.job_class, observation.demand.shape[1])
        cluster = Cluster.start(offer, observation.machine_type, home, classes, queue, weight=weight)
        is_movable = observation.machine_running.copy()
        migrates = (observation.job_phase == MIGRATING)[observation.task_job]
        is_movable[home[migrates & (home >= 0)]] = False
        return cls(observation, cluster, is_movable)

    def since(self, is_little: BoolArray) -> IntArray:
        """(M,) int64, since when each machine has been little used or not, as now, as far as plans have seen it."""
        memory, machine = self.observation.memory, self.observation.machine
        known, was, since_s = memory.get("little", (machine[:0], machine[:0], machine[:0]))
        now = np.full(machine.shape, self.observation.now_s)
        found = np.where(looked_up(known, was, machine) == is_little, looked_up(known, since_s, machine), now)
        memory["little"] = (machine, is_little.astype(np.int64), found)
        return found

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

    def start_later(self) -> None:
        """Mark the nodes that do not run yet: no task of a node that goes may need one."""
        known, starting = self.observation.num_machines, self.cluster.nodes.starting
        starting[:known] = ~self.observation.machine_running
        starting[known : self.cluster.number] = True

    def is_empty(self) -> BoolArray:
        """(M,) bool, whether a machine has no task."""
        counts = np.bincount(self.cluster.tasks.place, minlength=self.cluster.number)
        empty: BoolArray = counts[: self.observation.num_machines] == 0
        return empty

    def remember(self, log: Log) -> None:
        """Take note of what this plan does."""
        place = self.cluster.tasks.place
        log.note(self.observation, np.where(place < self.observation.num_machines, place, -1))


@policy("karpenter", choices={"order": ORDERS, "pools": POOLS}, handles=("stock",))
def karpenter(
    observation: Observation,
    order: str = "savings-ratio",
    consolidate_after_s: int = 0,
    budget_percent: int = 10,
    pools: str = "one",
    spot_to_spot: bool = False,
) -> Plan:
    """Place new tasks as Karpenter does a batch of pods, then consolidate: `karpenter-consolidation` of `provisioning`.

    Each plan is one batch, and as many passes as the budget leaves: of the machines that run, rounded up, at most
    `budget_percent` go at a plan (10 is the default of a NodePool). A machine may go, also for want of tasks, if for
    `consolidate_after_s` no task came or went, as far as plans see it, it runs, and none of its tasks belongs to a job that
    migrates; tasks go to machines that run, or to the one new machine. Interference and delays are not looked at.

    Where an instance has `upkeep` with pools, these say both, budgets with schedules included; what a budget leaves is for a
    plan. Then no machine goes either whose task is left alone (do-not-disrupt), or whose task's guard admits no move: tasks
    are away from where a plan sends them until they run there. A machine that is quiet for too short takes no tasks of
    others that go, and nothing is done that would need one that does not run yet. spot_to_spot : the feature gate, as there.
    """
    market, classes = observation.market, observation.task_class
    sizes = observation.demand[market.type2family[observation.reservation_type], np.arange(observation.demand.shape[1])]
    present = Present.of(observation, queued(market.resources, sizes, classes))
    cluster = present.cluster
    log = Log.of(observation, observation.upkeep)
    pool = pools_of(cluster, pools)
    place_waiting(cluster, pool)
    if cluster.waiting.size:
        # Machines ran out: the play ends.
        return present.plan()
    if observation.upkeep is not None:
        default = Pool("", (Budget(budget_percent, True),), consolidate_after_s=consolidate_after_s)
        watch = Watch.of(observation, observation.upkeep, log, default)
        keep = _upkeep(present, watch, pool, order, spot_to_spot)
        present.remember(log)
        return present.plan(keep)
    settled = observation.now_s - log.since_s >= consolidate_after_s
    changed = np.unique(cluster.tasks.place[cluster.tasks.home < 0])
    allowed = -(-int(observation.machine_running.sum()) * budget_percent // 100)
    gone = 1
    while gone and allowed > 0:
        stays = np.flatnonzero(~(settled & present.is_movable) | present.is_empty())
        types = present.hide()
        kept = np.concatenate((stays, changed))
        stock = cluster.stock.copy()
        gone = consolidate(cluster, pool, order, allowed, PLENTY, kept)
        # What goes is still paid at this plan, so that nothing can be had for it.
        np.subtract.at(stock, cluster.nodes.machine_type[types.shape[0] : cluster.number], 1)
        cluster.stock[:] = stock
        present.show(types)
        allowed -= gone
    return present.plan(~settled)


def _upkeep(present: Present, watch: Watch, pool: IntArray, order: str, spot_to_spot: bool) -> BoolArray:
    """Give up machines within the limits of pools; return (M,) bool, the machines to keep although they have no task."""
    cluster, known = present.cluster, present.observation.num_machines
    cluster.spot[watch.upkeep.machines.spot] = True
    keep = np.ones(known, np.bool_)
    stock, before = cluster.stock.copy(), cluster.number
    limits = watch.limits(cluster)
    empty = limits.within(cluster, candidates(cluster, order, limits.may_go(cluster, EMPTY)), EMPTY)
    keep[empty] = False
    cluster.remove(empty)
    # What goes is still paid at this plan, so that nothing can be had for it.
    cluster.stock[:] = stock
    # Tasks that count nothing are placed anew, as new ones are.
    place_waiting(cluster, pool)
    if cluster.waiting.size:
        return keep
    gone = empty
    while True:
        watch.give_up(gone)
        rented = cluster.nodes.machine_type[before : cluster.number]
        cluster.stock[:] = stock - np.bincount(rented, minlength=stock.shape[0])
        present.start_later()
        types = cluster.nodes.machine_type[:known].copy()
        if not consolidate(
            cluster, pool, order, PLENTY, PLENTY, limits=watch.limits(cluster), spot_to_spot=spot_to_spot
        ):
            return keep
        gone = np.flatnonzero((types != GONE) & (cluster.nodes.machine_type[:known] == GONE))


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

    Where an instance has `upkeep`, no machine goes that is marked to stay, or has a task that keeps it (safe-to-evict), or one
    whose guard admits no move now.
    """
    present = Present.of(observation, np.arange(observation.num_tasks))
    cluster, known, now = present.cluster, observation.num_machines, observation.now_s
    grow(cluster, ScaleUp(cluster, observation.market.resources, expander, rng))
    if cluster.waiting.size:
        # Machines ran out: the play ends.
        return present.plan()
    little = is_little_used(cluster, observation.market.resources, utilisation_percent)[:known]
    unneeded = little & (now - present.since(little) >= unneeded_s)
    if cluster.number > known:
        observation.memory["added_s"] = now
    if now - observation.memory.get("added_s", -delay_after_add_s) < delay_after_add_s:
        unneeded[:] = False
    upkeep, empty = observation.upkeep, present.is_empty()
    if upkeep is None:
        types = present.hide()
        shrink(cluster, np.flatnonzero(unneeded & present.is_movable & ~empty))
        present.show(types)
        return present.plan(empty & ~unneeded)
    log = Log.of(observation, upkeep)
    watch = Watch.of(observation, upkeep, log)
    unneeded &= watch.marks & NO_SCALE_DOWN == 0
    types = present.hide()
    chosen = np.flatnonzero(unneeded & present.is_movable & ~empty)
    shrink(cluster, chosen, admitted=lambda rows: rows[~watch.blocked(cluster, watch.kept)[rows]])
    present.show(types)
    return present.plan(empty & ~unneeded)
