"""The plain rule: each waiting task, in order of job and task, goes to a VM that is drawn from those that it fits on.

That is YARN's CapacityScheduler as SlackSched has it (section 4.1), to which completion times are compared.
"""

from __future__ import annotations

from schedgap.instances.harvest.simulator.events import HAPPENED, advance, has_room, place
from schedgap.instances.harvest.simulator.leases import next_waiting
from schedgap.instances.harvest.simulator.state import NOBODY, State
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.random_numbers import below


@lean_kernel
def play_plain(s: State, free_every: int, costly_every: int) -> int:
    """Play the plain rule from now on, as `Simulator.play` has it. free_every, costly_every : as `checkpoints_every` has them."""
    status = HAPPENED
    while status == HAPPENED:
        plain_pass(s, free_every, costly_every)
        status = advance(s)
    return status


@inner_kernel
def plain_pass(s: State, free_every: int, costly_every: int) -> None:
    """Place what fits. Checkpoints as `checkpoints_every` has them.

    O(V + K log64 T) for each job that is looked at, K its tasks that fit. Of jobs that wait only those are looked at that need
    less than all that did not fit before them.
    """
    num_refused = 0
    task = next_waiting(s, 0) if s.clock[0].waiting > 0 else NOBODY
    while task != NOBODY:
        job = s.tasks[task].job
        end, cores, memory = s.jobs[job + 1].first_task, s.jobs[job].cores, s.jobs[job].memory
        if not is_refused(s, num_refused, cores, memory):
            every = checkpoints_every(s, job, free_every, costly_every)
            num_fitting = list_fitting(s, cores, memory)
            while task != NOBODY and task < end and num_fitting > 0:
                chosen = below(s.clock.random, num_fitting)
                vm = s.fitting[chosen]
                place(s, task, vm, every)
                if not has_room(s, vm, cores, memory):
                    num_fitting -= 1
                    s.fitting[chosen] = s.fitting[num_fitting]
                task = next_waiting(s, task + 1)
            if num_fitting > 0:
                continue
            if cores <= s.rules.least_cores and memory <= s.rules.least_memory:
                return
            num_refused = refuse(s, num_refused, cores, memory)
        task = next_waiting(s, end)


@inner_kernel
def checkpoints_every(s: State, job: int, free_every: int, costly_every: int) -> int:
    """Return after how many ms of work tasks of a job take checkpoints: at no cost, or at a cost of time; 0 for never."""
    if s.jobs[job].checkpoint == 0:
        return free_every
    return costly_every if s.jobs[job].checkpoint > 0 else 0


@inner_kernel
def is_refused(s: State, num_refused: int, cores: int, memory: int) -> bool:
    """Return whether a task needs as much as one that did not fit in this pass."""
    found = False
    for i in range(min(num_refused, s.refused.shape[0])):
        found = found or (s.refused[i].cores <= cores and s.refused[i].memory <= memory)
    return found


@inner_kernel
def refuse(s: State, num_refused: int, cores: int, memory: int) -> int:
    """Remember that a task did not fit in this pass, and return how many did not; only the last ones are remembered."""
    at = num_refused % s.refused.shape[0]
    s.refused[at].cores, s.refused[at].memory = cores, memory
    return num_refused + 1


@inner_kernel
def list_fitting(s: State, cores: int, memory: int) -> int:
    """List the VMs with room in `State.fitting` and return how many they are."""
    count = 0
    for vm in range(s.vms.shape[0]):
        s.fitting[count] = vm
        count += has_room(s, vm, cores, memory)
    return count
