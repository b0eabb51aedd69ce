"""Node patterns: what one node can hold, whole, by column generation; the strongest bound, and placements close to it.

The program of `packing` over all contents of nodes: with the CPU, memory, admission and single GPUs of one node in each. Its
duals come from `relaxation`, placements from `Packer`. Prices begin at those of single GPUs, whose bound is met at once.

A bound from single GPUs: which shares of which sizes fit one, whatever node it is in (Gilmore and Gomory 1961).

    minimise    sum_s value[s] y[s]
    subject to  y[s] + sum_q q[s] x[q] >= counts[s]          for each size s; a pod of k whole GPUs counts as k
                sum_q x[q] <= GPUs                           x[q] GPUs have the pattern q of sizes, at most 1000 thousandths

Patterns come from a knapsack by dynamic programming. CPU, memory, models and nodes are left out, so it tells what no cluster of
so many GPUs can do, and it is cheap. Prices found for one prefix of the arrivals hold for all, and what they prove is linear in
the numbers of pods (`prefix_bounds`).

From contents of the relaxation to pods on nodes: whole columns, what is left priced node by node, then parts packed again.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from schedgap.formulations.placement.moves_bound import bound_resources
from schedgap.formulations.placement.packing import Packing, Pricing, certificate, in_percent, packing_of
from schedgap.formulations.placement.relaxation import NODE_LIMITS, Relaxation, by_gpu, key_of
from schedgap.instances.arrays import IntArray
from schedgap.instances.method import Found, Outcome, method, untold
from schedgap.instances.placement.measures import MARKS, PERCENT
from schedgap.instances.placement.model import FAMILY, NOWHERE, ONE, Placement, PlacementInstance, devices_of
from schedgap.instances.placement.stranded import room_of
from schedgap.instances.placement.verify import verify

HANDLES = ("running", "gangs", "slices", "accepts")
# States that a search for a content looks at; the most nodes that are packed again, and by how much prices change for that.
# Seconds that a content takes to be put on nodes. Rounds without gain after which it ends, more of them a node, and at most.
NODE_LIMIT, MOST_AGAIN, NOISE, PUT_S = 1_000, 4, 0.05, 1e-3
PATIENCE, A_NODE, MOST_PATIENCE = 200, 16, 20_000


class Packer:
    """A content for every node.

    table : contents, (m, 3) int64 each: a row as in `kernels_node`, a class, how many; the first is empty. which : (N,), of each
    node; uses : by how many. left : (C,) pods that are on none.
    """

    def __init__(self, relaxation: Relaxation) -> None:
        self.relaxation, self.packing = relaxation, relaxation.packing
        self.table: list[IntArray] = [np.zeros((0, 3), np.int64)]
        self.which = np.zeros(self.packing.kinds.size, np.int64)
        self.uses = [0]
        self.left = self.packing.counts.copy()
        self.value = np.maximum(self.packing.value, 0)
        # Prices of the bound, and a little of the values: of contents that the bound holds for equal, the dearer.
        self.prices = relaxation.prices + np.maximum(self.value * self.packing.scale - relaxation.prices, 0) // 64

    @property
    def refused(self) -> int:
        """The value of what is on no node."""
        return int(self.value @ self.left)

    def put(self, nodes: IntArray, content: IntArray) -> None:
        """Give empty nodes a content, of which there are enough pods."""
        self.which[nodes] = len(self.table)
        self.table.append(_sparse(content))
        self.uses.append(nodes.size)
        self.left -= nodes.size * content.sum(axis=0)

    def round(self, deadline: float) -> None:
        """Take whole columns of the master's solution, those with the largest parts left once more, and price the rest."""
        master, found = self.relaxation.master, self.relaxation.found
        spare = [np.flatnonzero(self.packing.kinds == k) for k in range(self.packing.numbers.size)]
        if found is not None:
            for part in (np.floor(found.x + 1e-6), np.rint(found.x - np.floor(found.x + 1e-6))):
                for p in np.argsort(-found.x, kind="stable").tolist():
                    self._put_column(spare, int(master.kind[p]), master.patterns[p], int(part[p]))
        for k, nodes in enumerate(spare):
            while nodes.size and time.perf_counter() < deadline:
                _, content = self.relaxation.pricing.best(k, self.prices, NODE_LIMIT, self.left)
                self.relaxation.add([(k, content)])
                nodes = self._put_most(nodes, content, -(-nodes.size // 2))

    def _put_column(self, spare: list[IntArray], k: int, pattern: IntArray, times: int) -> None:
        if times > 0:
            spare[k] = self._put_most(spare[k], self.relaxation.contents[key_of(k, pattern)], times)

    def _put_most(self, nodes: IntArray, content: IntArray, times: int) -> IntArray:
        """Give a content to so many of the nodes, or as many as there are pods for; return the other nodes."""
        pattern = content.sum(axis=0)
        used = pattern > 0
        times = min(times, nodes.size, int((self.left[used] // pattern[used]).min(initial=times)))
        if times:
            self.put(nodes[:times], content)
        return nodes[times:]

    def improve(self, deadline: float, rng: np.random.Generator, enough: int) -> int:
        """Pack a few nodes again and again until the deadline, or until no more than `enough` is refused; how often."""
        packing, rounds, stale = self.packing, 0, 0
        must = packing.is_forced
        patience = min(PATIENCE + A_NODE * packing.kinds.size, MOST_PATIENCE)
        while stale < patience and self.refused > enough:
            if time.perf_counter() > deadline - PUT_S * len(self.table):
                break
            rounds, stale = rounds + 1, stale + 1
            number = int(rng.integers(1, MOST_AGAIN + 1))
            nodes = rng.choice(packing.kinds.size, min(number, packing.kinds.size), replace=False)
            pool = self.left.copy()
            for node in nodes.tolist():
                old = self.table[self.which[node]]
                np.add.at(pool, old[:, 1], old[:, 2])
            new = []
            prices = (self.prices * (1 + NOISE * rng.standard_normal(self.prices.size)).clip(0.5)).astype(np.int64)
            for node in nodes.tolist():
                _, content = self.relaxation.pricing.best(int(packing.kinds[node]), prices, NODE_LIMIT, pool)
                new.append(content)
                pool = pool - content.sum(axis=0)
            if self.value @ pool <= self.refused and (pool[must] <= self.left[must]).all():
                stale = 0 if self.value @ pool < self.refused else stale
                self.left = pool
                for node, content in zip(nodes.tolist(), new, strict=True):
                    self._replace(node, content)
        return rounds

    def _replace(self, node: int, content: IntArray) -> None:
        index = int(self.which[node])
        if index and self.uses[index] == 1:
            self.table[index] = _sparse(content)
            return
        self.uses[index] -= 1
        self.which[node] = len(self.table)
        self.table.append(_sparse(content))
        self.uses.append(1)


def _sparse(content: IntArray) -> IntArray:
    row, c = np.nonzero(content)
    return np.stack((row, c, content[row, c]), axis=1)


class Slots:
    """Places of pods: node, class of the packing and GPUs of each; and what nodes have left."""

    def __init__(self, instance: PlacementInstance, packing: Packing, fixed: np.ndarray) -> None:
        self.instance, self.packing = instance, packing
        self.parts: list[tuple[IntArray, IntArray, IntArray]] = []
        room = room_of(instance, fixed)
        self.free, self.gpu_left = room.left, np.maximum(room.milli, 0)

    def _take(self, node: IntArray, classes: IntArray, gpus: IntArray) -> None:
        instance = self.instance
        np.subtract.at(self.free, node, instance.demand[classes])
        held = devices_of(gpus, self.gpu_left.shape[1]) * instance.gpu_milli[classes, None]
        np.subtract.at(self.gpu_left, node, held)

    def put(self, nodes: IntArray, content: IntArray) -> None:
        """Put a content, as in a table, on nodes of its kind."""
        order = np.argsort(-self.gpu_left[nodes], axis=1, kind="stable")
        new = []
        for row, c, number in content.tolist():
            k = int(self.packing.gpus[c])
            gpus = (1 << order[:, row : row + k]).sum(axis=1) if k else np.zeros(nodes.size, np.int64)
            new += [(nodes, np.full(nodes.size, c), gpus)] * number
        for part in new:
            self._take(part[0], self.packing.classes[part[1]], part[2])
        self.parts += new

    def fill(self, left: IntArray) -> IntArray:
        """Put what still fits anywhere, the largest first and where least GPU is left; return what is left (C,)."""
        packing, instance, left = self.packing, self.instance, left.copy()
        takes = instance.takes(packing.classes)[:, instance.node2type]
        for c in np.lexsort((-packing.demand[:, 0], -packing.milli * packing.gpus, -packing.value)).tolist():
            k, milli, demand = int(packing.gpus[c]), int(packing.milli[c]), packing.demand[c]
            while left[c] > 0:
                room = takes[c] & (self.free >= demand).all(axis=1)
                room &= (self.gpu_left >= max(milli, 1)).sum(axis=1) >= k
                nodes = np.flatnonzero(room)
                nodes = nodes[np.argsort(self.gpu_left[nodes].sum(axis=1), kind="stable")][: left[c]]
                if nodes.size == 0:
                    break
                tight = np.where(self.gpu_left[nodes] >= max(milli, 1), self.gpu_left[nodes], 2 * ONE)
                gpus = (1 << np.argsort(tight, axis=1, kind="stable")[:, :k]).sum(axis=1)
                self.parts.append((nodes, np.full(nodes.size, c), gpus))
                self._take(nodes, np.full(nodes.size, packing.classes[c]), gpus)
                left[c] -= nodes.size
        return left

    def placement(self) -> Placement:
        """Return the placement: pods of a class in order of arrival."""
        instance, packing = self.instance, self.packing
        place, gpus = instance.running_node.copy(), instance.running_gpus.copy()
        if not self.parts:
            return Placement(place, gpus)
        node, classes, masks = (np.concatenate(some) for some in zip(*self.parts, strict=True))
        order = np.argsort(classes, kind="stable")
        starts = np.searchsorted(classes[order], np.arange(packing.counts.size + 1))
        arriving = place == NOWHERE
        for c in range(packing.counts.size):
            slots = order[starts[c] : starts[c + 1]]
            pods = np.flatnonzero(arriving & (instance.pod2class == packing.classes[c]))[: slots.size]
            place[pods], gpus[pods] = node[slots], masks[slots]
        return Placement(place, gpus)


def placed(instance: PlacementInstance, packer: Packer) -> Placement:
    """Return what a packer found as a placement, filled up; what runs stays."""
    slots = Slots(instance, packer.packing, instance.is_running)
    order = np.argsort(packer.which, kind="stable")
    starts = np.searchsorted(packer.which[order], np.arange(len(packer.table) + 1))
    for index, content in enumerate(packer.table):
        if index and starts[index] < starts[index + 1]:
            slots.put(order[starts[index] : starts[index + 1]], content)
    slots.fill(packer.left)
    return slots.placement()


class SingleGpus:
    """The packing of single GPUs, and its relaxation.

    bound : on the refused value. prices : of a pod of each class of the packing of nodes, at `scale`.
    """

    def __init__(self, packing: Packing, deadline: float) -> None:
        self.packing = packing
        one, place, factor = by_gpu(packing)
        self.relaxation = Relaxation(one)
        self.scale = one.scale * factor
        if one.counts.size:
            self.relaxation.generate(deadline)
        self.bound = max(0, self.relaxation.bound // factor)
        # Of what takes no GPU nothing is refused.
        each = np.where(place < 0, 0, np.append(self.relaxation.prices, 0)[place])
        self.prices = [int(price) * max(k, 1) for price, k in zip(each, packing.gpus.tolist(), strict=True)]

    def allocated(self, counts: IntArray) -> IntArray:
        """Return (m,) what is placed at most of numbers of pods (m, C), none more than in the packing: at these prices."""
        one, _, _ = by_gpu(self.packing)
        priced = self.relaxation.prices
        pricing = Pricing(one)
        nodes = sum(int(n) * pricing.best(k, priced, 0)[0] for k, n in enumerate(one.numbers.tolist()))
        value = np.maximum(self.packing.value, 0)
        refused = [
            max(0, -(-(sum(map(operator.mul, row, self.prices)) - nodes) // self.scale)) for row in counts.tolist()
        ]
        return counts @ value - np.array(refused, np.int64)

    def proof(self, instance: PlacementInstance) -> dict[str, Any]:
        """Return the certificate of the bound."""
        return certificate(instance, self.packing, self.bound, self.scale, self.prices, ())


@method("bound-gpu-cutting-stock", family=FAMILY, bounds=True, handles=HANDLES)
def bound_gpu_cutting_stock(
    instance: PlacementInstance, *, marks: bool = False, time_limit_s: float | None = None
) -> Outcome:
    """Which shares fit one GPU: a cutting-stock program over all GPUs, proven by a knapsack; nodes are left out.

    marks : tell also how many GPUs are idle at least when so many per cent of all have been asked for.
    """
    packing = packing_of(instance)
    deadline = time.perf_counter() + (np.inf if time_limit_s is None else time_limit_s)
    solved = SingleGpus(packing, deadline)
    relaxation = solved.relaxation
    details: dict[str, float] = {"columns": relaxation.master.num_columns, "iterations": relaxation.iterations}
    details |= in_percent(instance, solved.bound)
    if marks and instance.unit == "GPUs" and not instance.is_running.any():
        details |= idle_at_marks(instance)
    return Outcome(bound=solved.bound, details=details, certificate=solved.proof(instance))


def idle_at_marks(instance: PlacementInstance) -> dict[str, float]:
    """Return what is proven of the measures of idle GPUs, in per cent of all GPUs: no placement has less idle.

    The arrivals that round to a mark are bounded by the last of them, which has the most.
    """
    arrived = np.rint(
        PERCENT * np.cumsum((instance.gpus * instance.gpu_milli)[instance.pod2class]) / instance.gpu_capacity
    )
    last = {mark: int(np.flatnonzero(arrived == mark)[-1]) + 1 for mark in MARKS if (arrived == mark).any()}
    placed = prefix_bounds(instance, list(last.values()))
    return {
        f"idle_at_{mark}": PERCENT * (1 - int(most) / instance.gpu_capacity)
        for mark, most in zip(last, placed, strict=True)
    }


def prefix_bounds(instance: PlacementInstance, marks: Sequence[int]) -> IntArray:
    """Return (m,) the value that is placed at most of the first so many pods, for each mark (m,); O(m) small programs.

    No placement has more when so many pods have arrived, whatever comes after. Prices found at each mark count at all of
    them. For instances in which nothing runs.
    """
    packing = packing_of(instance)
    place = np.searchsorted(packing.classes, instance.pod2class)
    counts = np.stack([np.bincount(place[:mark], minlength=packing.counts.size) for mark in marks])
    least = counts @ packing.value
    for row in counts:
        at_mark = SingleGpus(replace(packing, counts=row), np.inf)
        at_mark.packing = packing
        least = np.minimum(least, at_mark.allocated(counts))
    return least // packing.step * packing.step


# Parts of the time limit for the first bound, and for columns where a placement is asked for, too.
FIRST, COLUMNS = 0.2, 0.5
# Seconds that are left for the end.
LAST_S = 0.3


class Solved(NamedTuple):
    """A relaxation, the better of its bound and that of single GPUs, and its certificate."""

    relaxation: Relaxation
    bound: int
    proof: dict[str, Any]


def relaxed(
    instance: PlacementInstance,
    packing: Packing,
    seconds: float,
    columns: float = 1.0,
    node_limits: Sequence[int] = NODE_LIMITS,
) -> Solved:
    """Return the relaxation, solved as far as seconds, of which columns are generated in a part, allow.

    node_limits : states that searches for contents look at.
    """
    start = time.perf_counter()
    single = SingleGpus(packing, start + FIRST * seconds)
    relaxation = Relaxation(packing, node_limits)
    contents = relaxation.try_prices(np.array(single.prices, dtype=np.float64) / single.scale)
    relaxation.add(contents)
    # The contents of a first placement: without them the master's duals are of no use for a hundred rounds.
    Packer(relaxation).round(start + FIRST * seconds)
    relaxation.generate(start + columns * seconds)
    if single.bound > relaxation.bound:
        return Solved(relaxation, single.bound, single.proof(instance))
    bound, prices, rows = relaxation.bound, relaxation.prices.tolist(), relaxation.resource_prices.tolist()
    return Solved(relaxation, bound, certificate(instance, packing, bound, packing.scale, prices, rows))


def _details(instance: PlacementInstance, solved: Solved) -> dict[str, Any]:
    relaxation = solved.relaxation
    return {
        "columns": relaxation.master.num_columns,
        "iterations": relaxation.iterations,
        "converged": relaxation.is_converged or not relaxation.is_open,
        **in_percent(instance, solved.bound),
    }


@method("bound-gpu-resources", family=FAMILY, bounds=True, handles=HANDLES)
def bound_gpu_resources(instance: PlacementInstance, time_limit_s: float | None = None) -> Outcome:
    """Which shares fit one GPU, beside prices on the CPU and memory of each kind of node: contents are priced, not searched."""
    seconds = np.inf if time_limit_s is None else time_limit_s
    # Prices by type of node, which the search for prices does not always come upon.
    plain = bound_resources(instance, time_limit_s)
    solved = relaxed(instance, packing_of(instance), seconds, node_limits=(0,))
    if plain.bound is not None and plain.bound > solved.bound:
        return plain
    return Outcome(bound=solved.bound, details=_details(instance, solved), certificate=solved.proof)


def _accepting(instance: PlacementInstance) -> str | None:
    return None if instance.accepts else "the instance lets pods be refused that fit; with accepts=true it does not"


@method("bound-forced", family=FAMILY, bounds=True, handles=HANDLES, supports=_accepting)
def bound_forced(instance: PlacementInstance, time_limit_s: float | None = None) -> Outcome:
    """Node patterns where no pod is refused that fits: pods without a GPU that arrive while there must be room are placed."""
    packing = packing_of(instance, forced=True)
    solved = relaxed(instance, packing, np.inf if time_limit_s is None else time_limit_s)
    details = _details(instance, solved) | {"must_be_placed": int(packing.counts[packing.is_forced].sum())}
    return Outcome(bound=solved.bound, details=details, certificate=solved.proof)


@method("bound-node-patterns", family=FAMILY, bounds=True, handles=HANDLES)
def bound_node_patterns(instance: PlacementInstance, time_limit_s: float | None = None) -> Outcome:
    """Contents of whole nodes, priced exactly: the strongest bound; gangs and slices are left out, moves are free."""
    solved = relaxed(instance, packing_of(instance), np.inf if time_limit_s is None else time_limit_s)
    return Outcome(bound=solved.bound, details=_details(instance, solved), certificate=solved.proof)


@method("node-patterns", family=FAMILY, bounds=True, handles=("running",))
def node_patterns(instance: PlacementInstance, time_limit_s: float | None = None, found: Found = untold) -> Outcome:
    """Whole contents of nodes by column generation, then a few nodes packed again and again; what runs stays."""
    start = time.perf_counter()
    seconds = np.inf if time_limit_s is None else time_limit_s
    deadline = start + seconds
    solved = relaxed(instance, packing_of(instance, stay=True), seconds, COLUMNS)
    packer = Packer(solved.relaxation)
    if (instance.is_running & instance.movable).any() and instance.max_moves != 0:
        # With moves more may be placed: the relaxation of what stays proves nothing then.
        solved = relaxed(instance, packing_of(instance), FIRST * seconds)
    packer.round(deadline)
    now = time.perf_counter()
    best = placed(instance, packer)
    found(best, solved.bound)
    spare_s = LAST_S + 1.5 * (time.perf_counter() - now)
    rounds = packer.improve(deadline - spare_s, np.random.default_rng(0), packer.relaxation.bound)
    if rounds:
        best = min((best, placed(instance, packer)), key=lambda placement: verify(instance, placement))
    details = _details(instance, solved) | {"rounds": rounds}
    return Outcome(solution=best, bound=solved.bound, details=details, certificate=solved.proof)
