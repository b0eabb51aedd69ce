"""Node patterns: what one node can hold, whole, by column generation; the strongest bound, and placements close to it.

The program of `packing` over all contents of nodes: with the CPU, memory, admission and single GPUs of one node in each. Its
duals come from `relaxation`, placements from `packer`. Prices begin at those of single GPUs, whose bound is met at once.

A bound from single GPUs: which shares of which sizes fit one, whatever node it is in (Gilmore and Gomory 1961).

    minimise    sum_s value[s] y[s]
    subject to  y[s] + sum_q q[s] x[q] >= counts[s]          for each size s; a pod of k whole GPUs counts as k
                sum_q x[q] <= GPUs                           x[q] GPUs have the pattern q of sizes, at most 1000 thousandths

Patterns come from a knapsack by dynamic programming. CPU, memory, models and nodes are left out, so it tells what no cluster of
so many GPUs can do, and it is cheap. Prices found for one prefix of the arrivals hold for all, and what they prove is linear in
the numbers of pods (`prefix_bounds`).
"""

from __future__ import annotations

import operator
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from schedgap.formulations.placement.packer import Packer, placed
from schedgap.formulations.placement.packing import Packing, Pricing, allocated_percent, certificate, packing_of
from schedgap.formulations.placement.relaxation import Relaxation, by_gpu
from schedgap.instances.arrays import IntArray
from schedgap.instances.method import Found, Outcome, method, untold
from schedgap.instances.placement.measures import MARKS, PERCENT
from schedgap.instances.placement.model import FAMILY, PlacementInstance
from schedgap.instances.placement.verify import verify


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


@method("bound-gpu-cutting-stock", family=FAMILY, bounds=True, handles=("running", "gangs", "slices"))
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
    if instance.unit == "GPUs":
        details["allocated_percent"] = allocated_percent(instance, solved.bound)
        if marks and not instance.is_running.any():
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


def relaxed(instance: PlacementInstance, packing: Packing, seconds: float, columns: float = 1.0) -> Solved:
    """Return the relaxation, solved as far as seconds, of which columns are generated in a part, allow."""
    start = time.perf_counter()
    single = SingleGpus(packing, start + FIRST * seconds)
    relaxation = Relaxation(packing)
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
    details: dict[str, Any] = {
        "columns": relaxation.master.num_columns,
        "iterations": relaxation.iterations,
        "converged": relaxation.is_converged or not relaxation.is_open,
    }
    if instance.unit == "GPUs":
        details["allocated_percent"] = allocated_percent(instance, solved.bound)
    return details


@method("bound-node-patterns", family=FAMILY, bounds=True, handles=("running", "gangs", "slices"))
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
