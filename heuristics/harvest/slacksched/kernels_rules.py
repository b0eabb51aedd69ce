"""The rules of SlackSched: with reservations, by the letter of Algorithm 1, without waiting, by heartbeats (Algorithm 3).

With reservations a task that waits for a VM holds its place there.

By the letter of Algorithm 1 all waiting tasks wait for the same best VM. Here each task takes, in order of job and task, what
it waits for out of the VM's slots, so that the next one sees the VM as it will be then. A plan stays good while nothing
changes, since the moment of its start and the age of the VM then stay the same. So in a pass only plans are made anew

- of tasks that have none;
- for a VM that has shrunk, grown or come or gone; where runs end later than estimated, of the tasks that lose by it;
- of tasks that a VM that has changed, or on which a run ended, serves better than what they wait for.

Every `reconsider_ms` all plans are made anew, since VMs that are young and idle become better with time.

Only the first `most_planned` tasks that VMs are large enough for have plans. Those behind wait for their turn, even where one of
them would fit at once: a plan costs O(V), and is made anew many times before a task so far behind can start.
"""

from __future__ import annotations

from schedgap.heuristics.harvest.slacksched.kernels_engine import completes_by, keep_fresh, wasted_from
from schedgap.heuristics.harvest.slacksched.kernels_match import (
    begin,
    best_vm,
    column_of,
    expected_ms,
    forget_touched,
    learn,
    lost_at_least,
    open_slots,
    open_touched,
    risk_ms,
    row_of,
    see,
    take_slots,
    task_ms,
    touch,
    waits_for,
)
from schedgap.heuristics.harvest.slacksched.state import NOWHERE, Matcher
from schedgap.instances.harvest.simulator.events import HAPPENED, advance, fits, has_room
from schedgap.instances.harvest.simulator.leases import next_waiting
from schedgap.instances.harvest.simulator.state import LEASED, NOBODY, State
from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.units import NEVER

# A plan is changed for an improvement by more than this.
WORTH_MS = 1000.0


@lean_kernel
def play_holding(s: State, m: Matcher) -> int:
    """Play the rule from now on, as `Simulator.play` has it."""
    status = HAPPENED
    while status == HAPPENED:
        pass_holding(s, m)
        status = advance(s)
    return status


@lean_kernel
def pass_holding(s: State, m: Matcher) -> None:
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
    for vm in range(s.vms.shape[0]):
        if m.vms[vm].first_plan != NOBODY:
            drop_plans(m, vm)
            touch(m, vm)
    if m.mark[0].planned == 0:
        return
    task = next_waiting(s, 0)
    while task != NOBODY:
        if m.plans[task].vm == NOWHERE:
            drop_plan(m, task)
        task = next_waiting(s, task + 1)


@inner_kernel
def _settle_all(s: State, m: Matcher) -> None:
    """Bring the touched VMs up to date, and plan what has no plan."""
    for i in range(m.mark[0].touched):
        _settle(s, m, m.vms[i].touched)
    if m.mark[0].planned < s.clock[0].waiting:
        _plan_first(s, m)


@inner_kernel
def _settle(s: State, m: Matcher, vm: int) -> None:
    """Bring a VM's slots up to date and start what is planned for it and fits now."""
    if s.vms[vm].changed != m.vms[vm].changed or s.vms[vm].lease != m.vms[vm].lease:
        drop_plans(m, vm)
    open_slots(s, m, vm)
    task = m.vms[vm].first_plan
    m.vms[vm].first_plan, m.vms[vm].last_plan = NOBODY, NOBODY
    while task != NOBODY:
        following = m.plans[task].next
        end = m.plans[task].end
        m.plans[task].vm = NOBODY
        m.mark[0].planned -= 1
        wait = waits_for(s, m, vm, column_of(s, m, task))
        now_end = s.clock[0].now + expected_ms(s, m, task, vm, wait)
        if now_end <= end + WORTH_MS:
            _assign(s, m, task, vm, wait, now_end)
        task = following


@inner_kernel
def _assign(s: State, m: Matcher, task: int, vm: int, wait: int, end: float) -> None:
    """Start a task that has no plan on a VM, or plan it if it has to wait."""
    job = s.tasks[task].job
    take_slots(s, m, vm, s.jobs[job].cores, s.jobs[job].memory, s.clock[0].now + wait + task_ms(s, m, task))
    if wait > 0:
        add_plan(s, m, task, vm, end)
        return
    begin(s, m, task, vm)
    m.vms[vm].used = s.vms[vm].used


