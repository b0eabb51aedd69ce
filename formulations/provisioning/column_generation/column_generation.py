"""Column generation on the pattern model: a bound that is proven at any time, and solutions to go with it.

    minimise    sum_p price[type p] x[p]                       x[p]: machines that hold pattern p, whole
    subject to  sum_p pattern[p, c] x[p] = counts[c]           for each task class c

over all patterns: a machine type k and tasks per class that fit it. The relaxation is solved by pricing (the exact integer
knapsacks of `instances.provisioning.pricing`), after Gilmore and Gomory (1961); its bound is Farley's (1990), in exact integers,
and can be checked without a solver by `instances.provisioning.dual_bound`. Solutions come from dives, from an integer
program over the generated patterns, from a pairwise local search (`repacking`) and from a large neighbourhood search
that solves parts of the instance in the same way. The bound rises further by branching on how many machines are rented,
and on how many tasks of a class are on machines of a family (`branching`); first over prices of resources alone, without
pricing, which ends in machines for an annealing search to fill (`filling`).

Where demands are coarse, patterns are paths of a flow graph over interchangeable classes, and pricing is a longest path: a
branch takes a millisecond, so that thousands of them prove what no single relaxation does.

No bound rests on a solver: its duals are rounded, cut and priced in integers at whatever sizes the instance has. Prices
beyond `limits` are refused, since 64 bits do not hold their sums in nano-dollars.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from schedgap.formulations.provisioning.arc_flow.flow_graph import FlowGraph, is_coarse, merge_interchangeable
from schedgap.formulations.provisioning.column_generation.branching import Branching
from schedgap.formulations.provisioning.column_generation.filling import Filling
from schedgap.formulations.provisioning.column_generation.relaxation import Relaxation
from schedgap.formulations.provisioning.column_generation.repacking import Repacking
from schedgap.formulations.provisioning.limits import too_expensive
from schedgap.formulations.provisioning.search import Search, restoring
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Found, Outcome, method, untold
from schedgap.instances.provisioning.classes import Merged, merge_equal_classes, part_of
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.moves import PER_MACHINE
from schedgap.instances.provisioning.pricing import NANO
from schedgap.instances.provisioning.solution import Provisioning
from schedgap.instances.provisioning.verify import cost

BACKENDS = ("highs",)
# The master's columns are built as dense rows.
MAX_CLASSES = 3_000
# With few classes, the relaxation converges and integer programs over its patterns are worth their time.
FEW_CLASSES = 150
# Shares of the time limit: for the first local search, for the relaxation, and for the program over its patterns; and for the
# relaxation where there are machines to fill already; and for filling them at first.
GRAPH_SHARE, REPACKING_SHARE, RELAXATION_SHARE, MIP_SHARE = 0.3, 0.05, 0.2, 0.1
RELAXATION_SHARE_BESIDE, FILLING_SHARE = 0.05, 0.2
# Of a turn of branching, for solutions at its nodes.
ROUNDING_SHARE = 0.2
# Longest turn of each part in the loop, of one node or whole-node heuristic in it, and of local search beside flow graphs.
TURN_S, NODE_S, GRAPH_REPACKING_S = 2.0, 1.0, 0.25
UNLIMITED_S = 1e9
# Rounds of a local search in one turn, or without gain in it.
IDLE_ROUNDS = 60
# Of sub-problems of the large neighbourhood search: seconds for the integer program and in all, and machines.
MIP_SHARE_S, SUB_LIMIT_S, MIN_MACHINES, MAX_MACHINES = 1.0, 3.0, 3, 30


def supported(instance: ProvisioningInstance) -> str | None:
    """Return None, or why the pattern model cannot price the instance, or not in reasonable memory."""
    if instance.throughput is not None:
        return "interference: a machine's cost then depends on which tasks share it, which pricing does not model"
    if (reason := too_expensive(instance)) is not None:
        return reason
    if instance.num_classes > MAX_CLASSES and merge_equal_classes(instance).instance.num_classes > MAX_CLASSES:
        return f"more than {MAX_CLASSES} distinct demands: the master's dense columns would not fit"
    return None


@method(
    "column-generation",
    family=FAMILY,
    version=6,
    supports=supported,
    bounds=True,
    choices={"backend": BACKENDS},
    handles=(PER_MACHINE,),
)
def column_generation(
    instance: ProvisioningInstance,
    *,
    time_limit_s: float | None = None,
    found: Found = untold,
    backend: str = "highs",
    patience: int = 10,
) -> Outcome:
    """Column generation with exact pricing, branching on machine counts, dives, two local searches and annealing.

    backend : what solves the linear programs; `highs`. patience : turns of all parts in a row without gain after which a
    run without a time limit ends.

    Raises `MethodError` for a back end other than `highs`.
    """
    if backend not in BACKENDS:
        raise MethodError(f"column-generation solves its linear programs with highs, not '{backend}'.")
    search = ColumnGeneration(instance, time_limit_s, found)
    search.run(patience)
    return search.outcome()


class ColumnGeneration(Search):
    """One run, in the instance whose equal classes are merged; from the beginning there is a solution."""

    best: Provisioning
    objective: int

    def __init__(self, instance: ProvisioningInstance, time_limit_s: float | None, found: Found = untold) -> None:
        limit_s = UNLIMITED_S if time_limit_s is None else time_limit_s
        super().__init__(time.perf_counter(), limit_s, restoring(found, self._restored))
        self.is_limited = time_limit_s is not None
        self.deadline = self.start + self.limit_s
        self.merged = merge_equal_classes(instance)
        self.small, self.graphs = self._prepared()
        self.instance = self.small.instance
        self.relaxation = Relaxation(self.instance, self.graphs)
        self.build_s = time.perf_counter() - self.start
        alone = np.eye(self.instance.num_classes, dtype=np.int64)
        self.improve(Provisioning.from_patterns(self.instance.reservation_type, self.instance.counts, alone))
        self.relaxation.start(self.deadline)
        self.raise_bound(self.relaxation.bound)
        self.is_small = self.instance.num_classes <= FEW_CLASSES
        self.details: dict[str, int] = {"nodes": 0, "neighbourhoods": 0, "fillings": 0}

    def _prepared(self) -> tuple[Merged, tuple[FlowGraph, ...]]:
        """Return the instance with interchangeable classes merged and its flow graphs, if they pay."""
        instance = self.merged.instance
        if instance.num_classes <= FEW_CLASSES and instance.per_machine is None and is_coarse(instance):
            found = merge_interchangeable(instance, deadline=self.deadline_in(GRAPH_SHARE * self.limit_s))
            if not isinstance(found, str):
                return found
        return merge_equal_classes(instance), ()

    def improve(self, solution: Provisioning | None) -> None:
        """Take a solution if it is cheaper than the best."""
        if solution is not None:
            self.keep(solution, cost(self.instance, solution))

    def take(self, solution: Provisioning) -> None:
        """Take a solution of the instance as it was given, if it is cheaper than the best."""
        types, pattern = solution.machines(self.merged.source.num_classes)
        for merged in (self.merged, self.small):
            joined = np.zeros((merged.instance.num_classes, types.shape[0]), np.int64)
            np.add.at(joined, merged.class2merged, pattern.T)
            pattern = joined.T
        self.improve(Provisioning.from_machines(types, pattern))

    def run(self, patience: int) -> None:
        """Local search, relaxation, dives and the program over the patterns once; then all parts in turns."""
        if not self.is_open:
            return
        # Where branches are quick, dives in them find better solutions, if there is time for them.
        repacking = self.repack(None, min(REPACKING_SHARE * self.limit_s, GRAPH_REPACKING_S if self.graphs else TURN_S))
        filling = None if self.relaxation.resources is None else Filling(self.relaxation.resources)
        share = RELAXATION_SHARE
        if filling is not None:
            self.fill(filling, FILLING_SHARE * self.limit_s if self.is_limited else TURN_S)
            share = RELAXATION_SHARE_BESIDE if filling.is_ready(self.objective) else share
        self.relaxation.solve(self.deadline_in(share * self.limit_s), self.objective, self.bound)
        self.raise_bound(self.relaxation.bound)
        duals = self.relaxation.proof.copy()
        if self.is_small:
            self.round(self.relaxation, self.deadline_in(MIP_SHARE * self.limit_s))
        branching = self._branching()
        # What is done in turns, with where its bounds come from.
        parts: list[tuple[Callable[[float], object], Branching[Relaxation] | Filling | None]] = [
            (partial(self.branch, branching), branching),
            (partial(self.search_neighbourhoods, Neighbourhood(self.instance, self.best, duals)), None),
        ]
        if filling is not None:
            parts.append((partial(self.fill, filling), filling))
        if not self.graphs:
            repacking.duals = duals
            parts.append((partial(self.repack, repacking), None))
        # Turns are shorter after some without gain, but of the part that all bounds come from; quickly so where such a part is
        # quick: then an incumbent that was not improved for long is likely to be optimal.
        stale = [0] * len(parts)
        idle = 0
        while self.is_open and (self.is_limited or idle < patience):
            before = self.objective, self.bound
            is_filling = filling is not None and filling.bound == self.bound
            for i, (part, prover) in enumerate(parts):
                now = self.objective, self.bound
                leader = filling if is_filling else branching
                is_leading = prover is leader is not None and leader.bound == self.bound
                length = 1.0 if is_leading else (2 / (2 + stale[i])) ** (2 if self.graphs or is_filling else 1)
                part(TURN_S * length)
                stale[i] = stale[i] + 1 if now == (self.objective, self.bound) else 0
            idle = idle + 1 if before == (self.objective, self.bound) else 0

    def deadline_in(self, seconds: float) -> float:
        """Return the time in `seconds`, or the deadline if that is earlier."""
        return min(self.deadline, time.perf_counter() + seconds)

    def round(self, relaxation: Relaxation, deadline: float) -> None:
        """Look for a solution near the relaxation: dives while they gain, then the program over the patterns."""
        before = self.objective + 1
        while self.is_open and self.objective < before:
            before = self.objective
            self.improve(relaxation.dive(deadline, self.objective))
        left_s = deadline - time.perf_counter()
        if self.is_open and left_s > 0:
            self.improve(relaxation.master.best_solution(left_s, self.objective))

    def _branching(self) -> Branching[Relaxation]:
        """Branch in the relaxation as it is; or, where columns are soon found, with as few of them as there can be."""
        if not self.graphs:
            return Branching(self.relaxation)
        relaxation = Relaxation(self.instance, self.graphs, has_shares=True)
        relaxation.start()
        relaxation.solve(self.deadline, self.objective)
        return Branching(relaxation)

    def branch(self, branching: Branching[Relaxation], seconds: float) -> None:
        """Raise the bound, and look for solutions where all families' amounts are whole."""
        start, rounding_s = time.perf_counter(), 0.0
        end = self.deadline_in(seconds)
        while self.is_open and not branching.is_stuck and (now := time.perf_counter()) < end:
            node = branching.step(self.deadline_in(NODE_S), self.objective)
            if node is not None and self.is_small and rounding_s <= ROUNDING_SHARE * (now - start):
                before = time.perf_counter()
                branching.enter(node)
                self.round(branching.relaxation, self.deadline_in(NODE_S))
                rounding_s += time.perf_counter() - before
            least = branching.bound
            self.raise_bound(self.objective if least is None else min(least, self.objective))
        self.details["nodes"] = branching.nodes

    def repack(self, repacking: Repacking | None, seconds: float) -> Repacking:
        """Run the pairwise local search from its own solution, or from the incumbent if that is cheaper."""
        if repacking is None:
            repacking = Repacking(self.instance, self.best, self.relaxation.proof)
        elif repacking.cost > self.objective:
            repacking.take(self.best)
        repacking.search(self.deadline_in(seconds), IDLE_ROUNDS)
        if repacking.cost < self.objective:
            self.improve(repacking.solution())
        return repacking

    def search_neighbourhoods(self, neighbourhood: Neighbourhood, seconds: float) -> None:
        """Improve the incumbent part by part, by column generation."""
        end = self.deadline_in(seconds)
        neighbourhood.take(self.best)
        tries = 0
        while self.is_open and tries < IDLE_ROUNDS and time.perf_counter() < end:
            tries += 1
            if neighbourhood.step(self.deadline):
                self.improve(neighbourhood.solution())
        self.details["neighbourhoods"] = neighbourhood.tries

    def fill(self, filling: Filling, seconds: float) -> None:
        """Raise the bound by branching over resource prices, and fill machines that it leaves."""
        end = self.deadline_in(seconds)
        filling.climb(end, self.objective)
        self.raise_bound(self.objective if filling.bound is None else min(filling.bound, self.objective))
        while self.is_open and filling.is_ready(self.objective) and time.perf_counter() < end:
            # A run that would not end in its turn is given as long as the first turn, and no longer.
            most_s = max(seconds, FILLING_SHARE * self.limit_s)
            self.improve(filling.step(self.bound, self.objective, self.deadline_in(most_s)))
        self.details["fillings"] = filling.runs

    def outcome(self) -> Outcome:
        """Return the outcome for the instance as it was given."""
        relaxation, source = self.relaxation, self.merged.source
        counted = {"iterations": relaxation.iterations, "columns": relaxation.master.num_columns, **self.details}
        return self.outcome_for(source, self._restored, self.build_s, counted)

    def _restored(self, solution: Provisioning) -> Provisioning:
        """Return a solution as one of the instance as it was given."""
        return self.merged.restore(self.small.restore(solution))


