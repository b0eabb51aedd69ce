"""A cluster that plays by the rules of `kernels_events`: for policies, all at once, up to a moment, or offer by offer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.sharing import kernels_events, kernels_state
from schedgap.instances.sharing.kernels_state import NEVER, NOBODY, State
from schedgap.instances.sharing.schedule import SharingSchedule

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.sharing.model import SharingInstance

# Choices that the papers leave open, and that move results; the first of each is the default.
NODES = ("index", "fastest", "random")
TIES = ("first", "last", "random")
OFFERS = ("each", "batch")


class Cluster:
    """The state of machines, tasks and jobs at one moment; `state` is what the kernels work on.

    A machine that is offered serves, of the waiting jobs that it serves and that fit, the one with the lowest key, until
    none fits. With gains (J, K), scale (J,) and base (J,) of `set_keys` and n(j, k) running tasks of job j on class k,

        key(j) = base(j) + sum_k n(j, k) gain(j, k) / scale(j)

    or, `by_class`, key(j, k) = (n(j, k) + 1) gain(j, k) on machines of class k: jobs fill up in proportion to 1 / gain
    there. Gains that are whole numbers are added exactly, so jobs with equal tasks have equal keys.

    nodes : in which order machines are offered at an arrival, and which task counts as the first of those that end at
    the same moment: that on the machine with the lowest `index`, the one on the machine `fastest` for its job, or a
    `random` one; at an arrival, the fastest for the first job that arrives.
    ties : of jobs with equal keys the one that arrived `first`, `last`, or that a `random` order of all jobs names first.
    offers : a machine is offered after `each` single end of a task, or once all that end at a moment have, and the jobs of
    that moment have arrived (`batch`). All jobs of a moment arrive before machines are offered to them.
    """

    def __init__(
        self,
        instance: SharingInstance,
        *,
        nodes: str = "index",
        ties: str = "first",
        offers: str = "each",
        seed: int = 0,
        by_class: bool = False,
        declines: bool = False,
    ) -> None:
        """Begin at moment 0 with idle machines and all keys 0.

        seed : of what is random. declines : whoever answers offers may leave a machine idle on which a job fits.
        """
        self.instance = instance
        serves = instance.serves()
        num_jobs, num_classes = serves.shape
        num_tasks, num_machines = instance.num_tasks, instance.num_machines
        option = np.zeros(kernels_state.OPTION_ENTRIES, np.int64)
        option[kernels_state.NODES] = NODES.index(nodes)
        option[kernels_state.BATCHES] = OFFERS.index(offers) == 1
        option[kernels_state.DECLINES] = declines
        option[kernels_state.BY_CLASS] = by_class
        pools = _pools(instance, serves, by_class)
        num_pools, num_groups = pools["first_group"].shape[0] - 1, pools["group_start"].shape[0]
        num_pairs = pools["pair2job"].shape[0]
        self.state = State(
            # Copies, since compiled code is specialised to arrays that it may write.
            arrival=instance.arrival_ms.copy(),
            demand=instance.demand.copy(),
            speed=np.where(serves, instance.performance, 0),
            first_task=instance.first_task.copy(),
            task2job=instance.task2job(),
            work=instance.work_ms.copy(),
            machine2class=instance.machine2class(),
            first_machine=np.concatenate(([0], np.cumsum(instance.machine_count))),
            **_speeds(instance, nodes),
            tie_rank=_tie_rank(num_jobs, ties, seed),
            **pools,
            option=option,
            clock=np.zeros(kernels_state.CLOCK_ENTRIES, np.int64),
            random=np.random.default_rng(seed).integers(2**64, size=1, dtype=np.uint64),
            free=np.repeat(instance.capacity, instance.machine_count, axis=0),
            start=np.full(num_tasks, NOBODY),
            machine=np.full(num_tasks, NOBODY),
            started=np.zeros(num_jobs, np.int64),
            ended=np.zeros(num_jobs, np.int64),
            runs=np.zeros((num_jobs, num_classes), np.int64),
            gain=np.zeros((num_jobs, num_classes)),
            scale=np.ones(num_jobs),
            base=np.zeros(num_jobs),
            total=np.zeros(num_jobs),
            key=np.zeros((num_jobs, num_classes if by_class else 1)),
            end=np.zeros(num_tasks, np.int64),
            end_tie=np.zeros(num_tasks, np.int64),
            end_task=np.zeros(num_tasks, np.int64),
            order=np.zeros(num_machines, np.int64),
            touched=np.full(num_machines, NOBODY),
            present=np.zeros(num_jobs, np.int64),
            present_place=np.zeros(num_jobs, np.int64),
            heap=np.zeros(num_pairs, np.int64),
            place=np.full(num_pairs, NOBODY),
            heap_size=np.zeros(num_groups, np.int64),
            open_groups=np.zeros(num_groups, np.int64),
            open_place=np.zeros(num_groups, np.int64),
            num_open=np.zeros(num_pools, np.int64),
        )

    @property
    def now_ms(self) -> int:
        """The moment to which time has passed."""
        return int(self.state.clock[kernels_state.NOW])

    @property
    def next_ms(self) -> int | None:
        """When the next task ends or the next job arrives; None if neither will."""
        clock, times = self.state.clock, []
        if clock[kernels_state.RUNNING]:
            times.append(int(self.state.end[0]))
        if clock[kernels_state.SEEN] < self.instance.num_jobs:
            times.append(int(self.state.arrival[clock[kernels_state.SEEN]]))
        return min(times, default=None)

    @property
    def present(self) -> IntArray:
        """(N,) int64, ascending: the jobs that have arrived by `now_ms`, that moment included, and not ended."""
        seen = self.state.clock[kernels_state.SEEN]
        arrived = np.searchsorted(self.state.arrival, self.now_ms, side="right")
        jobs: IntArray = np.append(self.admitted, np.arange(seen, arrived))
        return jobs

    @property
    def admitted(self) -> IntArray:
        """(N,) int64, ascending: of the jobs `present` those that can be served already, which the others are next."""
        jobs: IntArray = np.sort(self.state.present[: self.state.clock[kernels_state.PRESENT]])
        return jobs

    @property
    def running(self) -> IntArray:
        """(J, K) int64: the tasks of each job that run on each machine class now; not to be written."""
        return self.state.runs

    @property
    def num_to_start(self) -> IntArray:
        """(J,) int64: the tasks of each job, whether it has arrived or not, that have not started."""
        left: IntArray = np.diff(self.state.first_task) - self.state.started
        return left

    @property
    def num_unfinished(self) -> IntArray:
        """(J,) int64: the tasks of each job, whether it has arrived or not, that have not ended, running ones included."""
        left: IntArray = np.diff(self.state.first_task) - self.state.ended
        return left

    def set_keys(
        self,
        gain: ArrayLike,
        scale: ArrayLike = 1.0,
        base: ArrayLike = 0.0,
        jobs: IntArray | slice = slice(None),
    ) -> None:
        """Set what decides who is served, for all jobs or some, from now on.

        gain : (N, K) or what broadcasts to it. scale : (N,), positive. base : (N,). All finite; none by_class but gain.
        """
        state = self.state
        state.gain[jobs] = gain
        state.scale[jobs] = scale
        state.base[jobs] = base
        kernels_events.renew_keys(state)

    def run_until(self, ms: int) -> None:
        """Let time pass up to a moment.

        Whatever happens at that moment itself is still to come: tasks that end then still run, and jobs that arrive then
        are `present` but have not been served.
        """
        kernels_events.play(self.state, ms)

    def run(self) -> None:
        """Let time pass until the last task has ended."""
        kernels_events.play(self.state, NEVER)

    def next_offer(self) -> int | None:
        """Go to the next offer of a machine on which a waiting job fits, and return the machine; None after the last.

        `now_ms` is then the moment of the offer. Only for a cluster that `declines`.
        """
        m = int(kernels_events.next_offer(self.state, NEVER))
        return None if m == NOBODY else m

    def next_in_line(self, machine: int) -> int | None:
        """Return the waiting job with the lowest key that fits on a machine; None if none does."""
        job = int(kernels_events.next_in_line(self.state, machine))
        return None if job == NOBODY else job

    def serve(self, machine: int, job: int) -> None:
        """Start the next task of a job on a machine; the job must be admitted and wait, be served there, and fit."""
        kernels_events.start(self.state, machine, job)

    def schedule(self) -> SharingSchedule:
        """Return what has been decided; tasks that have not started are on machine -1."""
        return SharingSchedule(self.state.machine, self.state.start)


def _tie_rank(num_jobs: int, ties: str, seed: int) -> IntArray:
    rank = np.arange(num_jobs)
    if ties == "random":
        # A number a job, one after the other: the order of two jobs does not depend on how many come later.
        numbers = np.random.default_rng((seed, 1)).random(num_jobs)
        rank[np.argsort(numbers, kind="stable")] = np.arange(num_jobs)
    return rank[::-1].copy() if ties == "last" else rank


def _speeds(instance: SharingInstance, nodes: str) -> dict[str, IntArray]:
    if nodes != "fastest":
        return {"fastest": np.zeros((0, 0), np.int64), "speed_rank": np.zeros((0, 0), np.int64)}
    fastest = np.argsort(-instance.performance, axis=1, kind="stable")
    rank = np.empty_like(fastest)
    np.put_along_axis(rank, fastest, np.arange(fastest.shape[1])[None, :], axis=1)
    return {"fastest": fastest, "speed_rank": rank}


def _pools(instance: SharingInstance, serves: BoolArray, by_class: bool) -> dict[str, IntArray]:
    """Return pools of classes, pairs of jobs and pools, and groups of pairs, as `State` has them."""
    if by_class:
        class2pool, num_pools = np.arange(serves.shape[1]), serves.shape[1]
        served = serves
    else:
        _, first, inverse = np.unique(np.packbits(serves, axis=0), axis=1, return_index=True, return_inverse=True)
        class2pool, num_pools = inverse.reshape(-1), first.shape[0]
        served = serves[:, first]
    # Columns of one array otherwise, which compiled code takes for another type.
    job, pool = (np.ascontiguousarray(index) for index in np.nonzero(served))
    demands, kind = np.unique(instance.demand, axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    groups, group = np.unique(pool * demands.shape[0] + kind[job], return_inverse=True)
    sizes = np.bincount(group, minlength=groups.shape[0])
    group2pool = groups // demands.shape[0]
    return {
        "class2pool": class2pool,
        "first_pair": np.concatenate(([0], np.cumsum(served.sum(axis=1)))),
        "pair2job": job,
        "pair2group": group.reshape(-1),
        "first_group": np.searchsorted(group2pool, np.arange(num_pools + 1)),
        "group2pool": group2pool,
        "group_demand": demands[groups % demands.shape[0]],
        "group_start": np.cumsum(sizes) - sizes,
    }
