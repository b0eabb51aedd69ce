"""The method `clairvoyant-program`: all plans of a small instance at once, by one integer program.

The program (`model`) is kind to schedules: no interference, images that may be built already. Its
bound therefore holds for every schedule; its placements are played by the simulator's rules, which give their true cost.

A back end searches in floats. Its bound is believed to a billionth of its size where no row has numbers so far apart that
its tolerances swallow the small ones (`separable`): work of less than 2^21 s, sizes of less than 2^21 units. Otherwise the
instance is unsupported.

What the simulator makes of the program's placements, plan by plan: a schedule that keeps all rules.
"""

from __future__ import annotations

import time

import numpy as np

from schedgap.formulations.backends import UNBOUNDED_MIP_CHOICES, solve
from schedgap.formulations.linear_model import proven_cost
from schedgap.formulations.reconfiguration.clairvoyant_program.model import Layout, layout, program, slots
from schedgap.formulations.reconfiguration.contents import boundable
from schedgap.formulations.reconfiguration.presence import late_plans, num_plans
from schedgap.formulations.reconfiguration.work_prices import work_prices
from schedgap.formulations.separable import inseparable
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.provisioning.moves import STOCK
from schedgap.instances.reconfiguration.model import FAMILY, ReconfigurationInstance, ReconfigurationSchedule
from schedgap.instances.reconfiguration.simulator.events import advance, ends_at
from schedgap.instances.reconfiguration.simulator.plans import apply_plan, release, rent
from schedgap.instances.reconfiguration.simulator.simulator import Simulator
from schedgap.instances.reconfiguration.simulator.state import FINE, MIGRATING, NO_STOCK, RUNNING
from schedgap.instances.reconfiguration.verify import verify


def executed(instance: ReconfigurationInstance, at: Layout, x: FloatArray) -> ReconfigurationSchedule | None:
    """Play a solution of the program.

    A job that the program thinks has ended stays where it is until it has; a task whose job may not be moved yet stays
    too. A task for which its machine has no room then gets a new one of the cheapest type that fits it. None if machines run
    out by that, or jobs never end where the program, which ignores interference, leaves them.
    """
    return _Execution(instance, at, x).schedule()


class _Execution:
    def __init__(self, instance: ReconfigurationInstance, at: Layout, x: FloatArray) -> None:
        self.instance, self.at = instance, at
        self.simulator = Simulator(instance)
        self.new, self.ready = x[at.s] > 0.5, x[at.w] > 0.5
        self.place = np.where(x[at.x].max(axis=1) > 0.5, x[at.x].argmax(axis=1), -1)
        self.machine = np.full(at.kind.shape[0], -1)
        self.coming = np.full(at.kind.shape[0], -1)
        self.target = np.full(at.job.shape[0], -1)
        self.moves: list[tuple[int, int, int]] = []

    def schedule(self) -> ReconfigurationSchedule | None:
        """Play until every job has ended, or machines run out."""
        simulator, period, t = self.simulator, self.instance.period_s, 0
        while True:
            advance(simulator.state, t * period)
            active = simulator.state.active[: simulator.state.clock[0].num_active].tolist()
            jobs = [j for j in active if ends_at(simulator.state, j) > t * period]
            is_over = not jobs and simulator.next_arrival_s is None
            if t > self.new.shape[1] and jobs and self._is_stuck(jobs):
                return None
            if self._plan(t, jobs, is_over) == NO_STOCK:
                return None
            if is_over:
                break
            t += 1
        return simulator.schedule(*np.array(self.moves, np.int64).reshape(-1, 3).T)

    def _is_stuck(self, jobs: list[int]) -> bool:
        """Whether all these run without progress; behind the last plan of the program nothing moves them, and no job comes."""
        state = self.simulator.state.job[jobs]
        return bool(((state["phase"] == RUNNING) & (state["rate"] == 0)).all())

    def _plan(self, t: int, jobs: list[int], is_over: bool) -> int:
        now = t * self.instance.period_s
        self.simulator.make_room(2 * self.at.job.shape[0] + 2 * self.at.kind.shape[0])
        state = self.simulator.state
        self.left = self.instance.catalogue.capacity[self.simulator.leases["type"]].copy()
        place = np.full(self.target.shape, -1) if is_over else self._begin(t)
        target = np.full(self.target.shape, -1)
        first = state.given.first_task
        frozen = [j for j in jobs if state.job[j].phase == MIGRATING]
        for j in sorted(jobs, key=lambda j: j not in frozen):
            for i in range(first[j], first[j + 1]):
                slot = -1 if j in frozen else place[i]
                if slot >= 0 and self.machine[slot] < 0:
                    # Only now, since nobody may come.
                    self.machine[slot] = self._rented(now, int(self.at.kind[slot]))
                target[i] = self._put(i, now, (self.machine[slot] if slot >= 0 else -1, self.target[i]))
        kept = set(target.tolist()) | set(self.coming.tolist())
        for m in range(self.simulator.num_machines):
            if m not in kept:
                release(state, now, m)
        for i in np.flatnonzero((target >= 0) & (target != self.target)).tolist():
            self.moves.append((now, i, int(target[i])))
        self.target = np.where(target >= 0, target, self.target)
        state.target[:] = self.target
        status = apply_plan(state, now)
        assert status in (FINE, NO_STOCK)
        return status

    def _begin(self, t: int) -> IntArray:
        """Rent what has to be ready for the next plan; return the slot of each task, or -1."""
        now = t * self.instance.period_s
        plans = self.new.shape[1]
        if t >= plans:
            return np.full(self.target.shape, -1)
        for slot in np.flatnonzero(self.coming >= 0).tolist():
            self.machine[slot], self.coming[slot] = self.coming[slot], -1
        for slot in np.flatnonzero(self.new[:, t]).tolist():
            self.machine[slot] = -1
        if t + 1 < plans:
            for slot in np.flatnonzero(self.ready[:, t + 1]).tolist():
                self.coming[slot] = self._rented(now, int(self.at.kind[slot]))
        return self.place[:, t]

    def _put(self, task: int, now: int, wishes: tuple[int, ...]) -> int:
        """Return the first machine of the wishes that has room for the task, else a new one."""
        state, catalogue = self.simulator.state, self.instance.catalogue
        c = int(self.instance.job2class[self.at.job[task]])
        for m in wishes:
            if m >= 0 and state.machines.lease[m].released < 0:
                demand = catalogue.demand[catalogue.type2family[state.machines.lease[m].type], c]
                if (demand >= 0).all() and (demand <= self.left[m]).all():
                    self.left[m] -= demand
                    return int(m)
        kind = int(catalogue.reservation_type[c])
        m = self._rented(now, kind)
        self.left[m] -= catalogue.demand[catalogue.type2family[kind], c]
        return m

    def _rented(self, now: int, kind: int) -> int:
        self.left = np.concatenate((self.left, self.instance.catalogue.capacity[kind][None]))
        return rent(self.simulator.state, now, kind)


