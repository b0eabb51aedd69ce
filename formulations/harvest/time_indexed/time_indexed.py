"""The clairvoyant optimum on a grid of time: linear programs, a search for schedules, and an integer program.

1. Schedules are searched for: tasks one after the other, in many orders. The best one gives the horizon of all programs.
2. Where last ends of jobs count, or of all tasks, a program over these ends alone raises the bound, as a rule to the optimum
   (`ends`).
3. Otherwise, and where that ran out of time, the linear program with the pool as one place gives a bound and leaves out starts
   that no better schedule has; that over single VMs does so with the starts that are left.
4. Integer programs over single VMs look for the optimum. If it has tasks that end after the horizon, it is a bound only,
   and all is done again with twice the horizon.

Linear programs are proven by their duals at every size. Integer programs prove something while no row's numbers are too far apart
for a solver's tolerances (`separable`); beyond, they only suggest schedules, which are verified. Slots number at most 5 x 10^7
(`unusable`), so objectives in slots are whole numbers in floats.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends import MIP_CHOICES
from schedgap.formulations.export import model_builder
from schedgap.formulations.harvest.time_indexed.bound import relax_pool, relax_vms, too_large, unusable
from schedgap.formulations.harvest.time_indexed.bracket import Bracket
from schedgap.formulations.harvest.time_indexed.ends import Ends
from schedgap.formulations.harvest.time_indexed.integer import Integer
from schedgap.formulations.harvest.time_indexed.program import vm_program
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.model import FAMILY, HarvestInstance
from schedgap.instances.method import Outcome, Status, method

if TYPE_CHECKING:
    from schedgap.formulations.linear_model import LinearModel

# Of the time that is left, for exchanges before a program is solved.
SHARE = 0.05


@model_builder("time-indexed", family=FAMILY)
def build(instance: HarvestInstance) -> LinearModel:
    """Build the integer program over single VMs with all starts, in slots.

    Raises
    ------
    MethodError
        if it would not be exact, or too large.
    """
    reason = unusable(instance)
    if reason is not None:
        raise MethodError(f"{instance.name} {reason}.")
    bracket = Bracket(instance, time.perf_counter())
    reason = too_large(bracket)
    if reason is not None:
        raise MethodError(f"{instance.name} {reason}.")
    return vm_program(bracket.grid, bracket.horizon).model


@method("time-indexed", version=3, family=FAMILY, supports=unusable, exact=True, choices=MIP_CHOICES)
def time_indexed(
    instance: HarvestInstance, *, time_limit_s: float | None = None, threads: int = 1, backend: str = "highs"
) -> Outcome:
    """Find the clairvoyant optimum by time-indexed programs: instances whose times are on a coarse grid."""
    begun = time.perf_counter()
    deadline = np.inf if time_limit_s is None else begun + time_limit_s
    if time_limit_s is not None and time_limit_s <= 0:
        return Outcome(status=Status.NO_SOLUTION)
    bracket = Bracket(instance, begun)
    if (reason := too_large(bracket)) is not None:
        return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    random = np.array([1], np.uint64)
    integer = Integer(bracket, deadline, threads, backend)
    while True:
        _search(bracket, deadline, random)
        if bracket.grid.part_release.size:
            Ends(integer).search()
        relax_pool(bracket, deadline, threads)
        _search(bracket, deadline, random)
        relax_vms(bracket, deadline, threads)
        _search(bracket, deadline, random)
        if not integer.over_vms() or bracket.horizon == bracket.grid.full_horizon:
            break
        bracket.set_horizon(2 * bracket.horizon)
    return Outcome(
        bracket.search.schedule(),
        bracket.bound,
        Status.OPTIMAL if bracket.is_closed else Status.FEASIBLE,
        solve_s=time.perf_counter() - begun,
        trajectory=tuple(bracket.trajectory),
        backend=backend,
        details={
            "slots": bracket.horizon,
            "groups": bracket.grid.num_groups,
            "columns": integer.columns,
            "nodes": integer.nodes,
            "orders": bracket.search.placed,
            **bracket.reason,
        },
    )


def _search(bracket: Bracket, deadline: float, random: np.ndarray) -> None:
    """Exchange tasks for a share of the time that is left."""
    now = time.perf_counter()
    if not bracket.is_closed:
        bracket.search.improve(random, now + SHARE * (deadline - now), bracket.bound)
    bracket.add_point()
