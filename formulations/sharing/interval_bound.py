"""The bound of a linear program over intervals of time, which knows which machines serve whom and how fast.

Variables   y[j, k, i] share of job j's work that is done on class k in interval i, i beginning at g(i);  delay[j]
Minimise    sum of delay[j]
Rows        sum_ki y[j, k, i] = 1
            sum_j d(j, r) W(j) / p(j, k) y[j, k, i]  <=  n(k) l(k, r) (g(i + 1) - g(i))
            sum_k W(j) / p(j, k) y[j, k, i]  <=  tasks(j) x time of i after the arrival of j
            delay[j]  >=  sum_ki y[j, k, i] (max(g(i), a(j)) + half(j, k)) - a(j)
Bounds      y[j, k, i] W(j) / p(j, k)  <=  slots(j, k) x time of i after the arrival;  delay[j] >= what j needs alone

The fourth row holds since a job ends no earlier than the mean moment at which its work is done plus half(j, k): half of what
its task takes on class k if it has only one, else what its work takes at least from its mean moment to its end,

    (1 / W) integral over x of W - g(x),     g(x) the most work that the job does in its last x units of time,

with g(x) <= rate x x of as many of the fastest slots as it has tasks, and g(x) <= sum over tasks of min(work, p x). The last
interval has no end and no limits, so every schedule fits in. Where jobs crowd few machines this is stronger than `bound-work`.

Times are floats from the first arrival on. The bound of the duals takes off what rounding does to sums and factors; what a
difference of moments loses, a part of 2^-52 of the last of them for each job, is taken off here. So the claim is a proof at
any size, and worth nothing more than `bound-work` where that is as much as the delays: from spans of 10^12 s on.

The whole problem for CP-SAT: where each task runs, and from when.

Variables   on[t, p] whether task t runs in pool p (a machine, or a class; see `pools`);  start[t];  end[j]
Minimise    sum of end[j] - arrival[j]
Rows        sum_p on[t, p] = 1;  end[j] >= start[t] + length[t, p] where on[t, p], for the tasks t of job j
            cumulative: the tasks of a pool within its capacity of each resource
            equal tasks of a job start in their order

Exact in whole multiples of the greatest common divisor of all times, which count from the first arrival; for some tens of
tasks. No job ends later than it would if the others took as long as they need alone and all together as long as a known
schedule: this bounds all times.

CP-SAT counts in 64 bits: areas of time and capacity are kept below 2^62, divided by what all demands have in common where
they are larger, and sums of ends below 2^52, where it reports them exactly. Beyond that nothing is searched, and the answer is
the schedule by arrival with the bound of `bound-work`, with the reason.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from schedgap.formulations.backends.cp_sat import MAX_OBJECTIVE, PlacementProblem, solve_placement, twins
from schedgap.formulations.backends.dispatch import solve
from schedgap.formulations.linear_model import LinearModel, Rows, proven_cost
from schedgap.formulations.sharing.work_bound import Pools, alone_ms, bound_work, pools_of, slots_of
from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import BackendError, MethodError
from schedgap.instances.fairness.model import ONE
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.sharing.model import FAMILY, SharingInstance, SharingSchedule
from schedgap.instances.sharing.simulator.simulator import Simulator
from schedgap.instances.sharing.verify import ends_ms, verify
from schedgap.instances.units import SECOND_MS

# Columns with which HiGHS takes a few seconds, and the fewest intervals that say anything.
MAX_COLUMNS, LEAST_INTERVALS = 100_000, 8


@method("bound-intervals", version=2, family=FAMILY, bounds=True)
def bound_intervals(
    instance: SharingInstance, *, time_limit_s: float | None = None, threads: int = 1, intervals: int = 200
) -> Outcome:
    """Bound the delays by a linear program over intervals of time, machine classes and resources, proven by its duals.

    intervals : at most, of equal length; fewer where there are many jobs and classes. Never less than `bound-work`.
    """
    if intervals < 1:
        raise MethodError(f"intervals is {intervals}; give at least 1.")
    begun = time.perf_counter()
    per_interval = int(instance.serves().sum())
    number = min(intervals, MAX_COLUMNS // per_interval)
    if number < min(intervals, LEAST_INTERVALS):
        reason = f"has {per_interval} pairs of a job and a class that serves it, more than {MAX_COLUMNS} / {number + 1}"
        return Outcome(status=Status.UNSUPPORTED, details={"reason": f"{reason} columns allow; use bound-work"})
    cheap = bound_work(instance, time_limit_s=time_limit_s).bound
    assert cheap is not None
    if time_limit_s is not None and time.perf_counter() - begun >= time_limit_s:
        # Building the program plays a whole schedule.
        return Outcome(bound=cheap, status=Status.NO_SOLUTION, build_s=time.perf_counter() - begun)
    model = program(instance, number)
    built = time.perf_counter()
    left_s = None if time_limit_s is None else time_limit_s - (built - begun)
    # Presolve takes a hundred times as long as all else where classes are many, and heeds no limit.
    try:
        result = solve(model, "highs", time_limit_s=left_s, threads=threads, presolve=False)
    except BackendError as error:
        # Times of 2^45 ms and more: HiGHS ends without a status.
        details = {"reason": f"{error} The bound is that of bound-work."}
        return Outcome(bound=cheap, status=Status.NO_SOLUTION, details=details)
    found = 0 if result.bound is None else proven_cost(result.bound * SECOND_MS - rounded_ms(instance))
    return Outcome(
        bound=max(cheap, found),
        status=Status.NO_SOLUTION,
        build_s=built - begun,
        solve_s=result.solve_s,
        backend="highs",
        details={"intervals": number, "cheap_bound_s": cheap / SECOND_MS},
    )


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """The columns y of the program. Letters: N of them, I + 1 intervals, of which the last has no end.

    grid : (I + 1,) float64, seconds, where intervals begin. job, k, i : (N,) int64. opens, length : (N,) float64, seconds,
    of the part of the interval after the job's arrival. run_s : (N,) float64, time that all of the job's work takes there.
    """

    grid: FloatArray
    job: IntArray
    k: IntArray
    i: IntArray
    opens: FloatArray
    length: FloatArray
    run_s: FloatArray


def rounded_ms(instance: SharingInstance) -> float:
    """Return more than what the delays of all jobs together may be off for rounded moments.

    A delay is a mean of differences of moments (its weights add up to 1), each rounded a few times.
    """
    return instance.num_jobs * 4 * float(np.spacing(float(_last_ms(instance) - int(instance.arrival_ms[0]))))


def program(instance: SharingInstance, intervals: int) -> LinearModel:
    """Return the linear program, in seconds, with so many intervals until a schedule by arrival would end."""
    columns = _columns(instance, _grid(instance, intervals))
    job, k, length = columns.job, columns.k, columns.length
    number, num_jobs = job.shape[0], instance.num_jobs
    rows = Rows(number + num_jobs)
    each, one = np.arange(number), np.ones(num_jobs)
    rows.add("done", (job, each, 1.0), lower=one, upper=one)
    _add_capacity(rows, instance, columns)
    # Amounts are parts of what there is, so that coefficients stay near 1.
    limited = np.flatnonzero(np.isfinite(length))
    tasks = np.diff(instance.first_task)[job[limited]]
    kept, row = np.unique(job[limited] * columns.grid.shape[0] + columns.i[limited], return_inverse=True)
    part = columns.run_s[limited] / (tasks * length[limited])
    rows.add("tasks", (row, limited, part), upper=np.ones(kept.shape[0]))
    delay = columns.opens - _arrival_s(instance)[job] + _half_s(instance)[job, k]
    jobs = np.arange(num_jobs)
    rows.add("delay", (jobs, number + jobs, 1.0), (job, each, -delay), lower=np.zeros(num_jobs))
    most = np.minimum(slots_of(instance)[job, k] * length / columns.run_s, 1.0)
    return rows.model(
        instance.name,
        np.concatenate((np.zeros(number), one)),
        np.concatenate((most, np.full(num_jobs, np.inf))),
        SECOND_MS,
        lower=np.concatenate((np.zeros(number), alone_ms(instance) / SECOND_MS)),
        integral=False,
    )


def _columns(instance: SharingInstance, grid: FloatArray) -> Columns:
    """Return a column for each job, class that serves it, and interval that is not over when it arrives."""
    jobs, classes = np.nonzero(instance.serves())
    job, k = np.repeat(jobs, grid.shape[0]), np.repeat(classes, grid.shape[0])
    i = np.tile(np.arange(grid.shape[0]), jobs.shape[0])
    opens = np.maximum(grid[i], _arrival_s(instance)[job])
    length = np.append(grid[1:], np.inf)[i] - opens
    used = length > 0
    job, k, i = job[used], k[used], i[used]
    works_s = np.add.reduceat(instance.work_ms, instance.first_task[:-1]) / SECOND_MS
    return Columns(grid, job, k, i, opens[used], length[used], works_s[job] * ONE / instance.performance[job, k])


def _add_capacity(rows: Rows, instance: SharingInstance, columns: Columns) -> None:
    """Add a row for each resource of each class in each interval that has an end."""
    number = columns.grid.shape[0]
    cell = columns.k * number + columns.i
    length = np.append(np.diff(columns.grid), np.inf)
    for r, name in enumerate(instance.resources):
        demand = instance.demand[columns.job, r] * columns.run_s
        some = np.flatnonzero(np.isfinite(columns.length) & (demand > 0))
        room = (instance.machine_count * instance.capacity[:, r])[columns.k[some]] * length[columns.i[some]]
        kept, row = np.unique(cell[some], return_inverse=True)
        rows.add(f"capacity_{name}", (row, some, demand[some] / room), upper=np.ones(kept.shape[0]))


def _grid(instance: SharingInstance, intervals: int) -> FloatArray:
    """Return (I + 1,) float64, seconds from the first arrival: where intervals begin, the last of which has no end.

    Whole milliseconds, as arrivals are: no interval is cut to a length that is a rounding.
    """
    span = _last_ms(instance) - int(instance.arrival_ms[0])
    return np.unique(np.linspace(0, span, intervals + 1).astype(np.int64)) / SECOND_MS


def _last_ms(instance: SharingInstance) -> int:
    """Return when the last task of a schedule by arrival ends."""
    return int(ends_ms(instance, _by_arrival(instance)).max())


def _arrival_s(instance: SharingInstance) -> FloatArray:
    """Return (J,) float64, seconds from the first arrival, a difference of whole numbers."""
    seconds: FloatArray = (instance.arrival_ms - instance.arrival_ms[0]) / SECOND_MS
    return seconds


def _half_s(instance: SharingInstance) -> FloatArray:
    """Return (J, K) float64, seconds from the mean moment of a job's work to its end, at least."""
    sizes = np.diff(instance.first_task)
    speed = np.where(instance.serves(), instance.performance, 0) / ONE
    slots = np.minimum(slots_of(instance), sizes[:, None])
    works: FloatArray = np.add.reduceat(instance.work_ms, instance.first_task[:-1]) / SECOND_MS
    squares = np.add.reduceat((instance.work_ms / SECOND_MS) ** 2, instance.first_task[:-1])
    best = speed.max(axis=1)
    rate = _rates(speed, slots, sizes)
    half = np.maximum(works / (2 * rate), squares / (2 * best * works))
    single = sizes == 1
    on_class = works[:, None] / (2 * np.where(speed > 0, speed, best[:, None]))
    result: FloatArray = np.where(single[:, None], on_class, half[:, None])
    return result


def _rates(speed: FloatArray, slots: IntArray, sizes: IntArray) -> FloatArray:
    """Return (J,) float64, the rate of as many of the fastest slots as a job has tasks."""
    order = np.argsort(-speed, axis=1, kind="stable")
    fastest, room = np.take_along_axis(speed, order, axis=1), np.take_along_axis(slots, order, axis=1)
    before = np.cumsum(room, axis=1) - room
    rate: FloatArray = (np.clip(sizes[:, None] - before, 0, room) * fastest).sum(axis=1)
    return rate


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
