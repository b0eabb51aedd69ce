"""Bounds from prices of resources: machines as a fluid, of which only how much is rented of each type is whole.

    minimise    sum_k price[k] n[k]
    subject to  sum_{k: c fits k} x[c, k] >= counts[c]                                    for each task class c
                sum_c demand[family k, c, r] x[c, k] <= capacity[k, r] n[k]               for each type k and resource r
                low[g] <= sum_k weight[g, k] n[k] <= high[g]                              for each group g
                n, x >= 0

A type's tasks may be cut into any shares, but must fit it one by one. The duals u[k, r] of the second rows are prices of
resources; at v[c] = min over k of sum_r demand u[k, r] no content of a machine is worth more than the machine's resources,
so they give a bound without pricing, and a centre for column generation to start from. Where tasks are small and demands fine,
the bound with whole n is all that can be said of how many machines are needed (see `branching`).
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends.highs_lp import GrowingLp
from schedgap.formulations.provisioning.limits import MAX_NANO, limit_values, limits_worth
from schedgap.instances.provisioning.dual_bound import NANO, scaled_bound
from schedgap.instances.units import DOLLAR

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance

# What all resources of a machine are worth at most, in parts of a nano-dollar, and bits of what the dearest is worth.
MAX_WORTH, MAX_BITS = 2**61, 58


class ResourceRelaxation:
    """The linear program above, kept warm while the limits of the groups change.

    weights : (G, K) int64. low, high : (G,) float64. bound : micro-dollars, proven under the limits by the last solution.
    duals : (C + G,) float64, dollars: prices of the classes and of the groups' limits, or None. amounts : (G,) float64, what
    the last solution rents of each group, or None.
    """

    is_quick = True

    def __init__(self, instance: ProvisioningInstance, weights: IntArray) -> None:
        self.instance, self.weights, self.num_groups = instance, weights, weights.shape[0]
        self.low, self.high = np.full(self.num_groups, -np.inf), np.full(self.num_groups, np.inf)
        self.bound = 0
        self.duals: FloatArray | None = None
        self.amounts: FloatArray | None = None
        num_types, num_classes = instance.num_types, instance.num_classes
        num_resources = len(instance.resources)
        self.first_group = num_classes + num_types * num_resources
        size = self.first_group + self.num_groups
        lower = np.zeros(size)
        lower[:num_classes] = instance.counts
        lower[self.first_group :] = -np.inf
        self._lp = GrowingLp(lower, np.full(size, np.inf), is_dual=True)
        self.fits, self.scale = instance.fits(), np.maximum(instance.capacity.max(axis=0), 1)
        machines = np.zeros((num_types, size))
        for k in range(num_types):
            span = slice(num_classes + k * num_resources, num_classes + (k + 1) * num_resources)
            machines[k, span] = instance.capacity[k] / self.scale
        machines[:, self.first_group :] = weights.T
        self._lp.add_columns(instance.price / DOLLAR, machines)
        # A group's limits may be too tight; breaking them costs more than any machine.
        slack = np.zeros((2 * self.num_groups, size))
        slack[:, self.first_group :] = np.vstack((np.eye(self.num_groups), -np.eye(self.num_groups)))
        self._lp.add_columns(np.full(slack.shape[0], 10 * float(instance.price.max()) / DOLLAR), slack)
        self._add_shares()

    def _add_shares(self) -> None:
        """Add the columns x: a class's row and its demands in the rows of the type."""
        instance, num_resources = self.instance, self.scale.shape[0]
        types, classes = np.nonzero(self.fits)
        row = np.column_stack(
            (classes, instance.num_classes + types[:, None] * num_resources + np.arange(num_resources))
        )
        value = np.column_stack(
            (np.ones(types.shape[0]), -instance.demand[instance.type2family[types], classes] / self.scale)
        )
        column = np.broadcast_to(np.arange(types.shape[0])[:, None], row.shape)
        used = value != 0
        self._lp.add_entries(np.zeros(types.shape[0]), column[used], row[used], value[used])

    def limit(self, low: FloatArray, high: FloatArray) -> None:
        """Set the limits of the groups; the bound starts anew."""
        for g in np.flatnonzero((low != self.low) | (high != self.high)).tolist():
            self._lp.set_row_bounds(self.first_group + g, float(low[g]), float(high[g]))
        self.low, self.high = low.copy(), high.copy()
        self.bound, self.duals, self.amounts = 0, None, None

    def solve(self, deadline: float | None, cutoff: int | None = None) -> None:
        """Solve the linear program; without a solution by the deadline the bound is 0. cutoff is for other relaxations."""
        left_s = math.inf if deadline is None else deadline - time.perf_counter()
        found = self._lp.solve(left_s) if left_s > 0 else None
        if found is None:
            return
        num_classes, num_types = self.instance.num_classes, self.instance.num_types
        self.amounts = self.weights @ found.x[:num_types]
        groups = found.row_duals[self.first_group :]
        prices = np.maximum(found.row_duals[num_classes : self.first_group].reshape(num_types, -1), 0.0) / self.scale
        self.bound = self._proven(prices, groups)
        self.duals = np.concatenate((np.maximum(found.row_duals[:num_classes], 0.0), groups))

    def _proven(self, prices: FloatArray, groups: FloatArray) -> int:
        """Return micro-dollars: the bound of prices of resources (K, R) and of limits (G,), dollars, in exact integers."""
        instance = self.instance
        # In parts of a nano-dollar as small as can be, so that prices of small units are not rounded away.
        dearest = float((prices * instance.capacity).sum(axis=1).max()) * DOLLAR * NANO
        fine = 2 ** max(0, MAX_BITS - math.ceil(math.log2(dearest + 1)))
        most = MAX_WORTH // (len(instance.resources) * np.maximum(instance.capacity, 1))
        # Twice: the float of `most` may be a little larger than itself.
        near = np.minimum(prices * (DOLLAR * NANO * fine), most.astype(np.float64)).astype(np.int64)
        unit = np.minimum(near, most)
        upper = -(-(unit * instance.capacity).sum(axis=1) // fine)
        values = np.full(instance.num_classes, MAX_NANO // instance.num_tasks)
        for k in range(instance.num_types):
            inside = self.fits[k]
            asked = instance.demand[instance.type2family[k], inside] @ unit[k] // fine
            values[inside] = np.minimum(values[inside], asked)
        limits = limit_values(groups, MAX_NANO, self.low, self.high)
        shift = limits.astype(object) @ self.weights.astype(object)
        worth = limits_worth(limits, self.low, self.high) + int(values.astype(object) @ instance.counts)
        return scaled_bound(instance, worth, upper + shift)


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
