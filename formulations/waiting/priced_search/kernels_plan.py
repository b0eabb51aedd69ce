"""Plans: what jobs cost in them, and which are taken off together.

Those are jobs that start near each other, or all of a machine while another one would run there.

What is free on every machine over time, where jobs come and go in any order: steps in lists, found by their stretch.

Time is cut into stretches of equal length, the last of them without end. Each begins with a step of its own that always
stands; other steps are linked behind it, and go when they tell nothing any more. A stretch's steps lie side by side in memory
while there are few: reading them from all over it took a fifth of the search's time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from schedgap.instances.jit import inner_kernel, lean_kernel
from schedgap.instances.kernels.random_numbers import xorshift_below, xorshift_uniform

# Steps that lie side by side for a stretch, the first of which always stands.
SLOTS = 8


class Timeline(NamedTuple):
    """Steps. Letters: S steps, P stretches of all machines, number machine x stretches + stretch, whose steps begin at SLOTS x P.

    shift : a stretch is 2**shift long. time, cores, memory, after : (S,) int64, from when on how much is free, and the next
    step, -1 for none. most, least : (P,) int64, cores free in a stretch. spare : (P + 1,) int64, the first step that is not in
    use of each stretch, and of those beside them; `after` has the next.
    """

    shift: int
    stretches: int
    time: np.ndarray
    cores: np.ndarray
    memory: np.ndarray
    after: np.ndarray
    most: np.ndarray
    least: np.ndarray
    spare: np.ndarray


def empty(machines: int, until: int, jobs: int, cores: int, memory: int) -> Timeline:
    """Return machines on which nothing runs, with room for so many jobs that mostly run until a moment."""
    shift = max(0, round(math.log2(max(1.0, 3 * machines * until / jobs))))
    stretches = max(1, until >> shift)
    number = machines * stretches
    own = SLOTS * number
    steps = own + 2 * jobs + 2
    after, spare = np.arange(1, steps + 1), np.arange(1, own + 2, SLOTS)
    after[SLOTS - 1 : own : SLOTS] = -1
    after[:own:SLOTS] = np.arange(SLOTS, own + 1, SLOTS)
    after[SLOTS * (stretches - 1) : own : SLOTS * stretches] = -1
    spare[number] = own
    time = np.zeros(steps, np.int64)
    time[:own:SLOTS] = np.tile(np.arange(stretches) << shift, machines)
    free, most = np.full(steps, cores), np.full(number, cores)
    return Timeline(shift, stretches, time, free, np.full(steps, memory), after, most, most.copy(), spare)


@inner_kernel
def stretch_of(line: Timeline, moment: int) -> int:
    """Return the stretch in which a moment lies."""
    return int(min(moment >> line.shift, line.stretches - 1))


@inner_kernel
def _step_at(line: Timeline, machine: int, moment: int) -> int:
    """Return the last step that is not after a moment."""
    step = SLOTS * (machine * line.stretches + stretch_of(line, moment))
    while line.after[step] >= 0 and line.time[line.after[step]] <= moment:
        step = line.after[step]
    return step


@lean_kernel
def first_room(line: Timeline, machine: int, earliest: int, latest: int, runtime: int, cores: int, memory: int) -> int:
    """Return the first start from `earliest` to `latest` at which a job has room on a machine, -1 for none.

    A job takes all of so many stretches behind the one in which it starts: where the last of these with too little room is,
    it starts at the earliest (as Boyer and Moore, 1977, find words by their ends).
    """
    begin, standing = machine * line.stretches, SLOTS * line.most.shape[0]
    endless = begin + line.stretches - 1
    whole, clear = (runtime >> line.shift) - 1, 0
    start, step = earliest, _step_at(line, machine, earliest)
    while True:
        if line.cores[step] < cores or line.memory[step] < memory:
            step = line.after[step]
            if step < standing and step % SLOTS == 0:
                at = step // SLOTS
                while at < endless and line.most[at] < cores:
                    at += 1
                step = SLOTS * at
            start = line.time[step]
            if whole > 0:
                at = begin + stretch_of(line, start)
                last = ahead = min(at + whole, endless - 1)
                while ahead > max(at, clear) and line.least[ahead] >= cores:
                    ahead -= 1
                if ahead > max(at, clear):
                    step = SLOTS * ahead
                    start = line.time[step]
                clear = max(clear, last)
            if start > latest:
                return -1
            continue
        behind = line.after[step]
        if behind < 0 or line.time[behind] >= start + runtime:
            return start
        step = behind


@lean_kernel
def take(line: Timeline, machine: int, start: int, runtime: int, cores: int, memory: int) -> None:
    """Take cores and memory of a machine while a job runs, or give back what is negative."""
    end, begin = start + runtime, machine * line.stretches
    first, last = begin + stretch_of(line, start), begin + stretch_of(line, end)
    _take_in(line, machine, first, start, end, cores, memory)
    if first == last:
        return
    step = SLOTS * (first + 1)
    while step != SLOTS * last:
        line.cores[step] -= cores
        line.memory[step] -= memory
        step = line.after[step]
    for whole in range(first + 1, last):
        line.most[whole] -= cores
        line.least[whole] -= cores
    _take_in(line, machine, last, start, end, cores, memory)


@inner_kernel
def _take_in(line: Timeline, machine: int, stretch: int, start: int, end: int, cores: int, memory: int) -> None:
    """Take in one stretch: steps are cut at the start and the end, and go if they tell nothing; the most and least are found."""
    beyond = SLOTS * (stretch + 1) if stretch + 1 < (machine + 1) * line.stretches else -1
    beside, before, step = line.most.shape[0], -1, SLOTS * stretch
    most = least = 0
    while step != beyond:
        begin, behind = line.time[step], line.after[step]
        cut = start if begin < start else end
        if begin < cut and (behind < 0 or cut < line.time[behind]):
            pool = stretch if line.spare[stretch] >= 0 else beside
            made = line.spare[pool]
            line.spare[pool] = line.after[made]
            line.time[made], line.cores[made], line.memory[made] = cut, line.cores[step], line.memory[step]
            line.after[step], line.after[made], behind = made, behind, made
        if start <= begin < end:
            line.cores[step] -= cores
            line.memory[step] -= memory
        if before < 0:
            most = least = line.cores[step]
        elif line.cores[step] == line.cores[before] and line.memory[step] == line.memory[before]:
            pool = min(step // SLOTS, beside)
            line.after[before], line.after[step], line.spare[pool] = behind, line.spare[pool], step
            step = before
        else:
            most, least = max(most, line.cores[step]), min(least, line.cores[step])
        before, step = step, behind
    line.most[stretch], line.least[stretch] = most, least


# Of this many jobs drawn, the one that costs most beyond the least that prices say it may is where jobs are taken from.
DRAWN = 40
# So many jobs that start near each other at most; from so many stretches on, and so many before the drawn job's at most.
TOGETHER, ACROSS, BEFORE = 80, 200, 48
# Of so many starts drawn, a machine is emptied at the cheapest, of jobs that start up to so many stretches before.
STARTS, LOOK_BACK = 6, 60


class Rule(NamedTuple):
    """A job rents if `weight` x the price of its wait, and the priced time that it would take, cost more than its rent.

    worth : (K, G + 1) float64, the price of a machine by each measure, summed up to multiples of `width`; the last for ever.
    """

    worth: np.ndarray
    width: int
    weight: float


class Given(NamedTuple):
    """Jobs in order of submission: (J,) int64, rent float64. slack : the longest wait, negative for jobs that must rent.

    shares : (K, J) float64, of a machine by each measure that has a price. prices : the bound's. least : (J,) float64, what a job
    costs where it costs least at these.
    """

    submit: np.ndarray
    runtime: np.ndarray
    cores: np.ndarray
    memory: np.ndarray
    shares: np.ndarray
    rent: np.ndarray
    slack: np.ndarray
    prices: Rule
    least: np.ndarray
    wait_price: float


class Plan(NamedTuple):
    """Where jobs run and from when: (J,) int64, -1 and their submission for rent."""

    machine: np.ndarray
    start: np.ndarray


class Near(NamedTuple):
    """Jobs by where they start: first : (M + 1, stretches) int64, of rented ones and each machine's; behind, before : (J,) int64.

    regret : (J,) float64, how much more each costs than it may at the bound's prices.
    """

    first: np.ndarray
    behind: np.ndarray
    before: np.ndarray
    regret: np.ndarray


class Taken(NamedTuple):
    """Room for K jobs that are placed anew: which, where and from when they ran, sort keys, and their order."""

    job: np.ndarray
    machine: np.ndarray
    start: np.ndarray
    key: np.ndarray
    order: np.ndarray


@inner_kernel
def priced_time(jobs: Given, rule: Rule, j: int, start: int) -> float:
    """Return the priced time that a job takes from a start on."""
    end, price = start + jobs.runtime[j], 0.0
    for k in range(rule.worth.shape[0]):
        worth = rule.worth[k]
        price += jobs.shares[k, j] * (_worth_until(worth, rule.width, end) - _worth_until(worth, rule.width, start))
    return price


@inner_kernel
def _worth_until(worth: np.ndarray, width: int, moment: int) -> float:
    last = worth.shape[0] - 1
    k = moment // width
    if k >= last:
        return float(worth[last])
    return float(worth[k] + (worth[k + 1] - worth[k]) * (moment - k * width) / width)


@inner_kernel
def cost_of(jobs: Given, plan: Plan, j: int) -> float:
    """Return what a job's wait or rent costs."""
    if plan.machine[j] < 0:
        return float(jobs.rent[j])
    return float(jobs.wait_price * (plan.start[j] - jobs.submit[j]))


