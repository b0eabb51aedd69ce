"""What the rules of the cluster work on, by concern: named tuples of arrays. All int64 unless it says otherwise.

Letters: J jobs, T tasks, K machine classes, M machines, R resources; P pools, of classes that serve the same jobs; E pairs of
a job and a pool that serves it, by job; S groups, of pairs with the same pool and the same demand, by pool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from schedgap.instances.arrays import FloatArray, IntArray

NOBODY = -1

# Values of `Rules.nodes`: in which order machines are offered that become free, or may be offered, at the same moment; 0 is by
# index.
FASTEST_FIRST, SHUFFLED = 1, 2

# `arrived` jobs have arrived; those from `first_new` on came last and have `new_to_start` tasks to start. Of the `offers`
# machines to be offered at this moment, `offered` have been. `running` tasks run, `present` jobs have not ended.
CLOCK = np.dtype(
    [
        (name, np.int64)
        for name in ("now", "arrived", "first_new", "new_to_start", "offers", "offered", "running", "present")
    ]
)


class Rules(NamedTuple):
    """Choices that move results.

    batches : machines are offered once all tasks that end at a moment have. declines : a machine may be left idle on which
    a waiting job fits.
    """

    nodes: int
    batches: bool
    declines: bool


class Jobs(NamedTuple):
    """Jobs in order of arrival.

    arrival : (J,). demand : (J, R). speed : (J, K), performance in thousandths, 0 where a job is not served.
    first_task : (J + 1,). fastest : (J, K), a job's classes, the fastest first, and speed_rank : (J, K), the place of each
    among them; (0, 0) unless FASTEST_FIRST. tie_rank : (J,), among jobs of equal keys the one with the lowest is served.
    Changed: started, ended : (J,), tasks. runs : (J, K), running tasks. present : (J,), jobs that have arrived and not
    ended, and place : (J,), of each among them.
    """

    arrival: IntArray
    demand: IntArray
    speed: IntArray
    first_task: IntArray
    fastest: IntArray
    speed_rank: IntArray
    tie_rank: IntArray
    started: IntArray
    ended: IntArray
    runs: IntArray
    present: IntArray
    place: IntArray


class Tasks(NamedTuple):
    """Tasks, job by job. job, work : (T,). Changed: start, machine : (T,), -1 until it starts."""

    job: IntArray
    work: IntArray
    start: IntArray
    machine: IntArray


class Machines(NamedTuple):
    """Machines, class by class.

    to_class : (M,). first : (K + 1,), of each class. Changed: free : (M, R). offers : (M,), machines to be offered at this
    moment. last_end : (M,), the last moment at which a task ended there.
    """

    to_class: IntArray
    first: IntArray
    free: IntArray
    offers: IntArray
    last_end: IntArray


class Keys(NamedTuple):
    """What decides who is served: base + (sum of the gains of the running tasks) / scale.

    gain : (J, K) float64. scale, base, total, key : (J,) float64, total the sum of gains.
    """

    gain: FloatArray
    scale: FloatArray
    base: FloatArray
    total: FloatArray
    key: FloatArray


class Ends(NamedTuple):
    """A heap of the running tasks by their ends, ties, and numbers: (T,) each."""

    time: IntArray
    tie: IntArray
    task: IntArray


class Queues(NamedTuple):
    """A heap of waiting pairs for each group.

    class2pool : (K,). first_pair : (J + 1,). pair2job, pair2group : (E,). first_group : (P + 1,). group2pool : (S,).
    group_demand : (S, R). group_start : (S,), of a group's heap in `heap`.
    Changed: heap : (E,), the first of each group on top. place : (E,), of a pair in its heap, -1 for none. size : (S,).
    open_groups : (S,), for each pool its groups with waiting jobs. open_place : (S,). num_open : (P,).
    """

    class2pool: IntArray
    first_pair: IntArray
    pair2job: IntArray
    pair2group: IntArray
    first_group: IntArray
    group2pool: IntArray
    group_demand: IntArray
    group_start: IntArray
    heap: IntArray
    place: IntArray
    size: IntArray
    open_groups: IntArray
    open_place: IntArray
    num_open: IntArray


class State(NamedTuple):
    """Everything that the rules need. clock : (1,) of `CLOCK`. random : (1,) uint64."""

    rules: Rules
    jobs: Jobs
    tasks: Tasks
    machines: Machines
    keys: Keys
    ends: Ends
    queues: Queues
    clock: Any
    random: NDArray[np.uint64]