class Neighbourhood:
    """Large neighbourhood search: empty a few machines, solve for their tasks by column generation, keep what is cheaper.

    The sub-problem is an instance of its own: its relaxation prunes it at once where its bound shows that nothing can be gained.

    machine_type : (M,) int64. pattern : (M, C) int64. waste : (M,) float64, price less the duals' worth of the pattern.
    """

    def __init__(self, instance: ProvisioningInstance, solution: Provisioning, duals: IntArray) -> None:
        self.instance = instance
        self.duals = duals
        self.rng = np.random.default_rng(0)
        self.size = 6.0
        self.tries = 0
        self.take(solution)

    def take(self, solution: Provisioning) -> None:
        """Take another incumbent."""
        self.machine_type, self.pattern = solution.machines(self.instance.num_classes)

    @property
    def waste(self) -> FloatArray:
        """(M,) float64, micro-dollars: how much each machine costs more than its tasks are worth at the duals."""
        return self.instance.price[self.machine_type] - self.pattern @ self.duals / NANO

    def solution(self) -> Provisioning:
        """Return the incumbent, equal machines grouped."""
        return Provisioning.from_machines(self.machine_type, self.pattern)

    def step(self, deadline: float) -> bool:
        """Try one neighbourhood; returns whether the incumbent became cheaper."""
        self.tries += 1
        chosen = self._choose()
        started = time.perf_counter()
        better = _resolve(self.instance, self.machine_type[chosen], self.pattern[chosen], deadline)
        # Aim at sub-problems of a fraction of a second: larger ones find more, but there are fewer of them.
        self.size *= 1.05 if time.perf_counter() - started < 0.4 else 0.9
        self.size = min(max(self.size, MIN_MACHINES), MAX_MACHINES)
        if better is None:
            return False
        types, pattern = better
        kept = np.setdiff1d(np.arange(self.machine_type.shape[0]), chosen)
        self.machine_type = np.concatenate((self.machine_type[kept], types))
        self.pattern = np.vstack((self.pattern[kept], pattern))
        return True

    def _choose(self) -> IntArray:
        """Draw machines without repetition, wasteful ones more often."""
        waste = np.maximum(self.waste, 0.0)
        weight = waste / max(float(waste.sum()), 1.0) + 1.0 / waste.shape[0]
        number = min(waste.shape[0], int(self.rng.integers(MIN_MACHINES, int(self.size) + 2)))
        drawn: IntArray = self.rng.choice(waste.shape[0], number, replace=False, p=weight / weight.sum())
        return drawn


def _resolve(
    instance: ProvisioningInstance, machine_type: IntArray, pattern: IntArray, deadline: float
) -> tuple[IntArray, IntArray] | None:
    """Return cheaper machines for the same tasks, as types (M,) and pattern (M, C), or None if none were found."""
    counts = pattern.sum(axis=0)
    classes = np.flatnonzero(counts)
    sub = part_of(instance, classes, counts[classes])
    paid = int(instance.price[machine_type].sum())
    deadline = min(deadline, time.perf_counter() + SUB_LIMIT_S)
    relaxation = Relaxation(sub)
    relaxation.start()
    relaxation.master.add(machine_type, pattern[:, classes])
    relaxation.solve(deadline, cutoff=paid)
    if relaxation.bound >= paid:
        return None
    found = relaxation.dive(deadline, paid)
    best = paid if found is None else cost(sub, found)
    left = min(deadline - time.perf_counter(), MIP_SHARE_S)
    if best > relaxation.bound and left > 0:
        found = relaxation.master.best_solution(left, best) or found
    if found is None:
        return None
    types, part = found.machines(sub.num_classes)
    expanded = np.zeros((types.shape[0], instance.num_classes), np.int64)
    expanded[:, classes] = part
    return types, expanded
