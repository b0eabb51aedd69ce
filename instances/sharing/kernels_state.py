"""What the cluster's rules work on: machines, running tasks and waiting jobs, as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from schedgap.instances.arrays import FloatArray, IntArray

NEVER = 1 << 62
NOBODY = -1

# Entries of `State.clock`. SEEN jobs have arrived; those from FIRST_NEW on came last and have NEW_LEFT tasks to start.
# Of the OFFERS machines to be offered at this moment, TAKEN have been.
NOW, SEEN, FIRST_NEW, NEW_LEFT, OFFERS, TAKEN, RUNNING, PRESENT = 0, 1, 2, 3, 4, 5, 6, 7
CLOCK_ENTRIES = 8

# Options that move results, entries of `State.option`.
NODES, BATCHES, DECLINES, BY_CLASS = 0, 1, 2, 3
OPTION_ENTRIES = 4
# Values of NODES: in which order machines are offered that become free, or may be offered, at the same moment.
BY_INDEX, FASTEST_FIRST, SHUFFLED = 0, 1, 2


class State(NamedTuple):
    """Everything that the rules need. First what is given, then what changes. All int64 unless it says otherwise.

    Letters: J jobs, T tasks, K machine classes, M machines, R resources; P pools, of classes that serve the same jobs;
    E pairs of a job and a pool that serves it, by job; S groups, of pairs with the same pool and the same demand, by pool.

    arrival : (J,). demand : (J, R). speed : (J, K), performance in thousandths, 0 where a job is not served.
    first_task : (J + 1,). task2job, work : (T,). machine2class : (M,). first_machine : (K + 1,). class2pool : (K,).
    fastest : (J, K), a job's classes, the fastest first, and speed_rank : (J, K), the place of each among them; (0, 0)
    unless FASTEST_FIRST. tie_rank : (J,), among jobs of equal keys the one with the lowest is served.
    first_pair : (J + 1,). pair2job, pair2group : (E,). first_group : (P + 1,). group2pool : (S,).
    group_demand : (S, R).
    group_start : (S,), of a group's heap in `heap`. option : as above.

    clock : as above. random : (1,) uint64. free : (M, R). start, machine : (T,), -1 until it starts.
    started, ended : (J,), tasks. runs : (J, K), running tasks. gain : (J, K) float64, and scale, base : (J,) float64: the
    key of a job is base + (sum of the gains of its running tasks) / scale; BY_CLASS it is (runs + 1) x gain on each class.
    total : (J,) float64, sum of gains. key : (J, 1) float64, (J, P) BY_CLASS.
    end, end_tie, end_task : (T,), heap of the running tasks. order : (M,), machines to be offered. touched : (M,), the last
    moment at which a task ended there. present, present_place : (J,), jobs that have arrived and not ended.
    heap : (E,), waiting pairs of each group, the first of them on top. place : (E,), of a pair in its heap, -1 for none.
    heap_size : (S,). open_groups : (S,), for each pool its groups with waiting jobs. open_place : (S,). num_open : (P,).
    """

    arrival: IntArray
    demand: IntArray
    speed: IntArray
    first_task: IntArray
    task2job: IntArray
    work: IntArray
    machine2class: IntArray
    first_machine: IntArray
    class2pool: IntArray
    fastest: IntArray
    speed_rank: IntArray
    tie_rank: IntArray
    first_pair: IntArray
    pair2job: IntArray
    pair2group: IntArray
    first_group: IntArray
    group2pool: IntArray
    group_demand: IntArray
    group_start: IntArray
    option: IntArray
    clock: IntArray
    random: NDArray[np.uint64]
    free: IntArray
    start: IntArray
    machine: IntArray
    started: IntArray
    ended: IntArray
    runs: IntArray
    gain: FloatArray
    scale: FloatArray
    base: FloatArray
    total: FloatArray
    key: FloatArray
    end: IntArray
    end_tie: IntArray
    end_task: IntArray
    order: IntArray
    touched: IntArray
    present: IntArray
    present_place: IntArray
    heap: IntArray
    place: IntArray
    heap_size: IntArray
    open_groups: IntArray
    open_place: IntArray
    num_open: IntArray
