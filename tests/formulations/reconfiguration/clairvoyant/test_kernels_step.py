"""States in canonical form: the same bytes, however the machines are numbered, and what was spent."""

import numpy as np
import pytest

from schedgap.formulations.reconfiguration.clairvoyant.kernels_step import canonicalise, step
from schedgap.instances.reconfiguration.simulator import state as codes
from schedgap.instances.reconfiguration.simulator.events import advance
from schedgap.instances.reconfiguration.simulator.simulator import Simulator


def as_bytes(state):
    rows = int(state.clock[0].num_machines)
    machines = [getattr(state.machines, name)[:rows] for name in ("lease", "used", "contending", "images")]
    return [array.tobytes() for array in (state.clock, state.job, state.task, state.active, *machines)]


def begun(instance, order):
    """Every task on a machine of its own, which are rented in some order."""
    state, tasks = Simulator(instance, 8).state, int(instance.num_tasks.sum())
    advance(state, 0)
    jobs = np.repeat(np.arange(instance.num_jobs), instance.num_tasks)
    kinds = instance.catalogue.reservation_type[instance.job2class[jobs]]
    state.target[order] = np.arange(tasks)
    nothing, serial = np.zeros(0, np.int64), np.arange(8)
    spent = step(state, 0, instance.period_s, instance.catalogue.price.copy(), kinds[order], nothing, serial)
    return state, spent, serial


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_renting_does_not_matter(oddities, seed):
    instance = oddities(seed)
    instance = instance.replace(arrival_s=np.zeros(instance.num_jobs), work_s=np.full(instance.num_jobs, 10_000))
    tasks = int(instance.num_tasks.sum())
    order = np.random.default_rng(seed).permutation(tasks)
    (one, spent, _), (other, spent_too, serial) = begun(instance, np.arange(tasks)), begun(instance, order)
    assert spent == spent_too
    assert as_bytes(one) == as_bytes(other)
    # A machine's number follows it.
    rows = int(other.clock[0].num_machines)
    assert [int(order[s]) for s in serial[:rows]] == [int(np.flatnonzero(other.target == m)[0]) for m in range(rows)]
    # What was spent: until the next plan, from the acquisition on.
    kinds = other.machines.lease["type"][:rows]
    seconds = np.maximum(instance.period_s - instance.acquire_s[kinds], 0)
    assert spent == int(seconds @ instance.catalogue.price[kinds])
    before = as_bytes(other)
    assert canonicalise(other, instance.period_s, instance.catalogue.price.copy(), serial) == 0
    assert as_bytes(other) == before


def test_a_plan_without_a_machine_for_a_task_is_refused(plain):
    instance = plain()
    state = Simulator(instance, 2).state
    advance(state, 0)
    nothing = np.zeros(0, np.int64)
    state.target[:] = -1
    assert step(state, 0, 50, instance.catalogue.price.copy(), nothing, nothing, np.arange(2)) == -1
    assert state.task[0].stage == codes.UNPLANNED
