"""What jobs are like, beside what the models assume of them (Waiting Game, section VI, Figure 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.waiting.model_methods import estimate
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.units import HOUR_US, SECOND_US
from schedgap.instances.waiting.model import FAMILY

if TYPE_CHECKING:
    from schedgap.instances.waiting.model import WaitingInstance

MINUTE_US = 60 * SECOND_US


@method("workload", family=FAMILY)
def workload(instance: WaitingInstance, short_s: float = 180.0) -> Outcome:
    """Look at the jobs and schedule none: how often they come, how long they run, and who is short.

    arrival_rate : jobs a second. mean_runtime_s, longest_gap_h. gaps_* and runtimes_* : shares of the gaps between jobs, and
    of the jobs, within bounds. short_share, short_work_share : of the jobs and of the core-hours, in jobs that run for
    `short_s` or less.

    Raises
    ------
    MethodError
        for a negative threshold.
    """
    if short_s < 0:
        raise MethodError(f"short_s is {short_s:g}; give seconds, 0 or more.")
    rates = estimate(instance)
    runtime_us = instance.runtime_us
    gap_us = np.diff(instance.submit_us) if instance.num_jobs > 1 else np.zeros(1, np.int64)
    work = np.multiply(instance.cores, runtime_us, dtype=np.float64)
    short = runtime_us <= short_s * SECOND_US
    return Outcome(
        status=Status.NO_SOLUTION,
        details={
            "arrival_rate": rates.arrival_rate,
            "mean_runtime_s": 1 / rates.service_rate,
            "gaps_to_1_second": _within(gap_us, -1, SECOND_US),
            "gaps_of_1_to_15_seconds": _within(gap_us, SECOND_US, 15 * SECOND_US),
            "gaps_over_3_minutes": _within(gap_us, 3 * MINUTE_US, None),
            "longest_gap_h": float(gap_us.max()) / HOUR_US,
            "runtimes_to_3_minutes": _within(runtime_us, -1, 3 * MINUTE_US),
            "runtimes_of_3_minutes_to_6_hours": _within(runtime_us, 3 * MINUTE_US, 6 * HOUR_US),
            "runtimes_over_6_hours": _within(runtime_us, 6 * HOUR_US, None),
            "runtimes_over_24_hours": _within(runtime_us, 24 * HOUR_US, None),
            "short_share": float(short.mean()),
            "short_work_share": float(work[short].sum() / work.sum()),
        },
    )


def _within(values: np.ndarray, above: int, most: int | None) -> float:
    """Return the share of values above one bound and not above another."""
    inside = values > above
    if most is not None:
        inside &= values <= most
    return float(inside.mean())
