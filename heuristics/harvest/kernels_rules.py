"""Several runs of each task at once (SlackSched, Appendix B.1), compiled."""

from __future__ import annotations

from schedgap.instances.harvest.simulator.events import HAPPENED, advance, has_room, place
from schedgap.instances.harvest.simulator.plain import checkpoints_every, is_refused, list_fitting, refuse
from schedgap.instances.harvest.simulator.state import NOBODY, State
from schedgap.instances.harvest.simulator.waiting import next_waiting
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.random_numbers import below


@lean_kernel
def play_replication(s: State, free_every: int) -> int:
    """Play the rule from now on, as `Simulator.play` has it. free_every : as `checkpoints_every` has it."""
    status = HAPPENED
    while status == HAPPENED:
        if s.clock[0].waiting > 0:
            replication_pass(s, free_every)
        status = advance(s)
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
        job = s.tasks[task].job
        end, cores, memory = s.jobs[job + 1].first_task, s.jobs[job].cores, s.jobs[job].memory
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
    job = s.tasks[task].job
    drawn = min(most, num_fitting)
    # The drawn ones are put last, from where those without room for another task leave the list.
    for i in range(drawn):
        last = num_fitting - 1 - i
        chosen = below(s.clock.random, last + 1)
        s.fitting[chosen], s.fitting[last] = s.fitting[last], s.fitting[chosen]
        place(s, task, s.fitting[last], every)
    left = num_fitting - drawn
    for i in range(num_fitting - drawn, num_fitting):
        if has_room(s, s.fitting[i], s.jobs[job].cores, s.jobs[job].memory):
            s.fitting[left] = s.fitting[i]
            left += 1
    return left
