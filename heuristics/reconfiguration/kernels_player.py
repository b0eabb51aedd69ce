"""What a policy sees, gathered from the cloud's state, and its plan carried out: compiled, once a plan.

What can be rented, what there is to place, and a plan in the making, in the form that compiled rules take.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from schedgap.instances.arrays import BoolArray, FloatArray, IntArray
from schedgap.instances.jit import inner_kernel, kernel
from schedgap.instances.reconfiguration.simulator.plans import apply_plan, release, rent
from schedgap.instances.reconfiguration.simulator.rates import RATE_ONE, rate_beside
from schedgap.instances.reconfiguration.simulator.state import ACTIVE, MIGRATING, QUEUED, State


class Catalogue(NamedTuple):
    """What can be rented and what classes ask for.

    demand : (F, C, R). family : (K,). capacity : (K, R). price : (K,) float64, micro-dollars per hour. falling : (K,)
    types by falling price. kmin : (C,) reservation-price type. worth : (C,) float64, reservation price.
    """

    demand: IntArray
    family: IntArray
    capacity: IntArray
    price: FloatArray
    falling: IntArray
    kmin: IntArray
    worth: FloatArray


class Present(NamedTuple):
    """Tasks and machines of an observation.

    task_class, job_size, sent_to, held_on : (T,). machine_type, running : (M,).
    """

    task_class: IntArray
    job_size: IntArray
    sent_to: IntArray
    held_on: IntArray
    machine_type: IntArray
    running: BoolArray


class Packing(NamedTuple):
    """A plan in the making. place : (T,) machine of each task, from M on a new one, -1 for none yet.

    chosen : (M,) whether the plan has the machine. new_type : (T,). size : (1,) number of new machines.
    """

    place: IntArray
    chosen: BoolArray
    new_type: IntArray
    size: IntArray


@inner_kernel
def normalised(worth: float, throughput: float, size: int) -> float:
    """Return TNRP: what a task of a job of so many tasks is worth at a throughput (section 4.4)."""
    if size == 1:
        return worth * throughput
    return worth * max(0.0, 1 - (1 - throughput) * size)


@inner_kernel
def aligned(demand: IntArray, left: IntArray, capacity: IntArray) -> float:
    """Return how well a demand suits the room left: their inner product, each relative to the capacity (Tetris)."""
    score = 0.0
    for r in range(capacity.shape[0]):
        if capacity[r] > 0:
            score += demand[r] / capacity[r] * (left[r] / capacity[r])
    return score


@kernel
def seen_jobs(s: State, now: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the unfinished jobs: (N,) numbers, (N,) 0 queued, 1 migrating, 2 executing, (N,) seconds of work done."""
    n = s.clock[0].num_active
    jobs = s.active[:n].copy()
    phase = np.empty(n, np.int64)
    attained_s = np.empty(n, np.float64)
    for i in range(n):
        j = jobs[i]
        phase[i] = 0 if s.job[j].phase == QUEUED else 1 if s.job[j].phase == MIGRATING else 2
        progress = s.job[j].progress + s.job[j].rate * (now - s.job[j].settled)
        attained_s[i] = progress / RATE_ONE
    return jobs, phase, attained_s


@kernel
def seen_machines(s: State, now: int) -> tuple[IntArray, IntArray, BoolArray]:
    """Return the machines of the last plan: (M,) numbers, ascending, (M,) types, (M,) whether they run already."""
    number = 0
    for i in range(s.clock[0].num_live):
        number += s.machines.lease[s.machines.live[i]].released < 0
    machines = np.empty(number, np.int64)
    machine_type = np.empty(number, np.int64)
    running = np.empty(number, np.bool_)
    number = 0
    for i in range(s.clock[0].num_live):
        m = s.machines.live[i]
        if s.machines.lease[m].released < 0:
            machines[number] = m
            machine_type[number] = s.machines.lease[m].type
            running[number] = s.machines.lease[m].runs_from <= now
            number += 1
    return machines, machine_type, running


