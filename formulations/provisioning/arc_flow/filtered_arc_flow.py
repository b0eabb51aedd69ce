"""Arc-flow solved window by window: is there a solution that costs at most W? W grows until the answer is yes.

The linear relaxation over paths is cheap (`FlowRelaxation`), its bound is near, and its reduced costs tell which arcs a
solution of cost at most W can use. So the model of each window is small, and each infeasible window raises the proven
bound to just above W. Within a window

1. the units of each machine family (its price in the smallest, a whole number) are limited to the range in which the
   relaxation still allows a cost of at most W; one unit of the dearest family often costs more than the whole window, so
   its range is a single number, and the bound with that number fixed is far better;
2. the dearest family's range is cut into single numbers and what lies beyond them, each with its own duals, arcs and model.

Before the first model, column generation looks for a solution: no window needs to be wider than just below its cost, and
if that is the optimum, proving the window infeasible is all that is left to do.

The relaxation proves in integers, for prices within `limits`; others are refused. What a window's model proves is the
solver's word, and counts for prices up to 2^38, and for those of a family up to 2^21, times their greatest common divisor
(`separable`): beyond, the relaxation's bound is all there is. Where there is no graph the bound is `bounds.cheap_bound`'s.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from schedgap.formulations.backends import UNBOUNDED_MIP_CHOICES, race, solve
from schedgap.formulations.linear_model import proven_cost
from schedgap.formulations.provisioning.arc_flow.arc_flow import FlowBound, FlowRelaxation, prepare
from schedgap.formulations.provisioning.arc_flow.flow_model import GroupLimits, build_flow_model
from schedgap.formulations.provisioning.bounds import cheap_bound, with_large_machines
from schedgap.formulations.provisioning.column_generation.column_generation import column_generation
from schedgap.formulations.provisioning.limits import too_expensive, without_interference
from schedgap.formulations.provisioning.search import Search, restoring
from schedgap.instances.method import Found, Outcome, Status, method, untold
from schedgap.instances.provisioning.classes import merge_equal_classes
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.verify import objective, price_step

if TYPE_CHECKING:
    from schedgap.formulations.provisioning.arc_flow.flow_graph import FlowGraph
    from schedgap.instances.arrays import FloatArray
    from schedgap.instances.provisioning.solution import Provisioning

# The first window in shares of the bound, and how windows grow.
FIRST_WINDOW = 2e-5
GROWTH = 2
MAX_SPLIT = 8
# For the first solution: seconds a thousand arcs, and the largest share of the time limit. Models of fewer arcs are
# solved before a search has begun.
FIRST_S, FIRST_SHARE, FEW_ARCS = 0.7, 0.1, 1_000


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """Limits on the groups of machine types, (G,) float64 each, and what the relaxation proves within."""

    low: FloatArray
    high: FloatArray
    found: FlowBound


class WindowSearch(Search):
    """The search over windows, until `deadline`, which may be infinite."""

    def __init__(
        self,
        instance: ProvisioningInstance,
        graphs: tuple[FlowGraph, ...],
        backend: str,
        threads: int,
        start: float,
        deadline: float,
        found: Found = untold,
    ) -> None:
        super().__init__(start, deadline - start, found)
        self.instance, self.graphs, self.backend = instance, graphs, backend
        self.is_race = threads > 1 and backend != "highs"
        self.deadline = deadline
        self.windows = self.models = self.kept_arcs = 0
        self.unproven: str | None = None

    @property
    def num_arcs(self) -> int:
        """Arcs of all graphs together."""
        return sum(graph.num_arcs for graph in self.graphs)

    def run(self) -> None:
        """Search until the bound meets the best solution or time is up."""
        step = price_step(self.instance)
        relaxation = FlowRelaxation(self.instance, self.graphs)
        num_groups = relaxation.weights.shape[0]
        root = relaxation.solve(np.full(num_groups, -np.inf), np.full(num_groups, np.inf), self.deadline)
        self.raise_bound(root.bound)
        if root.units is None:
            return
        width = max(step, round(FIRST_WINDOW * self.bound))
        while not self.is_proven:
            most = self.bound + width
            if self.objective is not None:
                most = min(most, self.objective - step)
            self.windows += 1
            width *= GROWTH
            boxes = self._boxes(relaxation, most)
            if boxes is None:
                return
            is_open = any(box.found.bound <= most for box in boxes)
            if is_open and self.objective is None and self.num_arcs > FEW_ARCS:
                self._find_first()
                continue
            if not self._solve_window(relaxation, boxes, most - most % step):
                return

    def _find_first(self) -> None:
        """Look for a solution by column generation."""
        seconds = FIRST_S * self.num_arcs / 1000
        if math.isfinite(self.deadline):
            seconds = min(seconds, FIRST_SHARE * (self.deadline - self.start), self.deadline - time.perf_counter())
        found = column_generation(self.instance, time_limit_s=max(0.0, seconds), found=self._found)
        assert found.solution is not None
        self.keep(found.solution, objective(self.instance, found.solution))
        assert found.bound is not None
        self.raise_bound(int(found.bound))

    def _solve_window(self, relaxation: FlowRelaxation, boxes: list[Box], most: int) -> bool:
        """Look for the best solution of cost at most `most`; returns whether the search was complete."""
        step = price_step(self.instance)
        reached = most + step
        for i, box in enumerate(boxes):
            if box.found.bound > most:
                continue
            # One step above `most` the arcs of the best solution so far stay, from which the solver then starts.
            kept = relaxation.useful(box.found, most + step)
            limits = GroupLimits(relaxation.weights, box.low, box.high)
            flow = build_flow_model(self.instance, self.graphs, kept, limits, large_first=True)
            self.models += 1
            self.kept_arcs = sum(int(keep.sum()) for keep in kept)
            left = max(0.0, self.deadline - time.perf_counter()) if math.isfinite(self.deadline) else None
            warm = None if self.best is None else flow.values(with_large_machines(self.instance, self.best))
            run = race if self.is_race else solve
            result = run(flow.model, self.backend, time_limit_s=left, warm_start=warm)
            solution = None if result.x is None else flow.solution(result.x)
            if solution is not None:
                self.keep(solution, objective(self.instance, solution))
                assert self.objective is not None
                most = min(most, self.objective - step)
                reached = min(reached, self.objective)
            self.unproven = result.unproven
            here = reached if result.status is Status.INFEASIBLE else box.found.bound
            here = max(here, proven_cost(result.bound) * step)
            if here < reached:
                self.raise_bound(min([here, *(other.found.bound for other in boxes[i + 1 :])]))
                return False
        self.raise_bound(reached)
        return True

    def _boxes(self, relaxation: FlowRelaxation, most: int) -> list[Box] | None:
        """Limit the families' units, and split the dearest family's range; None when time is up."""
        families = [f for f in range(relaxation.weights.shape[0]) if (relaxation.weights[f] > 0).sum() > 0]
        unit = np.array([self.instance.price[relaxation.weights[f] > 0].min() for f in families])
        num_groups = relaxation.weights.shape[0]
        low, high = np.full(num_groups, -np.inf), np.full(num_groups, np.inf)
        found = relaxation.solve(low, high, self.deadline)
        dearest = int(np.argmax(unit[: len(set(self.instance.type2family.tolist()))]))
        if found.units is None or not found.is_converged:
            return None
        whole = math.floor(float(found.units[dearest]) + 1e-6)
        boxes = []
        for first, direction in ((whole, -1), (whole + 1, 1)):
            beyond = first
            while beyond >= 0 and abs(beyond - first) < MAX_SPLIT:
                low[dearest] = high[dearest] = beyond
                beyond += direction
                found = relaxation.solve(low, high, self.deadline)
                if not found.is_converged:
                    return None
                boxes.append(Box(low.copy(), high.copy(), found))
                if found.bound > most:
                    break
            if beyond >= 0:
                # The relaxation is convex in the number of units, so this mostly costs more than `most`; duals prove it.
                low[dearest], high[dearest] = (beyond, np.inf) if direction > 0 else (-np.inf, beyond)
                found = relaxation.solve(low, high, self.deadline, most)
                if not found.is_converged and found.bound <= most:
                    return None
                boxes.append(Box(low.copy(), high.copy(), found))
        return sorted(boxes, key=lambda box: box.found.bound)


@method(
    "filtered-arc-flow",
    family=FAMILY,
    version=3,
    supports=lambda instance: without_interference(instance) or too_expensive(instance),
    exact=True,
    choices=UNBOUNDED_MIP_CHOICES,
)
def filtered_arc_flow(
    instance: ProvisioningInstance,
    *,
    time_limit_s: float | None = None,
    threads: int = 1,
    found: Found = untold,
    backend: str = "scip",
) -> Outcome:
    """Solve arc-flow models of growing cost windows, over the arcs that the window's reduced costs leave.

    On two threads HiGHS solves each model beside the back end, until one of them is done.
    """
    start = time.perf_counter()
    deadline = start + (math.inf if time_limit_s is None else time_limit_s)
    merged = merge_equal_classes(instance)
    prepared = prepare(merged.instance, True, deadline)
    build_s = time.perf_counter() - start
    if isinstance(prepared, str):
        bound = cheap_bound(merged.instance, deadline)
        return Outcome(bound=bound, status=Status.NO_SOLUTION, build_s=build_s, details={"reason": prepared})
    small, graphs = prepared

    def restored(solution: Provisioning) -> Provisioning:
        return merged.restore(small.restore(solution))

    search = WindowSearch(small.instance, graphs, backend, threads, start, deadline, restoring(found, restored))
    search.run()
    if search.bound == 0:
        search.raise_bound(cheap_bound(merged.instance, deadline))
    details: dict[str, int | str] = {} if search.unproven is None else {"reason": search.unproven}
    details |= {
        "classes": small.instance.num_classes,
        "vertices": sum(graph.num_nodes for graph in graphs),
        "arcs": search.num_arcs,
        "kept_arcs": search.kept_arcs,
        "windows": search.windows,
        "models": search.models,
    }
    return search.outcome_for(instance, restored, build_s, details, backend)
