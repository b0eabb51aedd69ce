"""What the compiled rules of SlackSched need to begin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.harvest.slacksched.kernels_engine import MOST_CELLS
from schedgap.heuristics.harvest.slacksched.state import (
    Engine,
    EngineOptions,
    Fitted,
    Mark,
    Matcher,
    MatcherOptions,
    Need,
    Planned,
    Point,
    Slot,
    Span,
    Watched,
)
from schedgap.instances.arrays import record, records
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.simulator.state import NOBODY
from schedgap.instances.units import HOUR_MS, NEVER, SECOND_MS

if TYPE_CHECKING:
    from schedgap.instances.harvest.model import HarvestInstance

SURVIVAL = ("ecdf", "kaplan-meier")
SPANS = ("change", "shrink")
# As many tasks are planned as there are VMs, or so many: of 64 VMs under heavy load jobs were complete neither earlier nor later
# with plans for four times as many, in four times the time.
LEAST_PLANNED = 64
# From so many VMs on bounds of losses save time: with fewer they cost as much as they save. Rows and columns of their table.
BOUNDED_VMS = 256
BOUNDS = (256, 8192)
# Demands that are looked after; a cluster rarely has more kinds of tasks at a time.
MOST_DEMANDS = 16


@dataclass(frozen=True, slots=True)
class PredictionOptions:
    """What the rules of SlackSched learn from, and how often they plan anew.

    window_h : hours that are looked back. refresh_s : how often the log is looked at again. reconsider_s : how often waiting
    tasks are looked at anew although nothing has changed; 0 for at every event, and only then. survival : `ecdf` counts all gaps
    that end in the window (the paper's way, in which long gaps are too rare), `kaplan-meier` each gap as far as the window shows
    it.

    Raises `MethodError` for parameters out of range.
    """

    window_h: float = 24.0
    refresh_s: float = 3600.0
    reconsider_s: float = 30.0
    survival: str = "ecdf"

    def __post_init__(self) -> None:
        if not (self.reconsider_s == 0 or 0.001 <= self.reconsider_s <= 1e9):
            raise MethodError(
                f"reconsider_s is {self.reconsider_s:g}; give seconds, at least 0.001 and at most 1000000000, or 0."
            )
        if not 0 < self.window_h <= 1e6:
            raise MethodError(f"window_h is {self.window_h:g}; give hours, more than 0 and at most 1000000.")
        if not 1 <= self.refresh_s <= 1e9:
            raise MethodError(f"refresh_s is {self.refresh_s:g}; give seconds, at least 1 and at most 1000000000.")


PREDICTION = PredictionOptions()


def new_matcher(
    instance: HarvestInstance,
    options: PredictionOptions = PREDICTION,
    *,
    span: str = "change",
    threshold: float = 0.0,
    free_every_ms: int = 0,
) -> Matcher:
    """Return a matcher that has seen nothing.

    span : time between a change and the next `change`, or the next `shrink` (Equation 3). threshold : see `kernels_variants`.
    free_every_ms : after how many ms of work tasks take checkpoints that cost them nothing; 0 for never.

    Raises
    ------
    MethodError
        for a threshold out of range.
    """
    if not 0 <= threshold <= 1:
        raise MethodError(f"threshold is {threshold:g}; give a probability, 0 to 1.")
    num_vms = instance.num_vms
    # All slots but the first and the last have a core, and all but the first belong to a task.
    most = np.maximum.reduceat(instance.event_cores, instance.first_event[:-1])
    first_slot = np.concatenate(([0], np.cumsum(np.minimum(most, instance.num_tasks) + 3)))
    needs, of_job = np.unique(np.stack((instance.cores, instance.task_memory_mib)), axis=1, return_inverse=True)
    return Matcher(
        engine=new_engine(instance.event_ms.shape[0], num_vms, options, span=span),
        options=MatcherOptions(
            reconsider_ms=round(options.reconsider_s * SECOND_MS),
            free_every_ms=free_every_ms,
            most_planned=max(num_vms, LEAST_PLANNED),
            threshold=float(threshold),
        ),
        mark=record(Mark),
        vms=records(
            Watched,
            num_vms,
            **dict.fromkeys(("cores", "used", "changed", "lease", "first_plan", "last_plan"), NOBODY),
            first_slot=first_slot[:-1],
        ),
        slots=records(Slot, int(first_slot[-1])),
        demands=records(Need, needs.shape[1], cores=needs[0], memory=needs[1], column=NOBODY, of_column=NOBODY),
        ready=np.zeros((min(needs.shape[1], MOST_DEMANDS), num_vms), np.int64),
        plans=records(
            Planned, instance.num_tasks, next=NOBODY, vm=NOBODY, demand=of_job.reshape(-1)[instance.task2job()]
        ),
        turn_ms=np.full(num_vms, NEVER),
        since=np.zeros(num_vms, np.int64),
        bound=np.zeros(BOUNDS if num_vms >= BOUNDED_VMS else (0, 0)),
        lower=np.zeros(num_vms),
        cell=np.zeros(num_vms, np.uint32),
    )


def new_engine(
    num_events: int, num_vms: int, options: PredictionOptions = PREDICTION, *, span: str = "change"
) -> Engine:
    """Return an engine that has seen nothing, with room for a log of so many events of so many VMs."""
    return Engine(
        options=EngineOptions(
            window_ms=round(options.window_h * HOUR_MS),
            refresh_ms=round(options.refresh_s * SECOND_MS),
            survival=SURVIVAL.index(options.survival),
            span=SPANS.index(span),
        ),
        fitted=record(Fitted, next_refresh=-1),
        curve=records(Point, MOST_CELLS + 1),
        spans=records(Span, num_events + num_vms),
    )
