import pytest

from schedgap.heuristics.harvest.slacksched.kernels_match import column_of, waits_for
from schedgap.heuristics.harvest.slacksched.kernels_rules import pass_literal
from schedgap.heuristics.harvest.slacksched.state import new_matcher
from schedgap.instances.harvest import quick
from schedgap.instances.harvest.simulator import state as ks
from schedgap.instances.jit import lean_kernel
from schedgap.instances.units import NEVER


@lean_kernel
def wait(s, m, task, vm):
    return waits_for(s, m, vm, column_of(s, m, task))


@pytest.mark.parametrize("seed", range(4))
def test_vms_are_waited_for_as_long_as_their_runs_are_taken_to_need(seed, plain_pool):
    instance = quick(6, 20, "5-20", seed=seed, cores="1,2,4", load=1.2, error=(-0.9, -0.5, 0.5)[seed % 3])
    pool, matcher = plain_pool(instance), new_matcher(instance)
    simulator = pool.simulator
    checked = late = 0
    while simulator.advance():
        s = simulator.state
        pass_literal(s, matcher)
        task = simulator.first_waiting()
        if task == ks.NOBODY:
            continue
        for vm in range(instance.num_vms):
            plainly = pool.wait(task, vm, pool.opened(vm))
            assert wait(s, matcher, task, vm) == plainly
            checked += plainly not in (0, NEVER)
        runs = slice(0, int(s.clock[0].runs))
        late += int((s.runs.is_live[runs] & (s.runs.guess[runs] < s.clock[0].now)).sum())
    assert simulator.is_complete
    assert checked > 1000
    assert (late > 100) == (instance.estimate_ms < instance.runtime_ms).any()
