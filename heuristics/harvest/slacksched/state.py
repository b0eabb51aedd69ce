"""What the rules of SlackSched remember from one pass to the next: named tuples of arrays, by concern.

Letters: V VMs, J jobs, T tasks, Z slots of all VMs that there is room for, D demands of jobs (cores and memory), of which C are
looked after. All int64 unless it says otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from schedgap.instances.arrays import FloatArray, IntArray

# VMs are looked at one by one where any of so many is worth it, which compilers find out for many VMs at a time.
BLOCK = 64
# A value of `Plans.vm`: no VM is large enough now.
NOWHERE = -2


class EngineOptions(NamedTuple):
    """How far back the log is looked at, how often, and what is learned from it."""

    window_ms: int
    refresh_ms: int
    survival: int
    span: int


class EngineMarks:
    """Fields of `Engine.mark`: when to look at the log again, its first entry in the window, cells of the grid."""

    next_refresh: int
    first: int
    cells: int


class Fitted:
    """Fields of `Engine.fitted`: P(grown) and P(shrunk), the step of the grid, and the tail from `tail_ms` on."""

    p_if_grew: float
    p_if_shrank: float
    step: float
    tail_ms: float
    tail_survival: float
    tail_integral: float
    tail_alpha: float


class Engine(NamedTuple):
    """What is predicted from.

    Letters: V VMs, E events, G most cells of the grid, N intervals that there is room for: at least E + V.

    curve : (G + 1, 2) float64, S and I at the points of the grid.
    entry, exit, is_end : (N,) int64: ages of VMs when they came under observation and left it, and whether it was a change
    that ended it. order, joins, scratch : (N,) int64, to sort them. step_ms : (N,) int64, step_survival : (N,) float64: S as
    a step function; from step_ms[i] on it is step_survival[i]. next_shrink : (V,) int64.
    """

    options: EngineOptions
    mark: Sequence[EngineMarks]
    fitted: Sequence[Fitted]
    curve: FloatArray
    entry: IntArray
    exit: IntArray
    is_end: IntArray
    order: IntArray
    joins: IntArray
    scratch: IntArray
    step_ms: IntArray
    step_survival: FloatArray
    next_shrink: IntArray


class MatcherOptions(NamedTuple):
    """How often plans are made anew, and what is planned.

    free_every_ms : after how many ms of work tasks take checkpoints that cost them nothing; 0 for never. most_planned : so many
    waiting tasks have plans. threshold : of heartbeats.
    """

    reconsider_ms: int
    free_every_ms: int
    most_planned: int
    threshold: float


class Marks:
    """Fields of `Matcher.mark`.

    next_look : when to plan everything anew. planned : tasks that have a plan. touched : VMs on the list of those. last_best :
    the best VM of the task matched last. next_column : that the next demand gets.
    """

    next_look: int
    planned: int
    touched: int
    last_best: int
    next_column: int


class Slots(NamedTuple):
    """When VMs have room, and how much.

    first : (V + 1,). number : (V,), in use of each VM. ms, cores, memory : (Z,). turn_ms : (V,), up to when the order of a VM's
    slots holds; NEVER if it always does.
    """

    first: IntArray
    number: IntArray
    ms: IntArray
    cores: IntArray
    memory: IntArray
    turn_ms: IntArray


class Demands(NamedTuple):
    """of_job : (J,). cores, memory : (D,). column : (D,), or NOBODY; of_column : (C,), or NOBODY.

    ready : (C, V), from when on a VM has room for a task of that demand: 0 for now, NEVER where it is too small.
    """

    of_job: IntArray
    cores: IntArray
    memory: IntArray
    column: IntArray
    of_column: IntArray
    ready: IntArray


class Seen(NamedTuple):
    """(V,), VMs as at the last pass."""

    size: IntArray
    used: IntArray
    changed: IntArray
    lease: IntArray


class Touched(NamedTuple):
    """(V,). vm, is_touched : VMs that differ. offered : those that did."""

    vm: IntArray
    is_touched: IntArray
    offered: IntArray


class Plans(NamedTuple):
    """first, last : (V,), next : (T,), the tasks planned for a VM, in order.

    vm : (T,), NOBODY without a plan. end : (T,) float64, when the task is expected to be complete. ms : (T,), how long its run is
    estimated to take. row : (T,), of `Losses.bound`.
    """

    first: IntArray
    last: IntArray
    next: IntArray
    vm: IntArray
    end: FloatArray
    ms: IntArray
    row: IntArray


class Losses(NamedTuple):
    """bound : (B, A) float64, see `kernels_match`; (0, 0) for none. lower : (V,) float64, cell : (V,) uint32: work space."""

    bound: FloatArray
    lower: FloatArray
    cell: NDArray[np.uint32]


class Matcher(NamedTuple):
    """What the rules of SlackSched remember from one pass to the next."""

    engine: Engine
    options: MatcherOptions
    mark: Sequence[Marks]
    slots: Slots
    demands: Demands
    seen: Seen
    touched: Touched
    plans: Plans
    losses: Losses