@kernel
def seen_tasks(
    s: State, jobs: IntArray, machines: IntArray
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray, FloatArray]:
    """Return the tasks of `jobs`: (T,) task, index of its job, class, index of the machine it was sent to and of the
    one that holds it (-1 for none), and its normalised throughput now (-1 where none is seen).
    """  # noqa: D205
    total = 0
    for i in range(jobs.shape[0]):
        total += s.given.first_task[jobs[i] + 1] - s.given.first_task[jobs[i]]
    index = np.full(s.machines.lease.shape[0], -1, np.int64)
    for i in range(machines.shape[0]):
        index[machines[i]] = i
    task = np.empty(total, np.int64)
    task_job = np.empty(total, np.int64)
    task_class = np.empty(total, np.int64)
    sent_to = np.full(total, -1, np.int64)
    held_on = np.full(total, -1, np.int64)
    rate = np.full(total, -1.0)
    row = 0
    for i in range(jobs.shape[0]):
        j = jobs[i]
        c = s.given.job2class[j]
        workload = s.given.class2workload[c]
        slowest = RATE_ONE
        first_row = row
        for k in range(s.given.first_task[j], s.given.first_task[j + 1]):
            task[row], task_job[row], task_class[row] = k, i, c
            if s.task[k].sent_to >= 0:
                sent_to[row] = index[s.task[k].sent_to]
            m = s.task[k].held_on
            if m >= 0:
                held_on[row] = index[m]
            if s.task[k].stage == ACTIVE:
                slowest = min(
                    slowest, rate_beside(s.given.throughput, s.given.stored, s.machines.contending[m], workload)
                )
                rate[row] = 0.0
            row += 1
        for other in range(first_row, row):
            if rate[other] == 0.0:
                rate[other] = slowest / RATE_ONE
    return task, task_job, task_class, sent_to, held_on, rate


@kernel
def carry_out(
    s: State, now: int, task: IntArray, place: IntArray, machines: IntArray, new_types: IntArray, keep: BoolArray
) -> tuple[int, IntArray, IntArray]:
    """Rent, release and send as a plan says; returns its status, the tasks sent elsewhere and their machines.

    place : (T,), an index into `machines`, or their number plus one into `new_types`; anything else is no machine.
    keep : (M,), machines to keep without tasks. `State.machine` must have room for the new ones.
    """
    known, fresh = machines.shape[0], new_types.shape[0]
    number = np.empty(known + fresh, np.int64)
    number[:known] = machines
    for i in range(fresh):
        number[known + i] = rent(s, now, new_types[i])
    used = np.zeros(known + fresh, np.bool_)
    used[:known] = keep
    used[known:] = True
    moved_task = np.empty(task.shape[0], np.int64)
    moved_to = np.empty(task.shape[0], np.int64)
    moves = 0
    for i in range(task.shape[0]):
        inside = 0 <= place[i] < known + fresh
        m = number[place[i]] if inside else -1
        if inside:
            used[place[i]] = True
        s.target[task[i]] = m
        if m != s.task[task[i]].sent_to:
            moved_task[moves], moved_to[moves] = task[i], m
            moves += 1
    for i in range(known):
        if not used[i]:
            release(s, now, machines[i])
    status = apply_plan(s, now)
    if status == 0:
        # Jobs that end at this very second were not sent anywhere.
        kept = 0
        for i in range(moves):
            if s.task[moved_task[i]].sent_to == moved_to[i]:
                moved_task[kept], moved_to[kept] = moved_task[i], moved_to[i]
                kept += 1
        moves = kept
    return status, moved_task[:moves].copy(), moved_to[:moves].copy()


@kernel
def release_all(s: State, now: int) -> None:
    """Release every machine."""
    for i in range(s.clock[0].num_live):
        release(s, now, s.machines.live[i])
