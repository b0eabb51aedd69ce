"""An observation as a cluster of the provisioning rules, and the plan that they made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.provisioning.kubernetes.cluster import PLENTY, Cluster
from schedgap.heuristics.provisioning.kubernetes.state import GONE
from schedgap.heuristics.reconfiguration.actions import ELSEWHERE, Plan
from schedgap.heuristics.reconfiguration.observation import MIGRATING, Observation
from schedgap.instances.provisioning.running import ANY_NUMBER

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, IntArray


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
