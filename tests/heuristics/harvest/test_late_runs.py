import numpy as np
import pytest

from schedgap.heuristics.harvest.kernels_ready import column_of, waits_for
from schedgap.heuristics.harvest.kernels_slack_variants import pass_literal
from schedgap.heuristics.harvest.matcher import new_matcher
from schedgap.instances.harvest import kernels_state as ks
from schedgap.instances.harvest import quick
from schedgap.instances.harvest.cluster import Cluster
from schedgap.instances.harvest.kernels_events import HAPPENED, advance
from schedgap.instances.jit import lean_kernel


@lean_kernel
def step(s, m):
    status = advance(s)
    if status == HAPPENED:
        pass_literal(s, m)
    return status


@lean_kernel
def wait(s, m, task, vm):
    return waits_for(s, m, vm, column_of(s, m, task))


def waits_plainly(s, task, vm):
    """Return in how many ms a VM has room for a task, by its runs: late ones need eight times as long as they are late."""
    job, now = s.task2job[task], int(s.clock[ks.NOW])
    cores, memory = int(s.cores[job]), int(s.memory[job])
    free, free_memory = int(s.size[vm] - s.used[vm]), int(s.vm_memory[vm] - s.used_memory[vm])
    if s.size[vm] < max(cores, 1) or s.vm_memory[vm] < memory:
        return ks.NEVER
    if free >= cores and free_memory >= memory:
        return 0
    leaves = []
    for run in np.flatnonzero(s.is_live[: s.clock[ks.RUNS]] & (s.run_vm[: s.clock[ks.RUNS]] == vm)):
        of, guess = s.task2job[s.run_task[run]], int(s.run_guess[run])
        leaves.append((max(guess - now, 8 * (now - guess), 1000), int(s.cores[of]), int(s.memory[of])))
    for left, more, more_memory in sorted(leaves):
        free, free_memory = free + more, free_memory + more_memory
        if free >= cores and free_memory >= memory:
            return left
    raise AssertionError("a VM that is large enough has room when all has ended")


@pytest.mark.parametrize("seed", range(4))
def test_vms_are_waited_for_as_long_as_their_runs_are_taken_to_need(seed):
    instance = quick(6, 20, "5-20", seed=seed, cores="1,2,4", load=1.2, error=(-0.9, -0.5, 0.5)[seed % 3])
    cluster, matcher = Cluster(instance), new_matcher(instance)
    checked = late = 0
    while cluster.run(lambda state: step(state, matcher)):
        s = cluster.state
        task = cluster.first_waiting()
        if task == ks.NOBODY:
            continue
        for vm in range(instance.num_vms):
            plainly = waits_plainly(s, task, vm)
            assert wait(s, matcher, task, vm) == plainly
            checked += plainly not in (0, ks.NEVER)
        runs = slice(0, int(s.clock[ks.RUNS]))
        late += int((s.is_live[runs] & (s.run_guess[runs] < s.clock[ks.NOW])).sum())
    assert cluster.is_complete
    assert checked > 1000
    assert (late > 100) == (instance.estimate_ms < instance.runtime_ms).any()
