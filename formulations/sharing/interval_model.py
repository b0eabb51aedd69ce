"""The whole problem for CP-SAT: where each task runs, and from when.

Variables   on[t, p] whether task t runs in pool p (a machine, or a class; see `pools`);  start[t];  end[j]
Minimise    sum of end[j] - arrival[j]
Rows        sum_p on[t, p] = 1;  end[j] >= start[t] + length[t, p] where on[t, p], for the tasks t of job j
            cumulative: the tasks of a pool within its capacity of each resource
            equal tasks of a job start in their order

Exact in whole multiples of the greatest common divisor of all times, which count from the first arrival; for some tens of
tasks. No job ends later than it
would if the others took as long as they need alone and all together as long as a known schedule: this bounds all times.

CP-SAT counts in 64 bits: areas of time and capacity are kept below 2^62, divided by what all demands have in common where
they are larger, and sums of ends below 2^52, where it reports them exactly. Beyond that nothing is searched, and the answer is
the schedule by arrival with the bound of `bound-work`, with the reason.
"""

from __future__ import annotations

import time

import numpy as np

from schedgap.formulations.backends.cp_sat import MAX_OBJECTIVE, PlacementProblem, solve_placement, twins
from schedgap.formulations.sharing.work_bound import Pools, alone_ms, bound_work, pools_of
from schedgap.instances.arrays import IntArray
from schedgap.instances.fairness.model import ONE
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.sharing.model import FAMILY, SharingInstance, SharingSchedule
from schedgap.instances.sharing.simulator.simulator import Simulator
from schedgap.instances.sharing.verify import verify

# Products of time and capacity are 64-bit integers in CP-SAT.
MAX_AREA = 2**62
# Choices of a pool for a task: beyond so many, building the model takes minutes.
MAX_CHOICES = 100_000


def has_many_choices(instance: SharingInstance) -> str | None:
    """Return None, or how many choices there are, if building the model would take minutes."""
    choices = instance.num_tasks * instance.num_machines
    if choices <= MAX_CHOICES:
        return None
    return f"has {choices} choices of a machine for a task, more than {MAX_CHOICES}; use bound-work"


@method("interval-model", family=FAMILY, supports=has_many_choices, exact=True)
def interval_model(instance: SharingInstance, *, time_limit_s: float | None = None, threads: int = 1) -> Outcome:
    """Find the clairvoyant optimum by CP-SAT over machines and starts of all tasks."""
    begun = time.perf_counter()
    if time_limit_s is not None and time_limit_s <= 0:
        return Outcome(status=Status.NO_SOLUTION)
    pools = pools_of(instance)
    known = _by_arrival(instance)
    bound = bound_work(instance).bound
    assert bound is not None
    problem, step = _problem(instance, pools, known, bound)
    built = time.perf_counter()
    if (too_large := _too_large(problem)) is not None:
        return Outcome(known, bound, Status.FEASIBLE, build_s=built - begun, details={"reason": too_large})
    left_s = None if time_limit_s is None else time_limit_s - (built - begun)
    result = solve_placement(problem, time_limit_s=left_s, threads=threads)
    solved = time.perf_counter()
    origin = int(instance.arrival_ms.min())
    arrivals = sum(instance.arrival_ms.tolist()) - origin * instance.num_jobs
    solution = None
    if result.pool is not None and result.start is not None:
        length = np.take_along_axis(problem.length, result.pool[:, None], axis=1)[:, 0]
        machine = pools.machines(result.pool, result.start, result.start + length)
        solution = SharingSchedule(machine, result.start * step + origin)
    return Outcome(
        solution,
        None if result.bound is None else max(bound, result.bound * step - arrivals),
        result.status,
        build_s=built - begun,
        solve_s=result.solve_s,
        extract_s=time.perf_counter() - solved,
        backend="cp-sat",
        details={"pools": int(pools.slots.shape[0])},
    )


def _too_large(problem: PlacementProblem) -> str | None:
    """Return None, or what of a problem leaves the whole numbers in which CP-SAT is exact."""
    ends = problem.latest_end.tolist()
    if sum(ends) > MAX_OBJECTIVE:
        return f"ends that sum up to {sum(ends):.3g} exceed {MAX_OBJECTIVE}, up to which CP-SAT's bounds are exact"
    area = _area(problem.sizes, problem.capacity, max(ends))
    if area > MAX_AREA:
        return f"{area:.3g} units of time and capacity exceed {MAX_AREA}, in which CP-SAT counts"
    return None


def _area(sizes: IntArray, capacity: IntArray, end: int) -> int:
    """Return the largest product that CP-SAT may meet: of time with a pool's capacity, or with all sizes together."""
    most = max(int(capacity.max()), *(sum(column) for column in sizes.T.tolist()))
    return int(most * end)


def _by_arrival(instance: SharingInstance) -> SharingSchedule:
    """Return a schedule to begin from: first come, first served, on the fastest machine that is free."""
    simulator = Simulator(instance, nodes="fastest")
    simulator.run()
    return simulator.schedule()


def _problem(
    instance: SharingInstance, pools: Pools, known: SharingSchedule, bound: int
) -> tuple[PlacementProblem, int]:
    """Return the problem in its largest unit of time that is exact, and this unit in milliseconds."""
    job, alone = instance.task2job(), alone_ms(instance)
    slack = verify(instance, known) - sum(alone.tolist())
    serves = instance.serves()[job[:, None], pools.pool2class]
    speed = np.where(serves, instance.performance[job[:, None], pools.pool2class], 1)
    length = np.where(serves, -(-instance.work_ms[:, None] * ONE // speed), 0)
    # From the first arrival on: late ones would make the search compare sums that differ in their last digits only.
    origin = int(instance.arrival_ms.min())
    release = instance.arrival_ms - origin
    step = int(np.gcd.reduce(np.concatenate((release, length.ravel()))))
    end = release + alone
    arrivals = sum(release.tolist())
    sizes, capacity = instance.demand[job], pools.capacity
    if _area(sizes, capacity, int((end + slack).max()) // step) > MAX_AREA:
        common = np.maximum(np.gcd.reduce(sizes, axis=0), 1)
        sizes, capacity = sizes // common, capacity // common
    return PlacementProblem(
        name=instance.name,
        job=job,
        twin=twins(np.lexsort((instance.work_ms, job)), job, instance.work_ms),
        release=release[job] // step,
        earliest_end=-(-end // step),
        latest_end=(end + slack) // step,
        length=length // step,
        sizes=sizes,
        capacity=capacity,
        bound=-(-(bound + arrivals) // step),
        pool=pools.machine2pool()[known.machine],
        start=(known.start_ms - origin) // step,
    ), step
