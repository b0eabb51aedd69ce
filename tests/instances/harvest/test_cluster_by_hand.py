"""Pools made by hand: what happens at their ends."""

import numpy as np
import pytest

from schedgap.instances.harvest import kernels_events, kernels_waiting
from schedgap.instances.harvest import kernels_state as ks
from schedgap.instances.harvest.cluster import Cluster
from schedgap.instances.harvest.model import NO_CHECKPOINTS, HarvestInstance


def test_every_vm_is_as_likely_by_the_plain_rule():
    counts = np.zeros(4, int)
    instance = alike([[(0, 2)]] * 4, runtimes=[10])
    for seed in range(4000):
        cluster = Cluster(instance, seed=seed)
        assert cluster.run_plain()
        counts[cluster.schedule().vm[0]] += 1
    # Four standard deviations of a binomial count of mean 1000 are 110.
    assert abs(counts - 1000).max() < 110


def alike(vms, runtimes):
    """Make an instance of VMs given by their events, and one job of tasks of one core that arrives at 0."""
    return HarvestInstance(
        name="alike",
        objective="jobs",
        kills="oldest",
        allocation="fixed",
        max_leases=0,
        base_price=1,
        extra_price=1,
        first_event=np.cumsum([0, *(len(events) for events in vms)]),
        event_ms=[ms for events in vms for ms, _ in events],
        event_cores=[cores for events in vms for _, cores in events],
        min_cores=[1] * len(vms),
        memory_mib=[1] * len(vms),
        leased=[True] * len(vms),
        buffer=[False] * len(vms),
        arrival_ms=[0],
        cores=[1],
        task_memory_mib=[0],
        checkpoint_ms=[NO_CHECKPOINTS],
        restore_ms=[0],
        first_task=[0, len(runtimes)],
        runtime_ms=runtimes,
        estimate_ms=runtimes,
    )


def test_arrays_grow_with_the_runs():
    # Up for 10 ms and down for 10 ms, 500 times: a task of 15 ms is killed each time, and completes in the end.
    events = [(20 * k, 1) for k in range(501)] + [(20 * k + 10, 0) for k in range(500)]
    cluster = Cluster(alike([sorted(events)], runtimes=[15]))
    room = cluster.state.run_task.shape[0]
    assert cluster.run_plain()
    assert room < 501 <= cluster.state.run_task.shape[0]
    schedule = cluster.schedule()
    assert schedule.start_ms.tolist() == [20 * k for k in range(501)]
    assert schedule.end_ms.tolist() == [*(20 * k + 10 for k in range(500)), 10_015]
    assert cluster.state.kills.tolist() == [500]


def test_a_schedule_until_now_ends_what_goes_on():
    cluster = Cluster(alike([[(0, 1), (5, 2)]], runtimes=[15, 1]))
    assert cluster.advance()
    cluster.place(0, 0)
    assert cluster.advance()
    assert cluster.now_ms == 5
    assert not cluster.is_complete
    assert (cluster.schedule().start_ms.tolist(), cluster.schedule().end_ms.tolist()) == ([0], [5])


def test_nothing_happens_after_two_idle_days():
    # Asked to be woken every hour, the pool stops when there is nothing but that to come.
    cluster = Cluster(alike([[(7, 1)]], runtimes=[15]))
    moments = 0
    while cluster.advance():
        moments += 1
        cluster.state.clock[ks.WAKE] = cluster.now_ms + 3_600_000
    # At 0 the arrival, at 7 the VM, and 48 hours.
    assert moments == 50
    assert not cluster.is_complete
    assert cluster.first_waiting() == 0


@pytest.mark.parametrize("num_tasks", [1, 63, 64, 65, 4096, 4097, 300_000])
def test_the_tree_of_waiting_tasks_is_a_sorted_set(num_tasks):
    # All wait at 0; some are placed, which takes them out, and some of these are stopped, which puts them back.
    cluster = Cluster(alike([[(0, num_tasks)], [(1, 1)]], runtimes=np.full(num_tasks, 9)))
    assert cluster.advance()
    rng = np.random.default_rng(num_tasks)
    out = np.unique(rng.integers(0, num_tasks, min(num_tasks, 300)))
    if num_tasks <= 4097:
        out = np.flatnonzero(rng.random(num_tasks) < 0.95)
    placed = {task: cluster.place(task, 0) for task in out.tolist()}
    assert cluster.advance()
    back = [task for task in placed if rng.random() < 0.1]
    for task in back:
        kernels_events.stop(cluster.state, placed[task])
    expected = np.setdiff1d(np.arange(num_tasks), np.setdiff1d(out, back)).tolist()
    assert cluster.state.clock[ks.WAITING] == len(expected)
    starts = rng.integers(0, num_tasks, 500).tolist() if num_tasks > 4097 else range(num_tasks)
    following = np.append(expected, ks.NOBODY)[np.searchsorted(expected, starts)].tolist()
    assert [kernels_waiting.next_waiting(cluster.state, task) for task in starts] == following
