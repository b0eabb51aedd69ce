"""The throughput-normalised problem to proven optimality: price plus lost value (see `objective.py` of the instances).

A pattern is a multiset of task classes that fits some machine type. Its cost is the price of the cheapest type that
holds it plus the exact loss of its tasks; the problem is to cover all tasks by patterns at least cost (`covering.py`).
Covering is as good as partitioning: a task taken off a machine keeps it feasible, frees itself of its own loss and
raises no factor of another's product, so the cost never rises. Unlike with plain prices, patterns to which something
could still be added count, since adding may cost more than it brings; all are enumerated. Of these go, exactly:

- patterns that cost at least their tasks alone, or themselves less one task and that task alone: the parts replace
  them, and each part costs strictly less;
- patterns that cost at least themselves with one task more, which covers more.

Every replacement lowers the cost, or keeps it and adds a task, so replacing ends among the patterns that stay. Losses are
compared in floating point with more than its rounding on either side, and counted exactly in what stays; an instance's
limits keep both within 64 bits. Up to which costs the bound is a proof says `covering.py`.
"""

from __future__ import annotations

import numpy as np

from schedgap.formulations.backends import MIP_CHOICES
from schedgap.formulations.export import model_builder
from schedgap.formulations.linear_model import LinearModel
from schedgap.formulations.provisioning.catalogue import catalogue_of
from schedgap.formulations.provisioning.limits import without_classes_apart
from schedgap.formulations.provisioning.patterns.covering import Cover
from schedgap.formulations.provisioning.patterns.kernels_patterns import (
    OVER_PATTERNS,
    Jobs,
    all_patterns,
    keep_disturbed,
)
from schedgap.formulations.provisioning.patterns.patterns import Enumeration, PatternSet
from schedgap.instances.method import Outcome, method
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.verify import lost_value

MAX_PATTERNS = 1_000_000
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
def build(instance: ProvisioningInstance) -> LinearModel:
    """Build the model that the method `interference` solves; its rows are the merged classes.

    Raises `MethodError` if the instance has no interference or too many patterns.
    """
    return DISTURBED.model(instance, MAX_PATTERNS)


@method("interference", family=FAMILY, supports=with_interference, exact=True, choices=MIP_CHOICES)
def interference(
    instance: ProvisioningInstance,
    *,
    time_limit_s: float | None = None,
    threads: int = 1,
    backend: str = "highs",
    max_contents: int = MAX_PATTERNS,
    dominance: bool = True,
) -> Outcome:
    """Minimise price plus value lost to interference, over all patterns of machines: Eva's TNRP, exactly."""
    return DISTURBED.solve(
        instance, max_contents, dominance=dominance, backend=backend, time_limit_s=time_limit_s, threads=threads
    )
