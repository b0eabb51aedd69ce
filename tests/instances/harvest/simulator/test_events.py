"""Pools made by hand: what happens at their ends."""

import numpy as np

from schedgap.instances.harvest.model import NO_CHECKPOINTS, HarvestInstance
from schedgap.instances.harvest.simulator.simulator import Simulator


def test_every_vm_is_as_likely_by_the_plain_rule():
    counts = np.zeros(4, int)
    instance = alike([[(0, 2)]] * 4, runtimes=[10])
    for seed in range(4000):
        simulator = Simulator(instance, seed=seed)
        assert simulator.run_plain()
        counts[simulator.schedule().vm[0]] += 1
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
    simulator = Simulator(alike([sorted(events)], runtimes=[15]))
    room = simulator.state.runs.task.shape[0]
    assert simulator.run_plain()
    assert room < 501 <= simulator.state.runs.task.shape[0]
    schedule = simulator.schedule()
    assert schedule.start_ms.tolist() == [20 * k for k in range(501)]
    assert schedule.end_ms.tolist() == [*(20 * k + 10 for k in range(500)), 10_015]
    assert simulator.state.tasks.kills.tolist() == [500]


def test_a_schedule_until_now_ends_what_goes_on():
    simulator = Simulator(alike([[(0, 1), (5, 2)]], runtimes=[15, 1]))
    assert simulator.advance()
    simulator.place(0, 0)
    assert simulator.advance()
    assert simulator.now_ms == 5
    assert not simulator.is_complete
    assert (simulator.schedule().start_ms.tolist(), simulator.schedule().end_ms.tolist()) == ([0], [5])


def test_nothing_happens_after_two_idle_days():
    # Asked to be woken every hour, the pool stops when there is nothing but that to come.
    simulator = Simulator(alike([[(7, 1)]], runtimes=[15]))
    moments = 0
    while simulator.advance():
        moments += 1
        simulator.state.clock[0].wake = simulator.now_ms + 3_600_000
    # At 0 the arrival, at 7 the VM, and 48 hours.
    assert moments == 50
    assert not simulator.is_complete
    assert simulator.first_waiting() == 0
