"""SlackSched with reservations: a task that waits for a VM holds its place there.

By the letter of Algorithm 1 all waiting tasks wait for the same best VM. Here each task takes, in order of job and task, what
it waits for out of the VM's slots, so that the next one sees the VM as it will be then. A plan stays good while nothing
changes, since the moment of its start and the age of the VM then stay the same. So in a pass only plans are made anew

- of tasks that have none;
- for a VM that has shrunk, grown or come or gone; where runs end later than estimated, of the tasks that lose by it;
- of tasks that a VM that has changed, or on which a run ended, serves better than what they wait for.

Every `RECONSIDER_MS` all plans are made anew, since VMs that are young and idle become better with time.

Only the first `MOST_PLANNED` tasks that VMs are large enough for have plans. Those behind wait for their turn, even where one of
them would fit at once: a plan costs O(V), and is made anew many times before a task so far behind can start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.heuristics.harvest.kernels_rules import next_moment
from schedgap.heuristics.harvest.slacksched.kernels_match import best_vm, expected_ms, learn, lost_at_least, row_of
from schedgap.heuristics.harvest.slacksched.kernels_slots import (
    begin,
    column_of,
    forget_touched,
    open_slots,
    risk_ms,
    see,
    take_slots,
    task_ms,
    touch,
    waits_for,
)
from schedgap.heuristics.harvest.slacksched.kernels_variants import pass_heartbeat, pass_literal, pass_no_delay
from schedgap.heuristics.harvest.slacksched.state import NOWHERE, Matcher
from schedgap.instances.harvest.simulator.events import HAPPENED
from schedgap.instances.harvest.simulator.state import LEASED, NOBODY, State
from schedgap.instances.harvest.simulator.waiting import next_waiting
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.units import NEVER

if TYPE_CHECKING:
    from schedgap.heuristics.harvest.acquisition.kernels_acquire import Acquire

RESERVED, LITERAL, NO_DELAY, HEARTBEAT = 0, 1, 2, 3

# A plan is changed for an improvement by more than this.
WORTH_MS = 1000.0


@lean_kernel
def play_slack(s: State, m: Matcher, rule: int, acquire: Acquire) -> int:
    """Play a rule until all tasks are complete or nothing happens any more; return the status of `advance`."""
    while True:
        status = next_moment(s, acquire)
        if status != HAPPENED:
            return status
        if rule == RESERVED:
            pass_slacksched(s, m)
        elif rule == LITERAL:
            pass_literal(s, m)
        elif rule == NO_DELAY:
            pass_no_delay(s, m)
        else:
            pass_heartbeat(s, m)


@lean_kernel
def pass_slacksched(s: State, m: Matcher) -> None:
    """Start the waiting tasks whose best VM has room, and plan the others."""
    s.clock[0].wake = NEVER
    if s.clock[0].waiting == 0:
        return
    fresh, now = learn(s, m), s.clock[0].now
    see(s, m)
    anew = fresh or now >= m.mark[0].next_look
    if anew:
        m.mark[0].next_look = now + m.options.reconsider_ms
        _forget_all(s, m)
    _settle_all(s, m)
    # Who has just chosen has nothing to gain: those who chose later have left less of every VM.
    if not anew:
        _offer_all(s, m)
        # VMs that tasks have left for better ones are not offered again in this pass: costs may go round in circles.
        _settle_all(s, m)
    forget_touched(m)
    # Where nothing runs, whoever waits fits nowhere.
    if s.clock[0].waiting > 0 and s.clock[0].running > 0 and m.options.reconsider_ms > 0:
        s.clock[0].wake = m.mark[0].next_look


@inner_kernel
def _forget_all(s: State, m: Matcher) -> None:
    for vm in range(s.vms.size.shape[0]):
        if m.plans.first[vm] != NOBODY:
            drop_plans(m, vm)
            touch(m, vm)
    if m.mark[0].planned == 0:
        return
    task = next_waiting(s, 0)
    while task != NOBODY:
        if m.plans.vm[task] == NOWHERE:
            drop_plan(m, task)
        task = next_waiting(s, task + 1)


@inner_kernel
def _settle_all(s: State, m: Matcher) -> None:
    """Bring the touched VMs up to date, and plan what has no plan."""
    for i in range(m.mark[0].touched):
        _settle(s, m, m.touched.vm[i])
    if m.mark[0].planned < s.clock[0].waiting:
        _plan_first(s, m)


@inner_kernel
def _settle(s: State, m: Matcher, vm: int) -> None:
    """Bring a VM's slots up to date and start what is planned for it and fits now."""
    if s.vms.changed[vm] != m.seen.changed[vm] or s.vms.lease[vm] != m.seen.lease[vm]:
        drop_plans(m, vm)
    open_slots(s, m, vm)
    task = m.plans.first[vm]
    m.plans.first[vm], m.plans.last[vm] = NOBODY, NOBODY
    while task != NOBODY:
        following = m.plans.next[task]
        end = m.plans.end[task]
        m.plans.vm[task] = NOBODY
        m.mark[0].planned -= 1
        wait = waits_for(s, m, vm, column_of(s, m, task))
        now_end = s.clock[0].now + expected_ms(s, m, task, vm, wait)
        if now_end <= end + WORTH_MS:
            _assign(s, m, task, vm, wait, now_end)
        task = following


