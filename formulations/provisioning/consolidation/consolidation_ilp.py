"""Repacking a running cluster as an integer program: exact, for stocks, running machines and a limit on disruption.

Sets        e running machines: n[e, c] tasks of each class c on them, of type k(e); p patterns of new machines: a[p, c]
Variables   y[e] in {0, 1}: e is kept;  z[e, c] <= n[e, c] tasks that stay;  w[e, c] tasks that come;  x[p] new machines; whole
Minimise    sum_e price[k(e)] y[e] + sum_p price[k(p)] x[p]
Rows        sum_e (z[e, c] + w[e, c]) + sum_p a[p, c] x[p] >= counts[c]          for each class c
            sum_c demand[c, r] (z[e, c] + w[e, c]) <= capacity[k(e), r] y[e]     for each e, r
            z[e, c] + w[e, c] <= counts[c] y[e]                                  for each e, c without any demand
            z[e, c] + w[e, c] <= most[c] y[e]                                    for each e, c of which so many share a machine
            sum_{e of k} y[e] + sum_{p of k} x[p] <= stock[k]                    for each type k that has a stock
            sum_e (sum_c weight[c] (n[e, c] - z[e, c]) + node[e] (1 - y[e])) <= max_disruption

Amounts that are too fine for a proof (`separable`) are stated in a coarser unit, demands and weights rounded down: a relaxation,
so the bound holds. Where its plan then breaks a limit, the program with demands and weights rounded up gives the plan.

The patterns are all maximal ones (`patterns`), none dropped for a cheaper one, which a stock may not have. Without a limit
on disruption there are no e: whatever runs may be given back.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from schedgap.formulations.backends import MIP_CHOICES, solve
from schedgap.formulations.linear_model import LinearModel, Rows, improving, proven_cost, whole_claims
from schedgap.formulations.provisioning.consolidation.consolidation import Kinds, kinds_of, plan_of
from schedgap.formulations.provisioning.limits import claimed, classes_apart, without_interference
from schedgap.formulations.provisioning.patterns.patterns import PatternSet, enumerate_patterns
from schedgap.formulations.separable import SEPARABLE
from schedgap.instances import exact
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import VerifyError
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.provisioning.classes import merge_equal_classes
from schedgap.instances.provisioning.model import FAMILY, ProvisioningInstance
from schedgap.instances.provisioning.moves import DISRUPTION, PER_MACHINE, STOCK
from schedgap.instances.provisioning.running import ANY_NUMBER
from schedgap.instances.provisioning.solution import Provisioning
from schedgap.instances.provisioning.verify import price_step, verify

MAX_PATTERNS = 30_000
MAX_ENTRIES = 4_000_000


class _Program:
    """The variables: for each running machine y, and z and w of the classes that may be there; then x."""

    def __init__(self, kinds: Kinds, chosen: PatternSet) -> None:
        self.kinds, self.patterns = kinds, chosen
        instance = kinds.instance
        sizes = [len(machines) for machines in kinds.members]
        self.group = np.repeat(np.arange(len(sizes)), sizes)
        self.before = kinds.before[self.group]
        self.types = kinds.machine_type[kinds.num_types + self.group]
        fits = instance.fits()[self.types]
        self.z_machine, self.z_class = np.nonzero((self.before > 0) & fits)
        self.w_machine, self.w_class = np.nonzero(fits)
        num_y = self.types.shape[0]
        self.z = num_y + np.arange(self.z_class.shape[0])
        self.w = num_y + self.z.size + np.arange(self.w_class.shape[0])
        self.x = num_y + self.z.size + self.w.size + np.arange(chosen.size)
        self.size = num_y + self.z.size + self.w.size + chosen.size
        self.is_rounded = False

    def model(self, name: str, *, up: bool = False) -> LinearModel:
        """Build the rows. up : demands and weights in a coarser unit are rounded up, and not down."""
        instance, kinds, patterns = self.kinds.instance, self.kinds, self.patterns
        rows = Rows(self.size)
        which, classes = np.nonzero(patterns.patterns)
        rows.add(
            "cover",
            (self.z_class, self.z, 1.0),
            (self.w_class, self.w, 1.0),
            (classes, self.x[which], patterns.patterns[which, classes]),
            lower=instance.counts,
        )
        machine = np.concatenate((self.z_machine, self.w_machine))
        placed, task_class = np.concatenate((self.z, self.w)), np.concatenate((self.z_class, self.w_class))
        demand = instance.demand[instance.type2family[self.types[machine]], task_class]
        for r, resource in enumerate(instance.resources):
            self._capacity_rows(rows, resource, r, machine, placed, demand[:, r], up=up)
        free = np.flatnonzero((demand == 0).all(axis=1))
        row, most = np.arange(free.size), instance.counts[task_class[free]]
        rows.add("kept", (row, placed[free], 1.0), (row, machine[free], -most), upper=np.zeros(free.size))
        apart = np.isin(task_class, classes_apart(instance))
        pairs, row = np.unique(np.column_stack((machine, task_class))[apart], axis=0, return_inverse=True)
        kept = np.arange(pairs.shape[0]), pairs[:, 0], -instance.most_together[pairs[:, 1]]
        rows.add("apart", (row.reshape(-1), placed[apart], 1.0), kept, upper=np.zeros(pairs.shape[0]))
        limited = np.flatnonzero(kinds.limit[: kinds.num_types] != ANY_NUMBER)
        place = np.full(instance.num_types, -1)
        place[limited] = np.arange(limited.size)
        owner = np.concatenate((place[self.types], place[patterns.machine_type]))
        used = np.concatenate((np.arange(self.types.shape[0]), self.x))
        rows.add("stock", (owner[owner >= 0], used[owner >= 0], 1.0), upper=kinds.limit[limited])
        self._add_stay(rows, up=up)
        step = price_step(instance)
        cost = np.zeros(self.size)
        cost[: self.types.shape[0]] = instance.price[self.types] // step
        cost[self.x] = instance.price[patterns.machine_type] // step
        return rows.model(name, cost, self._upper(), step)

    def _capacity_rows(
        self, rows: Rows, resource: str, r: int, machine: IntArray, placed: IntArray, demand: IntArray, *, up: bool
    ) -> None:
        # Capacity beyond whole multiples of the demands' divisor holds nothing, nor does any beyond all tasks together.
        unit = max(1, int(np.gcd.reduce(demand, initial=0)))
        capacity = self.kinds.instance.capacity[self.types, r]
        largest = max(
            int(demand.max(initial=0)), int(np.minimum(capacity, self._all_tasks(machine, demand)).max(initial=0))
        )
        if largest // unit > SEPARABLE:
            unit = -(-largest // SEPARABLE)
            demand = -(-demand // unit) * unit if up else demand
            self.is_rounded = True
        every, room = np.arange(capacity.size), np.minimum(capacity // unit, self._all_tasks(machine, demand // unit))
        rows.add(resource, (machine, placed, demand // unit), (every, every, -room), upper=np.zeros(every.size))

    def _add_stay(self, rows: Rows, *, up: bool) -> None:
        """Add what must not be disrupted, in steps of all weights."""
        kinds, node = self.kinds, self.kinds.node[self.kinds.num_types + self.group]
        if not kinds.members:
            rows.add("stay", (0, self.z, 1.0), lower=np.array([kinds.stay]))
            return
        running, most = kinds.instance.running, kinds.instance.max_disruption
        assert running is not None
        assert most is not None
        of_task = kinds.weight[running.task_class]
        step = max(1, int(np.gcd.reduce(np.concatenate((of_task, node)))))
        largest = max(int(of_task.max(initial=0)), int(node.max(initial=0)))
        if largest // step > SEPARABLE:
            step, self.is_rounded = -(-largest // SEPARABLE), True

        def steps(weight: IntArray) -> IntArray:
            return -(-weight // step) if up else weight // step

        whole = int(exact.dot(running.count, steps(of_task))) + sum(steps(node).tolist())
        cost = (0, np.arange(node.size)[node > 0], steps(node)[node > 0])
        stay = np.array([whole - most // step], np.int64)
        rows.add("stay", (0, self.z, steps(kinds.weight)[self.z_class]), cost, lower=stay)

    def _all_tasks(self, machine: IntArray, demand: IntArray) -> IntArray:
        """(E,) int64: what all tasks that may be on a machine take there, by the demands and machines of z and w."""
        total, first = np.zeros(self.types.shape[0], np.int64), self.z.size
        np.add.at(total, machine[first:], demand[first:] * self.kinds.instance.counts[self.w_class])
        return total

    def _upper(self) -> FloatArray:
        upper = np.ones(self.size)
        upper[self.z] = self.before[self.z_machine, self.z_class]
        upper[self.w] = self.kinds.instance.counts[self.w_class]
        needed = -(-self.kinds.instance.counts // np.maximum(self.patterns.patterns, 1)) * (self.patterns.patterns > 0)
        upper[self.x] = needed.max(axis=1, initial=0)
        return upper

    def machines(self, values: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return kinds (P,), repeats (P,) and patterns (P, C) of the machines that are kept or rented."""
        x = np.rint(values).astype(np.int64)
        pattern = np.zeros((self.types.shape[0], self.kinds.instance.num_classes), np.int64)
        pattern[self.z_machine, self.z_class] += x[self.z]
        pattern[self.w_machine, self.w_class] += x[self.w]
        kind = np.concatenate((self.kinds.num_types + self.group, self.patterns.machine_type))
        # Where it counts that a machine goes, one may be kept for that alone.
        node = self.kinds.node[self.kinds.num_types + self.group]
        is_kept = pattern.any(axis=1) | ((node > 0) & (x[: node.size] > 0))
        repeat = np.concatenate((is_kept.astype(np.int64), x[self.x]))
        return kind, repeat, np.vstack((pattern, self.patterns.patterns))


