"""Bounds from prices on what nodes have: a linear program over classes of pods and types of nodes, proven in whole numbers.

Sets        c classes of pods; t types of nodes; r resources, and thousandths of GPUs as one more
Variables   X[c, t] pods of a class on nodes of a type that fits it;  Y[c] refused pods;  shares allowed
Minimise    sum_c value[c] Y[c]
Rows        Y[c] + sum_t X[c, t] >= counts[c]                         for each class c
            sum_c demand[c, r] X[c, t] <= free[t, r]                  for each type t and resource r, of all its nodes

The duals of the second rows are prices of resources. At any such prices p, rounded to whole numbers, a pod is worth the least
of its value and of what it takes of any type that fits it, and all nodes what is free of them:

    refused value >= sum_c counts[c] min(value[c], min_t p[t] @ demand[c]) - sum_t p[t] @ free[t].
"""

from __future__ import annotations

import numpy as np

from schedgap.formulations.backends import solve
from schedgap.formulations.linear_model import LinearModel, Rows
from schedgap.formulations.placement.packing import Packing, allocated_percent, certificate, packing_of
from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.method import Outcome, method
from schedgap.instances.placement.model import FAMILY, ONE, PlacementInstance

# Prices are whole multiples of 2^-40 thousandths of the value's unit for one unit of a resource.
SCALE = 2**40


class Totals:
    """What nodes of each type have together, and what pods take of it.

    types : (T,). free : (T, R + 1), `demand` : (C, R + 1), thousandths of GPUs last. fits : (C, T) bool.
    """

    def __init__(self, packing: Packing) -> None:
        self.packing = packing
        self.types, place = np.unique(packing.types, return_inverse=True)
        each = np.hstack((packing.free, packing.left.sum(axis=1)[:, None]))
        self.free: IntArray = np.zeros((self.types.size, each.shape[1]), np.int64)
        np.add.at(self.free, place.ravel(), each * packing.numbers[:, None])
        self.demand: IntArray = np.hstack((packing.demand, (packing.gpus * packing.milli)[:, None]))
        self.fits: BoolArray = np.stack(
            [packing.fits[:, place.ravel() == t].any(axis=1) for t in range(self.types.size)], axis=1
        )

    def model(self, placed: BoolArray | None = None) -> LinearModel:
        """Return the linear program. placed : (C,) bool, of which classes no pod may be refused."""
        packing = self.packing
        pod, where = np.nonzero(self.fits)
        classes, each = packing.counts.size, self.free.shape[1]
        rows = Rows(classes + pod.size)
        refused, put = np.arange(classes), classes + np.arange(pod.size)
        rows.add("pods", (refused, refused, 1.0), (pod, put, 1.0), lower=packing.counts)
        unit = np.maximum(self.free, 1)
        parts = self.demand[pod] / unit[where]
        row = where[:, None] * each + np.arange(each)
        upper = np.where(self.free > 0, 1.0, 0.0).ravel()
        rows.add("free", (row.ravel(), np.repeat(put, each), parts.ravel()), upper=upper)
        cost, most = np.zeros(classes + pod.size), np.full(classes + pod.size, np.inf)
        cost[:classes] = np.where(packing.is_forced, packing.dearest, packing.value) / ONE
        if placed is not None:
            most[:classes][placed & self.fits.any(axis=1)] = 0.0
        return rows.model("prices", cost, most, ONE, integral=False)

    def proven(self, duals: FloatArray, placed: BoolArray | None = None) -> tuple[int, list[int], list[list[int]]]:
        """Return the bound that duals of the program prove, prices of pods and of resources that do, times `SCALE`.

        placed : as for `model`; such pods may be worth more than their value.
        """
        packing = self.packing
        per_unit = np.maximum(-duals[packing.counts.size :].reshape(self.free.shape), 0) / np.maximum(self.free, 1)
        whole = [[int(price * ONE * SCALE) for price in row] for row in per_unit.tolist()]
        taken = np.array(whole, object) @ self.demand.T.astype(object)
        most = np.where(
            packing.is_forced | (placed if placed is not None else False), packing.dearest, packing.value
        ).tolist()
        prices = [
            min([value * SCALE, *taken[fits, c]]) for c, (value, fits) in enumerate(zip(most, self.fits, strict=True))
        ]
        worth = int((np.array(whole, object) * self.free.astype(object)).sum())
        return packing.bounded(prices, worth, SCALE), prices, [row[:-1] for row in whole]


@method("bound-resources", family=FAMILY, bounds=True, handles=("running", "gangs", "slices"))
def bound_resources(instance: PlacementInstance, time_limit_s: float | None = None) -> Outcome:
    """Prices on each type's CPU, memory and GPUs: a bound proven by a sum; gangs and slices are left out, moves are free.

    The detail `kept_allocated_percent` bounds placements that refuse no pod without a GPU, as one that may not refuse what fits,
    and never runs out of room for these, has it. It is no bound on all placements, so it is not the method's.
    """
    packing = packing_of(instance)
    totals = Totals(packing)
    result = solve(totals.model(), time_limit_s=time_limit_s)
    if result.row_duals is None:
        return Outcome()
    bound, prices, multipliers = totals.proven(result.row_duals)
    details: dict[str, float] = {}
    worthless = packing.value == 0
    if instance.unit == "GPUs" and worthless.any():
        kept = solve(totals.model(worthless), time_limit_s=time_limit_s)
        if kept.row_duals is not None:
            proven, _, _ = totals.proven(kept.row_duals, worthless)
            details["kept_allocated_percent"] = allocated_percent(instance, max(bound, proven))
    proof = certificate(instance, packing, bound, SCALE, prices, multipliers)
    return Outcome(bound=bound, details=details, certificate=proof)