@inner_kernel
def _plan_first(s: State, m: Matcher) -> None:
    """Plan those of the first `most_planned` waiting tasks that have no plan, in order."""
    task, left = next_waiting(s, 0), m.options.most_planned
    while task != NOBODY and left > 0:
        if m.plans[task].vm == NOBODY:
            vm, ms = best_vm(s, m, task)
            if vm == NOBODY:
                add_plan(s, m, task, NOWHERE, float(NEVER))
            else:
                _assign(s, m, task, vm, waits_for(s, m, vm, column_of(s, m, task)), s.clock[0].now + ms)
        # Those that have started just now, or fit nowhere, keep nobody behind them waiting.
        left -= m.plans[task].vm >= 0
        task = next_waiting(s, task + 1)


@inner_kernel
def _offer_all(s: State, m: Matcher) -> None:
    """Offer the touched VMs to tasks that wait for others. The VMs that these leave are the touched ones then."""
    count = forget_touched(m)
    for i in range(count):
        _offer(s, m, m.vms[i].offered)


@inner_kernel
def _offer(s: State, m: Matcher, vm: int) -> None:
    if s.vms[vm].lease != LEASED or s.vms[vm].cores == 0 or m.vms[vm].is_touched:
        return
    now, x, age = s.clock[0].now, s.vms[vm].direction, s.clock[0].now - s.vms[vm].changed
    task, left = next_waiting(s, 0), m.mark[0].planned
    job, wait = NOBODY, NEVER
    while task != NOBODY and left > 0:
        if m.plans[task].vm == NOBODY:
            task = next_waiting(s, task + 1)
            continue
        left -= 1
        if s.tasks[task].job != job:
            job, wait = s.tasks[task].job, waits_for(s, m, vm, column_of(s, m, task))
        # A task is better off there if it loses less than this.
        most = m.plans[task].end - WORTH_MS - (now + wait + m.plans[task].ms)
        if most > 0 and m.plans[task].vm != vm and lost_at_least(m, m.plans[task].row, x, float(age + wait)) < most:
            end = now + expected_ms(s, m, task, vm, wait)
            if end < m.plans[task].end - WORTH_MS:
                if m.plans[task].vm != NOWHERE:
                    touch(m, m.plans[task].vm)
                drop_plan(m, task)
                _assign(s, m, task, vm, wait, end)
                job = NOBODY
        task = next_waiting(s, task + 1)


@inner_kernel
def add_plan(s: State, m: Matcher, task: int, vm: int, end: float) -> None:
    """Plan a task for a VM, after all others that are; `NOWHERE` is a plan too."""
    m.mark[0].planned += 1
    m.plans[task].vm, m.plans[task].end, m.plans[task].next = vm, end, NOBODY
    m.plans[task].ms = task_ms(s, m, task)
    m.plans[task].row = row_of(m, risk_ms(s, m, task))
    if vm < 0:
        return
    if m.vms[vm].first_plan == NOBODY:
        m.vms[vm].first_plan = task
    else:
        m.plans[m.vms[vm].last_plan].next = task
    m.vms[vm].last_plan = task


@inner_kernel
def drop_plan(m: Matcher, task: int) -> None:
    """Forget the plan of a task. O(Q) with Q tasks planned for its VM."""
    m.mark[0].planned -= 1
    vm = m.plans[task].vm
    m.plans[task].vm = NOBODY
    if vm < 0:
        return
    before, other = NOBODY, m.vms[vm].first_plan
    while other != task:
        before, other = other, m.plans[other].next
    if before == NOBODY:
        m.vms[vm].first_plan = m.plans[task].next
    else:
        m.plans[before].next = m.plans[task].next
    if m.vms[vm].last_plan == task:
        m.vms[vm].last_plan = before


@inner_kernel
def drop_plans(m: Matcher, vm: int) -> None:
    """Forget all that is planned for a VM."""
    task = m.vms[vm].first_plan
    while task != NOBODY:
        m.plans[task].vm = NOBODY
        m.mark[0].planned -= 1
        task = m.plans[task].next
    m.vms[vm].first_plan = NOBODY
    m.vms[vm].last_plan = NOBODY


@lean_kernel
def play_literal(s: State, m: Matcher) -> int:
    """Play the letter of Algorithm 1 from now on, as `Simulator.play` has it."""
    status = HAPPENED
    while status == HAPPENED:
        pass_literal(s, m)
        status = advance(s)
    return status


@lean_kernel
def pass_literal(s: State, m: Matcher) -> None:
    """Start each waiting task that fits on its best VM now; the others hold nothing. O(W V), W tasks that wait."""
    s.clock[0].wake = NEVER
    if s.clock[0].waiting == 0:
        return
    learn(s, m)
    task = next_waiting(s, 0) if open_touched(s, m) else NOBODY
    while task != NOBODY:
        vm, _ = best_vm(s, m, task)
        if vm != NOBODY and fits(s, task, vm):
            begin(s, m, task, vm)
            open_slots(s, m, vm)
        task = next_waiting(s, task + 1)
    _wake(s, m)


