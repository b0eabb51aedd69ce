"""A cloud that plays by the rules of `kernels_events`: for policies, plan by plan, and for finished schedules, at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.errors import VerifyError
from schedgap.instances.reconfiguration import kernels_plan, kernels_state
from schedgap.instances.reconfiguration.kernels_rates import RATE_ONE, STORED_ROWS
from schedgap.instances.reconfiguration.kernels_state import State
from schedgap.instances.reconfiguration.schedule import ReconfigurationSchedule
from schedgap.instances.reconfiguration.stored_sets import FEWEST, in_order
from schedgap.instances.units import shown_amount

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray
    from schedgap.instances.reconfiguration.model import ReconfigurationInstance

FIRST_MACHINES = 64
GROWING = ("machine", "used", "contending", "images", "held", "live", "dirty", "planned")


class Cloud:
    """The state of machines, tasks and jobs at one second; `state` is what the kernels work on."""

    def __init__(self, instance: ReconfigurationInstance, machines: int = FIRST_MACHINES) -> None:
        """Begin at second 0 with nothing rented and room for some machines."""
        self.instance = instance
        catalogue = instance.catalogue
        first_task = instance.first_task()
        num_tasks, num_jobs = int(first_task[-1]), instance.num_jobs
        num_resources, num_workloads = len(catalogue.resources), len(catalogue.workloads)
        delays = np.stack(
            (instance.fetch_s, instance.build_s, instance.kill_s, instance.upload_s, instance.init_s), axis=1
        )
        task = np.zeros((num_tasks, kernels_state.TASK_COLUMNS), np.int64)
        task[:, kernels_state.SENT_TO] = task[:, kernels_state.HELD_ON] = -1
        self.state = State(
            # Copies, since compiled code is specialised to arrays that it may write.
            demand=catalogue.demand.copy(),
            type2family=catalogue.type2family.copy(),
            acquire=instance.acquire_s.copy(),
            setup=instance.setup_s.copy(),
            capacity=catalogue.capacity.copy(),
            throughput=instance.throughput.copy(),
            stored=_stored(instance),
            class2workload=instance.class2workload.copy(),
            delays=np.ascontiguousarray(delays),
            arrival=instance.arrival_s.copy(),
            work=instance.work_s * RATE_ONE,
            job2class=instance.job2class.copy(),
            first_task=first_task,
            terminate=np.array([instance.terminate_s]),
            clock=np.zeros(kernels_state.CLOCK_ENTRIES, np.int64),
            task=task,
            job=np.zeros((num_jobs, kernels_state.JOB_COLUMNS), np.int64),
            active=np.zeros(num_jobs, np.int64),
            target=np.full(num_tasks, -1, np.int64),
            machine=np.zeros((machines, kernels_state.MACHINE_COLUMNS), np.int64),
            used=np.zeros((machines, num_resources), np.int64),
            contending=np.zeros((machines, num_workloads), np.int64),
            images=np.zeros((machines, num_workloads), np.int64),
            held=np.zeros((machines, num_resources + 1)),
            live=np.zeros(machines, np.int64),
            dirty=np.zeros(machines, np.int64),
            planned=np.zeros((machines, num_resources), np.int64),
            wrong=np.zeros(3, np.int64),
        )

    @property
    def now_s(self) -> int:
        """The second to which time has passed."""
        return int(self.state.clock[kernels_state.NOW])

    @property
    def num_machines(self) -> int:
        """Number of machines rented so far."""
        return int(self.state.clock[kernels_state.NUM_MACHINES])

    @property
    def num_unfinished(self) -> int:
        """Number of jobs that have arrived and not ended."""
        return int(self.state.clock[kernels_state.NUM_ACTIVE])

    @property
    def num_seen(self) -> int:
        """Number of jobs that have arrived."""
        return int(self.state.clock[kernels_state.SEEN])

    @property
    def next_arrival_s(self) -> int | None:
        """When the next job arrives that has not been seen; None after the last one."""
        seen = int(self.state.clock[kernels_state.SEEN])
        return int(self.instance.arrival_s[seen]) if seen < self.instance.num_jobs else None

    @property
    def machine(self) -> IntArray:
        """(M, 8) int64: the machines rented so far, columns as in `kernels_state`."""
        rows: IntArray = self.state.machine[: self.num_machines]
        return rows

    @property
    def held(self) -> FloatArray:
        """(M, R + 1) float64: resources in use on each machine, and tasks, summed over the seconds of its life.

        For measures: the largest sizes over the longest times have more than 64 bits.
        """
        rows: FloatArray = self.state.held[: self.num_machines]
        return rows

    @property
    def job(self) -> IntArray:
        """(J, 8) int64: the jobs, columns as in `kernels_state`."""
        return self.state.job

    def schedule(self, move_s: IntArray, move_task: IntArray, move_machine: IntArray) -> ReconfigurationSchedule:
        """Return what was decided up to now; machines that nobody has released are so at the next plan.

        move_s, move_task, move_machine : (N,) int64, the moves, which the cloud does not remember.
        """
        released = self.machine[:, kernels_state.RELEASED].copy()
        released[released < 0] = (self.now_s // self.instance.period_s + 1) * self.instance.period_s
        return ReconfigurationSchedule(
            self.machine[:, kernels_state.TYPE],
            self.machine[:, kernels_state.RENTED],
            released,
            move_s,
            move_task,
            move_machine,
        )

    def make_room(self, more: int) -> None:
        """See to it that so many more machines can be rented."""
        wanted, rows = self.num_machines + more, self.state.machine.shape[0]
        if wanted > rows:
            rows = max(wanted, 2 * rows)
            grown = {}
            for name in GROWING:
                old = getattr(self.state, name)
                new = np.zeros((rows, *old.shape[1:]), old.dtype)
                new[: old.shape[0]] = old
                grown[name] = new
            self.state = self.state._replace(**grown)


def replay(instance: ReconfigurationInstance, schedule: ReconfigurationSchedule) -> Cloud:
    """Play a schedule whose numbers are in range and return the cloud after its last job.

    Raises
    ------
    VerifyError
        naming the first plan that breaks a rule.
    """
    cloud = Cloud(instance, max(schedule.num_machines, 1))
    status = kernels_plan.replay(
        cloud.state,
        schedule.machine_type.copy(),
        schedule.rented_s.copy(),
        schedule.released_s.copy(),
        np.argsort(schedule.released_s, kind="stable"),
        schedule.move_s.copy(),
        schedule.move_task.copy(),
        schedule.move_machine.copy(),
        instance.period_s,
    )
    if status != kernels_state.FINE:
        raise VerifyError(f"plan at {cloud.now_s} s: {what_is_wrong(cloud, status)}")
    return cloud


def what_is_wrong(cloud: Cloud, status: int) -> str:
    """Return a refused plan's first fault as a sentence."""
    instance, state = cloud.instance, cloud.state
    catalogue = instance.catalogue
    task, machine, resource = state.wrong.tolist()
    job = int(np.searchsorted(state.first_task, task, side="right")) - 1
    who = f"task {task - int(state.first_task[job])} of job {job}"
    if status == kernels_state.NO_MACHINE:
        return f"{who} is on no machine; a plan holds every task that has arrived and not ended."
    kind = int(state.machine[machine, kernels_state.TYPE])
    where = f"machine {machine} ({catalogue.type_names[kind]})"
    if status == kernels_state.NOT_RENTED:
        released = int(state.machine[machine, kernels_state.RELEASED])
        return f"{who} is on {where}, which was released at {released} s."
    if status == kernels_state.MIGRATES:
        return f"{who} is sent to {where} while its job still migrates; wait until all of its tasks run."
    c = int(instance.job2class[job])
    family = catalogue.families[catalogue.type2family[kind]]
    if status == kernels_state.NOT_ALLOWED:
        return f"{who} is on {where}, but class {catalogue.class_name(c)} may not run on family {family}."
    planned, capacity = int(state.planned[machine, resource]), int(catalogue.capacity[kind, resource])
    name = catalogue.resources[resource]
    return f"{who} overfills {where}: {shown_amount(planned, name)} planned, it has {shown_amount(capacity, name)}."


def _stored(instance: ReconfigurationInstance) -> IntArray:
    """Return the stored sets as `kernels_rates` has them."""
    sets = instance.stored_sets
    if sets is None:
        return np.empty((0, len(instance.catalogue.workloads) + 1), np.int64)
    num_workloads = sets.num_workloads
    table = np.full((num_workloads + STORED_ROWS, num_workloads + 1), -1, np.int64)
    table[:num_workloads, :num_workloads] = sets.throughput
    rank, listed, listed_long = table[num_workloads:]
    rank[:num_workloads] = sets.sorted_rank
    listed[:num_workloads] = in_order(sets.listed_rank)
    long = in_order(sets.long_rank)
    listed_long[: long.shape[0]] = long
    rank[-1], listed[-1], listed_long[-1] = FEWEST, sets.most, sets.most_long
    return table
