"""Karpenter's policy Balanced: what a move saves of its pool's price against what it disrupts of its pool's pods.

kubernetes-sigs/karpenter, pkg/controllers/disruption/balanced.go, commit 2266468 (August 2026), and the RFC of pull request
2942. Karpenter counts in floats, here all is exact: a move at exactly one half passes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from schedgap.heuristics.provisioning.kubernetes.cluster import ANY, Cluster, Limits
from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.provisioning.running import UNMANAGED

# Karpenter's k is 2: a move passes if its share of disruption is at most twice its share of savings.
LEAST_SCORE = Fraction(1, 2)


def balanced_score(savings: Fraction | int, disruption: int, pool_price: int, pool_disruption: int) -> Fraction | float:
    """Return (savings / pool_price) / (disruption / pool_disruption); a move passes from `LEAST_SCORE` on.

    savings : prices of the nodes that go, less that of the machine that replaces them: its type is the cheapest that could.
        Of several pools each has the part of the savings that its nodes have of the price of all that go.
    disruption : of the nodes of the pool that go. For each node one, and what each of its pods counts: 1 + deletion cost / 2^27
        + priority / 2^25, at most 10, and 0 where that is negative. Pods of DaemonSets and static pods count nothing.
    pool_price, pool_disruption : the same sums over all nodes of the pool, also those that may not go, once a cycle.

    Prices are in one unit, amounts of disruption in another. 0 where nothing is saved, or the pool has no price or disruption;
    infinite where nothing is disrupted, which cannot be of a node.

    The RFC's pool has eight nodes of 4.84 $ a day and two of 9.68, and 80 pods that count one each. Of a node of 9.68 with three
    pods, which one of 2.42 can hold: (7.26 / 58.08) / (4 / 90) = 2.81.

    >>> float(balanced_score(726, 4, 5808, 90))
    2.8125
    """
    if savings <= 0 or pool_price <= 0 or pool_disruption <= 0:
        return Fraction(0)
    if disruption <= 0:
        return math.inf
    return Fraction(savings) * pool_disruption / (pool_price * disruption)


def pool_scores(
    price: IntArray, disruption: IntArray, pool: IntArray, replacement: int, totals: dict[int, tuple[int, int]]
) -> dict[int, Fraction | float]:
    """Return the score of a move for each pool of its nodes that `totals` knows.

    price, disruption, pool : (X,) int64 of the nodes that go. replacement : price of the new machine, 0 for none. totals : of
    each pool that scores, price and disruption of all its nodes.
    """
    paid = sum(price.tolist())
    scores = {}
    for p in dict.fromkeys(pool.tolist()):
        if p in totals:
            own = sum(price[pool == p].tolist())
            savings = Fraction((paid - replacement) * own, paid) if paid else Fraction(0)
            scores[p] = balanced_score(savings, sum(disruption[pool == p].tolist()), *totals[p])
    return scores


@dataclass(frozen=True, slots=True, eq=False)
class Balance:
    """What moves are scored by in one cycle.

    price, disruption : (M,) int64 of each node. pool : (M,) int64, -1 for none. totals : as in `pool_scores`, of pools with the
    policy. prices : (K,) int64 of types.
    """

    price: IntArray
    disruption: IntArray
    pool: IntArray
    totals: dict[int, tuple[int, int]]
    prices: IntArray

    @classmethod
    def of(cls, cluster: Cluster, limits: Limits | None, *, everywhere: bool = False) -> Balance | None:
        """Return what is so now; None where no pool has the policy. everywhere : all pools have it."""
        pools = (ANY,) if limits is None else limits.pools
        scores = [everywhere or p.balanced for p in pools]
        if not any(scores):
            return None
        nodes = cluster.there()
        pool = np.full(cluster.number, UNMANAGED)
        pool[nodes] = 0 if limits is None else limits.pools_of(cluster, nodes)
        price = np.where(cluster.is_there(), cluster.price[cluster.nodes.machine_type[: cluster.number]], 0)
        disruption = cluster.node_cost()
        totals = {
            p: (sum(price[pool == p].tolist()), sum(disruption[pool == p].tolist()))
            for p, is_scored in enumerate(scores)
            if is_scored
        }
        return cls(price, disruption, pool, totals, cluster.price)

    def passes(self, nodes: IntArray, rented: int) -> bool:
        """Return whether every pool with the policy approves that nodes go. rented : the new machine's type, below 0 for none."""
        new = int(self.prices[rented]) if rented >= 0 else 0
        scores = pool_scores(self.price[nodes], self.disruption[nodes], self.pool[nodes], new, self.totals)
        return all(score >= LEAST_SCORE for score in scores.values())

    def can_pass(self, nodes: IntArray) -> BoolArray:
        """(N,) bool: whether a node passes if it is deleted; if not, nothing that replaces it does."""
        passing: BoolArray = np.array([self.passes(nodes[i : i + 1], -1) for i in range(nodes.size)], np.bool_)
        return passing
