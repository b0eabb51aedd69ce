"""Patterns: rent machines with given patterns so that every task is covered (Gilmore and Gomory, 1961).

A pattern is a machine type with tasks of each class that fit it together, at the price of the type; `covering.py` has
the program. A task too many is taken off its machine afterwards, so maximal patterns suffice; of these only those that
no cheaper machines replace (`needed_patterns`). Classes of equal demand are merged first. Prices count in
multiples of their greatest common divisor, so that the objective is whole. Sizes are compared in 64-bit integers, which
hold any instance's; up to which prices the bound is a proof says `covering.py`.
`patterns` and `interference` say which patterns there are, which of them an optimal solution needs, and what each
costs; the covering program over them (`covering`) is built, solved and read in the same way.

With interference, price plus lost value is minimised (see `objective.py` of the instances). A pattern is a multiset of task
classes that fits some machine type. Its cost is the price of the cheapest type that holds it plus the exact loss of its tasks;
the problem is to cover all tasks by patterns at least cost (`covering.py`). Covering is as good as partitioning: a task taken
off a machine keeps it feasible, frees itself of its own loss and raises no factor of another's product, so the cost never
rises. Unlike with plain prices, patterns to which something could still be added count, since adding may cost more than it
brings; all are enumerated. Of these go, exactly:

- patterns that cost at least their tasks alone, or themselves less one task and that task alone: the parts replace
  them, and each part costs strictly less;
- patterns that cost at least themselves with one task more, which covers more.

Every replacement lowers the cost, or keeps it and adds a task, so replacing ends among the patterns that stay. Losses are
compared in floating point with more than its rounding on either side, and counted exactly in what stays; an instance's
limits keep both within 64 bits. Up to which costs the bound is a proof says `covering.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from schedgap.formulations.backends import MIP_CHOICES
from schedgap.formulations.export import model_builder
from schedgap.formulations.linear_model import LinearModel, delayed
from schedgap.formulations.provisioning.kernels_types import Catalogue
from schedgap.formulations.provisioning.limits import claimed, without_classes_apart, without_interference
from schedgap.formulations.provisioning.patterns.covering import Cover, solve_cover
from schedgap.formulations.provisioning.patterns.kernels_patterns import (
    OVER_NODES,
    OVER_PATTERNS,
    Jobs,
    all_patterns,
    keep_disturbed,
    keep_patterns,
    maximal_patterns,
)
from schedgap.instances.arrays import IntArray
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.provisioning.classes import merge_equal_classes
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.moves import PER_MACHINE
from schedgap.instances.provisioning.solution import Provisioning
from schedgap.instances.provisioning.verify import lost_value, price_step


def catalogue_of(instance: ProvisioningInstance) -> Catalogue:
    """Return the machine types of an instance, and what its classes demand of them."""
    by_price = np.argsort(instance.price, kind="stable")
    most = instance.most_together
    return Catalogue(instance.type2family, instance.capacity, instance.price, by_price, instance.demand, most)


@dataclass(frozen=True, slots=True, eq=False)
class PatternSet:
    """Patterns of an instance. machine_type : (P,) int64. patterns : (P, C) int64."""

    machine_type: IntArray
    patterns: IntArray

    @property
    def size(self) -> int:
        """Number of patterns."""
        return int(self.machine_type.shape[0])

    def chosen(self, keep: IntArray) -> PatternSet:
        """Return a part of the patterns."""
        return PatternSet(self.machine_type[keep], self.patterns[keep])


@dataclass(frozen=True, slots=True)
class Enumeration:
    """A kind of patterns.

    noun : what the patterns are called in details. otherwise : what to do where there are too many.
    supports : returns None, or why an instance is not of the kind. every : returns the patterns of an instance, or the
    reason why there are more than a given number. needed : returns those without which no optimum is lost.
    cover : returns the program over given patterns. `every`, `needed` and `cover` take instances of merged classes.
    """

    noun: str
    otherwise: str
    supports: Callable[[ProvisioningInstance], str | None]
    every: Callable[[ProvisioningInstance, int], PatternSet | str]
    needed: Callable[[ProvisioningInstance, PatternSet], PatternSet]
    cover: Callable[[ProvisioningInstance, PatternSet], Cover]

    def model(self, instance: ProvisioningInstance, most: int) -> LinearModel:
        """Build the program over the needed ones of at most `most` patterns; its rows are the merged classes.

        Raises `MethodError` if the instance is not of the kind, or has too many patterns.
        """
        merged = merge_equal_classes(instance).instance
        every = self.supports(instance) or self.every(merged, most)
        if isinstance(every, str):
            raise MethodError(f"{instance.name}: {every}.")
        chosen = self.needed(merged, every)
        names = tuple(f"{merged.type_names[k]}_{p}" for p, k in enumerate(chosen.machine_type))
        return self.cover(merged, chosen).model(names, tuple(f"cover_{c}" for c in range(merged.num_classes)))

    def solve(
        self,
        instance: ProvisioningInstance,
        most: int,
        *,
        dominance: bool,
        backend: str,
        time_limit_s: float | None,
        threads: int,
    ) -> Outcome:
        """Cover the tasks by at most `most` patterns at least cost. dominance : whether to drop what is not needed."""
        started = time.perf_counter()
        merged = merge_equal_classes(instance)
        every = self.every(merged.instance, most)
        if isinstance(every, str):
            return Outcome(status=Status.UNSUPPORTED, details={"reason": f"{every}; {self.otherwise}"})
        chosen = self.needed(merged.instance, every) if dominance else every
        cover = self.cover(merged.instance, chosen)
        build_s = time.perf_counter() - started
        left = None if time_limit_s is None else max(0.0, time_limit_s - build_s)
        found = solve_cover(cover, backend, left, threads)
        start = time.perf_counter()
        bound = None if found.bound is None else found.bound * cover.unit
        solution = None
        if found.repeat is not None:
            packed = Provisioning.from_cover(merged.instance, chosen.machine_type, found.repeat, chosen.patterns)
            solution = merged.restore(packed)
        return Outcome(
            solution,
            bound,
            claimed(instance, solution, bound),
            build_s,
            found.solve_s,
            time.perf_counter() - start,
            delayed(found.trajectory, build_s),
            backend,
            {self.noun: every.size, **found.details},
        )


MAX_PATTERNS = 100_000
# Beyond this many search nodes, of one search and of all, patterns are kept unsplit; they stay exact, only more.
SPLIT_NODES, ALL_SPLIT_NODES = 20_000, 50_000_000


def enumerate_patterns(
    instance: ProvisioningInstance, max_patterns: int, max_nodes: int | None = None
) -> PatternSet | str:
    """Return all maximal patterns, or the reason why there are too many of them.

    A pattern holds at most as many tasks of a class as there are, or may share a machine. max_nodes : of the search, 50 for
    every pattern by default.
    """
    nodes = 50 * max_patterns if max_nodes is None else max_nodes
    out = np.empty((max_patterns, instance.num_classes), np.int64)
    filled, types, most = 0, [], instance.most_together
    for k, name in enumerate(instance.type_names):
        demand = instance.demand[instance.type2family[k]]
        before = filled
        filled = maximal_patterns(demand, most, instance.capacity[k], nodes, out, filled)
        if filled == OVER_PATTERNS:
            return f"more than {max_patterns} patterns for {instance.num_classes} task classes (at type {name})"
        if filled == OVER_NODES:
            return f"more than {nodes} search nodes for the patterns of type {name} ({before} patterns before it)"
        types.append(np.full(filled - before, k, np.int64))
    return PatternSet(np.concatenate(types), out[:filled].copy())


def needed_patterns(instance: ProvisioningInstance, every: PatternSet) -> PatternSet:
    """Drop every pattern that fits a cheaper type, or splits into two parts whose machines cost no more together.

    Exact: put the cheaper machines in the place of the dropped one, extend their patterns to maximal ones, and repeat;
    the coverage never falls, the cost never rises, and the replaced machines' prices (on ties: places in the file) only
    fall, so it ends with a solution of the same or a lower cost that uses kept patterns alone.
    """
    pairs, pair_indptr = _type_pairs(instance)
    keep = np.zeros(every.size, np.bool_)
    keep_patterns(
        every.patterns,
        every.machine_type,
        catalogue_of(instance),
        pairs,
        pair_indptr,
        SPLIT_NODES,
        ALL_SPLIT_NODES,
        keep,
    )
    return every.chosen(np.flatnonzero(keep))


def _type_pairs(instance: ProvisioningInstance) -> tuple[IntArray, IntArray]:
    """Return the pairs of types that cost at most as much as each type, without pairs inside larger ones.

    Where one is, putting a larger type in the place of one of the two gives a pair that is not too dear either; of types
    that hold the same, the cheapest counts as the largest, and of these the first.
    """
    price, capacity, family = instance.price, instance.capacity, instance.type2family
    inside = (family[:, None] == family) & (capacity[:, None] <= capacity).all(axis=2)
    place = np.argsort(np.argsort(price, kind="stable"))
    is_larger = inside & (~inside.T | (place < place[:, None]))
    larger_price = np.where(is_larger, price, 2 * price.max() + 1).min(axis=1)
    a, b = np.triu_indices(instance.num_types)
    least, next_least = price[a] + price[b], np.minimum(price[a] + larger_price[b], larger_price[a] + price[b])
    pairs = [np.flatnonzero((least <= most) & (next_least > most)) for most in price]
    indptr = np.concatenate(([0], np.cumsum([part.size for part in pairs])))
    return np.stack((a, b), axis=1)[np.concatenate(pairs)].astype(np.int64), indptr.astype(np.int64)


def price_cover(instance: ProvisioningInstance, chosen: PatternSet) -> Cover:
    """Return the covering program over given patterns, each at the price of its machine type."""
    step = price_step(instance)
    cost = instance.price[chosen.machine_type] // step
    return Cover(f"patterns-{instance.name}", chosen.patterns, cost, instance.counts, step)


PLAIN = Enumeration(
    "patterns", "use column-generation", without_interference, enumerate_patterns, needed_patterns, price_cover
)


@model_builder("patterns", family=FAMILY)
def build(instance: ProvisioningInstance) -> LinearModel:
    """Build the model that the method `patterns` solves; its rows are the merged classes.

    Raises `MethodError` if the instance has interference or too many patterns.
    """
    return PLAIN.model(instance, MAX_PATTERNS)


@method(
    "patterns", family=FAMILY, supports=without_interference, exact=True, choices=MIP_CHOICES, handles=(PER_MACHINE,)
)
def patterns(
    instance: ProvisioningInstance,
    *,
    time_limit_s: float | None = None,
    threads: int = 1,
    backend: str = "highs",
    max_patterns: int = MAX_PATTERNS,
    dominance: bool = True,
) -> Outcome:
    """Cover the tasks by enumerated patterns of machines: the exact reference where task classes are few."""
    return PLAIN.solve(
        instance, max_patterns, dominance=dominance, backend=backend, time_limit_s=time_limit_s, threads=threads
    )


MAX_DISTURBED = 1_000_000
# A large type also holds what smaller ones hold; looking at that is limited too.
NODES_A_PATTERN = 3


def with_interference(instance: ProvisioningInstance) -> str | None:
    """Return None, or why the method has nothing to do here."""
    if instance.throughput is None:
        return "the instance has no interference; use the method patterns"
    return without_classes_apart(instance)


def every_disturbed(instance: ProvisioningInstance, max_patterns: int) -> PatternSet | str:
    """Return all patterns, each on its cheapest type, or the reason why there are too many."""
    catalogue, max_nodes = catalogue_of(instance), NODES_A_PATTERN * max_patterns
    out = np.empty((max_patterns, instance.num_classes), np.int64)
    filled, types = 0, []
    for k, name in enumerate(instance.type_names):
        before = filled
        filled = all_patterns(catalogue, instance.counts, k, max_nodes, out, filled)
        if filled < 0:
            number = max_patterns if filled == OVER_PATTERNS else max_nodes
            return f"more than {number} patterns for {instance.num_classes} task classes (at type {name})"
        types.append(np.full(filled - before, k, np.int64))
    return PatternSet(np.concatenate(types), out[:filled].copy())


def jobs_of(instance: ProvisioningInstance) -> Jobs:
    """Return what the tasks of an instance with interference cost one another."""
    assert instance.throughput is not None
    return Jobs(instance.class2workload, instance.job_value, instance.throughput / 1000)


def needed_disturbed(instance: ProvisioningInstance, every: PatternSet) -> PatternSet:
    """Drop the patterns that others replace at no higher cost (see above)."""
    keep = np.zeros(every.size, np.bool_)
    keep_disturbed(
        every.patterns,
        every.machine_type,
        catalogue_of(instance),
        instance.counts,
        jobs_of(instance),
        instance.reservation_price,
        keep,
    )
    return every.chosen(np.flatnonzero(keep))


def value_cover(instance: ProvisioningInstance, chosen: PatternSet) -> Cover:
    """Return the covering program over given patterns, each at its price plus its exact loss."""
    lost = np.empty(chosen.size, np.int64)
    for p, pattern in enumerate(chosen.patterns):
        classes = np.flatnonzero(pattern)
        lost[p] = lost_value(instance, classes.tolist(), pattern[classes].tolist())
    cost = instance.price[chosen.machine_type] + lost
    return Cover(f"interference-{instance.name}", chosen.patterns, cost, instance.counts, 1)


DISTURBED = Enumeration(
    "patterns", "raise max_contents or use bounds", with_interference, every_disturbed, needed_disturbed, value_cover
)


@model_builder("interference", family=FAMILY)
def build_disturbed(instance: ProvisioningInstance) -> LinearModel:
    """Build the model that the method `interference` solves; its rows are the merged classes.

    Raises `MethodError` if the instance has no interference or too many patterns.
    """
    return DISTURBED.model(instance, MAX_DISTURBED)


@method("interference", family=FAMILY, supports=with_interference, exact=True, choices=MIP_CHOICES)
def interference(
    instance: ProvisioningInstance,
    *,
    time_limit_s: float | None = None,
    threads: int = 1,
    backend: str = "highs",
    max_contents: int = MAX_DISTURBED,
    dominance: bool = True,
) -> Outcome:
    """Minimise price plus value lost to interference, over all patterns of machines: Eva's TNRP, exactly."""
    return DISTURBED.solve(
        instance, max_contents, dominance=dominance, backend=backend, time_limit_s=time_limit_s, threads=threads
    )