@lean_kernel
def play_no_delay(s: State, m: Matcher, least_waste: bool) -> int:
    """Play the rule that never waits from now on, as `Simulator.play` has it."""
    status = HAPPENED
    while status == HAPPENED:
        pass_no_delay(s, m, least_waste)
        status = advance(s)
    return status


@lean_kernel
def pass_no_delay(s: State, m: Matcher, least_waste: bool) -> None:
    """Start each waiting task that fits anywhere, where it is most likely to complete, or least is wasted (SciSpot).

    O(W + F V), F tasks that start.
    """
    if s.clock[0].waiting == 0:
        return
    keep_fresh(s, m.engine)
    task = next_waiting(s, 0)
    # What needs as much as the last one that fitted nowhere does not fit either, as room only becomes less.
    cores, memory = NEVER, NEVER
    while task != NOBODY:
        job = s.tasks[task].job
        if s.jobs[job].cores < cores or s.jobs[job].memory < memory:
            vm = _likeliest(s, m, task, least_waste)
            if vm != NOBODY:
                begin(s, m, task, vm)
            else:
                cores, memory = s.jobs[job].cores, s.jobs[job].memory
                if cores <= s.rules.least_cores and memory <= s.rules.least_memory:
                    return
        task = next_waiting(s, task + 1)


@lean_kernel
def play_heartbeat(s: State, m: Matcher) -> int:
    """Play the rule of heartbeats from now on, as `Simulator.play` has it."""
    status = HAPPENED
    while status == HAPPENED:
        pass_heartbeat(s, m)
        status = advance(s)
    return status


@lean_kernel
def pass_heartbeat(s: State, m: Matcher) -> None:
    """Let every VM in turn ask for tasks, as if all sent their heartbeats now.

    A VM takes, of the tasks that fit, the one that completes there most likely, the shortest, while that is likelier than the
    threshold. If it takes none, the shortest task of all starts on its best VM, if it fits there. O(V + F (W + V)).
    """
    s.clock[0].wake = NEVER
    if s.clock[0].waiting == 0:
        return
    learn(s, m)
    open_touched(s, m)
    # The best VM of the shortest task stays the same until a task starts.
    shortest, matched = _shortest(s, m, NEVER, NEVER), False
    for vm in range(s.vms.shape[0]):
        started = False
        while shortest != NOBODY and has_room(s, vm, s.rules.least_cores, s.rules.least_memory):
            task = shortest
            if not fits(s, task, vm):
                task = _shortest(s, m, s.vms[vm].cores - s.vms[vm].used, s.vms[vm].memory - s.vms[vm].used_memory)
            if task != NOBODY and _probability(s, m, task, vm) > m.options.threshold:
                started = True
                begin(s, m, task, vm)
                open_slots(s, m, vm)
            else:
                break
            shortest, matched = _shortest(s, m, NEVER, NEVER), False
        if shortest != NOBODY and not started and not matched:
            best, _ = best_vm(s, m, shortest)
            if best != NOBODY and fits(s, shortest, best):
                begin(s, m, shortest, best)
                open_slots(s, m, best)
                shortest = _shortest(s, m, NEVER, NEVER)
            else:
                matched = True
    _wake(s, m)


@inner_kernel
def _wake(s: State, m: Matcher) -> None:
    # Where nothing runs, whoever waits fits nowhere.
    if s.clock[0].waiting > 0 and s.clock[0].running > 0 and m.options.reconsider_ms > 0:
        s.clock[0].wake = s.clock[0].now + m.options.reconsider_ms


@inner_kernel
def _likeliest(s: State, m: Matcher, task: int, least_waste: bool) -> int:
    """Return the VM with room for a task where it is most likely to complete, the first of equals; or `NOBODY`."""
    best, best_score = NOBODY, -float(NEVER)
    for vm in range(s.vms.shape[0]):
        if fits(s, task, vm):
            if least_waste:
                age = float(s.clock[0].now - s.vms[vm].changed)
                score = -wasted_from(m.engine, age, float(task_ms(s, m, task)))
            else:
                score = _probability(s, m, task, vm)
            if score > best_score:
                best, best_score = vm, score
    return best


@inner_kernel
def _probability(s: State, m: Matcher, task: int, vm: int) -> float:
    age = float(s.clock[0].now - s.vms[vm].changed)
    return completes_by(m.engine, s.vms[vm].direction, age, float(task_ms(s, m, task)))


@inner_kernel
def _shortest(s: State, m: Matcher, cores: int, memory: int) -> int:
    """Return the waiting task with the shortest estimate of those that need no more than that, the first of equals."""
    best, best_ms = NOBODY, NEVER
    task = next_waiting(s, 0)
    while task != NOBODY:
        job = s.tasks[task].job
        if s.jobs[job].cores <= cores and s.jobs[job].memory <= memory and task_ms(s, m, task) < best_ms:
            best, best_ms = task, task_ms(s, m, task)
        task = next_waiting(s, task + 1)
    return best