@inner_kernel
def _assign(s: State, m: Matcher, task: int, vm: int, wait: int, end: float) -> None:
    """Start a task that has no plan on a VM, or plan it if it has to wait."""
    job = s.tasks.job[task]
    take_slots(s, m, vm, s.jobs.cores[job], s.jobs.memory[job], s.clock[0].now + wait + task_ms(s, m, task))
    if wait > 0:
        add_plan(s, m, task, vm, end)
        return
    begin(s, m, task, vm)
    m.seen.used[vm] = s.vms.used[vm]


@inner_kernel
def _plan_first(s: State, m: Matcher) -> None:
    """Plan those of the first `MOST_PLANNED` waiting tasks that have no plan, in order."""
    task, left = next_waiting(s, 0), m.options.most_planned
    while task != NOBODY and left > 0:
        if m.plans.vm[task] == NOBODY:
            vm, ms = best_vm(s, m, task)
            if vm == NOBODY:
                add_plan(s, m, task, NOWHERE, float(NEVER))
            else:
                _assign(s, m, task, vm, waits_for(s, m, vm, column_of(s, m, task)), s.clock[0].now + ms)
        # Those that have started just now, or fit nowhere, keep nobody behind them waiting.
        left -= m.plans.vm[task] >= 0
        task = next_waiting(s, task + 1)


@inner_kernel
def _offer_all(s: State, m: Matcher) -> None:
    """Offer the touched VMs to tasks that wait for others. The VMs that these leave are the touched ones then."""
    count = forget_touched(m)
    for i in range(count):
        _offer(s, m, m.touched.offered[i])


@inner_kernel
def _offer(s: State, m: Matcher, vm: int) -> None:
    if s.vms.lease[vm] != LEASED or s.vms.size[vm] == 0 or m.touched.is_touched[vm]:
        return
    now, x, age = s.clock[0].now, s.vms.direction[vm], s.clock[0].now - s.vms.changed[vm]
    task, left = next_waiting(s, 0), m.mark[0].planned
    job, wait = NOBODY, NEVER
    while task != NOBODY and left > 0:
        if m.plans.vm[task] == NOBODY:
            task = next_waiting(s, task + 1)
            continue
        left -= 1
        if s.tasks.job[task] != job:
            job, wait = s.tasks.job[task], waits_for(s, m, vm, column_of(s, m, task))
        # A task is better off there if it loses less than this.
        most = m.plans.end[task] - WORTH_MS - (now + wait + m.plans.ms[task])
        if most > 0 and m.plans.vm[task] != vm and lost_at_least(m, m.plans.row[task], x, float(age + wait)) < most:
            end = now + expected_ms(s, m, task, vm, wait)
            if end < m.plans.end[task] - WORTH_MS:
                if m.plans.vm[task] != NOWHERE:
                    touch(m, m.plans.vm[task])
                drop_plan(m, task)
                _assign(s, m, task, vm, wait, end)
                job = NOBODY
        task = next_waiting(s, task + 1)


@inner_kernel
def add_plan(s: State, m: Matcher, task: int, vm: int, end: float) -> None:
    """Plan a task for a VM, after all others that are; `NOWHERE` is a plan too."""
    m.mark[0].planned += 1
    m.plans.vm[task], m.plans.end[task], m.plans.next[task] = vm, end, NOBODY
    m.plans.ms[task] = task_ms(s, m, task)
    m.plans.row[task] = row_of(m, risk_ms(s, m, task))
    if vm < 0:
        return
    if m.plans.first[vm] == NOBODY:
        m.plans.first[vm] = task
    else:
        m.plans.next[m.plans.last[vm]] = task
    m.plans.last[vm] = task


@inner_kernel
def drop_plan(m: Matcher, task: int) -> None:
    """Forget the plan of a task. O(Q) with Q tasks planned for its VM."""
    m.mark[0].planned -= 1
    vm = m.plans.vm[task]
    m.plans.vm[task] = NOBODY
    if vm < 0:
        return
    before, other = NOBODY, m.plans.first[vm]
    while other != task:
        before, other = other, m.plans.next[other]
    if before == NOBODY:
        m.plans.first[vm] = m.plans.next[task]
    else:
        m.plans.next[before] = m.plans.next[task]
    if m.plans.last[vm] == task:
        m.plans.last[vm] = before


@inner_kernel
def drop_plans(m: Matcher, vm: int) -> None:
    """Forget all that is planned for a VM."""
    task = m.plans.first[vm]
    while task != NOBODY:
        m.plans.vm[task] = NOBODY
        m.mark[0].planned -= 1
        task = m.plans.next[task]
    m.plans.first[vm] = NOBODY
    m.plans.last[vm] = NOBODY
