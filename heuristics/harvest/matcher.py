"""What the compiled rules of SlackSched need to begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.harvest import kernels_matcher
from schedgap.heuristics.harvest.engine import new_engine
from schedgap.heuristics.harvest.kernels_matcher import Matcher
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.kernels_state import NEVER, NOBODY

if TYPE_CHECKING:
    from schedgap.instances.harvest.model import HarvestInstance

# As many tasks are planned as there are VMs, or so many: of 64 VMs under heavy load jobs were complete neither earlier nor later
# with plans for four times as many, in four times the time.
LEAST_PLANNED = 64
# From so many VMs on bounds of losses save time: with fewer they cost as much as they save. Rows and columns of their table.
BOUNDED_VMS = 256
BOUNDS = (256, 8192)
# Demands that are looked after; a cluster rarely has more kinds of tasks at a time.
MOST_DEMANDS = 16


def new_matcher(
    instance: HarvestInstance,
    *,
    window_h: float = 24.0,
    refresh_s: float = 3600.0,
    reconsider_s: float = 30.0,
    survival: str = "ecdf",
    span: str = "change",
    threshold: float = 0.0,
) -> Matcher:
    """Return a matcher that has seen nothing.

    window_h, refresh_s, survival, span : as `engine.new_engine` has them. reconsider_s : how often waiting tasks are looked at
    anew although nothing has changed; 0 for at every event, and only then. threshold : see `kernels_slack_variants`.

    Raises
    ------
    MethodError
        for parameters out of range.
    """
    if not (reconsider_s == 0 or 0.001 <= reconsider_s <= 1e9):
        raise MethodError(
            f"reconsider_s is {reconsider_s:g}; give seconds, at least 0.001 and at most 1000000000, or 0."
        )
    if not 0 <= threshold <= 1:
        raise MethodError(f"threshold is {threshold:g}; give a probability, 0 to 1.")
    num_vms, num_tasks = instance.num_vms, instance.num_tasks
    engine = new_engine(
        instance.event_ms.shape[0], num_vms, window_h=window_h, refresh_s=refresh_s, survival=survival, span=span
    )
    option = np.zeros(kernels_matcher.MATCHER_OPTIONS, np.int64)
    option[kernels_matcher.RECONSIDER_MS] = round(reconsider_s * 1000)
    option[kernels_matcher.MOST_PLANNED] = max(num_vms, LEAST_PLANNED)
    number = np.zeros(kernels_matcher.MATCHER_NUMBERS)
    number[kernels_matcher.THRESHOLD] = threshold
    # All slots but the first and the last have a core, and all but the first belong to a task.
    most = np.maximum.reduceat(instance.event_cores, instance.first_event[:-1])
    first_slot = np.concatenate(([0], np.cumsum(np.minimum(most, num_tasks) + 3)))
    demands, demand = np.unique(np.stack((instance.cores, instance.task_memory_mib)), axis=1, return_inverse=True)
    num_demands = demands.shape[1]
    return Matcher(
        engine=engine,
        option=option,
        mark=np.zeros(kernels_matcher.MATCHER_MARKS, np.int64),
        number=number,
        first_slot=first_slot,
        slots=np.zeros(num_vms, np.int64),
        **{key: np.zeros(first_slot[-1], np.int64) for key in ("slot_ms", "slot_cores", "slot_memory")},
        demand=demand.astype(np.int64),
        demand_cores=np.ascontiguousarray(demands[0]),
        demand_memory=np.ascontiguousarray(demands[1]),
        demand_column=np.full(num_demands, NOBODY),
        column_demand=np.full(min(num_demands, MOST_DEMANDS), NOBODY),
        ready=np.zeros((min(num_demands, MOST_DEMANDS), num_vms), np.int64),
        **{key: np.full(num_vms, NOBODY) for key in ("seen_size", "seen_used", "seen_changed", "seen_lease")},
        **{key: np.zeros(num_vms, np.int64) for key in ("touched", "is_touched", "offered")},
        turn_ms=np.full(num_vms, NEVER),
        **{key: np.full(num_vms, NOBODY) for key in ("first_planned", "last_planned")},
        **{key: np.full(num_tasks, NOBODY) for key in ("next_planned", "plan_vm")},
        plan_end=np.zeros(num_tasks),
        **{key: np.zeros(num_tasks, np.int64) for key in ("plan_ms", "plan_row")},
        bound=np.zeros(BOUNDS if num_vms >= BOUNDED_VMS else (0, 0)),
        lower=np.zeros(num_vms),
        cell=np.zeros(num_vms, np.uint32),
    )
