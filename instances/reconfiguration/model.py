"""The provisioning problem over time (Eva, sections 3 to 5): jobs that arrive, machines that are rented and given back.

Letters used for shapes: K machine types, F machine families, R resources, C task classes, W workloads, J jobs.

Machines that run at second 0, with tasks of jobs on them: what contradicts an instance.

What was paid while the jobs ran, where a real cluster's past shows it.

A solution of the provisioning problem over time: what each plan decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from schedgap.instances.arrays import (
    BoolArray,
    Brief,
    IntArray,
    content_hash,
    first_true,
    grouped,
    lock,
    locked_ints,
    whole,
)
from schedgap.instances.errors import InstanceError, SolutionError
from schedgap.instances.model import InstanceModel, check_names, check_order
from schedgap.instances.provisioning.classes import with_classes
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.running import Running, check_running
from schedgap.instances.reconfiguration.delays import PHASES, StoredSets
from schedgap.instances.reconfiguration.upkeep import Upkeep
from schedgap.instances.units import HOUR_S, shown_amount


def check_start(
    name: str,
    running: Running,
    catalogue: ProvisioningInstance,
    arrival_s: IntArray,
    num_tasks: IntArray,
    job2class: IntArray,
) -> None:
    """Refuse running machines with what cannot be there: jobs that come later or in part, and more than a machine holds.

    arrival_s, num_tasks, job2class : (J,), of the jobs, which `running.task_class` numbers.

    Raises
    ------
    InstanceError
        naming the job or machine, the values, and the way out.
    """
    check_running(name, running, None, catalogue.type_names, catalogue.stock, num_tasks, "job {}".format, "job")
    late = running.task_class[arrival_s[running.task_class] > 0]
    if late.size:
        raise InstanceError(
            f"{name}: job {late[0]} is on a running machine and arrives at {arrival_s[late[0]]} s; only jobs that arrive at "
            "second 0 can run then."
        )
    placed = running.placed(num_tasks.shape[0])
    if (j := first_true((placed > 0) & (placed < num_tasks))) is not None:
        raise InstanceError(
            f"{name}: {placed[j]} of the {num_tasks[j]} tasks of job {j} are on running machines; put all there, or none."
        )
    _check_room(name, running, catalogue, job2class)


def _check_room(name: str, running: Running, catalogue: ProvisioningInstance, job2class: IntArray) -> None:
    kind = catalogue.type2family[running.machine_type]
    demand = catalogue.demand[kind[running.machine], job2class[running.task_class]]
    if (barred := first_true((demand < 0).any(axis=1))) is not None:
        e, j = int(running.machine[barred]), int(running.task_class[barred])
        raise InstanceError(
            f"{name}: running machine {running.names[e]} holds tasks of job {j}, whose class "
            f"{catalogue.class_name(job2class[j])} may not run on family {catalogue.families[kind[e]]}; put them elsewhere."
        )
    used = np.zeros((running.size, len(catalogue.resources)), np.int64)
    np.add.at(used, running.machine, demand * running.count[:, None])
    over = np.argwhere(used > catalogue.capacity[running.machine_type])
    if over.size:
        e, r = over[0].tolist()
        k, what = int(running.machine_type[e]), catalogue.resources[r]
        raise InstanceError(
            f"{name}: running machine {running.names[e]} ({catalogue.type_names[k]}) holds {shown_amount(used[e, r], what)}, "
            f"it has {shown_amount(catalogue.capacity[k, r], what)}; take tasks off it."
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Past(Brief):
    """The machines that were paid while the jobs ran, as a real cluster's past shows it. Nothing is bound by it.

    names : N names, unique. machine_type : (N,) int64, of the instance's catalogue.
    from_s, until_s : (N,) int64, seconds since second 0 for which the machine is known to have been there, within 0..end_s.
    start, end_s : unix seconds of second 0, and the second at which the past ends.
    job_node : (J,) int64, the machine on which each job ran, -1 where none is known.
    daemons : (N,) int64, millionths of each machine that are taken by what comes with it, -1 where that is not known, or None.

    Raises `InstanceError` where these do not fit together.
    """

    names: tuple[str, ...]
    machine_type: IntArray
    from_s: IntArray
    until_s: IntArray
    start: int
    end_s: int
    job_node: IntArray
    daemons: IntArray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        if self.daemons is None:
            object.__setattr__(self, "daemons", np.full(len(self.names), -1))
        assert self.daemons is not None
        lock(self, ("machine_type", "from_s", "until_s", "job_node", "daemons"))
        lock(self, ("start", "end_s"), whole)
        size = len(self.names)
        for key in ("machine_type", "from_s", "until_s", "daemons"):
            if (shape := getattr(self, key).shape) != (size,):
                raise InstanceError(f"past: {key} has shape {shape} for {size} machines; give one each.")
        check_names("past", "machine", self.names, size)
        wrong = (self.from_s < 0) | (self.until_s < self.from_s) | (self.until_s > self.end_s)
        if (n := first_true(wrong)) is not None:
            raise InstanceError(
                f"past: machine {self.names[n]} was there from {self.from_s[n]} to {self.until_s[n]} s; give times in order, "
                f"within 0..{self.end_s}."
            )
        if (n := first_true((self.daemons < -1) | (self.daemons > MILLION))) is not None:
            raise InstanceError(
                f"past: daemons of machine {self.names[n]} is {self.daemons[n]}; give millionths, at most {MILLION}, or -1."
            )
        if (j := first_true((self.job_node < -1) | (self.job_node >= size))) is not None:
            raise InstanceError(f"past: job {j} ran on machine {self.job_node[j]}; there are {size}, and -1 is none.")

    def paid_micro(self, price: IntArray) -> int:
        """Return what the machines cost in micro-dollars, rounded up once. price : (K,) micro-dollars an hour."""
        seconds = (self.until_s - self.from_s).tolist()
        total: int = sum(p * s for p, s in zip(price[self.machine_type].tolist(), seconds, strict=True))
        return -(-total // HOUR_S)

    def check(self, name: str, type_names: Sequence[str], num_jobs: int) -> None:
        """Refuse types that an instance has not, and another number of jobs."""
        bad = self.machine_type[(self.machine_type < 0) | (self.machine_type >= len(type_names))]
        if bad.size:
            raise InstanceError(f"{name}: past names machine type {bad[0]}; there are {len(type_names)}.")
        if self.job_node.shape != (num_jobs,):
            raise InstanceError(
                f"{name}: past says where {self.job_node.shape[0]} jobs ran, there are {num_jobs}; give one each, or no past."
            )


MILLION = 1_000_000
FAMILY = "reconfiguration"
SCHEMA = "schedgap/reconfiguration/1"
# Work in billionths of a second stays within 62 bits.
MAX_TIME_S = 2**32
# Some hundred bytes of memory each while a schedule is played.
MAX_TASKS = 2**24


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReconfigurationInstance(InstanceModel):
    """Jobs to run on rented machines at the least total price; a plan may change once every period.

    Times are whole seconds since the instance's start.

    catalogue : machine types, task classes and pairwise throughputs, with one task of a class for each that the jobs
        have (set from the jobs). Classes and workloads are numbered by the first job that has them. Its `stock` is how
        many machines of a type may be ordered or paid for at a time (see `verify`).
    acquire_s, setup_s : (K,) int64, from the order of a machine until it is paid, and from then until it runs tasks.
    fetch_s, build_s, kill_s, upload_s, init_s : (W,) int64, the delays of a task's workload: fetching its state,
        building its image (once a machine), stopping it, saving its state, starting up before it progresses.
    arrival_s : (J,) int64, not negative, in order. work_s : (J,) int64, positive: the run time without any disturbance.
    job2class : (J,) int64, the class of all tasks of the job. num_tasks : (J,) int64, positive.
    period_s : between two plans; the first is at second 0. terminate_s : from a machine's last task until it is paid for.
    stored_sets : throughputs of sets of three and more tasks on a machine, where they are not the products of the pairs
        in the catalogue; its workloads are those of the catalogue. None: all are products.
    running : machines that run at second 0, before its plan, with what is on them, or None. `Running.task_class` numbers the
        jobs: only those that arrive at second 0 (whose work is what is left of it by then), each with all of its tasks or
        none, and no more than a machine holds. They are paid from second 0 on, and count against the stock; their tasks
        progress from second 0 on, and images of theirs have been built there.
    upkeep : what controllers of real clusters look at; their rules alone keep to it.
    past : what was paid while these jobs ran, where that is known; no part of the content, and no method looks at it.
    left_out : kinds of input that the instance does not hold, each with its share of the core-hours; no part of the content.
    notes : what whoever made it has to say; no part of the content.

    Raises `InstanceError` on anything inconsistent.
    """

    name: str
    catalogue: ProvisioningInstance
    acquire_s: IntArray
    setup_s: IntArray
    fetch_s: IntArray
    build_s: IntArray
    kill_s: IntArray
    upload_s: IntArray
    init_s: IntArray
    arrival_s: IntArray
    work_s: IntArray
    job2class: IntArray
    num_tasks: IntArray
    period_s: int = 300
    terminate_s: int = 1
    stored_sets: StoredSets | None = None
    running: Running | None = None
    upkeep: Upkeep | None = None
    past: Past | None = None
    notes: tuple[str, ...] = ()
    left_out: tuple[tuple[str, float], ...] = ()
    digest: str = ""

    def __post_init__(self) -> None:
        self._lock(_TYPE_FIELDS + _WORKLOAD_FIELDS + _JOB_FIELDS, ("period_s", "terminate_s"))
        if self.running is not None and not self.running.size:
            object.__setattr__(self, "running", None)
        self._check_shapes()
        self._check_catalogue()
        self._check_jobs()
        self._check_times()
        self._number_by_arrival()
        if self.running is not None:
            check_start(self.name, self.running, self.catalogue, self.arrival_s, self.num_tasks, self.job2class)
        if self.upkeep is not None:
            size = self.running.size if self.running is not None else 0
            self.upkeep.check(self.name, self.catalogue.num_types, self.job2class, size)
        if self.past is not None:
            self.past.check(self.name, self.catalogue.type_names, self.num_jobs)
        object.__setattr__(self, "digest", self._content_hash())

    @property
    def num_jobs(self) -> int:
        """Number of jobs."""
        return int(self.arrival_s.shape[0])

    @property
    def throughput(self) -> IntArray:
        """(W, W) int64 thousandths: the throughput of workload i beside workload j."""
        given = self.catalogue.throughput
        num_workloads = len(self.catalogue.workloads)
        return np.full((num_workloads, num_workloads), 1000, np.int64) if given is None else given

    @property
    def class2workload(self) -> IntArray:
        """(C,) int64: the workload of each task class."""
        return self.catalogue.class2workload

    def first_task(self) -> IntArray:
        """(J + 1,) int64: tasks are numbered job by job; those of job j are first_task[j] .. first_task[j + 1] - 1."""
        return np.concatenate((np.zeros(1, np.int64), np.cumsum(self.num_tasks)))

    def first_plan_s(self) -> IntArray:
        """(J,) int64: the first plan that has to hold the job, at or after its arrival."""
        return -(-self.arrival_s // self.period_s) * self.period_s

    def is_running(self) -> BoolArray:
        """(J,) bool: whether the job's tasks are on running machines at second 0."""
        found = np.zeros(self.num_jobs, np.bool_)
        if self.running is not None:
            found[self.running.task_class] = True
        return found

    def first_machine(self) -> IntArray:
        """(T,) int64: the running machine of each task at second 0, -1 for none; a job's first tasks are on its first one."""
        machine = np.full(int(self.num_tasks.sum()), -1)
        if self.running is not None:
            order = np.argsort(self.running.task_class, kind="stable")
            tasks = np.repeat(self.is_running(), self.num_tasks)
            machine[tasks] = np.repeat(self.running.machine[order], self.running.count[order])
        return machine

    def _check_shapes(self) -> None:
        sizes = (
            (_TYPE_FIELDS, self.catalogue.num_types, "machine types"),
            (_WORKLOAD_FIELDS, len(self.catalogue.workloads), "workloads"),
            (_JOB_FIELDS, self.num_jobs, "jobs"),
        )
        for fields, number, what in sizes:
            for key in fields:
                if getattr(self, key).shape != (number,):
                    raise InstanceError(f"{self.name}: {key} has shape {getattr(self, key).shape} for {number} {what}.")
        if self.stored_sets is not None and self.stored_sets.num_workloads != len(self.catalogue.workloads):
            raise InstanceError(
                f"{self.name}: stored_sets has {self.stored_sets.num_workloads} workloads, the catalogue "
                f"{len(self.catalogue.workloads)}; give the same ones."
            )
        if not self.num_jobs:
            raise InstanceError(f"{self.name}: there are no jobs; give at least one.")

    def _check_catalogue(self) -> None:
        if (running := self.catalogue.running) is not None:
            raise InstanceError(
                f"{self.name}: the catalogue has {len(running.names)} running machines, with tasks of classes on them; give "
                "`running` with tasks of jobs to the instance itself, and no `max_disruption`."
            )

    def _check_jobs(self) -> None:
        checks = (
            ("arrives at", self.arrival_s, self.arrival_s < 0, "a time that is not negative"),
            ("has work of", self.work_s, self.work_s <= 0, "a positive number of seconds"),
            ("has tasks", self.num_tasks, self.num_tasks <= 0, "at least 1"),
            (
                "has task class",
                self.job2class,
                (self.job2class < 0) | (self.job2class >= self.catalogue.num_classes),
                f"one of 0..{self.catalogue.num_classes - 1}",
            ),
        )
        for what, values, bad, wanted in checks:
            if (job := first_true(bad)) is not None:
                raise InstanceError(f"{self.name}: job {job} {what} {values[job]}; give {wanted}.")
        # In Python's integers, which do not wrap.
        tasks = sum(self.num_tasks.tolist())
        if tasks > MAX_TASKS:
            raise InstanceError(f"{self.name}: its jobs have {tasks} tasks in all; give at most {MAX_TASKS}.")
        check_order(self.name, self.arrival_s, "s")
        used = np.bincount(self.job2class, minlength=self.catalogue.num_classes) > 0
        if (unused := first_true(~used)) is not None:
            name = self.catalogue.class_name(unused)
            raise InstanceError(f"{self.name}: no job has tasks of class {name}; remove the class.")
        if (without := first_true(self.class2workload < 0)) is not None:
            name = self.catalogue.class_name(without)
            raise InstanceError(f"{self.name}: task class {name} has no workload; name one, its delays are needed.")

    def _check_times(self) -> None:
        for key in _TYPE_FIELDS + _WORKLOAD_FIELDS:
            values = getattr(self, key)
            if (values < 0).any():
                raise InstanceError(f"{self.name}: {key} holds {values.min()}; give seconds that are not negative.")
        if self.period_s <= 0 or self.terminate_s < 0:
            raise InstanceError(
                f"{self.name}: period_s is {self.period_s} and terminate_s {self.terminate_s}; the first must be "
                "positive, the second not negative."
            )
        delays = sum(int(getattr(self, key).max()) for key in _TYPE_FIELDS + _WORKLOAD_FIELDS)
        delays += self.period_s + self.terminate_s
        last = int(self.arrival_s[-1]) + int(self.work_s.max()) + delays
        if last > MAX_TIME_S:
            raise InstanceError(
                f"{self.name}: its last job ends after {last} s at best; give times below {MAX_TIME_S} s."
            )

    def _number_by_arrival(self) -> None:
        catalogue = self.catalogue
        job2class, first = grouped(self.job2class)
        class_order = self.job2class[first]
        class2workload, first = grouped(catalogue.class2workload[class_order])
        workload_order = catalogue.class2workload[class_order][first]
        others = np.setdiff1d(np.arange(len(catalogue.workloads)), workload_order)
        if others.size:
            raise InstanceError(f"{self.name}: no task has workload {catalogue.workloads[others[0]]}; remove it.")
        throughput = catalogue.throughput
        counts = np.bincount(job2class, self.num_tasks, class_order.shape[0]).astype(np.int64)
        changed = with_classes(
            catalogue,
            catalogue.demand[:, class_order],
            counts,
            name=self.name,
            class_names=tuple(catalogue.class_name(c) for c in class_order),
            class2workload=class2workload,
            workloads=tuple(catalogue.workloads[w] for w in workload_order),
            throughput=None if throughput is None else throughput[np.ix_(workload_order, workload_order)],
            per_machine=None if catalogue.per_machine is None else catalogue.per_machine[class_order],
        )
        object.__setattr__(self, "catalogue", changed)
        object.__setattr__(self, "job2class", locked_ints(job2class))
        for key in _WORKLOAD_FIELDS:
            object.__setattr__(self, key, locked_ints(getattr(self, key)[workload_order]))
        if self.stored_sets is not None:
            object.__setattr__(self, "stored_sets", self.stored_sets.of_workloads(workload_order))

    def _content_hash(self) -> str:
        arrays = (getattr(self, key) for key in _TYPE_FIELDS + _WORKLOAD_FIELDS + _JOB_FIELDS)
        stored = [] if self.stored_sets is None else ["stored_sets", *self.stored_sets.content()]
        running = [] if self.running is None else ["running", *self.running.hashed()]
        upkeep = [] if self.upkeep is None else ["upkeep", *self.upkeep.hashed()]
        return content_hash(
            [SCHEMA, self.catalogue.digest, self.period_s, self.terminate_s, *arrays, *stored, *running, *upkeep]
        )


