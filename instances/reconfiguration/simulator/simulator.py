"""A simulator that plays by the rules of `events`: for policies, plan by plan, and for finished schedules, at once."""

from __future__ import annotations

import numpy as np

from schedgap.instances.arrays import FloatArray, IntArray
from schedgap.instances.errors import VerifyError
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.moves import has_stock
from schedgap.instances.provisioning.running import ANY_NUMBER
from schedgap.instances.reconfiguration.delays import FEWEST, in_order
from schedgap.instances.reconfiguration.model import ReconfigurationInstance, ReconfigurationSchedule
from schedgap.instances.reconfiguration.simulator import plans
from schedgap.instances.reconfiguration.simulator.rates import RATE_ONE, STORED_ROWS
from schedgap.instances.reconfiguration.simulator.state import (
    CLOCK,
    DELAYS,
    FINE,
    JOB,
    MIGRATES,
    NO_MACHINE,
    NO_STOCK,
    NOT_ALLOWED,
    NOT_RENTED,
    TASK,
    WRONG,
    Given,
    Records,
    State,
    new_machines,
    with_rows,
)
from schedgap.instances.units import NEVER, shown_amount

FIRST_MACHINES = 64


class Simulator:
    """Machines, tasks and jobs at one second; `state` is what the kernels work on."""

    def __init__(self, instance: ReconfigurationInstance, machines: int = FIRST_MACHINES) -> None:
        """Begin at second 0 with what runs then, and room for some machines."""
        self.instance, running = instance, instance.running
        machines = max(machines, 0 if running is None else running.size)
        given = _given(instance)
        num_tasks, num_jobs = int(given.first_task[-1]), instance.num_jobs
        task = np.zeros(num_tasks, TASK)
        task["sent_to"] = task["held_on"] = -1
        self.state = State(
            given=given,
            clock=np.zeros(1, CLOCK),
            job=np.zeros(num_jobs, JOB),
            task=task,
            machines=new_machines(machines, given.capacity.shape[1], given.throughput.shape[0]),
            active=np.zeros(num_jobs, np.int64),
            target=np.full(num_tasks, -1, np.int64),
            wrong=np.zeros(1, WRONG),
        )
        # Fields by name of a plain array: attributes of a record cost Python a microsecond each.
        self._clock = self.state.clock.view(np.ndarray)
        if running is not None:
            plans.start(self.state, running.machine_type.copy(), instance.first_machine())

    @property
    def now_s(self) -> int:
        """The second to which time has passed."""
        return int(self._clock["now"][0])

    @property
    def num_machines(self) -> int:
        """Number of machines rented so far."""
        return int(self._clock["num_machines"][0])

    @property
    def num_unfinished(self) -> int:
        """Number of jobs that have arrived and not ended."""
        return int(self._clock["num_active"][0])

    @property
    def num_seen(self) -> int:
        """Number of jobs that have arrived."""
        return int(self._clock["seen"][0])

    @property
    def next_arrival_s(self) -> int | None:
        """When the next job arrives that has not been seen; None after the last one."""
        seen = self.num_seen
        return int(self.instance.arrival_s[seen]) if seen < self.instance.num_jobs else None

    @property
    def leases(self) -> Records:
        """(M,) records `state.LEASE`: the machines rented so far."""
        return self.state.machines.lease[: self.num_machines]

    @property
    def held(self) -> FloatArray:
        """(M, R + 1) float64: resources in use on each machine, and tasks, summed over the seconds of its life.

        For measures: the largest sizes over the longest times have more than 64 bits.
        """
        return self.state.machines.held[: self.num_machines]

    @property
    def jobs(self) -> Records:
        """(J,) records `state.JOB`: the jobs."""
        return self.state.job

    def schedule(self, move_s: IntArray, move_task: IntArray, move_machine: IntArray) -> ReconfigurationSchedule:
        """Return what was decided up to now; machines that nobody has released are so at the next plan.

        move_s, move_task, move_machine : (N,) int64, the moves, which the simulator does not remember.
        """
        leases = self.leases
        released = leases["released"].copy()
        released[released < 0] = (self.now_s // self.instance.period_s + 1) * self.instance.period_s
        return ReconfigurationSchedule(leases["type"], leases["rented"], released, move_s, move_task, move_machine)

    def make_room(self, more: int) -> None:
        """See to it that so many more machines can be rented."""
        wanted, rows = self.num_machines + more, self.state.machines.lease.shape[0]
        if wanted > rows:
            machines = with_rows(self.state.machines, self.num_machines, max(wanted, 2 * rows))
            self.state = self.state._replace(machines=machines)


def replay(instance: ReconfigurationInstance, schedule: ReconfigurationSchedule) -> Simulator:
    """Play a schedule whose numbers are in range and return the simulator after its last job.

    Raises
    ------
    VerifyError
        naming the first plan that breaks a rule.
    """
    simulator = Simulator(instance, max(schedule.num_machines, 1))
    status = plans.replay(
        simulator.state,
        schedule.machine_type.copy(),
        schedule.rented_s.copy(),
        schedule.released_s.copy(),
        np.argsort(schedule.released_s, kind="stable"),
        schedule.move_s.copy(),
        schedule.move_task.copy(),
        schedule.move_machine.copy(),
        instance.period_s,
    )
    if status != FINE:
        raise VerifyError(f"plan at {simulator.now_s} s: {what_is_wrong(simulator, status)}")
    return simulator


def what_is_wrong(simulator: Simulator, status: int) -> str:
    """Return a refused plan's first fault as a sentence."""
    instance, state = simulator.instance, simulator.state
    catalogue = instance.catalogue
    task, machine, resource, kind = state.wrong[0].tolist()
    if status == NO_STOCK:
        there_are = int(state.given.stock[kind])
        had = there_are - int(plans.stock_left(state, simulator.now_s)[kind])
        return (
            f"{had} machines of type {catalogue.type_names[kind]} are ordered or paid for, there are {there_are}; order "
            "one when another is paid no more, or another type."
        )
    job = int(np.searchsorted(state.given.first_task, task, side="right")) - 1
    who = f"task {task - int(state.given.first_task[job])} of job {job}"
    if status == NO_MACHINE:
        return f"{who} is on no machine; a plan holds every task that has arrived and not ended."
    kind = int(state.machines.lease[machine].type)
    where = f"machine {machine} ({catalogue.type_names[kind]})"
    if status == NOT_RENTED:
        released = int(state.machines.lease[machine].released)
        return f"{who} is on {where}, which was released at {released} s."
    if status == MIGRATES:
        return f"{who} is sent to {where} while its job still migrates; wait until all of its tasks run."
    c = int(instance.job2class[job])
    family = catalogue.families[catalogue.type2family[kind]]
    if status == NOT_ALLOWED:
        return f"{who} is on {where}, but class {catalogue.class_name(c)} may not run on family {family}."
    planned, capacity = int(state.machines.planned[machine, resource]), int(catalogue.capacity[kind, resource])
    name = catalogue.resources[resource]
    return f"{who} overfills {where}: {shown_amount(planned, name)} planned, it has {shown_amount(capacity, name)}."


def _given(instance: ReconfigurationInstance) -> Given:
    catalogue = instance.catalogue
    delays = np.zeros(len(catalogue.workloads), DELAYS)
    for phase in DELAYS.names or ():
        delays[phase] = getattr(instance, f"{phase}_s")
    return Given(
        # Copies, since compiled code is specialised to arrays that it may write.
        demand=catalogue.demand.copy(),
        type2family=catalogue.type2family.copy(),
        acquire=instance.acquire_s.copy(),
        setup=instance.setup_s.copy(),
        capacity=catalogue.capacity.copy(),
        stock=_stock(catalogue),
        throughput=instance.throughput.copy(),
        stored=_stored(instance),
        class2workload=instance.class2workload.copy(),
        delays=delays,
        arrival=instance.arrival_s.copy(),
        work=instance.work_s * RATE_ONE,
        job2class=instance.job2class.copy(),
        first_task=instance.first_task(),
        terminate=instance.terminate_s,
    )


def _stock(catalogue: ProvisioningInstance) -> IntArray:
    """Return the stocks as `Given` has them."""
    if catalogue.stock is None or not has_stock(catalogue):
        return np.empty(0, np.int64)
    return np.where(catalogue.stock == ANY_NUMBER, NEVER, catalogue.stock)


def _stored(instance: ReconfigurationInstance) -> IntArray:
    """Return the stored sets as `rates` has them."""
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
