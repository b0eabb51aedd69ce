"""Class prices from resource prices: the dual of letting machines be cut into any shares.

    maximise    sum_c counts[c] v[c] + sum_g (low[g] p[g] - high[g] q[g])
    subject to  v[c] <= sum_r demand[f, c, r] u[f, r]                        for each family f on which class c can run
                sum_r capacity[k, r] u[f, r] + sum_g weight[g, k] (p[g] - q[g]) <= price[k]      for each type k of f
                u, v, p, q >= 0

where the groups g limit how many machines are rented (see `master`). No content of a machine is worth more than the
machine at these prices, so they give a bound at once and a centre to start from. Solved as its dual, whose rows are the
classes, the resources of each family and the groups.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends.highs_lp import GrowingLp

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance


class ResourcePrices:
    """The linear program above, kept warm while the limits of the groups change. weights : (G, K) int64."""

    def __init__(self, instance: ProvisioningInstance, weights: IntArray, *, threads: int = 1) -> None:
        num_families, num_classes, num_resources = instance.demand.shape
        self.num_classes = num_classes
        self.first_group = num_classes + num_families * num_resources
        size = self.first_group + weights.shape[0]
        lower = np.zeros(size)
        lower[:num_classes] = instance.counts
        lower[self.first_group :] = -np.inf
        self._lp = GrowingLp(lower, np.full(size, np.inf), threads=threads)
        fits, scale = instance.fits(), np.maximum(instance.capacity.max(axis=0), 1)
        for f in range(num_families):
            span = slice(num_classes + f * num_resources, num_classes + (f + 1) * num_resources)
            types = np.flatnonzero(instance.type2family == f)
            machines = np.zeros((types.size, size))
            machines[:, span] = instance.capacity[types] / scale
            machines[:, self.first_group :] = weights[:, types].T
            self._lp.add_columns(instance.price[types] / 1e6, machines)
            classes = np.flatnonzero(fits[types].any(axis=0))
            shares = np.zeros((classes.size, size))
            shares[np.arange(classes.size), classes] = 1.0
            shares[:, span] = -instance.demand[f, classes] / scale
            self._lp.add_columns(np.zeros(classes.size), shares)
        # A group's limits may be too tight; breaking them costs more than any machine.
        slack = np.zeros((2 * weights.shape[0], size))
        slack[:, self.first_group :] = np.vstack((np.eye(weights.shape[0]), -np.eye(weights.shape[0])))
        self._lp.add_columns(np.full(slack.shape[0], 10 * float(instance.price.max()) / 1e6), slack)

    def solve(self, low: FloatArray, high: FloatArray, time_limit_s: float | None) -> FloatArray | None:
        """(C + G,) float64, dollars per hour: prices of the classes and of the groups' limits; None at the time limit."""
        for g in range(low.shape[0]):
            self._lp.set_row_bounds(self.first_group + g, float(low[g]), float(high[g]))
        solution = self._lp.solve(math.inf if time_limit_s is None else time_limit_s)
        if solution is None:
            return None
        duals = solution.row_duals
        return np.concatenate((np.maximum(duals[: self.num_classes], 0.0), duals[self.first_group :]))


def single_resource_prices(instance: ProvisioningInstance) -> IntArray:
    """(C,) int64, nano-dollars: the best prices that charge for one resource only; no solver, O(R (K + F C)).

    On family f a unit of the resource costs at least the lowest price of a type for each unit of its capacity; a class costs
    what its demand does on its cheapest family. Rounded down, so no machine's content is worth more than the machine.
    """
    best = np.zeros(instance.num_classes, np.int64)
    worth = 0
    for r in range(len(instance.resources)):
        value = np.full(instance.num_classes, -1, np.int64)
        for f in range(len(instance.families)):
            types = np.flatnonzero(instance.type2family == f)
            allowed = instance.demand[f, :, r] >= 0
            if types.size == 0:
                continue
            # Whole nano-dollars a unit: floor((price x 1000) / capacity), the smallest over the types.
            capacity, price = instance.capacity[types, r], instance.price[types] * 1000
            rate = int((price[capacity > 0] // capacity[capacity > 0]).min()) if (capacity > 0).any() else 0
            offered = instance.demand[f, :, r] * rate
            value = np.where(allowed & ((value < 0) | (offered < value)), offered, value)
        value = np.maximum(value, 0)
        total = int(value.astype(object) @ instance.counts)
        if total > worth:
            best, worth = value, total
    return best