_TYPE_FIELDS = ("acquire_s", "setup_s")
_WORKLOAD_FIELDS = ("fetch_s", "build_s", "kill_s", "upload_s", "init_s")
_JOB_FIELDS = ("arrival_s", "work_s", "job2class", "num_tasks")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReconfigurationSchedule(Brief):
    """Machines rented and given back, and where each task was sent; everything else follows (`simulator.replay`).

    All times are those of plans: multiples of the instance's period.

    machine_type : (M,) int64, those that run at second 0 first, in the instance's order and rented then.
    rented_s : (M,) int64, the first plan that has the machine, in order.
    released_s : (M,) int64, the first plan that does not have it any more.
    move_s, move_task, move_machine : (N,) int64, in order of time and, at one time, of task: at that plan the task is
        sent to the machine and stays in it until its next move or its job's end. Tasks are numbered as in
        `ReconfigurationInstance.first_task`; each must be sent somewhere by the first plan after its arrival.
    """

    machine_type: IntArray
    rented_s: IntArray
    released_s: IntArray
    move_s: IntArray
    move_task: IntArray
    move_machine: IntArray

    def __post_init__(self) -> None:
        lock(
            self, ("machine_type", "rented_s", "released_s", "move_s", "move_task", "move_machine"), error=SolutionError
        )

    @property
    def num_machines(self) -> int:
        """Number of machines ever rented."""
        return int(self.machine_type.shape[0])