MAX_PLACEMENTS = 2_000
MAX_JOBS = 100


def too_large(instance: ReconfigurationInstance) -> str | None:
    """Return None, or why the program cannot take the instance."""
    unpaid = instance.acquire_s - instance.terminate_s
    if unpaid.max() > instance.period_s:
        k = int(np.argmax(unpaid))
        return (
            f"type {instance.catalogue.type_names[k]} takes {instance.acquire_s[k]} s to acquire, more than a period of "
            f"{instance.period_s} s; use bound-progress"
        )
    if instance.num_jobs > MAX_JOBS:
        return f"has {instance.num_jobs} jobs, the program takes {MAX_JOBS}; use bound-progress"
    placements = int(instance.num_tasks.sum()) * slots(instance)[0].shape[0] * num_plans(instance)
    if placements > MAX_PLACEMENTS:
        return f"has {placements} tasks x machines x plans, the program takes {MAX_PLACEMENTS}; use bound-progress"
    return late_plans(instance) or boundable(instance)


@method(
    "clairvoyant-program",
    family=FAMILY,
    version=2,
    supports=too_large,
    bounds=True,
    handles=(STOCK,),
    choices=UNBOUNDED_MIP_CHOICES,
)
def clairvoyant_program(
    instance: ReconfigurationInstance, *, time_limit_s: float | None = None, threads: int = 1, backend: str = "highs"
) -> Outcome:
    """Plan with the whole future known, by an integer program over all plans; its bound ignores interference."""
    begun = time.perf_counter()
    deadline = None if time_limit_s is None else begun + time_limit_s
    price = work_prices(instance, deadline).price
    at = layout(instance)
    model = program(instance, at, price)
    if (reason := inseparable(model)) is not None:
        return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
    built = time.perf_counter()
    result = solve(model, backend, time_limit_s=None if deadline is None else deadline - built, threads=threads)
    solved = time.perf_counter()
    solution, status, bound = None, Status.NO_SOLUTION, proven_cost(result.bound)
    details: dict[str, float] = {"columns": model.cost.shape[0], "rows": model.row_lower.shape[0], **result.details}
    if result.x is not None and result.objective is not None:
        solution = executed(instance, at, result.x)
        if solution is not None:
            status = Status.OPTIMAL if verify(instance, solution) == bound else Status.FEASIBLE
        details["program"] = result.objective
    return Outcome(
        solution,
        bound,
        status,
        build_s=built - begun,
        solve_s=result.solve_s,
        extract_s=time.perf_counter() - solved,
        backend=backend,
        details=details,
    )
