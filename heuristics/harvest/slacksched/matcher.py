"""What the compiled rules of SlackSched need to begin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.heuristics.harvest.slacksched.kernels_engine import MOST_CELLS
from schedgap.heuristics.harvest.slacksched.state import (
    Demands,
    Engine,
    EngineMarks,
    EngineOptions,
    Fitted,
    Losses,
    Marks,
    Matcher,
    MatcherOptions,
    Plans,
    Seen,
    Slots,
    Touched,
)
from schedgap.instances.arrays import IntArray, record
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
    num_vms, num_tasks = instance.num_vms, instance.num_tasks
    return Matcher(
        engine=new_engine(instance.event_ms.shape[0], num_vms, options, span=span),
        options=MatcherOptions(
            reconsider_ms=round(options.reconsider_s * SECOND_MS),
            free_every_ms=free_every_ms,
            most_planned=max(num_vms, LEAST_PLANNED),
            threshold=float(threshold),
        ),
        mark=record(Marks),
        slots=_slots(instance),
        demands=_demands(instance),
        seen=Seen(*_filled(4, num_vms, NOBODY)),
        touched=Touched(*_filled(3, num_vms, 0)),
        plans=Plans(
            first=np.full(num_vms, NOBODY),
            last=np.full(num_vms, NOBODY),
            next=np.full(num_tasks, NOBODY),
            vm=np.full(num_tasks, NOBODY),
            end=np.zeros(num_tasks),
            ms=np.zeros(num_tasks, np.int64),
            row=np.zeros(num_tasks, np.int64),
        ),
        losses=Losses(
            bound=np.zeros(BOUNDS if num_vms >= BOUNDED_VMS else (0, 0)),
            lower=np.zeros(num_vms),
            cell=np.zeros(num_vms, np.uint32),
        ),
    )


def new_engine(
    num_events: int, num_vms: int, options: PredictionOptions = PREDICTION, *, span: str = "change"
) -> Engine:
    """Return an engine that has seen nothing, with room for a log of so many events of so many VMs."""
    room = num_events + num_vms
    entry, exit_, is_end, order, joins, scratch, step_ms = _filled(7, room, 0)
    return Engine(
        options=EngineOptions(
            window_ms=round(options.window_h * HOUR_MS),
            refresh_ms=round(options.refresh_s * SECOND_MS),
            survival=SURVIVAL.index(options.survival),
            span=SPANS.index(span),
        ),
        mark=record(EngineMarks, next_refresh=-1),
        fitted=record(Fitted),
        curve=np.zeros((MOST_CELLS + 1, 2)),
        entry=entry,
        exit=exit_,
        is_end=is_end,
        order=order,
        joins=joins,
        scratch=scratch,
        step_ms=step_ms,
        step_survival=np.zeros(room),
        next_shrink=np.zeros(num_vms, np.int64),
    )


def _slots(instance: HarvestInstance) -> Slots:
    # All slots but the first and the last have a core, and all but the first belong to a task.
    most = np.maximum.reduceat(instance.event_cores, instance.first_event[:-1])
    first = np.concatenate(([0], np.cumsum(np.minimum(most, instance.num_tasks) + 3)))
    ms, cores, memory = _filled(3, int(first[-1]), 0)
    return Slots(
        first=first,
        number=np.zeros(instance.num_vms, np.int64),
        ms=ms,
        cores=cores,
        memory=memory,
        turn_ms=np.full(instance.num_vms, NEVER),
    )


def _demands(instance: HarvestInstance) -> Demands:
    needs, of_job = np.unique(np.stack((instance.cores, instance.task_memory_mib)), axis=1, return_inverse=True)
    number = needs.shape[1]
    columns = min(number, MOST_DEMANDS)
    return Demands(
        of_job=of_job.reshape(-1).astype(np.int64),
        cores=np.ascontiguousarray(needs[0]),
        memory=np.ascontiguousarray(needs[1]),
        column=np.full(number, NOBODY),
        of_column=np.full(columns, NOBODY),
        ready=np.zeros((columns, instance.num_vms), np.int64),
    )


def _filled(arrays: int, length: int, value: int) -> list[IntArray]:
    return [np.full(length, value) for _ in range(arrays)]
