"""Column generation on the pattern model: a bound that is proven at any time, and solutions to go with it.

    minimise    sum_p price[type p] x[p]                       x[p]: machines that hold pattern p, whole
    subject to  sum_p pattern[p, c] x[p] = counts[c]           for each task class c

over all patterns: a machine type k and tasks per class that fit it. The relaxation is solved by pricing (the exact integer
knapsacks of `instances.provisioning.pricing`), after Gilmore and Gomory (1961); its bound is Farley's (1990), in exact integers,
and can be checked without a solver by `instances.provisioning.dual_bound`. Solutions come from dives, from an integer
program over the generated patterns and from a large neighbourhood search that solves parts of the instance in the
same way.

Parts for other formulations: `solve_lp_relaxation` in `formulations.provisioning.relaxation` (see there how to use it).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.provisioning.diving import dive
from schedgap.formulations.provisioning.neighbourhood import Neighbourhood
from schedgap.formulations.provisioning.relaxation import Relaxation
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Incumbent, Outcome, Status, method
from schedgap.instances.provisioning.classes import merge_equal_classes
from schedgap.instances.provisioning.model import FAMILY
from schedgap.instances.provisioning.objective import cost
from schedgap.instances.provisioning.solution import Provisioning

if TYPE_CHECKING:
    from schedgap.instances.provisioning.model import ProvisioningInstance

BACKENDS = ("highs",)
# Shares of the time limit: for the relaxation, and for the integer program over its patterns.
RELAXATION_SHARE = 0.25
MIP_SHARE = 0.1
UNLIMITED_S = 1e9


def without_interference(instance: ProvisioningInstance) -> str | None:
    """Return None, or why the pattern model cannot price the instance."""
    if instance.throughput is not None:
        return "interference: a machine's cost then depends on which tasks share it, which pricing does not model"
    return None


@method("column-generation", family=FAMILY, supports=without_interference, bounds=True)
def column_generation(
    instance: ProvisioningInstance,
    *,
    time_limit_s: float | None = None,
    threads: int = 1,
    backend: str = "highs",
    patience: int = 200,
) -> Outcome:
    """Column generation with exact pricing, dives and a large neighbourhood search.

    backend : what solves the linear programs; `highs`. patience : neighbourhoods without gain after which the search
    ends; it is what ends a run without a time limit.

    Raises
    ------
    MethodError
        for a back end other than `highs`.
    """
    if backend not in BACKENDS:
        raise MethodError(f"column-generation solves its linear programs with highs, not '{backend}'.")
    search = _Search(instance, time_limit_s, threads)
    search.run(patience)
    return search.outcome()


class _Search:
    """One run: the incumbent, the bound and the clock."""

    def __init__(self, instance: ProvisioningInstance, time_limit_s: float | None, threads: int) -> None:
        self.started = time.perf_counter()
        self.limit_s = UNLIMITED_S if time_limit_s is None else time_limit_s
        self.deadline = self.started + self.limit_s
        self.merged = merge_equal_classes(instance)
        self.instance = self.merged.instance
        assert self.instance.reservation_type is not None
        alone = np.eye(self.instance.num_classes, dtype=np.int64)
        self.solution = Provisioning.from_patterns(self.instance.reservation_type, self.instance.counts, alone)
        self.objective = cost(self.instance, self.solution)
        self.bound = 0
        self.trajectory: list[Incumbent] = []
        self.relaxation = Relaxation(self.instance, threads=threads)
        self.build_s = time.perf_counter() - self.started
        self.neighbourhoods = 0
        self.record()

    @property
    def is_over(self) -> bool:
        """Whether the incumbent is proven optimal or the time is up."""
        return self.bound >= self.objective or time.perf_counter() >= self.deadline

    def record(self) -> None:
        """Note what is known now."""
        elapsed = time.perf_counter() - self.started
        self.trajectory.append(Incumbent(elapsed, self.objective, self.bound))

    def improve(self, solution: Provisioning | None) -> None:
        """Take a solution if it is cheaper than the incumbent."""
        if solution is not None and (paid := cost(self.instance, solution)) < self.objective:
            self.solution, self.objective = solution, paid
            self.record()

    def run(self, patience: int) -> None:
        """Relaxation, dives, the integer program over the patterns, then neighbourhoods until time is up."""
        relaxation = self.relaxation
        relaxation.solve(min(self.deadline, self.started + RELAXATION_SHARE * self.limit_s))
        self.bound = relaxation.bound
        self.record()
        while not self.is_over:
            before = self.objective
            self.improve(dive(relaxation, self.deadline, self.objective))
            if self.objective == before:
                break
        if not self.is_over:
            master = relaxation.master
            left = min(self.deadline - time.perf_counter(), MIP_SHARE * self.limit_s)
            repeat = master.solve_integer(left, self.objective / 1e6 - 1e-7)
            if repeat is not None:
                cover = Provisioning.from_cover(self.instance, master.machine_type, repeat, master.patterns)
                self.improve(cover)
        self.search_neighbourhoods(patience)

    def search_neighbourhoods(self, patience: int) -> None:
        """Improve the incumbent part by part."""
        neighbourhood = Neighbourhood(self.instance, self.solution, self.relaxation.feasible_duals)
        idle = 0
        while not self.is_over and idle < patience:
            idle += 1
            if neighbourhood.step(self.deadline):
                self.improve(neighbourhood.solution())
                idle = 0
        self.neighbourhoods = neighbourhood.tries

    def outcome(self) -> Outcome:
        """Return the outcome for the instance as it was given."""
        solved = time.perf_counter()
        solution = self.merged.restore(self.solution)
        relaxation = self.relaxation
        return Outcome(
            solution,
            self.bound,
            Status.OPTIMAL if self.bound >= self.objective else Status.FEASIBLE,
            build_s=self.build_s,
            solve_s=solved - self.started - self.build_s,
            extract_s=time.perf_counter() - solved,
            trajectory=tuple(self.trajectory),
            backend="highs",
            details={
                "iterations": relaxation.iterations,
                "columns": relaxation.master.num_patterns,
                "is_relaxation_solved": relaxation.is_converged,
                "neighbourhoods": self.neighbourhoods,
            },
        )
