from itertools import product

import numpy as np
import pytest

from schedgap.formulations.reconfiguration.clairvoyant.search import MAX_TASKS, clairvoyant, few_choices
from schedgap.formulations.reconfiguration.work_bound import bound_presence, bound_progress
from schedgap.formulations.reconfiguration.work_prices import bound_work
from schedgap.heuristics.player import play
from schedgap.heuristics.reconfiguration.player import Player
from schedgap.heuristics.reconfiguration.rules import no_packing
from schedgap.instances.method import Status
from schedgap.instances.provisioning.running import Running
from schedgap.instances.reconfiguration.simulator import events, plans
from schedgap.instances.reconfiguration.simulator import state as codes
from schedgap.instances.reconfiguration.simulator.simulator import Simulator
from schedgap.instances.reconfiguration.verify import verify

MACHINES = 24
MOST_PLAYS = 1500


def paid(state, price, now):
    """What machines cost up to a second, those that are paid for entirely."""
    total = 0
    for row in state.machines.lease[: state.clock[0].num_machines]:
        until = row.paid_until if row.paid_until >= 0 else now
        total += int(price[row.type]) * max(int(until - row.paid_from), 0)
    return total


def cheapest(instance, limit):
    """The least cost of all schedules below a limit, or the limit: every decision, in full, at every plan.

    None if that takes too many plays. Only what was paid already ends a line of play.
    Of machines that have never been used, there are at most two beside those that run at second 0.
    """
    begins = 0 if instance.running is None else instance.running.size
    price, period = instance.catalogue.price, instance.period_s
    kinds = range(instance.catalogue.num_types)
    best = limit
    plays = 0
    stack = [(Simulator(instance, MACHINES).state, 0)]
    # Who arrives at second 0 is in its plan.
    events.advance(stack[0][0], 0)
    while stack:
        before, t = stack.pop()
        plays += 1
        if plays > MOST_PLAYS:
            return None
        n, active = (
            int(before.clock[0].num_machines),
            before.active[: before.clock[0].num_active],
        )
        jobs = [j for j in active.tolist() if events.ends_at(before, j) > t]
        if active.size == 0 and before.clock[0].seen == instance.num_jobs:
            state = codes.copied(before, MACHINES)
            for m in range(n):
                plans.release(state, t, m)
            best = min(best, -(-paid(state, price, t) // 3600))
            continue
        frozen = [j for j in jobs if before.job[j].phase == codes.MIGRATING]
        free = [j for j in jobs if j not in frozen]
        there = [m for m in range(n) if before.machines.lease[m].released < 0]
        unused = [m for m in there if m >= begins and not before.machines.images[m].any()]
        if len(unused) > 2:
            continue
        # Places: machines that are there, or a new one of a type for this task and those after it.
        for early in (None, *kinds) if len(unused) < 2 else (None,):
            new = [(k, i) for k in kinds for i in range(len(free))]
            for places in product([(-1, m) for m in there] + new, repeat=len(free)):
                used = {m for kind, m in places if kind < 0} | {int(before.task[j].sent_to) for j in frozen}
                empty = [m for m in there if m not in used]
                for keeps in product((False, True), repeat=len(empty)):
                    state = codes.copied(before, MACHINES)
                    if early is not None:
                        plans.rent(state, t, early)
                    rented = {}
                    for j, place in zip(free, places, strict=True):
                        if place[0] >= 0 and place not in rented:
                            rented[place] = plans.rent(state, t, place[0])
                        state.target[j] = rented.get(place, place[1])
                    for j in frozen:
                        state.target[j] = state.task[j].sent_to
                    for m, keep in zip(empty, keeps, strict=True):
                        if not keep:
                            plans.release(state, t, m)
                    if plans.apply_plan(state, t) != codes.FINE:
                        continue
                    events.advance(state, t + period)
                    if -(-paid(state, price, t + period) // 3600) < best:
                        stack.append((state, t + period))
    return best


def tiny(oddities, seed):
    """A random instance of short jobs of one task each."""
    instance = oddities(seed)
    return instance.replace(num_tasks=np.ones(instance.num_jobs), work_s=1 + instance.work_s // 3)


@pytest.mark.parametrize("seed", (3, 11, 20, 22, 24, 25, 30, 36, 43))
def test_nothing_is_cheaper_of_all_there_is(oddities, seed):
    instance = tiny(oddities, seed)
    found = clairvoyant(instance)
    assert found.status == Status.OPTIMAL
    assert found.bound == verify(instance, found.solution)
    # One more: a search that finds nothing below its limit returns the limit.
    assert cheapest(instance, found.bound + 1) == found.bound


@pytest.mark.parametrize("seed", (9, 17, 24, 26, 38))
def test_no_bound_is_above_and_no_schedule_below(oddities, wander, seed):
    instance = tiny(oddities, seed)
    found = clairvoyant(instance)
    assert found.status == Status.OPTIMAL
    assert found.bound == verify(instance, found.solution)
    bounds = (bound_work(instance), bound_presence(instance), bound_progress(instance))
    assert max(bound.bound for bound in bounds) <= found.bound
    costs = wander(instance, 60, seed)
    costs += [verify(instance, play(Player(instance), no_packing).solution)]
    assert min(costs) >= found.bound


def test_a_job_may_leave_for_a_machine_that_it_never_comes_to(plain):
    # Paid from 9 on, it ends at 21. Sent elsewhere at 20, it ends while it is being stopped: 12 s, and the other machine is
    # paid from 29 to 30. Where it stays, 21 s. The second is on a machine of its own from 69 to 80.
    instance = plain((12, 11), arrival_s=[0, 60], acquire_s=[9], kill_s=[2], period_s=10)
    found = clairvoyant(instance)
    assert found.bound == verify(instance, found.solution) == 24


def test_two_share_where_that_is_cheapest(plain):
    # Both on one machine of 2 CPU until the plan of 150 s, not one each: 150 + 100 s.
    found = clairvoyant(plain((150, 100)))
    assert (found.status, found.bound, found.solution.num_machines) == (Status.OPTIMAL, 150, 1)


def test_they_part_where_they_disturb_each_other(plain):
    # Together at 0.4 each they would take 250 s and more; apart 100 s each.
    found = clairvoyant(plain((100, 100), throughput=[[400]]))
    assert (found.bound, found.solution.num_machines) == (200, 2)


def test_it_moves_a_job_when_that_pays(plain):
    # Two fill a machine. The third needs another one from 50 s on, until the first has ended: 550 s and 50 s. Without a
    # move, the first is apart from the others: 550 s and 100 s.
    instance = plain((100, 500, 500), arrival_s=[0, 0, 50])
    found = clairvoyant(instance)
    assert found.bound == verify(instance, found.solution) == 600
    assert found.solution.move_s.shape[0] == 4


@pytest.mark.parametrize("limit", (0.0, 1e-9))
def test_without_time_it_proves_what_it_has(plain, limit):
    found = clairvoyant(plain((150, 100)), time_limit_s=limit)
    assert (found.status, found.solution) == (Status.NO_SOLUTION, None)
    assert 0 < found.bound <= 150


def test_many_tasks_are_refused(plain):
    assert few_choices(plain((100,) * MAX_TASKS)) is None
    assert few_choices(plain((100,) * (MAX_TASKS + 1))) == (
        f"its jobs have {MAX_TASKS + 1} tasks in all; the search of every plan takes at most {MAX_TASKS}."
    )


def limited(oddities, seed):
    """A tiny instance of whose types there are up to two machines each, of some any number."""
    instance, rng = tiny(oddities, seed), np.random.default_rng(seed)
    stock = rng.integers(0, 3, instance.catalogue.num_types)
    if rng.random() < 0.5:
        stock[rng.integers(stock.size)] = -1
    lasts = int(rng.choice([0, 1, 4, instance.period_s + 3]))
    return instance.replace(catalogue=instance.catalogue.replace(stock=stock), terminate_s=lasts)


# Of these the stock makes 3, 26 and 30 dearer, for 11 there is no schedule.
@pytest.mark.parametrize("seed", (3, 9, 11, 20, 22, 24, 25, 26, 30, 36, 43))
def test_nothing_is_cheaper_with_stocks(oddities, seed):
    instance = limited(oddities, seed)
    found = clairvoyant(instance)
    if seed == 11:
        assert (found.status, found.solution) == (Status.INFEASIBLE, None)
        assert cheapest(instance, 100_000) == 100_000
        return
    assert found.status == Status.OPTIMAL
    assert found.bound == verify(instance, found.solution)
    assert cheapest(instance, found.bound + 1) == found.bound
    free = clairvoyant(instance.replace(catalogue=instance.catalogue.replace(stock=None)))
    assert free.bound < found.bound if seed in (3, 26, 30) else free.bound == found.bound


# All kinds of starts are among these: with jobs on one machine or two, alone and together, and with none.
@pytest.mark.parametrize("seed", (3, 11, 20, 25, 30, 32, 36, 42, 46, 60, 75, 83))
def test_nothing_is_cheaper_from_a_start(oddities, begun, seed):
    instance = begun(tiny(oddities, seed), seed, 2)
    found = clairvoyant(instance)
    assert found.status == Status.OPTIMAL
    assert found.bound == verify(instance, found.solution)
    assert cheapest(instance, found.bound + 1) == found.bound


@pytest.mark.parametrize("seed", (3, 11, 20, 25, 30, 36, 46, 60))
def test_nothing_is_cheaper_from_a_start_with_stocks(oddities, begun, seed):
    instance, rng = begun(tiny(oddities, seed), seed, 2), np.random.default_rng(seed)
    used = np.bincount(instance.running.machine_type, minlength=instance.catalogue.num_types)
    catalogue = instance.catalogue.replace(stock=used + rng.integers(0, 2, used.size))
    instance = instance.replace(catalogue=catalogue, terminate_s=int(rng.choice([0, 1, 4, instance.period_s + 3])))
    found = clairvoyant(instance)
    limit = 100_000 if found.solution is None else verify(instance, found.solution)
    assert found.status == (Status.INFEASIBLE if found.solution is None else Status.OPTIMAL)
    assert cheapest(instance, limit + 1) == (limit if found.solution is not None else limit + 1)


@pytest.mark.parametrize("seed", range(12))
def test_no_bound_is_above_and_no_schedule_below_from_a_start(oddities, begun, wander, seed):
    instance = begun(oddities(seed), seed)
    bounds = [bound(instance).bound for bound in (bound_work, bound_presence, bound_progress)]
    costs = wander(instance, 60, seed)
    if few_choices(instance) is None:
        found = clairvoyant(instance, time_limit_s=2.0)
        bounds.append(found.bound)
        costs += [] if found.solution is None else [verify(instance, found.solution)]
    assert max(bounds) <= min(costs)


def test_a_machine_that_runs_is_kept_for_who_comes_where_that_is_cheaper(plain):
    # A new machine takes 60 s to run, paid from its order on. Kept from 0 until the job's plan at 50 and its end, 100 s.
    running = Running.from_contents(("a",), [0], np.zeros((1, 1)))
    instance = plain((50,), arrival_s=[40], setup_s=[60], running=running)
    found = clairvoyant(instance)
    assert (found.status, found.bound) == (Status.OPTIMAL, 100)
    assert found.solution.released_s.tolist() == [100]


def test_it_parts_who_shares_a_machine_at_first(plain):
    # Together neither gets on at all, so that one of them has to leave, at once: 100 s on each machine.
    running = Running.from_contents(("a",), [0], np.array([[1, 1]]))
    found = clairvoyant(plain((100, 100), throughput=[[0]], running=running))
    assert (found.status, found.bound) == (Status.OPTIMAL, 200)
    assert found.solution.move_s[0] == 0


def test_many_machines_that_run_are_refused(plain):
    running = Running.from_contents([f"m{e}" for e in range(101)], [0] * 101, np.zeros((101, 1)))
    assert "1 machine types that differ beside 101 machines that run" in few_choices(plain((100,), running=running))
