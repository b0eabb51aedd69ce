"""What bounds and packers see of an instance: pods that are alike, and nodes that are alike.

    minimise    sum_c value[c] y[c]                             y[c]: pods of class c that are refused
    subject to  y[c] + sum_k sum_p p[c] x[k, p] >= counts[c]    for each class c
                sum_p x[k, p] <= numbers[k]                     for each kind of node k; x[k, p] of them hold content p

A content is what one node can hold. With prices w[c] >= 0 a pod, at most its value where it may be refused, and z[k] no less
than any content of a node of kind k is worth,

    refused value >= sum_c counts[c] w[c] - sum_k numbers[k] z[k]

for every placement: what is placed is worth no more than the z of all nodes, what is refused no more than its value. Prices are
whole numbers at a scale, so this is a sum that anyone can check. Left out are gangs, that pods which may move do so at
most so often, and where slices of divided GPUs may start: all of these only add to what is refused.

Where no pod is refused that finds room as it arrives (`accepts`), the first pods without a GPU of a class have to be placed, as
on some node there still is room. For no node that takes the class to have any, each has so much in use of some resource r that
it asks for: free[n, r] - demand[r] + 1. With weights a[r] >= 0 that is, over all these nodes,

    sum_r a[r] (what has arrived)[r] >= sum_n min_r a[r] (free[n, r] - demand[r] + 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from schedgap.formulations.placement.kernels_node import Items, search, tune
from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.placement.model import ONE, PlacementInstance
from schedgap.instances.placement.stranded import room_of

# Bits of weights of resources, and how many times as much as of the others one weighs.
WEIGHT_BITS, WEIGHTS = 44, (1, 4, 16, 64, 256)
# Bits of the dearest price of a pod, and of what a pod that must be placed is worth more than the dearest value.
BITS, FORCED_BITS = 36, 4


@dataclass(frozen=True, slots=True, eq=False)
class Packing:
    """C classes of pods and K kinds of nodes; R resources.

    demand : (C, R). gpus, milli : (C,), of a GPU that it takes. counts : (C,) pods. value : (C,) of a pod, -1 where it must be
    placed. classes : (C,), of the instance. free : (K, R), of a node. left : (K, G), thousandths of its GPUs, the fullest first.
    numbers : (K,) nodes. types : (K,), of the instance. fits : (C, K) bool. kinds : (N,), of each node. step : every value is a
    multiple of it.
    """

    demand: IntArray
    gpus: IntArray
    milli: IntArray
    counts: IntArray
    value: IntArray
    classes: IntArray
    free: IntArray
    left: IntArray
    numbers: IntArray
    types: IntArray
    fits: BoolArray
    kinds: IntArray
    step: int

    @property
    def is_forced(self) -> BoolArray:
        """(C,) bool: which pods must be placed."""
        forced: BoolArray = self.value < 0
        return forced

    @property
    def dearest(self) -> int:
        """What a pod that must be placed is worth at most in prices: more than any other."""
        return max(1, int(self.value.max(initial=0))) << FORCED_BITS

    @property
    def scale(self) -> int:
        """How many parts of a thousandth are one of prices."""
        return int(1 << max(0, BITS - self.dearest.bit_length()))

    @property
    def units(self) -> int:
        """Thousandths of a GPU in which all shares, and all that is left of GPUs, are whole."""
        return int(np.gcd.reduce(np.concatenate((self.milli, self.left.ravel(), [ONE]))))

    def bounded(self, prices: Sequence[int], worth: int, scale: int) -> int:
        """Return the refused value that is proven. prices : of a pod of each class. worth : of all nodes, at most."""
        counts: list[int] = self.counts.tolist()
        total = sum(count * price for count, price in zip(counts, prices, strict=True)) - worth
        return max(0, -(-total // (scale * self.step))) * self.step

    def clipped(self, prices: np.ndarray) -> IntArray:
        """Return valid prices, from any, in thousandths: rounded down, not negative, and at most the pods' values."""
        most = np.where(self.is_forced, self.dearest, self.value).astype(np.float64)
        clipped: IntArray = np.floor(np.clip(prices, 0, most) * self.scale).astype(np.int64)
        return clipped