@inner_kernel
def regret(jobs: Given, plan: Plan, j: int) -> float:
    """Return how much more a job costs than it may at the bound's prices."""
    cost = cost_of(jobs, plan, j) - jobs.least[j]
    return float(cost if plan.machine[j] < 0 else cost + priced_time(jobs, jobs.prices, j, plan.start[j]))


@inner_kernel
def _draw(near: Near, random: np.ndarray) -> int:
    """Return the job that costs most beyond the least that it may, of some drawn."""
    around, most = 0, -math.inf
    for _ in range(1 + DRAWN):
        j = xorshift_below(random, near.regret.shape[0])
        if near.regret[j] > most:
            around, most = j, near.regret[j]
    return around


@inner_kernel
def choose_near(jobs: Given, line: Timeline, plan: Plan, near: Near, taken: Taken, random: np.ndarray) -> int:
    """Choose jobs that start near one that costs much more than it may, and rented ones submitted before it; return how many."""
    number, room = plan.start.shape[0], min(TOGETHER, taken.job.shape[0])
    around = _draw(near, random)
    at = stretch_of(line, plan.start[around])
    back = min(BEFORE, at - stretch_of(line, jobs.submit[around]) + 3)
    at = max(0, at - xorshift_below(random, back + 1))
    each, count = 0.1 + 0.9 * xorshift_uniform(random) ** 2, 0
    wanted = 2 + int((room - 1) * xorshift_uniform(random) ** 2)
    lists = near.first.shape[0]
    for k in range(at, min(at + ACROSS, line.stretches)):
        # Where jobs are enough before a stretch ends, those of each machine are among them as often.
        begin = xorshift_below(random, lists)
        for behind in range(lists):
            j = near.first[(begin + behind) % lists, k]
            while j >= 0 and count < wanted:
                if xorshift_uniform(random) < each:
                    taken.job[count] = j
                    count += 1
                j = near.behind[j]
        if count == wanted:
            break
    more = min(room, count + xorshift_below(random, 1 + wanted // 2))
    reach = 1 + int(math.exp(xorshift_uniform(random) * math.log(1.0 + number / 20)))
    for _ in range(3 * (more - count)):
        j = around - xorshift_below(random, reach)
        if count == more or j < 0 or plan.machine[j] >= 0 or jobs.slack[j] < (at << line.shift) - jobs.submit[j]:
            continue
        known = False
        for i in range(count):
            known |= taken.job[i] == j
        if not known:
            taken.job[count] = j
            count += 1
    return count


@inner_kernel
def choose_to_empty(
    jobs: Given, line: Timeline, plan: Plan, near: Near, taken: Taken, machines: int, random: np.ndarray
) -> tuple[int, int]:
    """Choose a job, first, and all others of one machine while it would run there; return how many, and its start.

    Small jobs spread over all machines leave no room for a large one, however few of those near each other are taken off.
    None are chosen, and -1, where they are too many, or the job must rent.
    """
    j = _draw(near, random)
    if jobs.slack[j] < 0:
        return 0, -1
    longest = float(jobs.slack[j])
    if jobs.wait_price > 0.0:
        longest = min(longest, jobs.rent[j] / jobs.wait_price)
    start, least = jobs.submit[j], math.inf
    for _ in range(STARTS):
        wait = int(longest * xorshift_uniform(random) ** 2)
        cost = jobs.wait_price * wait + priced_time(jobs, jobs.prices, j, jobs.submit[j] + wait)
        if cost < least:
            start, least = jobs.submit[j] + wait, cost
    machine, end = xorshift_below(random, machines), start + jobs.runtime[j]
    taken.job[0], count = j, 1
    for k in range(max(0, stretch_of(line, start) - LOOK_BACK), stretch_of(line, end) + 1):
        i = near.first[machine + 1, k]
        while i >= 0:
            if i != j and plan.start[i] < end and start < plan.start[i] + jobs.runtime[i]:
                if count == taken.job.shape[0]:
                    return 0, -1
                taken.job[count] = i
                count += 1
            i = near.behind[i]
    return count, start
