"""Fair sharing over time (Eunomia, sections III-B and IV): jobs that arrive, and machines that their tasks share.

Letters used for shapes: J jobs, T tasks of all jobs together, K machine classes, M machines, R resources.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from schedgap.instances.arrays import BoolArray, Brief, IntArray, content_hash, first_true, lock, locked_bools, ranges
from schedgap.instances.errors import InstanceError, SolutionError
from schedgap.instances.fairness.model import MAX_AMOUNT, NOTIONS, ONE, check_cmmf, check_total
from schedgap.instances.model import JobsModel, check_firsts, check_names, check_order, check_shapes

FAMILY = "sharing"
SCHEMA = "schedgap/sharing/1"
MAX_TOTAL_MS = 2**52
# Each machine has its entry in what methods keep.
MAX_MACHINES = 10_000_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SharingInstance(JobsModel):
    """Jobs of tasks to run on shared machines; each job is a user. A task that has started is not interrupted.

    Times are integer milliseconds since the instance's start; resources named `*_gib` or `*_mib` are in MiB, every other
    in thousandths; performance and weights are in thousandths.

    notion : one of `schedgap.instances.fairness.model.NOTIONS`, in which shares are measured.
    machine_count : (K,) int64, positive. capacity : (K, R) int64, of one machine. Machines are numbered class by class.
    arrival_ms : (J,) int64, not negative, in order. demand : (J, R) int64, of one task. weight : (J,) int64, positive.
    performance : (J, K) int64 thousandths. allowed : (J, K) bool.
    first_task : (J + 1,) int64; job j has the tasks first_task[j] to first_task[j + 1] - 1, at least one, and starts them
        in this order.
    work_ms : (T,) int64, positive: how long a task runs at performance 1; see `duration_ms`.
    warm_up_jobs : so many of the first jobs are left out of the figures of delays.

    Raises `InstanceError` on anything inconsistent, such as a job that no machine can serve.
    """

    name: str
    notion: str
    resources: tuple[str, ...]
    machine_names: tuple[str, ...]
    machine_count: IntArray
    capacity: IntArray
    arrival_ms: IntArray
    demand: IntArray
    weight: IntArray
    performance: IntArray
    allowed: BoolArray
    first_task: IntArray
    work_ms: IntArray
    warm_up_jobs: int = 0
    job_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    digest: str = ""

    def __post_init__(self) -> None:
        self._lock(_INT_FIELDS, ("warm_up_jobs",))
        lock(self, ("allowed",), locked_bools)
        self._check_shapes()
        self._check_values()
        self._check_jobs()
        object.__setattr__(self, "digest", self._content_hash())

    @property
    def num_tasks(self) -> int:
        """Number of tasks of all jobs."""
        return int(self.work_ms.shape[0])

    @property
    def num_machines(self) -> int:
        """Number of machines."""
        return int(self.machine_count.sum())

    def machine2class(self) -> IntArray:
        """(M,) int64: the class of each machine."""
        return np.repeat(np.arange(self.machine_count.shape[0]), self.machine_count)

    def serves(self, jobs: IntArray | None = None) -> BoolArray:
        """(J, K) bool: where a task of the job may run, fits, and makes progress; (N, K) for N of the jobs."""
        rows = slice(None) if jobs is None else jobs
        serves: BoolArray = self.allowed[rows] & (self.performance[rows] > 0)
        for r in range(len(self.resources)):
            serves &= self.demand[rows, r : r + 1] <= self.capacity[:, r]
        return serves

    def duration_ms(self, task: IntArray, machine_class: IntArray) -> IntArray:
        """Return how long tasks run on machines of a class: work / performance, rounded up. Shapes broadcast."""
        performance = self.performance[self.task2job()[task], machine_class]
        return -(-self.work_ms[task] * ONE // performance)

    def _check_shapes(self) -> None:
        num_jobs, num_classes, num_resources = self.arrival_ms.size, len(self.machine_names), len(self.resources)
        wanted = {
            "machine_count": (num_classes,),
            "capacity": (num_classes, num_resources),
            "arrival_ms": (num_jobs,),
            "first_task": (num_jobs + 1,),
            "work_ms": (self.work_ms.size,),
            "demand": (num_jobs, num_resources),
            "weight": (num_jobs,),
            "performance": (num_jobs, num_classes),
            "allowed": (num_jobs, num_classes),
        }
        check_shapes(self, wanted)
        if self.job_names is not None:
            check_names(self.name, "job", self.job_names, num_jobs)
        for what, names in (("resource", self.resources), ("machine class", self.machine_names)):
            if not names or len(set(names)) != len(names):
                raise InstanceError(f"{self.name}: {what} names are {', '.join(names) or 'none'}; give different ones.")
        if self.notion not in NOTIONS:
            raise InstanceError(f"{self.name}: notion is '{self.notion}'; choose one of {', '.join(NOTIONS)}.")

    def _check_values(self) -> None:
        if not self.num_jobs:
            raise InstanceError(f"{self.name}: there are no jobs; give at least one.")
        self._check_amounts("machine class", self.machine_names.__getitem__, ("machine_count", 1), ("capacity", 0))
        if self.num_machines > MAX_MACHINES:
            raise InstanceError(f"{self.name}: there are {self.num_machines} machines; give up to {MAX_MACHINES}.")
        check_total(self)
        of_jobs = (("arrival_ms", 0), ("demand", 0), ("performance", 0), ("weight", 1))
        self._check_amounts("job", self.job_name, *of_jobs)
        if not 0 <= self.warm_up_jobs < self.num_jobs:
            raise InstanceError(
                f"{self.name}: {self.warm_up_jobs} jobs of warm-up for {self.num_jobs} jobs; leave at least one."
            )

    def _check_amounts(self, what: str, name_of: Callable[[int], str], *least_of: tuple[str, int]) -> None:
        for key, least in least_of:
            values = getattr(self, key)
            bad = (values < least) | (values > MAX_AMOUNT)
            if bad.any():
                where = np.argwhere(bad)[0]
                raise InstanceError(
                    f"{self.name}: {key} of {what} {name_of(int(where[0]))} is {values[tuple(where)]}; give {least} to "
                    f"{MAX_AMOUNT} (in integer units)."
                )

    def _check_jobs(self) -> None:
        check_order(self.name, self.arrival_ms, "ms", self.job_name)
        check_firsts(self.name, "task", self.first_task, self.num_tasks, lambda job: f"job {self.job_name(job)}")
        if (task := first_true(self.work_ms < 1)) is not None:
            raise InstanceError(f"{self.name}: task {task} has {self.work_ms[task]} ms of work; give at least 1.")
        if self.notion == "cmmf":
            check_cmmf(self, "job", self.job_name)
        if (job := first_true((self.demand <= 0).all(axis=1))) is not None:
            name = self.job_name(job)
            raise InstanceError(f"{self.name}: tasks of job {name} demand nothing; give them a positive demand.")
        if (job := first_true((~self.serves()).all(axis=1))) is not None:
            name = self.job_name(job)
            raise InstanceError(
                f"{self.name}: no machine class that job {name} is allowed on fits one of its tasks and gives it a "
                "positive performance; allow a larger one or drop the job."
            )
        performance = np.where(self.serves(), self.performance, MAX_AMOUNT).min(axis=1)
        # Never less than the work itself, which fast machines would allow to be too large for whole numbers of 64 bits.
        longest = self.work_ms.astype(np.float64) * np.maximum(ONE / performance, 1.0)[self.task2job()]
        if float(self.arrival_ms[-1]) + float(longest.sum()) > MAX_TOTAL_MS:
            raise InstanceError(f"{self.name}: its times add up to more than {MAX_TOTAL_MS} milliseconds.")

    def _content_hash(self) -> str:
        arrays = (getattr(self, key) for key in _INT_FIELDS)
        names = (self.resources, self.machine_names, self.job_names, self.warm_up_jobs)
        return content_hash([SCHEMA, self.notion, *names, *arrays, self.allowed.astype(np.int64)])


_INT_FIELDS = ("machine_count", "capacity", "arrival_ms", "demand", "weight", "performance", "first_task", "work_ms")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SharingSchedule(Brief):
    """One machine and one start for each task; a task runs until it is done.

    machine : (T,) int64 in [0, M). start_ms : (T,) int64.
    """

    machine: IntArray
    start_ms: IntArray

    def __post_init__(self) -> None:
        lock(self, ("machine", "start_ms"), error=SolutionError)


MAX_JOBS = 6
MAX_TASKS_PER_JOB = 3


def shrink(instance: SharingInstance) -> SharingInstance:
    """Return an instance with the first six jobs, of at most three tasks: to warm up compiled methods, not to measure."""
    kept = slice(0, MAX_JOBS)
    sizes = np.minimum(np.diff(instance.first_task)[kept], MAX_TASKS_PER_JOB)
    tasks = ranges(instance.first_task[:-1][kept], sizes)
    return instance.replace(
        name=f"{instance.name}-shrunk",
        **{key: getattr(instance, key)[kept] for key in ("arrival_ms", "demand", "weight", "performance", "allowed")},
        first_task=np.concatenate(([0], np.cumsum(sizes))),
        work_ms=instance.work_ms[tasks],
        warm_up_jobs=0,
        job_names=None if instance.job_names is None else instance.job_names[kept],
        notes=(),
    )
