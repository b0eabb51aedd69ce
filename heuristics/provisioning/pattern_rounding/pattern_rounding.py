"""Round the relaxation over machine patterns down, pack what is left, repair: schedgap's own heuristic.

1. Equal classes are merged. Prices of resources, one set a family, give every task a first value (`resource_prices`).
2. The relaxation over patterns is solved by heuristic column generation (`pattern_lp`): patterns, how often each is
   used, and the dual value of a task. With more classes than `max_classes` the first values serve as duals.
3. Each pattern is used as often as the whole part of its variable says; the other tasks are packed greedily, always
   the machine of most dual value per price first (`place_in_blocks`).
4. Machines of much slack are taken apart together and packed anew, with disturbed duals (`search`). Every packing
   chooses types anew, so sizing down and splitting need no step of their own.

Effort is bounded by counts, never by a clock, and the random stream is fixed: equal instances get equal solutions.
"""

from __future__ import annotations

import numpy as np

from schedgap.heuristics.provisioning.pattern_rounding.kernels_fill import Problem, cheapest_shares, resource_prices
from schedgap.heuristics.provisioning.pattern_rounding.kernels_lp import Basis, Start, pattern_lp
from schedgap.heuristics.provisioning.pattern_rounding.kernels_search import (
    Units,
    count_contents,
    place_in_blocks,
    search,
)
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.method import method
from schedgap.instances.provisioning.classes import merge_equal_classes
from schedgap.instances.provisioning.model import FAMILY, NOT_ALLOWED, ProvisioningInstance
from schedgap.instances.provisioning.moves import PER_MACHINE
from schedgap.instances.provisioning.solution import Provisioning
from schedgap.instances.provisioning.verify import cost

SEED = np.uint64(0x9E3779B97F4A7C15)
PRICE_TRIALS = 500
PRICED_CLASSES = 1000
PRICING_STEPS = 1000
PACKING_STEPS = 30
BLOCK = 128
# Measured on Table 4's setting, mean gap of 30 trials: 0.042 % with one copy of each rounded pattern open to the
# search, 0.066 % with three; widths of 5 and 8 are no better than 6.
LOOSE_COPIES = 1
WIDEST = 6
NOISE = 0.3
CHANCE = 0.5


def _no_interference(instance: ProvisioningInstance) -> str | None:
    if instance.throughput is None:
        return None
    return "pattern-rounding counts no lost throughput; take a method that does, or drop the throughputs."


@method("pattern-rounding", family=FAMILY, supports=_no_interference, handles=(PER_MACHINE,))
def pattern_rounding(instance: ProvisioningInstance, effort: float = 1.0, max_classes: int = 128) -> Provisioning:
    """Round the pattern relaxation and repair it by ruin and recreate; never dearer than one machine a task.

    effort : multiplies the iterations of the search: 250 for each distinct demand, 25,000 or one a machine at most.
    max_classes : distinct demands up to which the relaxation over patterns is solved (a pivot costs their square).
    """
    merged = merge_equal_classes(instance)
    solution = _Rounding(merged.instance).solve(effort, max_classes)
    alone = _one_machine_a_task(merged.instance)
    return merged.restore(min(solution, alone, key=lambda s: cost(merged.instance, s)))


