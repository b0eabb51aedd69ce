"""What the rules of SlackSched remember from one pass to the next: named tuples of arrays of records.

Letters: V VMs, J jobs, T tasks, Z slots of all VMs that there is room for, D demands of jobs (cores and memory), of which C are
looked after. All int64 unless it says otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from schedgap.instances.arrays import FloatArray, IntArray, Records

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

    mark : (1,). vms : (V,). slots : (Z,). demands : (D,). ready : (C, V), from when on a VM has room for a
    task of that demand: 0 for now, NEVER where it is too small. plans : (T,).
    turn_ms : (V,), up to when the order of a VM's slots holds; NEVER if it always does. since : (V,), twice when a VM changed
    last, and one more if it shrank then.
    bound : (B, A) float64, see `kernels_match`; (0, 0) for none. lower : (V,) float64, cell : (V,) uint32: work space.
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
