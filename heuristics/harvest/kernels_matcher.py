"""What the rules of SlackSched remember from one pass to the next, as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

# Numba compiles kernels whose arguments are of this type.
from schedgap.heuristics.harvest.kernels_engine import Engine  # noqa: TC001

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from schedgap.instances.arrays import FloatArray, IntArray

# Entries of `Matcher.option`: how often plans are made anew, after how many ms of work tasks take checkpoints that cost them
# nothing; 0 for never; and how many waiting tasks have plans.
RECONSIDER_MS, FREE_EVERY_MS, MOST_PLANNED = 0, 1, 2
MATCHER_OPTIONS = 3
# Entries of `Matcher.mark`: when to plan everything anew, tasks that have a plan, VMs on the list of those touched, the best VM
# of the task matched last, and the column that the next demand gets.
NEXT_LOOK, PLANNED, TOUCHED, LAST_BEST, NEXT_COLUMN = 0, 1, 2, 3, 4
MATCHER_MARKS = 5
# Entries of `Matcher.number`.
THRESHOLD = 0
MATCHER_NUMBERS = 1
# VMs are looked at one by one where any of so many is worth it, which compilers find out for many VMs at a time.
BLOCK = 64
# A value of `Matcher.plan_vm`: no VM is large enough now.
NOWHERE = -2


class Matcher(NamedTuple):
    """What the rules of SlackSched remember from one pass to the next.

    Letters: V VMs, J jobs, T tasks, Z slots of all VMs that there is room for, D demands of jobs (cores and memory), of which C
    are looked after. All int64 unless it says otherwise.

    option, mark : as above. number : float64, as above.
    first_slot : (V + 1,). slots : (V,), in use of each VM. slot_ms, slot_cores, slot_memory : (Z,).
    demand : (J,). demand_cores, demand_memory : (D,). demand_column : (D,), or NOBODY; column_demand : (C,), or NOBODY.
    ready : (C, V), from when on a VM has room for a task of that demand: 0 for now, NEVER where it is too small.
    seen_size, seen_used, seen_changed, seen_lease : (V,), as at the last pass. touched, is_touched : (V,), VMs that differ.
    offered : (V,), those that did. turn_ms : (V,), up to when the order of a VM's slots holds; NEVER if it always does.
    first_planned, last_planned : (V,), next_planned : (T,), the tasks planned for a VM, in order.
    plan_vm : (T,), NOBODY without a plan. plan_end : (T,) float64, when the task is expected to be complete. plan_ms : (T,), how
    long its run is estimated to take. plan_row : (T,), of `bound`.
    bound : (B, A) float64, as `kernels_losses` has it; (0, 0) for none. lower : (V,) float64, cell : (V,) uint32: work space.
    """

    engine: Engine
    option: IntArray
    mark: IntArray
    number: FloatArray
    first_slot: IntArray
    slots: IntArray
    slot_ms: IntArray
    slot_cores: IntArray
    slot_memory: IntArray
    demand: IntArray
    demand_cores: IntArray
    demand_memory: IntArray
    demand_column: IntArray
    column_demand: IntArray
    ready: IntArray
    seen_size: IntArray
    seen_used: IntArray
    seen_changed: IntArray
    seen_lease: IntArray
    touched: IntArray
    is_touched: IntArray
    offered: IntArray
    turn_ms: IntArray
    first_planned: IntArray
    last_planned: IntArray
    next_planned: IntArray
    plan_vm: IntArray
    plan_end: FloatArray
    plan_ms: IntArray
    plan_row: IntArray
    bound: FloatArray
    lower: FloatArray
    cell: NDArray[np.uint32]
