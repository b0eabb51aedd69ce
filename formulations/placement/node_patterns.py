"""Node patterns: what one node can hold, whole, by column generation; the strongest bound, and placements close to it.

The program of `packing` over all contents of nodes: with the CPU, memory, admission and single GPUs of one node in each. Its
duals come from `relaxation`, placements from `packer`. Prices begin at those of single GPUs, whose bound is met at once.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.formulations.placement.cutting_stock import SingleGpus
from schedgap.formulations.placement.packer import Packer, placed
from schedgap.formulations.placement.packing import allocated_percent, packing_of
from schedgap.formulations.placement.relaxation import Relaxation
from schedgap.instances.method import Found, Outcome, method, untold
from schedgap.instances.placement.model import FAMILY
from schedgap.instances.placement.verify import verify

if TYPE_CHECKING:
    from schedgap.formulations.placement.packing import Packing
    from schedgap.instances.placement.model import PlacementInstance

# Parts of the time limit for the first bound, and for columns where a placement is asked for, too.
FIRST, COLUMNS = 0.2, 0.5
# Rounds of packing parts again without a time limit, and seconds that are left for the end.
ROUNDS, LAST_S = 20_000, 0.3


def relaxed(packing: Packing, seconds: float, columns: float = 1.0) -> Relaxation:
    """Return the relaxation, solved as far as seconds, of which columns are generated in a part, allow."""
    start = time.perf_counter()
    single = SingleGpus(packing, start + FIRST * seconds)
    relaxation = Relaxation(packing)
    contents = relaxation.try_prices(np.array(single.prices, dtype=np.float64) / single.scale)
    # Rounded prices prove a little less than those that they are rounded from.
    relaxation.bound = max(relaxation.bound, single.bound)
    relaxation.add(contents)
    relaxation.generate(start + columns * seconds)
    return relaxation


def _details(instance: PlacementInstance, relaxation: Relaxation) -> dict[str, Any]:
    details: dict[str, Any] = {
        "columns": relaxation.master.num_columns,
        "iterations": relaxation.iterations,
        "converged": relaxation.is_converged or not relaxation.is_open,
    }
    if instance.unit == "GPUs":
        details["allocated_percent"] = allocated_percent(instance, relaxation.bound)
    return details


@method("bound-node-patterns", family=FAMILY, bounds=True, handles=("running", "gangs"))
def bound_node_patterns(instance: PlacementInstance, time_limit_s: float | None = None) -> Outcome:
    """Contents of whole nodes, priced exactly: the strongest bound; gangs are left out, moves are free."""
    relaxation = relaxed(packing_of(instance), np.inf if time_limit_s is None else time_limit_s)
    return Outcome(bound=relaxation.bound, details=_details(instance, relaxation))


@method("node-patterns", family=FAMILY, bounds=True, handles=("running",))
def node_patterns(instance: PlacementInstance, time_limit_s: float | None = None, found: Found = untold) -> Outcome:
    """Whole contents of nodes by column generation, then a few nodes packed again and again; what runs stays."""
    start = time.perf_counter()
    seconds = np.inf if time_limit_s is None else time_limit_s
    deadline = start + seconds
    packing = packing_of(instance, stay=True)
    relaxation = relaxed(packing, seconds, COLUMNS)
    may_move = (instance.is_running & instance.movable).any() and instance.max_moves != 0
    # With moves more may be placed: the relaxation of what stays proves nothing then.
    proof = relaxed(packing_of(instance), seconds * FIRST) if may_move else relaxation
    packer = Packer(relaxation)
    packer.round(deadline)
    now = time.perf_counter()
    best = placed(instance, packer)
    found(best, proof.bound)
    spare_s = LAST_S + 1.5 * (time.perf_counter() - now)
    rounds = packer.improve(
        deadline - spare_s, np.random.default_rng(0), relaxation.bound, ROUNDS if np.isinf(seconds) else np.inf
    )
    best = min((best, placed(instance, packer)), key=lambda placement: verify(instance, placement)) if rounds else best
    details = _details(instance, proof) | {"rounds": rounds}
    return Outcome(solution=best, bound=proof.bound, details=details)
