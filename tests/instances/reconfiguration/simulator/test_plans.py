"""Plans: what is refused, and what is sent, against a check in plain Python."""

import numpy as np
import pytest

from schedgap.instances.reconfiguration.simulator import state as codes
from schedgap.instances.reconfiguration.simulator.events import advance
from schedgap.instances.reconfiguration.simulator.plans import apply_plan, release, rent, start
from schedgap.instances.reconfiguration.simulator.simulator import Simulator


def fault(instance, state, target, released):
    """The first fault of a plan for jobs of which none has been sent anywhere: its code, task and machine."""
    catalogue, used = instance.catalogue, np.zeros((len(released), len(instance.catalogue.resources)), np.int64)
    first = instance.first_task()
    for j in state.active[: state.clock[0].num_active].tolist():
        for k in range(first[j], first[j + 1]):
            m = int(target[k])
            if not 0 <= m < len(released):
                return codes.NO_MACHINE, k
            if released[m]:
                return codes.NOT_RENTED, k
            kind = state.machines.lease[m].type
            demand = catalogue.demand[catalogue.type2family[kind], instance.job2class[j]]
            if (demand < 0).any():
                return codes.NOT_ALLOWED, k
            used[m] += demand
            if (used[m] > catalogue.capacity[kind]).any():
                return codes.OVERFULL, k
    return codes.FINE, None


@pytest.mark.parametrize("seed", range(40))
def test_a_first_plan_is_refused_for_its_first_fault(made, seed):
    rng, instance = np.random.default_rng(seed), made(seed, jobs=4, arrival_s=[0] * 4)
    simulator = Simulator(instance)
    state, kinds = simulator.state, rng.integers(0, 3, 6).tolist()
    advance(state, 0)
    assert [rent(state, 0, kind) for kind in kinds] == list(range(6))
    assert state.machines.lease["paid_from"][:6].tolist() == instance.acquire_s[kinds].tolist()
    released = rng.random(6) < 0.1
    for m in np.flatnonzero(released):
        release(state, 0, m)
    lowest = -1 if rng.random() < 0.2 else 0
    state.target[:] = rng.integers(lowest, 6, state.target.shape[0])
    status, task = fault(instance, state, state.target, released)
    assert apply_plan(state, 0) == status
    if status == codes.FINE:
        assert (state.task["sent_to"] == state.target).all()
        assert (state.job["phase"] != codes.QUEUED).all()
    else:
        assert state.wrong[0].task == task
        assert (state.task["sent_to"] == -1).all()


def test_room_for_more_machines_keeps_what_there_is(two_jobs):
    simulator = Simulator(two_jobs(), 1)
    rent(simulator.state, 0, 0)
    before = simulator.leases.copy()
    simulator.make_room(5)
    assert simulator.state.machines.lease.shape == (6,)
    assert (simulator.leases == before).all()


@pytest.mark.parametrize("seed", range(20))
def test_a_start_is_as_if_tasks_had_been_there_for_long(made, begun, seed):
    instance = begun(made(seed), seed)
    bare, running = instance.replace(running=None), instance.running
    state, machine = Simulator(bare).state, instance.first_machine()
    start(state, running.machine_type.copy(), machine)
    assert state.task["held_on"].tolist() == machine.tolist() == state.task["sent_to"].tolist()
    # All that have come by then are seen; whoever is on no machine waits.
    seen = instance.arrival_s == 0
    assert state.clock[0].seen == seen.sum()
    phases = np.where(instance.is_running(), codes.RUNNING, np.where(seen, codes.QUEUED, codes.UNSEEN))
    assert state.job["phase"].tolist() == phases.tolist()
    classes = np.repeat(instance.job2class, instance.num_tasks)
    for e, kind in enumerate(running.machine_type.tolist()):
        on = classes[machine == e]
        lease = state.machines.lease[e]
        assert (lease.type, lease.paid_from, lease.runs_from, lease.holds) == (kind, 0, 0, on.size)
        demand = instance.catalogue.demand[instance.catalogue.type2family[kind]]
        assert state.machines.used[e].tolist() == demand[on].sum(axis=0).tolist()
        workloads = instance.class2workload[on]
        assert np.flatnonzero(state.machines.images[e]).tolist() == np.unique(workloads).tolist()
    for j in np.flatnonzero(instance.is_running()).tolist():
        rates = []
        for k in range(instance.first_task()[j], instance.first_task()[j + 1]):
            own, rate = instance.class2workload[instance.job2class[j]], 10**9
            beside = [instance.class2workload[classes[i]] for i in np.flatnonzero(machine == machine[k]) if i != k]
            for other in sorted(beside):
                rate = rate * int(instance.throughput[own, other]) // 1000
            rates.append(rate)
        assert state.job[j].rate == min(rates)