def weights_of(instance: PlacementInstance) -> IntArray:
    """(W, R) int64: weights of resources, by what all nodes have of each, one after the other heavier than the others."""
    total = np.maximum(instance.capacity[instance.node2type].sum(axis=0), 1)
    heavier = [1 + np.eye(total.size, dtype=np.int64)[r] * (w - 1) for w in WEIGHTS for r in range(total.size)]
    weights: IntArray = np.unique(heavier, axis=0) * np.maximum((1 << WEIGHT_BITS) // total, 1)
    return weights


def accepted(instance: PlacementInstance, free: IntArray) -> IntArray:
    """(C,) int64: how many of the first pods of each class without a GPU find room as they arrive, whatever is done with others.

    free : (N, R), beside pods that run. O(C W N R + P R).
    """
    arrive, found = ~instance.is_running, np.zeros(instance.gpus.size, np.int64)
    asked = instance.demand[instance.pod2class] * arrive[:, None]
    before, takes = np.cumsum(asked, axis=0) - asked, instance.takes()[:, instance.node2type]
    for c in np.unique(instance.pod2class[arrive & (instance.gpus[instance.pod2class] == 0)]).tolist():
        pods, asks = np.flatnonzero(arrive & (instance.pod2class == c)), instance.demand[c] > 0
        nodes = takes[c] & (free >= instance.demand[c]).all(axis=1)
        if not asks.any() or not nodes.any():
            found[c] = pods.size * nodes.any()
            continue
        for weights in weights_of(instance)[:, asks]:
            full = ((free[nodes][:, asks] - instance.demand[c, asks] + 1) * weights).min(axis=1).sum()
            found[c] = max(found[c], np.count_nonzero(before[pods][:, asks] @ weights < full))
    return found


def packing_of(instance: PlacementInstance, *, stay: bool = False, forced: bool = False) -> Packing:
    """Return the packing of an instance. stay : what runs stays where it is, though it may move.

    forced : what no policy refuses that accepts what fits has to be placed.
    """
    fixed = instance.is_running & (stay | ~instance.movable | (instance.max_moves == 0))
    room = room_of(instance, fixed)
    states = np.hstack((instance.node2type[:, None], room.left, -np.sort(-np.maximum(room.milli, 0), axis=1)))
    alike, kinds, numbers = np.unique(states, axis=0, return_inverse=True, return_counts=True)
    resources = room.left.shape[1]
    size = len(instance.class_names)
    must_be = np.bincount(instance.pod2class[instance.is_running & ~fixed], minlength=size)
    must_be += accepted(instance, room.left) if forced else 0
    counts = [np.bincount(instance.pod2class[~fixed], minlength=size) - must_be, must_be]
    which = np.concatenate([np.flatnonzero(some) for some in counts])
    must = np.repeat((False, True), [np.count_nonzero(some) for some in counts])
    free, left = alike[:, 1 : 1 + resources], alike[:, 1 + resources :]
    demand, gpus, milli = instance.demand[which], instance.gpus[which], instance.gpu_milli[which]
    fits = instance.takes()[np.ix_(which, alike[:, 0])] & (
        (left[None] >= np.maximum(milli, 1)[:, None, None]).sum(axis=2) >= gpus[:, None]
    )
    for r in range(resources):
        fits &= demand[:, r : r + 1] <= free[:, r]
    return Packing(
        demand=demand,
        gpus=gpus,
        milli=milli,
        counts=np.concatenate([some[some > 0] for some in counts]),
        value=np.where(must, -1, instance.value[which]),
        classes=which,
        free=free,
        left=left,
        numbers=numbers,
        types=alike[:, 0],
        fits=fits,
        kinds=kinds.ravel(),
        step=max(1, math.gcd(*instance.value[which[~must]].tolist())),
    )


class Pricing:
    """The dearest content of a node of each kind, at changing prices of pods.

    price : (K, R), of resources, the last that were good.
    """

    def __init__(self, packing: Packing) -> None:
        self.packing = packing
        self.price, self.units = np.zeros_like(packing.free), packing.units
        self._prepared = [self._prepare(k) for k in range(packing.numbers.size)]

    def _prepare(self, k: int) -> tuple[IntArray, IntArray]:
        """Return the classes that fit a kind of node, in the order of `kernels_node`, and how many of each a node would hold."""
        packing = self.packing
        inside = np.flatnonzero(packing.fits[:, k])
        rank = np.where(packing.milli == ONE, 0, np.where(packing.gpus > 0, 1, 2))[inside]
        order = np.lexsort((-packing.milli[inside], -packing.gpus[inside], rank))
        inside = inside[order]
        demand, free = packing.demand[inside], packing.free[k]
        most = np.full(inside.size, np.iinfo(np.int64).max)
        for r in range(free.size):
            used = demand[:, r] > 0
            most[used] = np.minimum(most[used], free[r] // demand[used, r])
        per_gpu = packing.left[k] // np.maximum(packing.milli[inside], 1)[:, None]
        by_gpu = per_gpu.sum(axis=1) // np.maximum(packing.gpus[inside], 1)
        return inside, np.where(packing.gpus[inside] > 0, np.minimum(most, by_gpu), most)

    def items(self, k: int, prices: IntArray, counts: IntArray) -> tuple[Items, IntArray]:
        """Return what may be on a node of a kind at prices (C,), without what others are no worse than, and its classes."""
        packing, (inside, fitting) = self.packing, self._prepared[k]
        kept = (prices[inside] > 0) & (counts[inside] > 0)
        inside, fitting = inside[kept], fitting[kept]
        inside = inside[~self._dominated(inside, fitting, prices, counts)]
        gpus, milli = packing.gpus[inside], packing.milli[inside]
        left, units = packing.left[k], self.units
        items = Items(
            int(np.count_nonzero(milli == ONE)),
            int(np.count_nonzero(gpus)),
            gpus,
            milli // units,
            np.ascontiguousarray(packing.demand[inside]),
            counts[inside],
            packing.free[k],
            left[left > 0] // units,
            ONE // units,
        )
        return items, inside

    def _dominated(self, inside: IntArray, fitting: IntArray, prices: IntArray, counts: IntArray) -> BoolArray:
        """(n,) bool: in whose place others, of which there are enough, are worth no less and take no more."""
        packing = self.packing
        demand, worth = packing.demand[inside], prices[inside]
        gpus, milli = packing.gpus[inside], packing.milli[inside]
        n = inside.size
        better = (worth[:, None] > worth) | ((worth[:, None] == worth) & (np.arange(n)[:, None] < np.arange(n)))
        better &= (counts[inside] >= fitting)[:, None]
        better &= (gpus[:, None] <= gpus) & (milli[:, None] <= milli)
        for r in range(demand.shape[1]):
            better &= demand[:, r : r + 1] <= demand[:, r]
        gone: BoolArray = better.any(axis=0)
        return gone

    def best(self, k: int, prices: IntArray, node_limit: int, counts: IntArray | None = None) -> tuple[int, IntArray]:
        """Return what no content of a kind is worth more than, and a dear one: (B + 1, C), as in `kernels_node`.

        prices : (C,). node_limit : states that the search looks at, 0 for no search. counts : (C,), where there are fewer pods.
        """
        items, inside = self.items(k, prices, self.packing.counts if counts is None else counts)
        worth = prices[inside]
        content = np.zeros((items.bins.size + 1, inside.size), np.int64)
        bound, found = tune(items, worth, self.price[k], content)
        if node_limit and found < bound:
            _, bound = search(items, worth, self.price[k], bound, node_limit, content)
        spread = np.zeros((content.shape[0], prices.size), np.int64)
        spread[:, inside] = content
        return int(bound), spread


def certificate(
    instance: PlacementInstance,
    packing: Packing,
    bound: int,
    scale: int,
    prices: Sequence[int],
    multipliers: Sequence[Sequence[int]],
) -> dict[str, Any]:
    """Return the bound and its proof, as `schedgap certify` checks it. prices : of a pod of each class of the packing.

    multipliers : rows of R prices of a unit of each resource, at the same scale, of which each node takes the best.
    """
    given: dict[bool, list[int]] = {forced: [0] * len(instance.class_names) for forced in (False, True)}
    for c, forced, price in zip(packing.classes.tolist(), packing.is_forced.tolist(), prices, strict=True):
        given[forced][c] = int(price)
    proof: dict[str, Any] = {"scale": scale, "pod_prices": given[False]}
    if packing.is_forced.any():
        proof["accepted_prices" if instance.accepts else "running_prices"] = given[True]
    if instance.accepts and packing.is_forced.any():
        proof["weights"] = weights_of(instance).tolist()
    rows = dict.fromkeys(tuple(int(price) for price in row) for row in multipliers)
    proof["multipliers"] = [list(row) for row in rows if any(row)]
    return {"bound": bound / ONE if bound % ONE else bound // ONE, "proof": proof}


def allocated_percent(instance: PlacementInstance, bound: int) -> float:
    """Return how many per cent of all GPUs' value are allocated at most, where values are GPUs."""
    return round(100 * (instance.total_value - bound) / max(1, instance.gpu_capacity), 3)


def in_percent(instance: PlacementInstance, bound: int) -> dict[str, float]:
    """Return what a bound says of all GPUs, where values are GPUs: allocated at most, and idle at least, as measures have it."""
    if instance.unit != "GPUs":
        return {}
    found = {"allocated_percent": allocated_percent(instance, bound)}
    if instance.gpu_capacity and (instance.value == instance.gpus * instance.gpu_milli).all():
        found["idle_percent"] = 100 * (1 - (instance.total_value - bound) / instance.gpu_capacity)
    return found
