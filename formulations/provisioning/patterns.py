"""Patterns: rent machines with given contents so that every task is covered (Gilmore and Gomory, 1961).

A pattern is a machine type with tasks of each class that fit it together, at the price of the type; `covering.py` has
the program. A task too many is taken off its machine afterwards, so maximal patterns suffice; of these only those that
no cheaper machines replace (`pattern_set.needed_patterns`). Classes of equal demand are merged first. Prices count in
multiples of their greatest common divisor, so that the objective is whole. Sizes are compared in 64-bit integers, which
hold any instance's; up to which prices the bound is a proof says `covering.py`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from schedgap.formulations.backends import MIP_BACKENDS
from schedgap.formulations.export import model_builder
from schedgap.formulations.provisioning.covering import Cover
from schedgap.formulations.provisioning.enumerated import solve_enumerated
from schedgap.formulations.provisioning.pattern_set import enumerate_patterns, needed_patterns
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.provisioning.classes import merge_equal_classes
from schedgap.instances.provisioning.model import FAMILY
from schedgap.instances.provisioning.objective import price_step

if TYPE_CHECKING:
    from schedgap.formulations.linear_model import LinearModel
    from schedgap.formulations.provisioning.pattern_set import PatternSet
    from schedgap.instances.provisioning.model import ProvisioningInstance

MAX_PATTERNS = 100_000


def without_interference(instance: ProvisioningInstance) -> str | None:
    """Return None, or why a formulation of the plain price cannot take the instance."""
    return None if instance.throughput is None else "counts prices only; with interference use the method interference"


def price_cover(instance: ProvisioningInstance, chosen: PatternSet) -> Cover:
    """Return the covering program over given patterns, each at the price of its machine type."""
    step = price_step(instance)
    cost = instance.price[chosen.machine_type] // step
    return Cover(f"patterns-{instance.name}", chosen.patterns, cost, instance.counts, step)


@model_builder("patterns", family=FAMILY)
def build(instance: ProvisioningInstance) -> LinearModel:
    """Build the model that the method `patterns` solves; its rows are the merged classes.

    Raises
    ------
    MethodError
        if the instance has interference or too many patterns.
    """
    merged = merge_equal_classes(instance).instance
    every = without_interference(instance) or enumerate_patterns(merged, MAX_PATTERNS)
    if isinstance(every, str):
        raise MethodError(f"{instance.name}: {every}.")
    chosen = needed_patterns(merged, every)
    names = tuple(f"{merged.type_names[k]}_{p}" for p, k in enumerate(chosen.machine_type))
    return price_cover(merged, chosen).model(names, tuple(f"cover_{c}" for c in range(merged.num_classes)))


@method(
    "patterns",
    family=FAMILY,
    supports=without_interference,
    bounds=True,
    exact=True,
    choices={"backend": MIP_BACKENDS},
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
    start = time.perf_counter()
    merged = merge_equal_classes(instance)
    every = enumerate_patterns(merged.instance, max_patterns)
    if isinstance(every, str):
        return Outcome(status=Status.UNSUPPORTED, details={"reason": f"{every}; use column-generation"})
    chosen = needed_patterns(merged.instance, every) if dominance else every
    return solve_enumerated(
        instance,
        merged,
        chosen,
        price_cover(merged.instance, chosen),
        backend=backend,
        started=start,
        time_limit_s=time_limit_s,
        threads=threads,
        details={"patterns": every.size},
    )