@method(
    "consolidation-ilp",
    family=FAMILY,
    supports=without_interference,
    exact=True,
    choices=MIP_CHOICES,
    handles=(STOCK, DISRUPTION, PER_MACHINE),
)
def consolidation_ilp(
    instance: ProvisioningInstance, *, time_limit_s: float | None = None, threads: int = 1, backend: str = "highs"
) -> Outcome:
    """Repack a running cluster exactly: which machines to keep, which tasks come and go, which patterns to rent."""
    start = time.perf_counter()
    merged = merge_equal_classes(instance)
    small = merged.instance
    every = enumerate_patterns(small, MAX_PATTERNS)
    if isinstance(every, str):
        return Outcome(status=Status.UNSUPPORTED, details={"reason": f"{every}; use consolidation"})
    program = _Program(kinds_of(small), every)
    entries = program.size * (1 + len(instance.resources))
    if entries > MAX_ENTRIES:
        reason = f"the program would have some {entries} entries, over {MAX_ENTRIES}; use consolidation"
        return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    model = program.model(f"consolidation-{instance.name}")
    build_s = time.perf_counter() - start
    left = None if time_limit_s is None else max(0.0, time_limit_s - build_s)
    result = solve(model, backend, time_limit_s=left, threads=threads)
    plan = _plan(program, result.x)
    if plan is None and result.x is not None and program.is_rounded:
        left = None if time_limit_s is None else max(0.0, time_limit_s - (time.perf_counter() - start))
        up = solve(
            program.model(f"consolidation-{instance.name}", up=True), backend, time_limit_s=left, threads=threads
        )
        plan = _plan(program, up.x)
    start = time.perf_counter()
    bound = None if result.bound is None else proven_cost(result.bound) * model.objective_scale
    solution = None if plan is None else merged.restore(plan)
    failed = {} if result.unproven is None else {"reason": result.unproven}
    points = whole_claims(result.trajectory, after_s=build_s, unit=model.objective_scale)
    if program.is_rounded:
        # What the relaxation found need not be a plan.
        points = [replace(point, objective=None) for point in points]
    status = claimed(instance, solution, bound) if result.status is not Status.INFEASIBLE else Status.INFEASIBLE
    return Outcome(
        solution,
        None if status is Status.INFEASIBLE else bound,
        status,
        build_s,
        result.solve_s,
        time.perf_counter() - start,
        improving(points),
        result.backend,
        {"columns": int(model.cost.shape[0]), "rows": int(model.row_lower.shape[0]), **failed, **result.details},
    )


def _plan(program: _Program, x: FloatArray | None) -> Provisioning | None:
    """Return the plan of a solver's answer; None where it breaks a capacity, by rounding or by the solver's tolerance."""
    plan = None if x is None else plan_of(program.kinds, *program.machines(x))
    try:
        if plan is not None:
            verify(program.kinds.instance, plan)
    except VerifyError:
        return None
    return plan
