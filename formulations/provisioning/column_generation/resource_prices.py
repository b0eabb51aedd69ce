"""Bounds from prices of resources: machines as a fluid, of which only how much is rented of each type is whole.

    minimise    sum_k price[k] n[k]
    subject to  sum_{k: c fits k} x[c, k] >= counts[c]                                    for each task class c
                sum_c demand[family k, c, r] x[c, k] <= capacity[k, r] n[k]               for each type k and resource r
                sum_c value[c] x[c, k] <= worth n[k]                                      for each cut of type k
                x[c, k] <= most[c] n[k]                 for each type k, and the hardest c of which only so many share a machine
                low[g] <= sum_k weight[g, k] n[k] <= high[g]                              for each group g
                n, x >= 0

A type's tasks may be cut into any shares, but must fit it one by one. The duals u[k, r] of the second rows are prices of
resources; at v[c] = min over k of sum_r demand u[k, r] no pattern of a machine is worth more than the machine's resources,
so they give a bound without pricing, and a centre for column generation to start from. Where tasks are small and demands fine,
the bound with whole n is all that can be said of how many machines are needed (see `branching`).

Of small machines more can be said: exact pricing tells what their dearest pattern is worth, at values of the classes at which
the fluid is worth the whole machine (on 200 distinct tasks 70% to 99% of machines of 1 to 8 cores). A cut says so; it is a
resource of that type, of which a class asks for its value.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from schedgap.formulations.backends.highs_lp import GrowingLp, LpSolution
from schedgap.formulations.provisioning.limits import MAX_NANO, class_values, hardest_apart, limit_values, limits_worth
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.pricing import NANO, UNLIMITED, Pricer, scaled_bound
from schedgap.instances.units import DOLLAR

# What all resources of a machine are worth at most, in parts of a nano-dollar, and bits of what the dearest is worth.
MAX_WORTH, MAX_BITS = 2**61, 58
# A cut takes at least this share off what all machines are worth; nodes of pricing a type, and the most cuts.
LEAST_CUT, NODE_LIMIT, MAX_CUTS = 1e-6, 4_000, 300


@dataclass(frozen=True, slots=True, eq=False)
class Needed:
    """What some tasks need of machines that are given, as a fluid.

    number : (K,) float64, the least of them; price : dollars an hour, of these. shares : (K, C) float64, tasks on them.
    values : (C,) float64, dollars, what a task of each class is worth, not negative. worth : (K,) float64, dollars, of a
    machine's resources: no pattern is worth more.
    """

    number: FloatArray
    price: float
    shares: FloatArray
    values: FloatArray
    worth: FloatArray


class ResourceRelaxation:
    """The linear program above, kept warm while the limits of the groups change.

    weights : (G, K) int64, of families and then of each type alone. low, high : (G,) float64. bound : micro-dollars, proven
    under the limits by the last solution. duals : (C + G,) float64, dollars: prices of the classes and of the groups' limits,
    or None. amounts : (G,) float64, what the last solution rents of each group, or None.
    """

    is_quick = True

    def __init__(self, instance: ProvisioningInstance, weights: IntArray) -> None:
        self.instance, self.weights, self.num_groups = instance, weights, weights.shape[0]
        self.low, self.high = np.full(self.num_groups, -np.inf), np.full(self.num_groups, np.inf)
        self.bound = 0
        self.duals: FloatArray | None = None
        self.amounts: FloatArray | None = None
        num_types, num_classes = instance.num_types, instance.num_classes
        capacity, demand = _with_apart(instance)
        num_resources = capacity.shape[1]
        self.first_group = num_classes + num_types * num_resources
        size = self.first_group + self.num_groups
        lower = np.zeros(size)
        lower[:num_classes] = instance.counts
        lower[self.first_group :] = -np.inf
        self._lp = GrowingLp(lower, np.full(size, np.inf), is_dual=True)
        self.fits, self._counts = instance.fits(), instance.counts
        self._pricer, self.num_cuts = Pricer(instance), 0
        # Of each type: its rows, what they are divided by, what a machine has and what each class asks of them.
        scale = np.maximum(capacity.max(axis=0), 1)
        self._rows = [num_classes + k * num_resources + np.arange(num_resources) for k in range(num_types)]
        self._scales = [scale] * num_types
        self._has = list(capacity)
        self._asks = [demand[f] for f in instance.type2family.tolist()]
        machines = np.zeros((num_types, size))
        for k, rows in enumerate(self._rows):
            machines[k, rows] = capacity[k] / scale
        machines[:, self.first_group :] = weights.T
        self._lp.add_columns(instance.price / DOLLAR, machines)
        # A group's limits may be too tight; breaking them costs more than any machine.
        slack = np.zeros((2 * self.num_groups, size))
        slack[:, self.first_group :] = np.vstack((np.eye(self.num_groups), -np.eye(self.num_groups)))
        self._lp.add_columns(np.full(slack.shape[0], 10 * float(instance.price.max()) / DOLLAR), slack)
        self._add_shares(demand, scale)

    def _add_shares(self, demand: IntArray, scale: IntArray) -> None:
        """Add the columns x: a class's row and its demands in the rows of the type."""
        instance = self.instance
        types, classes = np.nonzero(self.fits)
        row = np.column_stack((classes, np.array(self._rows)[types]))
        value = np.column_stack((np.ones(types.shape[0]), -demand[instance.type2family[types], classes] / scale))
        column = np.broadcast_to(np.arange(types.shape[0])[:, None], row.shape)
        used = value != 0
        self._share = np.full(self.fits.shape, -1)
        self._share[self.fits] = self._lp.num_columns + np.arange(types.shape[0])
        self._lp.add_entries(np.zeros(types.shape[0]), column[used], row[used], value[used])

    def limit(self, low: FloatArray, high: FloatArray) -> None:
        """Set the limits of the groups; the bound starts anew."""
        for g in np.flatnonzero((low != self.low) | (high != self.high)).tolist():
            self._lp.set_row_bounds(self.first_group + g, float(low[g]), float(high[g]))
        self.low, self.high = low.copy(), high.copy()
        self.bound, self.duals, self.amounts = 0, None, None

    def solve(self, deadline: float | None, cutoff: int | None = None) -> None:
        """Solve the linear program; without a solution by the deadline the bound is 0. cutoff is for other relaxations."""
        found = self._solved(self.instance.counts, deadline)
        if found is None:
            return
        self.amounts = self.weights @ found.x[: self.instance.num_types]
        groups = found.row_duals[self.first_group : self.first_group + self.num_groups]
        self.bound = self._proven(self._prices(found), groups)
        self.duals = np.concatenate((np.maximum(found.row_duals[: self.instance.num_classes], 0.0), groups))

    def needed(self, counts: IntArray, number: IntArray, deadline: float | None) -> Needed | None:
        """Return the least that `counts` (C,) tasks need of `number` (K,) machines, far too much if these do not do.

        None after the deadline. The limits are others afterwards.
        """
        none = np.full(self.num_groups - number.shape[0], np.inf)
        self.limit(np.full(self.num_groups, -np.inf), np.concatenate((none, number.astype(np.float64))))
        found = self._solved(counts, deadline)
        if found is None:
            return None
        worth = [float(prices @ has) for prices, has in zip(self._prices(found), self._has, strict=True)]
        values = np.maximum(found.row_duals[: self.instance.num_classes], 0.0)
        shares = np.where(self.fits, found.x[self._share], 0.0)
        return Needed(found.x[: self.instance.num_types], found.objective, shares, values, np.array(worth))

    def tighten(self, amounts: FloatArray, deadline: float | None) -> bool:
        """Cut off patterns that machines do not hold but as a fluid; return whether there were any.

        amounts : (G,), whole: machines that just do. The limits are others afterwards.
        """
        number = np.rint(amounts[self.num_groups - self.instance.num_types :]).astype(np.int64)
        paid, before = float(number @ self.instance.price) / DOLLAR, self.num_cuts
        while (some := self.needed(self.instance.counts, number, deadline)) is not None and some.price <= paid:
            if not self._cut(some):
                break
        return self.num_cuts > before

    def _solved(self, counts: IntArray, deadline: float | None) -> LpSolution | None:
        left_s = math.inf if deadline is None else deadline - time.perf_counter()
        if left_s <= 0:
            return None
        for c in np.flatnonzero(counts != self._counts).tolist():
            self._lp.set_row_bounds(c, float(counts[c]), math.inf)
        self._counts = counts.copy()
        return self._lp.solve(left_s)

    def _prices(self, found: LpSolution) -> list[FloatArray]:
        """Return dollars, of each type's resources and cuts."""
        return [
            np.maximum(found.row_duals[rows], 0.0) / scales
            for rows, scales in zip(self._rows, self._scales, strict=True)
        ]

    def _cut(self, some: Needed) -> bool:
        """Add a cut for each type in use whose dearest pattern is worth clearly less than its resources."""
        values = class_values(self.instance, some.values)
        # Types that are of no use are searched for nothing.
        worth = some.worth * DOLLAR * NANO
        is_used = some.number * worth > LEAST_CUT * some.price * DOLLAR * NANO
        upper = self._pricer.price(values, np.where(is_used, 0, UNLIMITED), NODE_LIMIT, use_tables=False).upper
        found = np.flatnonzero(is_used & (some.number * (worth - upper) > LEAST_CUT * some.price * DOLLAR * NANO))
        for k in found.tolist():
            if self.num_cuts == MAX_CUTS:
                return False
            self._add_cut(k, values, max(1, int(upper[k])))
        return found.size > 0

    def _add_cut(self, k: int, values: IntArray, worth: int) -> None:
        """Add the row: what is on machines of type k is worth at most `worth` for each of them. values : (C,)."""
        inside = np.flatnonzero(self.fits[k] & (values > 0))
        columns = np.concatenate(([k], self._share[k, inside]))
        row = self._lp.add_row(0.0, math.inf, columns, np.concatenate(([1.0], -values[inside] / worth)))
        self._rows[k] = np.append(self._rows[k], row)
        self._scales[k] = np.append(self._scales[k], worth)
        self._has[k] = np.append(self._has[k], worth)
        self._asks[k] = np.column_stack((self._asks[k], values))
        self.num_cuts += 1

    def _proven(self, prices: list[FloatArray], groups: FloatArray) -> int:
        """Return micro-dollars: the bound of prices of resources and cuts and of limits (G,), dollars, in exact integers."""
        instance = self.instance
        # In parts of a nano-dollar as small as can be, so that prices of small units are not rounded away.
        dearest = max(float(some @ has) for some, has in zip(prices, self._has, strict=True)) * DOLLAR * NANO
        fine = 2 ** max(0, MAX_BITS - math.ceil(math.log2(dearest + 1)))
        values = np.full(instance.num_classes, MAX_NANO // instance.num_tasks)
        upper = np.empty(instance.num_types, np.int64)
        for k, (some, has, asks) in enumerate(zip(prices, self._has, self._asks, strict=True)):
            most = MAX_WORTH // (has.shape[0] * np.maximum(has, 1))
            # Twice: the float of `most` may be a little larger than itself.
            unit = np.minimum(np.minimum(some * (DOLLAR * NANO * fine), most.astype(np.float64)).astype(np.int64), most)
            upper[k] = -(-int(unit @ has) // fine)
            inside = self.fits[k]
            values[inside] = np.minimum(values[inside], asks[inside] @ unit // fine)
        limits = limit_values(groups, MAX_NANO, self.low, self.high)
        shift = limits.astype(object) @ self.weights.astype(object)
        worth = limits_worth(limits, self.low, self.high) + int(values.astype(object) @ instance.counts)
        return scaled_bound(instance, worth, upper + shift)


def _with_apart(instance: ProvisioningInstance) -> tuple[IntArray, IntArray]:
    """Return (K, R + A) capacities and (F, C, R + A) demands: classes that are hardest to keep apart are resources, too."""
    apart = hardest_apart(instance)
    if apart.size == 0:
        return instance.capacity, instance.demand
    alike = np.arange(instance.num_classes)[:, None] == apart
    more = np.broadcast_to(alike, (len(instance.families), *alike.shape))
    most = np.broadcast_to(instance.most_together[apart], (instance.num_types, apart.size))
    return np.hstack((instance.capacity, most)), np.concatenate((instance.demand, more), axis=2)


def single_resource_prices(instance: ProvisioningInstance) -> IntArray:
    """(C,) int64, nano-dollars: the best prices that charge for one resource only; no solver, O(R (K + F C)).

    On family f a unit of the resource costs at least the lowest price of a type for each unit of its capacity; a class costs
    what its demand does on its cheapest family. Rounded down once, for the demand: no machine's pattern is worth more than
    the machine, and all tasks together are worth what they are within a nano-dollar each.
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
            offers = zip(instance.price[types].tolist(), instance.capacity[types, r].tolist(), strict=True)
            rate = min(
                (Fraction(price * NANO, capacity) for price, capacity in offers if capacity > 0), default=Fraction()
            )
            # In Python's integers: a demand times a price may go beyond 64 bits, and the quotient is at most a price.
            units = np.maximum(instance.demand[f, :, r], 0).astype(object) * rate.numerator // rate.denominator
            offered = np.minimum(units, MAX_NANO).astype(np.int64)
            value = np.where(allowed & ((value < 0) | (offered < value)), offered, value)
        value = np.maximum(value, 0)
        total = int(value.astype(object) @ instance.counts)
        if total > worth:
            best, worth = value, total
    return best
