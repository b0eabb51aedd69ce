"""A bound from single GPUs: which shares of which sizes fit one, whatever node it is in (Gilmore and Gomory 1961).

    minimise    sum_s value[s] y[s]
    subject to  y[s] + sum_q q[s] x[q] >= counts[s]          for each size s; a pod of k whole GPUs counts as k
                sum_q x[q] <= GPUs                           x[q] GPUs have the pattern q of sizes, at most 1000 thousandths

Patterns come from a knapsack by dynamic programming. CPU, memory, models and nodes are left out, so it tells what no cluster of
so many GPUs can do, and it is cheap: a dual of one prefix of the arrivals holds for all, and is linear in their numbers.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.placement.packing import allocated_percent, packing_of
from schedgap.formulations.placement.relaxation import Relaxation, by_gpu
from schedgap.instances.method import Outcome, method
from schedgap.instances.placement.model import FAMILY

if TYPE_CHECKING:
    from schedgap.formulations.placement.packing import Packing
    from schedgap.instances.placement.model import PlacementInstance


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


@method("bound-gpu-cutting-stock", family=FAMILY, bounds=True, handles=("running", "gangs"))
def bound_gpu_cutting_stock(instance: PlacementInstance, time_limit_s: float | None = None) -> Outcome:
    """Which shares fit one GPU: a cutting-stock program over all GPUs, proven by a knapsack; nodes are left out."""
    packing = packing_of(instance)
    deadline = time.perf_counter() + (np.inf if time_limit_s is None else time_limit_s)
    solved = SingleGpus(packing, deadline)
    relaxation = solved.relaxation
    details: dict[str, float] = {"columns": relaxation.master.num_columns, "iterations": relaxation.iterations}
    if instance.unit == "GPUs":
        details["allocated_percent"] = allocated_percent(instance, solved.bound)
    return Outcome(
        bound=solved.bound,
        details=details,
    )
