"""Which nodes a controller may give back, and how many of each pool at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.provisioning.kubernetes.cluster import in_order
from schedgap.heuristics.provisioning.kubernetes.state import GONE
from schedgap.instances.provisioning.disruption.model import EMPTY, GOING, HELD, STARTING, UNMANAGED, Pool

if TYPE_CHECKING:
    from schedgap.heuristics.provisioning.kubernetes.cluster import Cluster
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance

# Of machines that are not said to be of a pool: all may go.
ANY = Pool("")


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """Pools, and the pool and marks of the nodes that ran from the start.

    pools : the last one of new machines of which nobody knows whose they are. pool, marks : (E,) int64 in the order of
    nodes. family2pool : (F,) int64, of new machines: the pool of the first node of their family.
    """

    pools: tuple[Pool, ...]
    pool: IntArray
    marks: IntArray
    family2pool: IntArray

    @classmethod
    def of(cls, instance: ProvisioningInstance) -> Limits | None:
        """Return those of an instance; None where it says nothing of them, and all nodes may go."""
        running = instance.running
        if running is None or running.disruption is None:
            return None
        names = in_order(running)
        given = running.disruption
        pool = given.pool[names] if given.pools else np.zeros(names.size, np.int64)
        family = instance.type2family[running.machine_type[names]]
        owners = [pool[(family == f) & (pool != UNMANAGED)] for f in range(len(instance.families))]
        last = len(given.pools)
        family2pool = np.array([int(own[0]) if own.size else last for own in owners], np.int64)
        return cls((*given.pools, ANY), pool, given.marks[names], family2pool)

    def may_go(self, cluster: Cluster, reason: str) -> IntArray:
        """Return the nodes that may go for a reason: empty ones, or others."""
        nodes, pool, marks = self._now(cluster)
        is_empty = np.bincount(cluster.tasks.place[cluster.tasks.place >= 0], minlength=cluster.number)[nodes] == 0
        only_empty = np.array([p.only_empty for p in self.pools])
        fits = is_empty if reason == EMPTY else ~is_empty & ~only_empty[pool]
        found: IntArray = nodes[fits & (pool != UNMANAGED) & (marks & (HELD | STARTING | GOING) == 0)]
        return found

    def budgets(self, cluster: Cluster, reason: str) -> list[int]:
        """Return how many of each pool may go now: of those that have started, less what is unwell or goes already."""
        _, pool, marks = self._now(cluster)
        started, going = (pool != UNMANAGED) & (marks & STARTING == 0), marks & GOING != 0
        total = np.bincount(pool[started], minlength=len(self.pools)).tolist()
        less = np.bincount(pool[started & going], minlength=len(self.pools)).tolist()
        return [max(p.allowed(n, reason) - m, 0) for p, n, m in zip(self.pools, total, less, strict=True)]

    def within(self, cluster: Cluster, nodes: IntArray, reason: str) -> IntArray:
        """Return the first of the nodes that the budgets of their pools admit together."""
        left, kept = self.budgets(cluster, reason), []
        for m, p in zip(nodes.tolist(), self.pools_of(cluster, nodes).tolist(), strict=True):
            if left[p] > 0:
                left[p] -= 1
                kept.append(m)
        return np.array(kept, np.int64)

    def in_turn(self, cluster: Cluster, nodes: IntArray, reason: str) -> IntArray:
        """Return the nodes of pools that may lose one, one pool after another in turn, each in its order."""
        left, pool = np.array(self.budgets(cluster, reason)), self.pools_of(cluster, nodes)
        rank, seen = np.zeros(nodes.size, np.int64), np.zeros(len(self.pools), np.int64)
        for i, p in enumerate(pool.tolist()):
            rank[i], seen[p] = seen[p], seen[p] + 1
        order = np.argsort(rank, kind="stable")
        turned: IntArray = nodes[order][left[pool[order]] > 0]
        return turned

    def pools_of(self, cluster: Cluster, nodes: IntArray) -> IntArray:
        """(N,) int64, the pool of each node, -1 for none."""
        types = cluster.nodes.machine_type[nodes]
        pool: IntArray = self.family2pool[cluster.type2family[types]]
        first = nodes < self.pool.size
        pool[first] = self.pool[nodes[first]]
        return pool

    def _now(self, cluster: Cluster) -> tuple[IntArray, IntArray, IntArray]:
        """Return the nodes that there are, their pools and marks."""
        nodes = np.flatnonzero(cluster.nodes.machine_type[: cluster.number] != GONE)
        marks = np.zeros(cluster.number, np.int64)
        marks[: self.marks.size] = self.marks
        return nodes, self.pools_of(cluster, nodes), marks[nodes]
