"""What the rules of the cluster work on: one named tuple of arrays of records, by what a record is of, and of tables.

Letters: J jobs, T tasks, K machine classes, M machines, R resources; P pools, of classes that serve the same jobs; E pairs of
a job and a pool that serves it, by job; S groups, of pairs with the same pool and the same demand, by pool. Fields are int64
unless they say otherwise.

The state of a cluster before the first moment: idle machines, and no job has arrived.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import uint64

from schedgap.instances.arrays import FloatArray, IntArray, Records, record, records
from schedgap.instances.sharing.model import SharingInstance
from schedgap.instances.units import NEVER

NOBODY = -1

# Values of `Rules.nodes`: in which order machines are offered that become free, or may be offered, at the same moment; 0 is by
# index.
FASTEST_FIRST, SHUFFLED = 1, 2


class Rules(NamedTuple):
    """Choices that move results.

    batches : machines are offered once all tasks that end at a moment have. declines : a machine may be left idle on which
    a waiting job fits.
    """

    nodes: int
    batches: bool
    declines: bool


class Clock:
    """The moment, and how far everything is.

    `arrived` jobs have arrived; those from `first_new` on came last and have `new_to_start` tasks to start. Of the `offers`
    machines to be offered at this moment, `offered` have been. `running` tasks run, `present` jobs have not ended. random : for
    what is drawn.
    """

    now: int
    arrived: int
    first_new: int
    new_to_start: int
    offers: int
    offered: int
    running: int
    present: int
    random: uint64


class Job:
    """Jobs are in order of arrival; after the last one comes one that never arrives, whose tasks and pairs would be after all.

    tie_rank : of jobs of equal keys the one with the lowest is served. first_task, first_pair : its first ones. Changed:
    started, ended : tasks. present : of the list of jobs that have arrived and not ended, whose places these are as well, and
    place : of this one among them. key : offset + total / scale, the lowest is served; total : the sum of the gains of the
    running tasks.
    """

    arrival: int
    first_task: int
    first_pair: int
    tie_rank: int
    started: int
    ended: int
    present: int
    place: int
    scale: float
    offset: float
    total: float
    key: float


class Task:
    """Tasks are job by job. Changed: start, machine : -1 until it starts."""

    job: int
    work: int
    start: int
    machine: int


class Class:
    """Of machines; after the last one comes one whose first machine would be after all. pool : that it is in."""

    first: int
    pool: int


class Machine:
    """Machines are class by class.

    Changed: offers : the list of machines to be offered at this moment, whose places these are as well. last_end : the last
    moment at which a task ended there.
    """

    to_class: int
    offers: int
    last_end: int


class End:
    """A running task in a heap of them, by ends, ties, and numbers."""

    time: int
    tie: int
    task: int


class Pair:
    """A job and a pool. heap : all groups' heaps of waiting pairs, one after the other. place : of a pair in its heap, or -1."""

    job: int
    group: int
    heap: int
    place: int


class Group:
    """Of pairs. start : of its heap.

    Changed: waiting : pairs in its heap. opened : for each pool its groups with waiting jobs, from its first group on.
    open_place : of a group among them.
    """

    pool: int
    start: int
    waiting: int
    opened: int
    open_place: int


class Pool:
    """Of classes; after the last one comes one whose first group would be after all. num_open : groups with waiting jobs."""

    first_group: int
    num_open: int


class State(NamedTuple):
    """Everything that the rules need.

    clock : (1,). jobs : (J + 1,). tasks : (T,). classes : (K + 1,). machines : (M,). ends : (T,). pairs : (E,). groups : (S,).
    pools : (P + 1,). demand : (J, R). speed : (J, K), performance in thousandths, 0 where a job is not served. fastest : (J, K),
    a job's classes, the fastest first, and speed_rank : (J, K), the place of each among them; (0, 0) unless FASTEST_FIRST.
    group_demand : (S, R). Changed: free : (M, R). runs : (J, K), running tasks. gain : (J, K) float64, of each.
    """

    rules: Rules
    clock: Records[Clock]
    jobs: Records[Job]
    tasks: Records[Task]
    classes: Records[Class]
    machines: Records[Machine]
    ends: Records[End]
    pairs: Records[Pair]
    groups: Records[Group]
    pools: Records[Pool]
    demand: IntArray
    speed: IntArray
    fastest: IntArray
    speed_rank: IntArray
    group_demand: IntArray
    free: IntArray
    runs: IntArray
    gain: FloatArray


