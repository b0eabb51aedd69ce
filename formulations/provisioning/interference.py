"""The throughput-normalised problem to proven optimality: price plus lost value (see `objective.py` of the instances).

A content is a multiset of task classes that fits some machine type. Its cost is the price of the cheapest type that
holds it plus the exact loss of its tasks; the problem is to cover all tasks by contents at least cost (`covering.py`).
Covering is as good as partitioning: a task taken off a machine keeps it feasible, frees itself of its own loss and
raises no factor of another's product, so the cost never rises. Unlike with plain prices, contents to which something
could still be added count, since adding may cost more than it brings; all are enumerated. Of these go, exactly:

- contents that cost at least their tasks alone, or themselves less one task and that task alone: the parts replace
  them, and each part costs strictly less;
- contents that cost at least themselves with one task more, which covers more.

Every replacement lowers the cost, or keeps it and adds a task, so replacing ends among the contents that stay. Losses are
compared in floating point with more than its rounding on either side, and counted exactly in what stays; an instance's
limits keep both within 64 bits. Up to which costs the bound is a proof says `covering.py`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends import MIP_BACKENDS
from schedgap.formulations.export import model_builder
from schedgap.formulations.provisioning.covering import Cover
from schedgap.formulations.provisioning.enumerated import solve_enumerated
from schedgap.formulations.provisioning.kernels_interference import OVER_CONTENTS, all_contents, keep_contents
from schedgap.formulations.provisioning.pattern_set import PatternSet
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.provisioning.classes import merge_equal_classes
from schedgap.instances.provisioning.model import FAMILY
from schedgap.instances.provisioning.objective import lost_value

if TYPE_CHECKING:
    from schedgap.formulations.linear_model import LinearModel
    from schedgap.instances.provisioning.model import ProvisioningInstance

MAX_CONTENTS = 1_000_000
# A large type also holds what smaller ones hold; looking at that is limited too.
NODES_A_CONTENT = 3


def with_interference(instance: ProvisioningInstance) -> str | None:
    """Return None, or why the method has nothing to do here."""
    return None if instance.throughput is not None else "the instance has no interference; use the method patterns"


def enumerate_contents(instance: ProvisioningInstance, max_contents: int) -> PatternSet | str:
    """Return all contents, each on its cheapest type, or the reason why there are too many."""
    by_price = np.argsort(instance.price, kind="stable")
    out = np.empty((max_contents, instance.num_classes), np.int64)
    filled, types = 0, []
    for k, name in enumerate(instance.type_names):
        before = filled
        filled = all_contents(
            instance.demand,
            instance.counts,
            instance.type2family,
            instance.capacity,
            by_price,
            k,
            NODES_A_CONTENT * max_contents,
            out,
            filled,
        )
        if filled < 0:
            number = max_contents if filled == OVER_CONTENTS else NODES_A_CONTENT * max_contents
            return f"more than {number} contents for {instance.num_classes} task classes (at type {name})"
        types.append(np.full(filled - before, k, np.int64))
    return PatternSet(np.concatenate(types), out[:filled].copy())


def needed_contents(instance: ProvisioningInstance, every: PatternSet) -> PatternSet:
    """Drop the contents that others replace at no higher cost (see above)."""
    assert instance.throughput is not None
    assert instance.class2workload is not None
    assert instance.job_value is not None
    keep = np.zeros(every.size, np.bool_)
    keep_contents(
        every.patterns,
        every.machine_type,
        instance.demand,
        instance.counts,
        instance.type2family,
        instance.capacity,
        instance.price,
        np.argsort(instance.price, kind="stable"),
        instance.class2workload,
        instance.job_value,
        instance.throughput / 1000,
        instance.reservation_price,
        keep,
    )
    return every.chosen(np.flatnonzero(keep))


def value_cover(instance: ProvisioningInstance, chosen: PatternSet) -> Cover:
    """Return the covering program over given contents, each at its price plus its exact loss."""
    lost = np.empty(chosen.size, np.int64)
    for p, pattern in enumerate(chosen.patterns):
        classes = np.flatnonzero(pattern)
        lost[p] = lost_value(instance, classes.tolist(), pattern[classes].tolist())
    cost = instance.price[chosen.machine_type] + lost
    return Cover(f"interference-{instance.name}", chosen.patterns, cost, instance.counts, 1)


@model_builder("interference", family=FAMILY)
def build(instance: ProvisioningInstance) -> LinearModel:
    """Build the model that the method `interference` solves; its rows are the merged classes.

    Raises
    ------
    MethodError
        if the instance has no interference or too many contents.
    """
    merged = merge_equal_classes(instance).instance
    every = with_interference(instance) or enumerate_contents(merged, MAX_CONTENTS)
    if isinstance(every, str):
        raise MethodError(f"{instance.name}: {every}.")
    chosen = needed_contents(merged, every)
    names = tuple(f"{merged.type_names[k]}_{p}" for p, k in enumerate(chosen.machine_type))
    return value_cover(merged, chosen).model(names, tuple(f"cover_{c}" for c in range(merged.num_classes)))


@method(
    "interference",
    family=FAMILY,
    supports=with_interference,
    bounds=True,
    exact=True,
    choices={"backend": MIP_BACKENDS},
)
def interference(
    instance: ProvisioningInstance,
    *,
    time_limit_s: float | None = None,
    threads: int = 1,
    backend: str = "highs",
    max_contents: int = MAX_CONTENTS,
    dominance: bool = True,
) -> Outcome:
    """Minimise price plus value lost to interference, over all contents of machines: Eva's TNRP, exactly."""
    start = time.perf_counter()
    merged = merge_equal_classes(instance)
    every = enumerate_contents(merged.instance, max_contents)
    if isinstance(every, str):
        return Outcome(status=Status.UNSUPPORTED, details={"reason": f"{every}; raise max_contents or use bounds"})
    chosen = needed_contents(merged.instance, every) if dominance else every
    return solve_enumerated(
        instance,
        merged,
        chosen,
        value_cover(merged.instance, chosen),
        backend=backend,
        started=start,
        time_limit_s=time_limit_s,
        threads=threads,
        details={"contents": every.size},
    )
