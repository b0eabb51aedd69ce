"""Which instances formulations take, what they may claim, and how large prices may be that count in nano-dollars.

Class prices are cut so that all tasks together are worth at most 2^59 nano-dollars, machine prices are at most as much, and
what limits on groups of machines add to a price is cut likewise. So no sum over a machine, and none of two of them, leaves
63 bits. Cutting is always allowed: every class price that is not negative gives a valid bound.

Prices beyond that ($576 million an hour) are refused, and so are prices of one family that are over 2^31 times their
greatest common divisor, or 2^52 for all tasks: the row of the family's group has them as coefficients, which HiGHS
refuses from 10^15 on and does not tell apart long before.

Classes of which only so many tasks may share a machine, as rows of programs.

A row for each class and machine type would be exact; of many classes that differ in little, few rows say nearly as much:
those of the classes that need the most machines of all that fit the same types.
"""

from __future__ import annotations

import numpy as np

from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.method import Status
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.pricing import NANO
from schedgap.instances.provisioning.running import ANY_NUMBER
from schedgap.instances.provisioning.solution import Provisioning
from schedgap.instances.provisioning.verify import objective
from schedgap.instances.units import DOLLAR


def classes_apart(instance: ProvisioningInstance) -> IntArray:
    """Return the classes of which only so many tasks may share a machine."""
    if instance.per_machine is None:
        return np.empty(0, np.int64)
    return np.flatnonzero(instance.per_machine != ANY_NUMBER)


def machines_apart(instance: ProvisioningInstance) -> IntArray:
    """(C,) int64: on how many machines at least the tasks of each class are."""
    machines: IntArray = -(-instance.counts // instance.most_together)
    return machines


def hardest_apart(instance: ProvisioningInstance) -> IntArray:
    """Return those of `classes_apart` that need the most machines of all that fit the same types; the first of equal ones."""
    apart = classes_apart(instance)
    machines, fits = machines_apart(instance), instance.fits()
    hardest: dict[bytes, int] = {}
    for c in apart[np.argsort(-machines[apart], kind="stable")].tolist():
        hardest.setdefault(fits[:, c].tobytes(), c)
    return np.sort(np.array(list(hardest.values()), np.int64))


def fewest_machines(instance: ProvisioningInstance, fits: BoolArray) -> int:
    """Return micro-dollars: what so many machines cost at least as the classes that are kept apart need.

    Of classes that fit no machine type in common the machines are different ones, and their prices add up. fits : (K, C).
    O(C K), and C^2 K at worst for the distinct sets of types.
    """
    apart = classes_apart(instance)
    paid = machines_apart(instance).astype(object) * instance.reservation_price
    best: dict[bytes, int] = {}
    for c in apart[np.argsort(-paid[apart], kind="stable")].tolist():
        best.setdefault(fits[:, c].tobytes(), c)
    used, total = np.zeros(instance.num_types, np.bool_), 0
    for c in best.values():
        if not (used & fits[:, c]).any():
            used |= fits[:, c]
            total += int(paid[c])
    return total


MAX_NANO = 2**59
MAX_WEIGHT, MAX_UNITS = 2**31, 2**52


def without_interference(instance: ProvisioningInstance) -> str | None:
    """Return None, or why a formulation of the plain price cannot take the instance."""
    return None if instance.throughput is None else "counts prices only; with interference use the method interference"


def without_classes_apart(instance: ProvisioningInstance) -> str | None:
    """Return None, or why a formulation cannot take the instance whose machines hold any number of tasks of a class."""
    return None if instance.per_machine is None else "it has no limit on how many tasks of a class share a machine"


def claimed(instance: ProvisioningInstance, solution: Provisioning | None, bound: int | None) -> Status:
    """Return what a method may claim of a solution with a proven bound, micro-dollars."""
    if solution is None:
        return Status.NO_SOLUTION
    return Status.OPTIMAL if bound == objective(instance, solution) else Status.FEASIBLE


def too_expensive(instance: ProvisioningInstance) -> str | None:
    """Return None, or why the prices of an instance are too large for class prices in nano-dollars."""
    dearest = int(instance.price.max())
    if dearest * NANO > MAX_NANO:
        most = MAX_NANO // NANO / 1e6
        return (
            f"a price of ${dearest / 1e6:,.2f} an hour is over ${most:,.0f}: sums of nano-dollars would leave 64 bits"
        )
    for f in np.unique(instance.type2family).tolist():
        prices = instance.price[instance.type2family == f]
        step = int(np.gcd.reduce(prices))
        if int(prices.max()) // step > min(MAX_WEIGHT, MAX_UNITS // instance.num_tasks):
            return (
                f"the prices of family {instance.families[f]} are up to {int(prices.max()) // step} times their greatest "
                f"common divisor for {instance.num_tasks} tasks: floats do not tell them apart; round the prices"
            )
    return None


def class_values(instance: ProvisioningInstance, duals: FloatArray) -> IntArray:
    """(C,) int64, nano-dollars: class prices near `duals` (C,), dollars; never negative, cut as above."""
    return _cut(np.floor(np.maximum(duals, 0.0) * DOLLAR * NANO), MAX_NANO // instance.num_tasks)


def limit_values(duals: FloatArray, most: int | IntArray, low: FloatArray, high: FloatArray) -> IntArray:
    """(G,) int64, nano-dollars: duals of limits near `duals` (G,), dollars, within -most..most; `most` at most 2^59.

    low, high : (G,), infinite where there is no limit: then it has no price on that side.
    """
    values = _cut(np.rint(duals * DOLLAR * NANO), most)
    values[(values > 0) & np.isneginf(low) | (values < 0) & np.isposinf(high)] = 0
    return values


def limits_worth(values: IntArray, low: FloatArray, high: FloatArray) -> int:
    """Return nano-dollars: what prices of limits (G,) add to a bound; exact."""
    sides = np.where(values > 0, low, high)
    return sum(int(value) * int(side) for value, side in zip(values, sides, strict=True) if value)


def _cut(nano: FloatArray, most: int | IntArray) -> IntArray:
    # Twice: above 2^53 the float of `most` may be a little larger than itself.
    near = np.clip(nano, -np.asarray(most, np.float64), np.asarray(most, np.float64)).astype(np.int64)
    return np.clip(near, -np.asarray(most), np.asarray(most))
