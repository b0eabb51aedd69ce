"""What the rules of SlackSched remember from one pass to the next: named tuples of arrays of records.

Letters: V VMs, J jobs, T tasks, Z slots of all VMs that there is room for, D demands of jobs (cores and memory), of which C are
looked after. All int64 unless it says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedgap.instances.arrays import FloatArray, IntArray, Records, record, records
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.model import HarvestInstance
from schedgap.instances.harvest.simulator.state import NOBODY
from schedgap.instances.units import HOUR_MS, NEVER, SECOND_MS

# VMs are looked at one by one where any of so many is worth it, which compilers find out for many VMs at a time.
BLOCK = 64
# A value of `Planned.vm`: no VM is large enough now.
NOWHERE = -2


class EngineOptions(NamedTuple):
    """How far back the log is looked at, how often, and what is learned from it."""

    window_ms: int
    refresh_ms: int
    survival: int
    span: int


class Fitted:
    """next_refresh, first : when to look at the log again, and its first entry in the window. cells : of the grid.

    P(grown) and P(shrunk), the step of the grid, and the tail from `tail_ms` on.
    """

    next_refresh: int
    first: int
    cells: int
    p_if_grew: float
    p_if_shrank: float
    step: float
    tail_ms: float
    tail_survival: float
    tail_integral: float
    tail_alpha: float


class Point:
    """S and I at a point of the grid."""

    survival: float
    integral: float


class Span:
    """entry, exit, is_end : ages of a VM when it came under observation and left it, and whether it was a change that ended it.

    order, joins, scratch : to sort. step_ms, step_survival : S as a step function, from step_ms on.
    next_shrink : of the VM of that number, or NOBODY.
    """

    entry: int
    exit: int
    is_end: int
    order: int
    joins: int
    scratch: int
    step_ms: int
    step_survival: float
    next_shrink: int


class Engine(NamedTuple):
    """What is predicted from.

    Letters: V VMs, E events, G most cells of the grid, N spans that there is room for: at least E + V.

    fitted : (1,). curve : (G + 1,). spans : (N,).
    """

    options: EngineOptions
    fitted: Records[Fitted]
    curve: Records[Point]
    spans: Records[Span]


class MatcherOptions(NamedTuple):
    """How often plans are made anew, and what is planned.

    free_every_ms : after how many ms of work tasks take checkpoints that cost them nothing; 0 for never. most_planned : so many
    waiting tasks have plans. threshold : of heartbeats.
    """

    reconsider_ms: int
    free_every_ms: int
    most_planned: int
    threshold: float


class Mark:
    """How far the matcher is.

    next_look : when to plan everything anew. planned : tasks that have a plan. touched : VMs on the list of those. last_best :
    the best VM of the task matched last. next_column : that the next demand gets.
    """

    next_look: int
    planned: int
    touched: int
    last_best: int
    next_column: int


class Watched:
    """A VM as at the last pass, its slots and who waits for it; and two lists of VMs, whose places these are as well.

    first_slot, num_slots : of `slots`, in use. first_plan, last_plan : of the tasks planned for the VM, in order.
    is_touched : whether it differs. touched : the VMs that differ, in the first places. offered : those that did.
    """

    cores: int
    used: int
    changed: int
    lease: int
    first_slot: int
    num_slots: int
    first_plan: int
    last_plan: int
    is_touched: int
    touched: int
    offered: int


class Slot:
    """From when on a VM has how much more room."""

    ms: int
    cores: int
    memory: int


class Need:
    """A demand. column : its row of `ready`, or NOBODY; of_column : the demand of that row, or NOBODY, in the first C places."""

    cores: int
    memory: int
    column: int
    of_column: int


class Planned:
    """vm : NOBODY without a plan. next : of the tasks planned for the VM. end : when the task is expected to be complete.

    ms : how long its run is estimated to take. row : of `Matcher.bound`. demand : of the task.
    """

    next: int
    vm: int
    ms: int
    row: int
    demand: int
    end: float


class Matcher(NamedTuple):
    """What the rules of SlackSched remember from one pass to the next.

    mark : (1,). vms : (V,). slots : (Z,). demands : (D,). ready : (C, V), from when on a VM has room for a task of that demand:
    0 for now, NEVER where it is too small. plans : (T,). turn_ms : (V,), up to when the order of a VM's slots holds; NEVER if
    it always does. since : (V,), twice when a VM changed last, and one more if it shrank then. bound : (B, A) float64, see
    `kernels_match`; (0, 0) for none. lower : (V,) float64, cell : (V,) uint32: work space.
    """

    engine: Engine
    options: MatcherOptions
    mark: Records[Mark]
    vms: Records[Watched]
    slots: Records[Slot]
    demands: Records[Need]
    ready: IntArray
    plans: Records[Planned]
    turn_ms: IntArray
    since: IntArray
    bound: FloatArray
    lower: FloatArray
    cell: NDArray[np.uint32]


# Most cells of the grid on which S and I are known.
MOST_CELLS = 16_384
SURVIVAL = ("ecdf", "kaplan-meier", "plain")
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
    it, `plain` as `ecdf` without what the paper does not name: a Pareto tail, and pairs of changes counted once more.

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
    span: str = "change",
    threshold: float = 0.0,
    free_every_ms: int = 0,
) -> Matcher:
    """Return a matcher that has seen nothing.

    span : time between a change and the next `change`, or the next `shrink` (Equation 3). threshold : see `kernels_rules`.
    free_every_ms : after how many ms of work tasks take checkpoints that cost them nothing; 0 for never.

    Raises `MethodError` for a threshold out of range.
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
