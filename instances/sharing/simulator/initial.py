"""The state of a cluster before the first moment: idle machines, and no job has arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.sharing.simulator.state import (
    CLOCK,
    FASTEST_FIRST,
    NOBODY,
    Ends,
    Jobs,
    Keys,
    Machines,
    Queues,
    Rules,
    State,
    Tasks,
)

if TYPE_CHECKING:
    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.sharing.model import SharingInstance


def initial_state(instance: SharingInstance, rules: Rules, ties: str, seed: int) -> State:
    """Return the state at moment 0, all keys 0, in arrays that compiled code may write: it is specialised to these.

    ties, seed : as `Simulator` has them.
    """
    serves = instance.serves()
    (num_jobs, num_classes), num_tasks, num_machines = serves.shape, instance.num_tasks, instance.num_machines
    return State(
        rules,
        _jobs(instance, serves, rules, ties, seed),
        Tasks(instance.task2job(), instance.work_ms.copy(), np.full(num_tasks, NOBODY), np.full(num_tasks, NOBODY)),
        Machines(
            to_class=instance.machine2class(),
            first=np.concatenate(([0], np.cumsum(instance.machine_count))),
            free=np.repeat(instance.capacity, instance.machine_count, axis=0),
            offers=np.zeros(num_machines, np.int64),
            last_end=np.full(num_machines, NOBODY),
        ),
        Keys(
            gain=np.zeros((num_jobs, num_classes)),
            scale=np.ones(num_jobs),
            base=np.zeros(num_jobs),
            total=np.zeros(num_jobs),
            key=np.zeros(num_jobs),
        ),
        Ends(*(np.zeros(num_tasks, np.int64) for _ in Ends._fields)),
        _queues(instance, serves),
        np.zeros(1, CLOCK),
        np.random.default_rng(seed).integers(2**64, size=1, dtype=np.uint64),
    )


def _jobs(instance: SharingInstance, serves: BoolArray, rules: Rules, ties: str, seed: int) -> Jobs:
    fastest = speed_rank = np.zeros((0, 0), np.int64)
    if rules.nodes == FASTEST_FIRST:
        fastest = np.argsort(-instance.performance, axis=1, kind="stable")
        speed_rank = np.empty_like(fastest)
        np.put_along_axis(speed_rank, fastest, np.arange(fastest.shape[1])[None, :], axis=1)
    return Jobs(
        arrival=instance.arrival_ms.copy(),
        demand=instance.demand.copy(),
        speed=np.where(serves, instance.performance, 0),
        first_task=instance.first_task.copy(),
        fastest=fastest,
        speed_rank=speed_rank,
        tie_rank=_tie_rank(instance.num_jobs, ties, seed),
        started=np.zeros(instance.num_jobs, np.int64),
        ended=np.zeros(instance.num_jobs, np.int64),
        runs=np.zeros(serves.shape, np.int64),
        present=np.zeros(instance.num_jobs, np.int64),
        place=np.zeros(instance.num_jobs, np.int64),
    )


def _tie_rank(num_jobs: int, ties: str, seed: int) -> IntArray:
    rank = np.arange(num_jobs)
    if ties == "random":
        # A number a job, one after the other: the order of two jobs does not depend on how many come later.
        numbers = np.random.default_rng((seed, 1)).random(num_jobs)
        rank[np.argsort(numbers, kind="stable")] = np.arange(num_jobs)
    return rank[::-1].copy() if ties == "last" else rank


def _queues(instance: SharingInstance, serves: BoolArray) -> Queues:
    """Return pools of classes, pairs of jobs and pools, and groups of pairs; nobody waits."""
    _, first, inverse = np.unique(np.packbits(serves, axis=0), axis=1, return_index=True, return_inverse=True)
    served, class2pool = serves[:, first], inverse.reshape(-1)
    # Columns of one array otherwise, which compiled code takes for another type.
    job, pool = (np.ascontiguousarray(index) for index in np.nonzero(served))
    demands, kind = np.unique(instance.demand, axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    groups, group = np.unique(pool * demands.shape[0] + kind[job], return_inverse=True)
    sizes = np.bincount(group, minlength=groups.shape[0])
    group2pool = groups // demands.shape[0]
    return Queues(
        class2pool=class2pool,
        first_pair=np.concatenate(([0], np.cumsum(served.sum(axis=1)))),
        pair2job=job,
        pair2group=group.reshape(-1),
        first_group=np.searchsorted(group2pool, np.arange(first.shape[0] + 1)),
        group2pool=group2pool,
        group_demand=demands[groups % demands.shape[0]],
        group_start=np.cumsum(sizes) - sizes,
        heap=np.zeros(job.shape[0], np.int64),
        place=np.full(job.shape[0], NOBODY),
        size=np.zeros(groups.shape[0], np.int64),
        open_groups=np.zeros(groups.shape[0], np.int64),
        open_place=np.zeros(groups.shape[0], np.int64),
        num_open=np.zeros(first.shape[0], np.int64),
    )
