"""Tasks on harvest VMs (SlackSched, sections 2 to 4): machines whose cores come and go, and jobs of tasks to run on them.

Letters used for shapes: V VMs, E events of all VMs together, J jobs, T tasks of all jobs together.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from schedgap.instances.arrays import BoolArray, Brief, IntArray, content_hash, first_true, lock, locked_bools, ranges
from schedgap.instances.errors import InstanceError, SolutionError
from schedgap.instances.model import JobsModel, check_firsts, check_names, check_order, check_shapes
from schedgap.instances.units import HOUR_MS, SECOND_MS

FAMILY = "harvest"
SCHEMA = "schedgap/harvest/1"
MAX_TOTAL_MS = 2**52
# Pools that are chosen are looked at every hour: a million times at most.
MAX_POOL_MS = 10**6 * HOUR_MS
MAX_CORES = 2**31
# A job whose tasks have no checkpoints starts them again from nothing.
NO_CHECKPOINTS = -1

OBJECTIVES = ("jobs", "tasks", "makespan")
KILL_ORDERS = ("oldest", "newest")
ALLOCATIONS = ("fixed", "random", "balancing", "packing")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HarvestInstance(JobsModel):
    """Jobs of tasks to run on VMs that grow, shrink and are evicted. A task needs its cores all the time that it runs.

    Times are integer milliseconds since the start of the VMs' history, cores whole SMT cores, memory MiB.

    objective : what is minimised: the `jobs`' completion times added up, each from its arrival to the end of its last
        task; the `tasks`', each from its job's arrival to its end; or the `makespan`, from the first arrival to the last end.
    kills : which of its tasks a VM kills first that has shrunk below what they use: the `oldest` run (the paper's rule,
        section 4.1) or the `newest`.
    allocation : `fixed` if all VMs are there whenever they have cores; else how the provider chooses where a requested VM
        comes to be (section 4.3): on a `random` one of those with cores, on that with the most (`balancing`), or the
        fewest (`packing`).
    max_leases : so many VMs may be leased at one moment; 0 if the pool is fixed.
    base_price, extra_price : micro-dollars for an hour of one core, of the VM's minimum size and beyond it.

    first_event : (V + 1,) int64; VM v has the events first_event[v] to first_event[v + 1] - 1, at least one.
    event_ms, event_cores : (E,) int64: from event_ms on the VM has event_cores, until its next event, or for ever. In
        order of time within a VM, each a change; 0 cores before the first. Fewer cores than `min_cores` are none: eviction.
    min_cores, memory_mib : (V,) int64, positive.
    leased : (V,) bool, leased from moment 0 on; all of a fixed pool.
    buffer : (V,) bool, on a buffer server, where `balancing` and `random` never place VMs.
    arrival_ms : (J,) int64, not negative, in order. cores : (J,) int64, positive. task_memory_mib : (J,) int64, of a task.
    checkpoint_ms : (J,) int64: how long a task stands still for a checkpoint; NO_CHECKPOINTS if it cannot take any.
    restore_ms : (J,) int64: how long a task takes to continue from its last checkpoint.
    first_task : (J + 1,) int64; job j has the tasks first_task[j] to first_task[j + 1] - 1, at least one.
    runtime_ms, estimate_ms : (T,) int64, positive: how long a task runs, and how long a policy is told that it does.

    Raises `InstanceError` on anything inconsistent, such as a task that fits on no VM in the end.
    """

    name: str
    objective: str
    kills: str
    allocation: str
    max_leases: int
    base_price: int
    extra_price: int
    first_event: IntArray
    event_ms: IntArray
    event_cores: IntArray
    min_cores: IntArray
    memory_mib: IntArray
    leased: BoolArray
    buffer: BoolArray
    arrival_ms: IntArray
    cores: IntArray
    task_memory_mib: IntArray
    checkpoint_ms: IntArray
    restore_ms: IntArray
    first_task: IntArray
    runtime_ms: IntArray
    estimate_ms: IntArray
    vm_names: tuple[str, ...] | None = None
    job_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    digest: str = ""

    def __post_init__(self) -> None:
        arrays = (*_VM_INTS, *_EVENT_INTS, *_JOB_INTS, *_TASK_INTS, "first_event", "first_task")
        self._lock(arrays, ("max_leases", "base_price", "extra_price"))
        lock(self, ("leased", "buffer"), locked_bools)
        self._check_shapes()
        self._check_values()
        self._check_events()
        self._check_pool()
        self._check_jobs()
        object.__setattr__(self, "digest", self._content_hash())

    @property
    def num_vms(self) -> int:
        """Number of VMs, leased or not."""
        return int(self.min_cores.shape[0])

    @property
    def num_tasks(self) -> int:
        """Number of tasks of all jobs."""
        return int(self.runtime_ms.shape[0])

    @property
    def is_fixed(self) -> bool:
        """Whether the pool of VMs is given rather than chosen."""
        return self.allocation == "fixed"

    def vm_name(self, index: int) -> str:
        """Return the name of a VM."""
        return self.vm_names[index] if self.vm_names is not None else f"vm-{index}"

    def event2vm(self) -> IntArray:
        """(E,) int64: the VM of each event."""
        return np.repeat(np.arange(self.num_vms), np.diff(self.first_event))

    def _check_shapes(self) -> None:
        num_vms, num_jobs = self.min_cores.size, self.arrival_ms.size
        wanted = {
            **dict.fromkeys((*_VM_INTS, "leased", "buffer"), (num_vms,)),
            **dict.fromkeys(_EVENT_INTS, (self.event_ms.size,)),
            **dict.fromkeys(_JOB_INTS, (num_jobs,)),
            **dict.fromkeys(_TASK_INTS, (self.runtime_ms.size,)),
            "first_event": (num_vms + 1,),
            "first_task": (num_jobs + 1,),
        }
        check_shapes(self, wanted)
        for what, count, names in (("VM", num_vms, self.vm_names), ("job", num_jobs, self.job_names)):
            if not count:
                raise InstanceError(f"{self.name}: there are no {what}s; give at least one.")
            if names is not None:
                check_names(self.name, what, names, count)
        for key, choices in (("objective", OBJECTIVES), ("kills", KILL_ORDERS), ("allocation", ALLOCATIONS)):
            if getattr(self, key) not in choices:
                raise InstanceError(
                    f"{self.name}: {key} is '{getattr(self, key)}'; choose one of {', '.join(choices)}."
                )
        check_firsts(self.name, "event", self.first_event, self.event_ms.size, lambda vm: f"VM {self.vm_name(vm)}")
        check_firsts(self.name, "task", self.first_task, self.num_tasks, lambda job: f"job {self.job_name(job)}")

    def _check_values(self) -> None:
        for key, least, most in _RANGES:
            values = np.atleast_1d(getattr(self, key))
            if (at := first_true((values < least) | (values > most))) is not None:
                raise InstanceError(
                    f"{self.name}: {key}{self._owner(key, at)} is {values[at]}; give {least} to {most} (in integer units)."
                )

    def _owner(self, key: str, at: int) -> str:
        if key in _JOB_INTS:
            return f" of job {self.job_name(at)}"
        if key in _VM_INTS:
            return f" of VM {self.vm_name(at)}"
        if key in _EVENT_INTS:
            vm = int(np.searchsorted(self.first_event, at, side="right")) - 1
            return f" of VM {self.vm_name(vm)}, event {at - int(self.first_event[vm])},"
        if key in _TASK_INTS:
            job = int(np.searchsorted(self.first_task, at, side="right")) - 1
            return f" of job {self.job_name(job)}, task {at - int(self.first_task[job])},"
        return ""

    def _check_events(self) -> None:
        vm, ms, cores = self.event2vm(), self.event_ms, self.event_cores
        same = vm[1:] == vm[:-1]
        if (e := first_true(same & (np.diff(ms) <= 0))) is not None:
            raise InstanceError(
                f"{self.name}: VM {self.vm_name(int(vm[e + 1]))} has an event at {ms[e + 1]} ms after one at {ms[e]} ms; give "
                "its events in order of time, one a moment."
            )
        if (e := first_true((cores > 0) & (cores < self.min_cores[vm]))) is not None:
            raise InstanceError(
                f"{self.name}: VM {self.vm_name(int(vm[e]))} has {cores[e]} cores from {ms[e]} ms on, fewer than its minimum "
                f"size of {self.min_cores[vm[e]]}; give 0, which is an eviction."
            )
        before = np.where(np.concatenate(([False], same)), np.concatenate(([0], cores[:-1])), 0)
        if (e := first_true(cores == before)) is not None:
            raise InstanceError(
                f"{self.name}: VM {self.vm_name(int(vm[e]))} has {before[e]} cores before its event at {ms[e]} ms and as many "
                "after it; leave out what changes nothing."
            )

    def _check_pool(self) -> None:
        count = int(self.leased.sum())
        if self.is_fixed:
            if self.max_leases or count < self.num_vms or self.buffer.any():
                raise InstanceError(
                    f"{self.name}: the pool is fixed, with max_leases {self.max_leases}, {count} of {self.num_vms} VMs leased "
                    f"and {int(self.buffer.sum())} on buffer servers; let it be 0, all and none."
                )
            return
        if not 1 <= count <= self.max_leases:
            raise InstanceError(
                f"{self.name}: {count} VMs are leased at the start and max_leases is {self.max_leases}; lease at least one, and "
                "not more than that."
            )
        first = self.first_event[:-1]
        if (
            down := first_true(self.leased & ((self.event_ms[first] > 0) | (self.event_cores[first] == 0)))
        ) is not None:
            raise InstanceError(
                f"{self.name}: VM {self.vm_name(down)} is leased at the start, when it has no cores; lease another."
            )

    def _check_jobs(self) -> None:
        check_order(self.name, self.arrival_ms, "ms", self.job_name)
        # Whoever fits in the end can always be run in the end.
        last = self.event_cores[self.first_event[1:] - 1]
        needs = np.unique(np.column_stack((self.cores, self.task_memory_mib)), axis=0)
        for cores, memory in needs.tolist():
            if not ((last >= cores) & (self.memory_mib >= memory)).any():
                job = int(np.argmax((self.cores == cores) & (self.task_memory_mib == memory)))
                raise InstanceError(
                    f"{self.name}: tasks of job {self.job_name(job)} need {cores} cores and {memory} MiB, and no VM has "
                    f"that after its last event (the most cores then are {last.max()}); end the trace at a moment when "
                    "one has, or drop the job."
                )
        most = self.latest_ms()
        if most > MAX_TOTAL_MS:
            raise InstanceError(f"{self.name}: its times add up to more than {MAX_TOTAL_MS} milliseconds.")
        if most > MAX_POOL_MS and not self.is_fixed:
            raise InstanceError(
                f"{self.name}: its times add up to more than {MAX_POOL_MS // HOUR_MS} hours, at each of which a chosen pool is "
                "looked at; give shorter times, or a fixed pool."
            )

    def latest_ms(self) -> float:
        """Return a moment by which all tasks are complete that run one after the other, by runtimes or by estimates."""
        work = np.maximum(self.runtime_ms, self.estimate_ms).astype(np.float64)
        longest, cost = np.maximum.reduceat(work, self.first_task[:-1]), np.maximum(self.checkpoint_ms, 0)
        # No run takes more checkpoints than one after each millisecond of its work; rules take one a second at most.
        stalls = np.add.reduceat(np.ceil(work / SECOND_MS), self.first_task[:-1]) @ cost
        # What cannot take checkpoints never restores.
        restores = np.where(self.checkpoint_ms < 0, 0, self.restore_ms) @ np.diff(self.first_task).astype(np.float64)
        begin = float(self.event_ms.max()) + float(self.arrival_ms[-1])
        return begin + float(work.sum() + restores + max(stalls, float((longest * cost).max())))

    def _content_hash(self) -> str:
        arrays = (getattr(self, key) for key in (*_VM_INTS, *_EVENT_INTS, *_JOB_INTS, *_TASK_INTS))
        firsts = (self.first_event, self.first_task, self.leased.astype(np.int64), self.buffer.astype(np.int64))
        pool = (self.objective, self.kills, self.allocation, self.max_leases, self.base_price, self.extra_price)
        return content_hash([SCHEMA, *pool, self.vm_names, self.job_names, *firsts, *arrays])


_VM_INTS = ("min_cores", "memory_mib")
_EVENT_INTS = ("event_ms", "event_cores")
_JOB_INTS = ("arrival_ms", "cores", "task_memory_mib", "checkpoint_ms", "restore_ms")
_TASK_INTS = ("runtime_ms", "estimate_ms")
_RANGES = (
    ("max_leases", 0, MAX_CORES),
    ("base_price", 0, 10**12),
    ("extra_price", 0, 10**12),
    ("min_cores", 1, MAX_CORES),
    ("memory_mib", 1, 2**40),
    ("event_ms", 0, MAX_TOTAL_MS),
    ("event_cores", 0, MAX_CORES),
    ("arrival_ms", 0, MAX_TOTAL_MS),
    ("cores", 1, MAX_CORES),
    ("task_memory_mib", 0, 2**40),
    ("checkpoint_ms", NO_CHECKPOINTS, MAX_TOTAL_MS),
    ("restore_ms", 0, MAX_TOTAL_MS),
    ("runtime_ms", 1, MAX_TOTAL_MS),
    ("estimate_ms", 1, MAX_TOTAL_MS),
)


def _none() -> IntArray:
    return np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HarvestSchedule(Brief):
    """Runs of tasks, of which the last of each task completes it, and leases of VMs.

    A run that starts when w ms of work are left of its task, p ms being saved by earlier runs, restores for the job's
    restore_ms if p > 0 and then works. With checkpoint_every_ms = c > 0 it stands still for the job's checkpoint_ms after
    every c ms of work, save at the very end; what it has worked until then is saved. It completes the task if it lasts

        restore_ms * [p > 0] + w + (ceil(w / c) - 1) * checkpoint_ms

    and loses what is not saved if it ends before. Runs of one task may overlap (replicas) if none of the task's runs takes
    checkpoints.

    Letters: N runs, L leases.

    task, vm, start_ms, end_ms : (N,) int64. checkpoint_every_ms : (N,) int64, 0 for a run without checkpoints.
    lease_vm, lease_start_ms, lease_end_ms : (L,) int64; none if the instance's pool is fixed. A lease is within one time
        that the VM has cores without a break.
    """

    task: IntArray
    vm: IntArray
    start_ms: IntArray
    end_ms: IntArray
    checkpoint_every_ms: IntArray
    lease_vm: IntArray = field(default_factory=_none)
    lease_start_ms: IntArray = field(default_factory=_none)
    lease_end_ms: IntArray = field(default_factory=_none)

    def __post_init__(self) -> None:
        lock(self, self.__slots__, error=SolutionError)

    @property
    def num_runs(self) -> int:
        """Number of runs, completed and lost."""
        return int(self.task.shape[0])


MAX_VMS = 6
MAX_JOBS = 4
MAX_TASKS_PER_JOB = 3


def shrink(instance: HarvestInstance) -> HarvestInstance:
    """Return an instance with a few VMs and jobs, of at most three tasks: to warm up compiled methods, not to measure.

    The first jobs are kept, and the first that takes no checkpoints, takes them for nothing, or pays for them; the first
    VMs, those leased at the start before others, and for each job one that fits its tasks after its last event.
    """
    jobs = _first_jobs(instance)
    vms = _first_vms(instance, jobs)
    sizes = np.minimum(np.diff(instance.first_task)[jobs], MAX_TASKS_PER_JOB)
    tasks = ranges(instance.first_task[jobs], sizes)
    num_events = np.diff(instance.first_event)[vms]
    events = ranges(instance.first_event[vms], num_events)
    names = instance.vm_names, instance.job_names
    return instance.replace(
        name=f"{instance.name}-shrunk",
        first_event=np.concatenate(([0], np.cumsum(num_events))),
        event_ms=instance.event_ms[events],
        event_cores=instance.event_cores[events],
        **{key: getattr(instance, key)[vms] for key in ("min_cores", "memory_mib", "leased", "buffer")},
        **{
            key: getattr(instance, key)[jobs]
            for key in ("arrival_ms", "cores", "task_memory_mib", "checkpoint_ms", "restore_ms")
        },
        first_task=np.concatenate(([0], np.cumsum(sizes))),
        runtime_ms=instance.runtime_ms[tasks],
        estimate_ms=instance.estimate_ms[tasks],
        vm_names=None if names[0] is None else tuple(names[0][v] for v in vms.tolist()),
        job_names=None if names[1] is None else tuple(names[1][j] for j in jobs.tolist()),
        notes=(),
    )


def _first_jobs(instance: HarvestInstance) -> IntArray:
    _, first_of_kind = np.unique(np.sign(instance.checkpoint_ms), return_index=True)
    return np.union1d(np.arange(min(MAX_JOBS, instance.num_jobs)), first_of_kind)


def _first_vms(instance: HarvestInstance, jobs: IntArray) -> IntArray:
    # Whoever is leased first, and on buffer servers last: the provider may not place any there.
    order = np.argsort(instance.buffer * 2 - instance.leased, kind="stable")
    last_cores = instance.event_cores[instance.first_event[1:] - 1][order]
    fitting = {
        int(order[np.argmax((last_cores >= instance.cores[j]) & (instance.memory_mib[order] >= memory))])
        for j, memory in zip(jobs.tolist(), instance.task_memory_mib[jobs].tolist(), strict=True)
    }
    return np.array(sorted({*order[:MAX_VMS].tolist(), *fitting}))
