"""The state of a cluster before the first moment: idle machines, and no job has arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.arrays import record, records
from schedgap.instances.sharing.simulator.state import (
    FASTEST_FIRST,
    NOBODY,
    Class,
    Clock,
    End,
    Group,
    Job,
    Machine,
    Pair,
    Pool,
    Rules,
    State,
    Task,
)
from schedgap.instances.units import NEVER

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.sharing.model import SharingInstance


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
