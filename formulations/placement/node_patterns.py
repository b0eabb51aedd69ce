"""Node patterns: what one node can hold, whole, by column generation; the strongest bound, and placements close to it.

The program of `packing` over all contents of nodes: with the CPU, memory, admission and single GPUs of one node in each. Its
duals come from `relaxation`, placements from `packer`. Prices begin at those of single GPUs, whose bound is met at once.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from schedgap.formulations.placement.cutting_stock import SingleGpus
from schedgap.formulations.placement.packer import Packer, placed
from schedgap.formulations.placement.packing import Packing, allocated_percent, certificate, packing_of
from schedgap.formulations.placement.relaxation import Relaxation
from schedgap.instances.method import Found, Outcome, method, untold
from schedgap.instances.placement.model import FAMILY, PlacementInstance
from schedgap.instances.placement.verify import verify

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
