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

from schedgap.heuristics.harvest.kernels_losses import learn, lost_at_least
from schedgap.heuristics.harvest.kernels_match import best_vm, expected_ms
from schedgap.heuristics.harvest.kernels_matcher import (
    MOST_PLANNED,
    NEXT_LOOK,
    NOWHERE,
    PLANNED,
    RECONSIDER_MS,
    TOUCHED,
    Matcher,
)
from schedgap.heuristics.harvest.kernels_ready import column_of, waits_for
from schedgap.heuristics.harvest.kernels_slots import (
    add_plan,
    begin,
    drop_plan,
    drop_plans,
    forget_touched,
    open_slots,
    see,
    take_slots,
    task_ms,
    touch,
)
from schedgap.instances.harvest.kernels_state import LEASED, NEVER, NOBODY, NOW, RUNNING, WAITING, WAKE, State
from schedgap.instances.harvest.kernels_waiting import next_waiting
from schedgap.instances.jit import inner_kernel, lean_kernel

# A plan is changed for an improvement by more than this.
WORTH_MS = 1000.0


@lean_kernel
def pass_slacksched(s: State, m: Matcher) -> None:
    """Start the waiting tasks whose best VM has room, and plan the others."""
    s.clock[WAKE] = NEVER
    if s.clock[WAITING] == 0:
        return
    fresh, now = learn(s, m), s.clock[NOW]
    see(s, m)
    anew = fresh or now >= m.mark[NEXT_LOOK]
    if anew:
        m.mark[NEXT_LOOK] = now + m.option[RECONSIDER_MS]
        _forget_all(s, m)
    _settle_all(s, m)
    # Who has just chosen has nothing to gain: those who chose later have left less of every VM.
    if not anew:
        _offer_all(s, m)
        # VMs that tasks have left for better ones are not offered again in this pass: costs may go round in circles.
        _settle_all(s, m)
    forget_touched(m)
    # Where nothing runs, whoever waits fits nowhere.
    if s.clock[WAITING] > 0 and s.clock[RUNNING] > 0 and m.option[RECONSIDER_MS] > 0:
        s.clock[WAKE] = m.mark[NEXT_LOOK]


@inner_kernel
def _forget_all(s: State, m: Matcher) -> None:
    for vm in range(s.size.shape[0]):
        if m.first_planned[vm] != NOBODY:
            drop_plans(m, vm)
            touch(m, vm)
    if m.mark[PLANNED] == 0:
        return
    task = next_waiting(s, 0)
    while task != NOBODY:
        if m.plan_vm[task] == NOWHERE:
            drop_plan(m, task)
        task = next_waiting(s, task + 1)


@inner_kernel
def _settle_all(s: State, m: Matcher) -> None:
    """Bring the touched VMs up to date, and plan what has no plan."""
    for i in range(m.mark[TOUCHED]):
        _settle(s, m, m.touched[i])
    if m.mark[PLANNED] < s.clock[WAITING]:
        _plan_first(s, m)


@inner_kernel
def _settle(s: State, m: Matcher, vm: int) -> None:
    """Bring a VM's slots up to date and start what is planned for it and fits now."""
    if s.changed[vm] != m.seen_changed[vm] or s.lease[vm] != m.seen_lease[vm]:
        drop_plans(m, vm)
    open_slots(s, m, vm)
    task = m.first_planned[vm]
    m.first_planned[vm], m.last_planned[vm] = NOBODY, NOBODY
    while task != NOBODY:
        following = m.next_planned[task]
        end = m.plan_end[task]
        m.plan_vm[task] = NOBODY
        m.mark[PLANNED] -= 1
        wait = waits_for(s, m, vm, column_of(s, m, task))
        now_end = s.clock[NOW] + expected_ms(s, m, task, vm, wait)
        if now_end <= end + WORTH_MS:
            _assign(s, m, task, vm, wait, now_end)
        task = following


@inner_kernel
def _assign(s: State, m: Matcher, task: int, vm: int, wait: int, end: float) -> None:
    """Start a task that has no plan on a VM, or plan it if it has to wait."""
    job = s.task2job[task]
    take_slots(s, m, vm, s.cores[job], s.memory[job], s.clock[NOW] + wait + task_ms(s, m, task))
    if wait > 0:
        add_plan(s, m, task, vm, end)
        return
    begin(s, m, task, vm)
    m.seen_used[vm] = s.used[vm]


@inner_kernel
def _plan_first(s: State, m: Matcher) -> None:
    """Plan those of the first `MOST_PLANNED` waiting tasks that have no plan, in order."""
    task, left = next_waiting(s, 0), m.option[MOST_PLANNED]
    while task != NOBODY and left > 0:
        if m.plan_vm[task] == NOBODY:
            vm, ms = best_vm(s, m, task)
            if vm == NOBODY:
                add_plan(s, m, task, NOWHERE, float(NEVER))
            else:
                _assign(s, m, task, vm, waits_for(s, m, vm, column_of(s, m, task)), s.clock[NOW] + ms)
        # Those that have started just now, or fit nowhere, keep nobody behind them waiting.
        left -= m.plan_vm[task] >= 0
        task = next_waiting(s, task + 1)


@inner_kernel
def _offer_all(s: State, m: Matcher) -> None:
    """Offer the touched VMs to tasks that wait for others. The VMs that these leave are the touched ones then."""
    count = forget_touched(m)
    for i in range(count):
        _offer(s, m, m.offered[i])


@inner_kernel
def _offer(s: State, m: Matcher, vm: int) -> None:
    if s.lease[vm] != LEASED or s.size[vm] == 0 or m.is_touched[vm]:
        return
    now, x, age = s.clock[NOW], s.direction[vm], s.clock[NOW] - s.changed[vm]
    task, left = next_waiting(s, 0), m.mark[PLANNED]
    job, wait = NOBODY, NEVER
    while task != NOBODY and left > 0:
        if m.plan_vm[task] == NOBODY:
            task = next_waiting(s, task + 1)
            continue
        left -= 1
        if s.task2job[task] != job:
            job, wait = s.task2job[task], waits_for(s, m, vm, column_of(s, m, task))
        # A task is better off there if it loses less than this.
        most = m.plan_end[task] - WORTH_MS - (now + wait + m.plan_ms[task])
        if most > 0 and m.plan_vm[task] != vm and lost_at_least(m, m.plan_row[task], x, float(age + wait)) < most:
            end = now + expected_ms(s, m, task, vm, wait)
            if end < m.plan_end[task] - WORTH_MS:
                if m.plan_vm[task] != NOWHERE:
                    touch(m, m.plan_vm[task])
                drop_plan(m, task)
                _assign(s, m, task, vm, wait, end)
                job = NOBODY
        task = next_waiting(s, task + 1)