MAX_JOBS = 6
MAX_TASKS_PER_JOB = 2
MAX_WORK_S = 7200


def shrink(instance: ReconfigurationInstance) -> ReconfigurationInstance:
    """Return an instance with the first six jobs, of at most two tasks and two hours: to warm up, not to measure.

    The jobs arrive one a period, so that they meet. Throughputs are kept or stay absent, and running machines stay.
    """
    kept = min(instance.num_jobs, MAX_JOBS)
    catalogue = instance.catalogue
    # Classes and workloads are numbered by their first jobs: those of the first jobs come first.
    num_classes = int(instance.job2class[:kept].max()) + 1
    class2workload = instance.class2workload[:num_classes]
    num_workloads = int(class2workload.max()) + 1
    first = slice(0, num_workloads)
    throughput, stored, running = catalogue.throughput, instance.stored_sets, instance.running
    num_tasks = np.minimum(instance.num_tasks[:kept], MAX_TASKS_PER_JOB)
    return instance.replace(
        name=f"{instance.name}-shrunk",
        catalogue=catalogue.replace(
            demand=catalogue.demand[:, :num_classes],
            counts=catalogue.counts[:num_classes],
            class_names=None if catalogue.class_names is None else catalogue.class_names[:num_classes],
            workloads=catalogue.workloads[first],
            class2workload=class2workload,
            class2job=None,
            tasks_per_job=None,
            throughput=None if throughput is None else throughput[first, first],
        ),
        **{key: getattr(instance, key)[first] for key in PHASES},
        arrival_s=np.arange(kept) * instance.period_s,
        work_s=np.minimum(instance.work_s[:kept], MAX_WORK_S),
        job2class=instance.job2class[:kept],
        num_tasks=num_tasks,
        stored_sets=None if stored is None else stored.of_workloads(np.arange(num_workloads)),
        # The first job alone is there at second 0.
        running=None if running is None else running.without(num_tasks[:1]),
        upkeep=None if instance.upkeep is None else instance.upkeep.of_jobs(np.arange(kept)),
        past=None,
        notes=(),
    )
