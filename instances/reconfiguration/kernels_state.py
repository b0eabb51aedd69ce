"""What the cloud's rules work on: the state of machines, tasks and jobs, as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from schedgap.instances.arrays import FloatArray, IntArray

NEVER = 1 << 60

# Stages of a task, and columns of `State.task`. A machine's slot is held from FETCHING until UPLOADING ends.
UNPLANNED, KILLING, UPLOADING, WAITING, FETCHING, ACTIVE, ENDED = 0, 1, 2, 3, 4, 5, 6
STAGE, DUE, SENT_TO, HELD_ON = 0, 1, 2, 3
TASK_COLUMNS = 4

# Phases of a job, and columns of `State.job`.
UNSEEN, QUEUED, MIGRATING, STARTING, RUNNING, DONE = 0, 1, 2, 3, 4, 5
PHASE, READY, PROGRESS, RATE, SETTLED, FINISH, EXECUTED, MOVES = 0, 1, 2, 3, 4, 5, 6, 7
JOB_COLUMNS = 8

# Columns of `State.machine`; -1 where it has not happened yet.
TYPE, RENTED, PAID_FROM, RUNS_FROM, RELEASED, PAID_UNTIL, HOLDS, COUNTED = 0, 1, 2, 3, 4, 5, 6, 7
MACHINE_COLUMNS = 8

# Entries of `State.clock`.
NOW, SEEN, NUM_ACTIVE, NUM_MACHINES, NUM_LIVE = 0, 1, 2, 3, 4
CLOCK_ENTRIES = 5

# What may be wrong with a plan: status of `apply_plan`; `State.wrong` then holds (task or machine, machine, resource).
FINE, NO_MACHINE, NOT_RENTED, MIGRATES, NOT_ALLOWED, OVERFULL = 0, -1, -2, -3, -4, -5


class State(NamedTuple):
    """Everything that the rules need. First what is given, then what changes.

    demand : (F, C, R). type2family, acquire, setup : (K,). capacity : (K, R). throughput : (W, W) thousandths.
    stored : see `rate_beside`. class2workload : (C,). delays : (W, 5), fetch, build, kill, upload, init.
    arrival, job2class : (J,). work : (J,), billionths of a second. first_task : (J + 1,). terminate : (1,).
    clock : NOW, jobs SEEN, NUM_ACTIVE, NUM_MACHINES, NUM_LIVE. task : (T, 4). job : (J, 8). active : (J,), the seen and
    unfinished jobs. target : (T,), where a plan sends a task. machine : (M, 8). used : (M, R), of held slots.
    contending : (M, W), tasks that contend. images : (M, W), whether the workload's image was built there.
    held : (M, R + 1) float64, used resources and slots, summed over seconds. live : (M,), machines still paid at the last plan.
    dirty, planned : (M,), (M, R) work space. wrong : (3,).
    """

    demand: IntArray
    type2family: IntArray
    acquire: IntArray
    setup: IntArray
    capacity: IntArray
    throughput: IntArray
    stored: IntArray
    class2workload: IntArray
    delays: IntArray
    arrival: IntArray
    work: IntArray
    job2class: IntArray
    first_task: IntArray
    terminate: IntArray
    clock: IntArray
    task: IntArray
    job: IntArray
    active: IntArray
    target: IntArray
    machine: IntArray
    used: IntArray
    contending: IntArray
    images: IntArray
    held: FloatArray
    live: IntArray
    dirty: IntArray
    planned: IntArray
    wrong: IntArray
