"""From a covering program over enumerated contents of machines to an outcome: one way for plain and for lost value."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from schedgap.formulations.provisioning.covering import solve_cover
from schedgap.formulations.trajectory import delayed
from schedgap.instances.method import Outcome, Status
from schedgap.instances.provisioning.objective import objective
from schedgap.instances.provisioning.solution import Provisioning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schedgap.formulations.provisioning.covering import Cover
    from schedgap.formulations.provisioning.pattern_set import PatternSet
    from schedgap.instances.provisioning.classes import Merged
    from schedgap.instances.provisioning.model import ProvisioningInstance


def solve_enumerated(
    instance: ProvisioningInstance,
    merged: Merged,
    chosen: PatternSet,
    cover: Cover,
    *,
    backend: str,
    started: float,
    time_limit_s: float | None,
    threads: int,
    details: Mapping[str, float],
) -> Outcome:
    """Solve `cover`, the program over the contents `chosen` of the merged instance, in what is left of the time.

    started : when building began, on `time.perf_counter`'s clock.
    """
    build_s = time.perf_counter() - started
    left = None if time_limit_s is None else max(0.0, time_limit_s - build_s)
    found = solve_cover(cover, backend, left, threads)
    start = time.perf_counter()
    bound = None if found.bound is None else found.bound * cover.unit
    solution, status = None, found.status
    if found.repeat is not None:
        packed = Provisioning.from_cover(merged.instance, chosen.machine_type, found.repeat, chosen.patterns)
        solution = merged.restore(packed)
        status = Status.OPTIMAL if bound == objective(instance, solution) else Status.FEASIBLE
    return Outcome(
        solution,
        bound,
        status,
        build_s,
        found.solve_s,
        time.perf_counter() - start,
        delayed(found.trajectory, build_s),
        backend,
        {**details, **found.details},
    )