class _Rounding:
    """One instance and its duals, as the kernels take them."""

    def __init__(self, instance: ProvisioningInstance) -> None:
        self.instance = instance
        demand = instance.demand.copy()
        fits = instance.fits()
        for f in range(len(instance.families)):
            demand[f, ~fits[instance.type2family == f].any(axis=0)] = NOT_ALLOWED
        most = instance.most_together
        self.problem = Problem(instance.type2family, instance.capacity, instance.price, demand, most)
        weight = np.zeros((len(instance.families), len(instance.resources)))
        stride = -(-instance.num_classes // PRICED_CLASSES)
        sample = self.problem._replace(demand=np.ascontiguousarray(demand[:, ::stride]))
        resource_prices(sample, instance.counts[::stride].copy(), PRICE_TRIALS, SEED, weight)
        self.dual = np.empty(instance.num_classes)
        cheapest_shares(demand, weight, self.dual)
        self.weight = np.maximum(weight, _least_weight(instance))

    def solve(self, effort: float, max_classes: int) -> Provisioning:
        """Relax, round, pack and repair."""
        instance = self.instance
        if instance.num_classes <= max_classes:
            fixed_type, times, patterns = self._rounded_down(*self._relax())
        else:
            fixed_type, times, patterns = _nothing(instance.num_classes)
        loose = np.minimum(times, LOOSE_COPIES)
        rest = instance.counts - times @ patterns
        machines = self._place(rest, np.repeat(fixed_type, loose), np.repeat(patterns, loose, axis=0))
        iterations = int(effort * min(250 * instance.num_classes, max(25_000, machines.num_machines)))
        machines.num_machines = search(
            self.problem, self._positive_dual(), self.weight, iterations, WIDEST, NOISE, CHANCE, PACKING_STEPS,
            SEED, machines.units, machines.num_machines,
        )  # fmt: skip
        return machines.joined_with(fixed_type, times - loose, patterns)

    def _positive_dual(self) -> FloatArray:
        """Return the duals, at least a thousandth of the reservation price each: every task must be worth packing."""
        dual: FloatArray = np.maximum(self.dual, 1e-3 * self.instance.reservation_price)
        return dual

    def _relax(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Solve the relaxation from the patterns of a greedy packing; sets `dual` and `weight`."""
        instance, num_classes = self.instance, self.instance.num_classes
        start_type, _, start_pattern = _nothing(num_classes)
        start = self._place(np.minimum(instance.counts, 20), start_type, start_pattern)
        indptr, task_class, number = start.contents()
        start_pattern = np.zeros((start.num_machines, num_classes), np.int64)
        start_pattern[np.repeat(np.arange(start.num_machines), np.diff(indptr)), task_class] = number
        start_type = start.units.machine_type[: start.num_machines]
        basis = Basis(
            machine_type=np.empty(num_classes, np.int64),
            pattern=np.empty((num_classes, num_classes), np.int64),
            x=np.empty(num_classes),
            dual=self.dual,
            inverse=np.zeros((num_classes, num_classes)),
            direction=np.empty(num_classes),
        )
        pattern_lp(
            self.problem, instance.counts.copy(),
            Start(instance.reservation_type, self.dual.copy(), start_type, start_pattern),
            0.5, PRICING_STEPS, 40 * num_classes + 100, SEED, self.weight, basis,
        )  # fmt: skip
        return basis.machine_type, basis.pattern, basis.x

    def _rounded_down(
        self, basis_type: IntArray, pattern: IntArray, x: FloatArray
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Return types, times and patterns of the machines that the relaxation wants whole, while tasks suffice."""
        left = self.instance.counts.copy()
        times = np.zeros(basis_type.shape[0], np.int64)
        for i in np.flatnonzero((basis_type >= 0) & (x >= 1 - 1e-6)):
            used = pattern[i] > 0
            times[i] = min(int(x[i] + 1e-6), int((left[used] // pattern[i, used]).min()))
            left -= times[i] * pattern[i]
        whole = times > 0
        return basis_type[whole], times[whole], pattern[whole]

    def _place(self, counts: IntArray, fixed_type: IntArray, patterns: IntArray) -> _Machines:
        """Return loose machines: the given ones, and new ones that hold `counts`."""
        machines = _Machines(fixed_type, patterns, int(counts.sum()))
        machines.num_machines = place_in_blocks(
            self.problem, self._positive_dual(), self.weight, counts, BLOCK, PACKING_STEPS, SEED, machines.units,
            machines.num_machines, int(patterns.sum()),
        )  # fmt: skip
        return machines


class _Machines:
    """The machines that the search may change; room for `num_more` tasks beside those of `patterns`."""

    def __init__(self, machine_type: IntArray, patterns: IntArray, num_more: int) -> None:
        rows, columns = np.nonzero(patterns)
        machine = np.repeat(rows, patterns[rows, columns])
        used, size = machine.shape[0], machine.shape[0] + num_more
        self.num_machines = machine_type.shape[0]
        self.units = Units(*(np.full(size, -1, np.int64) for _ in Units._fields))
        self.units.unit_class[:used] = np.repeat(columns, patterns[rows, columns])
        last = np.append(machine[1:] != machine[:-1], True)[:used]
        self.units.following[:used] = np.where(last, -1, np.arange(1, used + 1))
        self.units.head[: self.num_machines] = np.searchsorted(machine, np.arange(self.num_machines))
        self.units.machine_type[: self.num_machines] = machine_type

    def contents(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return `indptr`, `task_class` and `count` of the machines."""
        indptr = np.empty(self.num_machines + 1, np.int64)
        task_class, number = np.empty_like(self.units.head), np.empty_like(self.units.head)
        entries = count_contents(self.units, self.num_machines, indptr, task_class, number)
        return indptr, task_class[:entries], number[:entries]

    def joined_with(self, fixed_type: IntArray, times: IntArray, patterns: IntArray) -> Provisioning:
        """Return these machines and `times` more of each pattern as a solution."""
        fixed = Provisioning.from_patterns(fixed_type, times, patterns)
        indptr, task_class, number = self.contents()
        return Provisioning(
            np.concatenate((fixed.machine_type, self.units.machine_type[: self.num_machines])),
            np.concatenate((fixed.repeat, np.ones(self.num_machines, np.int64))),
            np.concatenate((fixed.indptr, fixed.indptr[-1] + indptr[1:])),
            np.concatenate((fixed.task_class, task_class)),
            np.concatenate((fixed.count, number)),
        )


def _nothing(num_classes: int) -> tuple[IntArray, IntArray, IntArray]:
    return np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, num_classes), np.int64)


def _least_weight(instance: ProvisioningInstance) -> FloatArray:
    """(F, R): a thousandth of the least price per unit, so that no task is infinitely dense for a free resource."""
    least = np.zeros((len(instance.families), len(instance.resources)))
    for f in range(least.shape[0]):
        for r in range(least.shape[1]):
            types = np.flatnonzero((instance.type2family == f) & (instance.capacity[:, r] > 0))
            if types.size:
                least[f, r] = 1e-3 * (instance.price[types] / instance.capacity[types, r]).min()
    return least


def _one_machine_a_task(instance: ProvisioningInstance) -> Provisioning:
    classes = np.arange(instance.num_classes)
    ones = np.ones(instance.num_classes, np.int64)
    return Provisioning(instance.reservation_type, instance.counts, np.append(classes, classes.size), classes, ones)