def initial_state(instance: SharingInstance, rules: Rules, ties: str, seed: int) -> State:
    """Return the state at moment 0, all keys 0, in arrays that compiled code may write.

    ties, seed : as `Simulator` has them.
    """
    serves = instance.serves()
    (num_jobs, num_classes), num_tasks = serves.shape, instance.num_tasks
    # Pools of classes, pairs of jobs and pools, and groups of pairs.
    _, first, class2pool = np.unique(np.packbits(serves, axis=0), axis=1, return_index=True, return_inverse=True)
    served, num_pools = serves[:, first], first.shape[0]
    job, pool = np.nonzero(served)
    demands, kind = np.unique(instance.demand, axis=0, return_inverse=True)
    groups, group = np.unique(pool * demands.shape[0] + kind.reshape(-1)[job], return_inverse=True)
    sizes = np.bincount(group.reshape(-1), minlength=groups.shape[0])
    group2pool = groups // demands.shape[0]
    jobs = records(
        Job,
        num_jobs + 1,
        arrival=np.append(instance.arrival_ms, NEVER),
        first_task=instance.first_task,
        first_pair=np.concatenate(([0], np.cumsum(served.sum(axis=1)))),
        tie_rank=np.append(_tie_rank(num_jobs, ties, seed), num_jobs),
        scale=1.0,
    )
    classes = records(Class, num_classes + 1, first=np.concatenate(([0], np.cumsum(instance.machine_count))))
    classes.pool[:-1] = class2pool.reshape(-1)
    fastest = speed_rank = np.zeros((0, 0), np.int64)
    if rules.nodes == FASTEST_FIRST:
        fastest = np.argsort(-instance.performance, axis=1, kind="stable")
        speed_rank = np.empty_like(fastest)
        np.put_along_axis(speed_rank, fastest, np.arange(fastest.shape[1])[None, :], axis=1)
    return State(
        rules,
        clock=record(Clock, random=np.random.default_rng(seed).integers(2**64, size=1, dtype=np.uint64)[0]),
        jobs=jobs,
        tasks=records(Task, num_tasks, job=instance.task2job(), work=instance.work_ms, start=NOBODY, machine=NOBODY),
        classes=classes,
        machines=records(Machine, instance.num_machines, to_class=instance.machine2class(), last_end=NOBODY),
        ends=records(End, num_tasks),
        pairs=records(Pair, job.shape[0], job=job, group=group.reshape(-1), place=NOBODY),
        groups=records(Group, groups.shape[0], pool=group2pool, start=np.cumsum(sizes) - sizes),
        pools=records(Pool, num_pools + 1, first_group=np.searchsorted(group2pool, np.arange(num_pools + 1))),
        demand=instance.demand.copy(),
        speed=np.where(serves, instance.performance, 0),
        fastest=fastest,
        speed_rank=speed_rank,
        group_demand=demands[groups % demands.shape[0]],
        free=np.repeat(instance.capacity, instance.machine_count, axis=0),
        runs=np.zeros(serves.shape, np.int64),
        gain=np.zeros(serves.shape),
    )


def _tie_rank(num_jobs: int, ties: str, seed: int) -> IntArray:
    rank = np.arange(num_jobs)
    if ties == "random":
        # A number a job, one after the other: the order of two jobs does not depend on how many come later.
        numbers = np.random.default_rng((seed, 1)).random(num_jobs)
        rank[np.argsort(numbers, kind="stable")] = np.arange(num_jobs)
    return rank[::-1].copy() if ties == "last" else rank
