"""Playing a rule: time passes to the next moment, the pool is looked after, and the rule places what it will.

Each rule's pass is a kernel of its own, that looks at nothing but the present and what was logged. Rules with arrays of their
own have a loop like `play` of their own.
"""

from __future__ import annotations

from schedgap.heuristics.harvest.acquisition.kernels_acquire import Acquire, on_epoch, on_eviction
from schedgap.instances.harvest.simulator.events import HAPPENED, advance, has_room, place
from schedgap.instances.harvest.simulator.plain import checkpoints_every, is_refused, list_fitting, plain_pass, refuse
from schedgap.instances.harvest.simulator.state import NOBODY, State
from schedgap.instances.harvest.simulator.waiting import next_waiting
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.random_numbers import below
from schedgap.instances.units import NEVER

CAPACITY, REPLICATION = 0, 1


@lean_kernel
def play(s: State, rule: int, acquire: Acquire, free_every: int, costly_every: int) -> int:
    """Play a rule until all tasks are complete or nothing happens any more; return the status of `advance`.

    free_every, costly_every : after how many ms of work tasks take checkpoints that cost them nothing, and those that cost them
    time; 0 for never.
    """
    while True:
        status = next_moment(s, acquire)
        if status != HAPPENED:
            return status
        if s.clock[0].waiting == 0:
            continue
        if rule == CAPACITY:
            plain_pass(s, free_every, costly_every)
        elif rule == REPLICATION:
            replication_pass(s, free_every)


@lean_kernel
def next_moment(s: State, acquire: Acquire) -> int:
    """Go to the next moment, look after the pool if it is not fixed, and return the status of `advance`."""
    status = advance(s)
    if status == HAPPENED and s.clock[0].epoch != NEVER:
        on_eviction(s, acquire)
        if s.clock[0].epoch == s.clock[0].now:
            on_epoch(s, acquire)
    return status


@inner_kernel
def replication_pass(s: State, free_every: int) -> None:
    """Place what fits, several runs of each task (SlackSched, Appendix B.1), in order, on VMs drawn from those that it fits on.

    Up to `copies` different ones; a task with checkpoints gets one run. A run that is lost is not replaced while another of its
    task goes on. O(V + K C log64 T) for each job that is looked at, K its tasks that fit and C `copies`.
    """
    num_refused = 0
    task = next_waiting(s, 0)
    while task != NOBODY:
        job = s.tasks.job[task]
        end, cores, memory = s.jobs.first_task[job + 1], s.jobs.cores[job], s.jobs.memory[job]
        if not is_refused(s, num_refused, cores, memory):
            every = checkpoints_every(s, job, free_every, 0)
            most = 1 if every > 0 else s.rules.copies
            num_fitting = list_fitting(s, cores, memory)
            while task != NOBODY and task < end and num_fitting > 0:
                num_fitting = _place_copies(s, task, num_fitting, most, every)
                task = next_waiting(s, task + 1)
            if num_fitting > 0:
                continue
            num_refused = refuse(s, num_refused, cores, memory)
        task = next_waiting(s, end)


@inner_kernel
def _place_copies(s: State, task: int, num_fitting: int, most: int, every: int) -> int:
    """Start up to `most` runs of a task; return how many VMs are left in `State.fitting`."""
    job = s.tasks.job[task]
    drawn = min(most, num_fitting)
    # The drawn ones are put last, from where those without room for another task leave the list.
    for i in range(drawn):
        last = num_fitting - 1 - i
        chosen = below(s.random, last + 1)
        s.work.fitting[chosen], s.work.fitting[last] = s.work.fitting[last], s.work.fitting[chosen]
        place(s, task, s.work.fitting[last], every)
    left = num_fitting - drawn
    for i in range(num_fitting - drawn, num_fitting):
        if has_room(s, s.work.fitting[i], s.jobs.cores[job], s.jobs.memory[job]):
            s.work.fitting[left] = s.work.fitting[i]
            left += 1
    return left
