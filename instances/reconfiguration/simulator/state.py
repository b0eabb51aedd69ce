"""What the simulator's rules work on: what is given, and the state of machines, tasks and jobs, as arrays by concern."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from schedgap.instances.arrays import FloatArray, IntArray

# An array of records, whose fields are named: `task[k].stage`, and all of them at once `task["stage"]`.
Records: TypeAlias = "np.ndarray[Any, Any]"


# Stages of a task. A machine's slot is held from FETCHING until UPLOADING ends.
UNPLANNED, KILLING, UPLOADING, WAITING, FETCHING, ACTIVE, ENDED = 0, 1, 2, 3, 4, 5, 6

# Phases of a job.
UNSEEN, QUEUED, MIGRATING, STARTING, RUNNING, DONE = 0, 1, 2, 3, 4, 5

# What may be wrong with a plan: status of `apply_plan`; `State.wrong` then names task, machine and resource, or the type
# that there are too many of.
FINE, NO_MACHINE, NOT_RENTED, MIGRATES, NOT_ALLOWED, OVERFULL, NO_STOCK = 0, -1, -2, -3, -4, -5, -6


def _record(fields: str) -> np.dtype[Any]:
    return np.dtype((np.record, [(name, np.int64) for name in fields.split()]))


DELAYS = _record("fetch build kill upload init")
CLOCK = _record("now seen num_active num_machines num_live")
TASK = _record("stage due sent_to held_on")
JOB = _record("phase ready progress rate settled finish executed moves")
LEASE = _record("type rented paid_from runs_from released paid_until holds counted")
WRONG = _record("task machine resource type")


class Given(NamedTuple):
    """The instance.

    demand : (F, C, R). type2family, acquire, setup : (K,). capacity : (K, R). throughput : (W, W) thousandths.
    stock : (K,), `NEVER` where any number can be had; (0,) where that is so of all types.
    stored : see `rate_beside`. class2workload : (C,). delays : (W,) DELAYS. arrival, job2class : (J,). work : (J,),
    billionths of a second. first_task : (J + 1,). terminate : seconds.
    """

    demand: IntArray
    type2family: IntArray
    acquire: IntArray
    setup: IntArray
    capacity: IntArray
    stock: IntArray
    throughput: IntArray
    stored: IntArray
    class2workload: IntArray
    delays: Records
    arrival: IntArray
    work: IntArray
    job2class: IntArray
    first_task: IntArray
    terminate: int


class Machines(NamedTuple):
    """Machines, a row each; the first `clock[0].num_machines` have been rented.

    lease : (M,) LEASE; released and paid_until are -1 where it has not happened yet, holds is the number of slots held.
    used : (M, R), of held slots. contending : (M, W), tasks that contend. images : (M, W), whether the workload's
    image was built there. held : (M, R + 1) float64, used resources and slots, summed over seconds.
    live : (M,), machines still ordered or paid at the last plan. dirty, planned : (M,), (M, R) work space.
    """

    lease: Records
    used: IntArray
    contending: IntArray
    images: IntArray
    held: FloatArray
    live: IntArray
    dirty: IntArray
    planned: IntArray


class State(NamedTuple):
    """Everything that the rules need.

    clock : (1,) CLOCK, the second, and how many jobs have been seen, are unfinished, machines have been rented, are live.
    job : (J,) JOB. task : (T,) TASK; sent_to and held_on are -1 for no machine. active : (J,), the seen and unfinished
    jobs. target : (T,), where a plan sends a task. wrong : (1,) WRONG.
    """

    given: Given
    clock: Records
    job: Records
    task: Records
    machines: Machines
    active: IntArray
    target: IntArray
    wrong: Records


def new_machines(rows: int, num_resources: int, num_workloads: int) -> Machines:
    """Return rows for so many machines, none of them rented."""
    return Machines(
        lease=np.zeros(rows, LEASE),
        used=np.zeros((rows, num_resources), np.int64),
        contending=np.zeros((rows, num_workloads), np.int64),
        images=np.zeros((rows, num_workloads), np.int64),
        held=np.zeros((rows, num_resources + 1)),
        live=np.zeros(rows, np.int64),
        dirty=np.zeros(rows, np.int64),
        planned=np.zeros((rows, num_resources), np.int64),
    )


def with_rows(machines: Machines, number: int, rows: int) -> Machines:
    """Return a copy of the first `number` machines with room for `rows`."""

    def resized(old: Any) -> Any:
        new = np.zeros((rows, *old.shape[1:]), old.dtype)
        new[:number] = old[:number]
        return new

    return Machines(*map(resized, machines))


def copied(state: State, rows: int) -> State:
    """Return a copy of all that changes, with room for so many machines, of which there are no more yet."""
    return state._replace(
        clock=state.clock.copy(),
        job=state.job.copy(),
        task=state.task.copy(),
        machines=with_rows(state.machines, int(state.clock[0].num_machines), rows),
        active=state.active.copy(),
        target=state.target.copy(),
        wrong=state.wrong.copy(),
    )
