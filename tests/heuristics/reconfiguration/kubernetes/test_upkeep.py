"""Karpenter and cluster-autoscaler within pools, waits, marks and guards. Type "big" has 10 CPUs for $10, "small" 5 for $6.

1970-01-01 was a Thursday.
"""

from dataclasses import replace

import numpy as np
import pytest

from schedgap.heuristics.player import play
from schedgap.heuristics.reconfiguration.kubernetes import cluster_autoscaler, karpenter
from schedgap.heuristics.reconfiguration.observation import EXECUTING, MIGRATING
from schedgap.heuristics.reconfiguration.player import Player
from schedgap.instances.provisioning.running import HELD, NO_SCALE_DOWN, Budget, Disruption, Guard, Pool
from schedgap.instances.provisioning.windows import Window
from schedgap.instances.reconfiguration.upkeep import ALWAYS, SEVERAL, Upkeep

BIG, SMALL = 0, 1
FIVE, THREE = 0, 1
# Two halves of two bigs: one of these may go.
HALVES = [(FIVE, 0), (FIVE, 1)]
HOUR = 3600
ONE_POOL = (Pool("p"),)


@pytest.fixture
def observe(make_observation):
    """A maker of observations with upkeep: classes of 5 and 3 CPUs; pools, and what else `Upkeep.of` and observations take."""

    def observed(tasks, machines=(), pools=ONE_POOL, first=0, of=(), **given):
        keys = {"held_s", "age_s", "kept", "guard", "guards", "weight"}
        more = {key: given.pop(key) for key in keys & given.keys()}
        disruption = Disruption(pools, [0] * first, [0] * first, [], **dict(of))
        types = len(given.get("price", (10, 6)))
        upkeep = Upkeep.of(disruption, [0 if pools else -1] * types, len(tasks), **more)
        found = make_observation([(5,), (3,)], tasks, machines, upkeep=upkeep, **given)
        return replace(found, market=replace(found.market, resources=("cpu",)))

    return observed


def planned(plan):
    return plan.machine.tolist(), plan.new_types.tolist()


def kept(plan):
    return plan.keep.tolist()


def autoscaled(observation, **parameters):
    return cluster_autoscaler(observation, np.random.default_rng(1), unneeded_s=0, **parameters)


def budget(number, *, percent=False, window=None, reasons=("empty", "underutilized")):
    return Budget(number, percent, reasons, window)


def test_without_limits_all_that_can_go_goes(observe):
    assert planned(karpenter(observe(HALVES, [BIG, BIG]))) == ([1, 1], [])
    assert planned(karpenter(observe([(FIVE, 0)], [BIG]))) == ([1], [SMALL])
    # The parameters do not count where there are pools.
    assert planned(karpenter(observe(HALVES, [BIG, BIG]), budget_percent=0, consolidate_after_s=9)) == ([1, 1], [])
    # They do where there are none.
    for parameters, place in (({}, [1, 1]), ({"budget_percent": 0}, [0, 1]), ({"consolidate_after_s": 9}, [0, 1])):
        assert planned(karpenter(observe(HALVES, [BIG, BIG], ()), **parameters))[0] == place


def test_budgets_are_of_a_plan_and_of_those_that_run_rounded_up(observe):
    # Six bigs with a 3 each: two can hold all. 10% of 6 are 1, 50% are 3; it takes two passes or one.
    tasks = [(THREE, m) for m in range(6)]
    for number, percent, left in ((0, True, 6), (10, True, 5), (50, True, 3), (1, False, 5), (100, True, 2)):
        plan = karpenter(observe(tasks, [BIG] * 6, (Pool("p", (budget(number, percent=percent),)),)))
        assert len(set(plan.machine.tolist())) == left
    # One does not run yet: half of five are 3, rounded up; half of four 2.
    for running, left in (([True] * 5 + [False], 3), ([True] * 4 + [False] * 2, 4)):
        given = observe(tasks, [BIG] * 6, (Pool("p", (budget(50, percent=True),)),), running=running)
        assert len(set(karpenter(given).machine.tolist())) == left


def test_empty_machines_go_within_their_budget_which_others_share(observe):
    # One of three empty ones may go, and then no other any more.
    tasks, machines = [(THREE, 0), (THREE, 1)], [BIG] * 5
    for number, going, moved in ((1, 1, False), (3, 3, False), (4, 3, True), (0, 0, False)):
        plan = karpenter(observe(tasks, machines, (Pool("p", (budget(number),)),)))
        assert kept(plan)[2:].count(False) == going
        assert (len(set(plan.machine.tolist())) == 1) == moved
    # Of reasons that are told apart.
    only_empty = (Pool("p", (budget(0, reasons=("underutilized",)),)),)
    assert planned(karpenter(observe(tasks, machines, only_empty)))[0] == [0, 1]
    assert kept(karpenter(observe(tasks, machines, only_empty))) == [True, True, False, False, False]
    assert planned(karpenter(observe(tasks, machines, (Pool("p", only_empty=True),))))[0] == [0, 1]
    # An empty machine that does not run yet stays.
    plan = karpenter(observe(tasks, [BIG] * 3, running=[True, True, False]))
    assert kept(plan)[2]


def test_a_schedule_goes_on_after_midnight(observe):
    """Nothing goes from 22 o'clock of a Friday for 8 hours. Second 0 is Friday 1970-01-02 at 21 o'clock."""
    night = (Pool("p", (budget(0, window=Window("0 22 * * fri", 8 * HOUR)), budget(100, percent=True))),)
    for hours, goes in ((0.9, True), (1, False), (3, False), (8.9, False), (9, True), (25, True)):
        given = observe(HALVES, [BIG, BIG], night, of={"at_s": 45 * HOUR}, now_s=int(hours * HOUR))
        assert planned(karpenter(given)) == ([1, 1] if goes else [0, 1], [])
    # Where nobody knows the time, it does not hold.
    assert planned(karpenter(observe(HALVES, [BIG, BIG], night))) == ([1, 1], [])


def test_a_machine_waits_after_a_task_came_or_went(observe):
    pools, memory = (Pool("p", consolidate_after_s=300),), {}
    steps = (
        # Nothing is known of before: machines are quiet from now on.
        (600, [(FIVE, 0)], [0]),
        (899, [(FIVE, 0)], [0]),
        (900, [(FIVE, 0), (THREE, 0)], [0, 0]),
        # The second task has ended; that counts from the plan that sees it.
        (1200, [(FIVE, 0)], [0]),
        (1499, [(FIVE, 0)], [0]),
        (1500, [(FIVE, 0)], [1]),
    )
    for now_s, tasks, place in steps:
        assert planned(karpenter(observe(tasks, [BIG], pools, now_s=now_s, memory=memory)))[0] == place


def test_what_a_plan_does_counts_from_that_plan(observe):
    """A task comes to the machine at 600 s; from 900 s on it has been quiet for 300 s. A small one, of 8 here, holds both."""
    pools, sizes = (Pool("p", consolidate_after_s=300),), ((10,), (8,))
    for now_s, place in ((899, [0, 0]), (900, [1, 1])):
        memory = {}
        steps = (
            (300, [(FIVE, 0)], [0]),
            (600, [(FIVE, 0), (THREE, -1)], [0, 0]),
            (now_s, [(FIVE, 0), (THREE, 0)], place),
        )
        for at_s, tasks, expected in steps:
            plan = karpenter(observe(tasks, [BIG], pools, now_s=at_s, memory=memory, capacity=sizes))
            assert planned(plan)[0] == expected


def test_machines_of_second_0_have_been_quiet_for_as_long_as_is_said(observe):
    pools = (Pool("p", consolidate_after_s=300),)
    for quiet_s, place in (([299], [0]), ([300], [1]), (None, [1])):
        given = observe([(FIVE, 0)], [BIG], pools, first=1, of={"quiet_s": quiet_s}, now_s=0)
        assert planned(karpenter(given))[0] == place


def test_a_machine_that_waits_takes_no_task_of_one_that_goes(observe):
    """The first, which waits, has room for the second's task. It is as if it was not there: a small one replaces the second."""
    pools = (Pool("p", consolidate_after_s=300),)
    tasks, machines = HALVES, [BIG, BIG]
    for quiet_s, plan in (([9, 300], ([0, 2], [SMALL])), ([300, 300], ([1, 1], [])), ([9, 9], ([0, 1], []))):
        given = observe(tasks, machines, pools, first=2, of={"quiet_s": quiet_s}, now_s=0)
        assert planned(karpenter(given)) == plan
    # New tasks go there all the same, and no other goes there after that.
    given = observe([*tasks, (THREE, -1)], machines, pools, first=2, of={"quiet_s": [300, 300]}, now_s=0)
    assert planned(karpenter(given)) == ([0, 2, 0], [SMALL])


def test_a_pool_that_never_consolidates_stays_and_takes_tasks(observe):
    pools = (Pool("p"), Pool("never", consolidate_after_s=-1))
    given = observe(HALVES, [BIG, BIG], pools, first=2, now_s=0)
    fixed = replace(given.upkeep, machines=Disruption(pools, [0, 1], [0, 0], []))
    assert planned(karpenter(replace(given, upkeep=fixed))) == ([1, 1], [])
    # Nor does one of no pool go, or one that is marked.
    for pool, marks in (([-1, -1], [0, 0]), ([0, 0], [HELD, HELD])):
        fixed = replace(given.upkeep, machines=Disruption(pools, pool, marks, []))
        assert planned(karpenter(replace(given, upkeep=fixed))) == ([0, 1], [])


def test_a_machine_that_starts_takes_what_waits_and_nothing_else(observe):
    """It boots for three minutes. Nothing is done that would need it, though a small machine could be had."""
    given = observe([(FIVE, 0), (THREE, -1)], [BIG], running=[False])
    assert planned(karpenter(given)) == ([0, 0], [])
    assert planned(karpenter(observe(HALVES, [BIG, BIG], running=[False, True]))) == ([0, 1], [])
    # Full, it is not needed: the other one is replaced.
    full = [(FIVE, 0), (FIVE, 0), (FIVE, 1)]
    assert planned(karpenter(observe(full, [BIG, BIG], running=[False, True]))) == ([0, 0, 2], [SMALL])
    # Nor is a new one of this plan: the 5 would fit beside the new 3.
    assert planned(karpenter(observe([(FIVE, 0), (FIVE, 0), (THREE, -1), (FIVE, 1)], [BIG, BIG], price=(10, 6)))) == (
        [0, 0, 1, 1],
        [],
    )
    # Its wait begins when it runs.
    pools, memory = (Pool("p", consolidate_after_s=300),), {}
    for now_s, running, place in ((600, False, [0]), (900, True, [0]), (1199, True, [0]), (1200, True, [1])):
        step = observe([(FIVE, 0)], [BIG], pools, running=[running], now_s=now_s, memory=memory)
        assert planned(karpenter(step))[0] == place


def test_a_task_is_left_alone_for_a_while_or_always(observe):
    # It came at second 0: for 600 s at 600 s it may go.
    for held_s, age_s, place in ((600, 0, [1]), (601, 0, [0]), (700, 99, [0]), (700, 100, [1]), (ALWAYS, 999, [0])):
        given = observe([(FIVE, 0)], [BIG], held_s=[held_s], age_s=[age_s], now_s=600)
        assert planned(karpenter(given))[0] == place
    # After a move it is left alone anew: sent to another machine at 600 s, it may go at 900 s, not before.
    memory = {}
    given = {"held_s": [0, 300], "memory": memory}
    assert planned(karpenter(observe(HALVES, [BIG, BIG], now_s=600, **given)))[0] == [1, 1]
    for now_s, place in ((899, [1]), (900, [2])):
        # Only the first is left, on the second machine, to which the plan sent it at 600 s.
        step = observe([(FIVE, 1)], [BIG, BIG], held_s=[300], memory=dict(memory), now_s=now_s)
        assert planned(karpenter(step))[0] == place


def test_a_guard_that_admits_no_move_keeps_machines(observe):
    tasks, machines = [(THREE, 0), (THREE, 1), (THREE, 2)], [BIG, BIG, BIG]
    one_away = Guard("g", 1, False, is_least=False)
    given = {"guard": [0, 0, 0], "guards": (one_away,)}
    # The first pass may move tasks of several machines; then they are away, and nothing more goes.
    assert len(set(karpenter(observe(tasks, machines, **given)).machine.tolist())) == 1
    moving = {"phase": [MIGRATING, EXECUTING, EXECUTING]}
    assert planned(karpenter(observe(tasks, machines, **given, **moving))) == ([0, 1, 2], [])
    for guard, stays in (
        (Guard("g", 0, False, is_least=False), True),
        (Guard("g", 3, False, is_least=True), True),
        (Guard("g", 2, False, is_least=True), False),
        # 67% of three are 3, rounded up; 66% are 2.
        (Guard("g", 67, True, is_least=True), True),
        (Guard("g", 66, True, is_least=True), False),
        (Guard("g", 1, True, is_least=False), False),
    ):
        plan = karpenter(observe(tasks, machines, guard=[0, 0, 0], guards=(guard,)))
        assert (planned(plan)[0] == [0, 1, 2]) == stays
    assert planned(karpenter(observe(tasks, machines, guard=[SEVERAL] * 3))) == ([0, 1, 2], [])
    # A guard of the first task only keeps only its machine, which takes the others.
    zero = Guard("g", 0, False, is_least=False)
    assert planned(karpenter(observe(tasks, machines, guard=[0, -1, -1], guards=(zero,)))) == ([0, 0, 0], [])
    assert planned(karpenter(observe(tasks, machines, guard=[0, SEVERAL, -1], guards=(zero,)))) == ([0, 1, 0], [])


def test_in_a_plan_a_guard_admits_no_second_move(observe):
    """Two machines, each of which can only be replaced by a small one: of a guard that one may leave, one goes at a plan."""
    tasks, machines = [(FIVE, 0), (FIVE, 1)], [BIG, BIG]
    prices = {"capacity": ((5,), (5,)), "price": (10, 6)}
    both = karpenter(observe(tasks, machines, **prices))
    assert planned(both) == ([2, 3], [SMALL, SMALL])
    guarded = karpenter(
        observe(tasks, machines, guard=[0, 0], guards=(Guard("g", 1, False, is_least=False),), **prices)
    )
    assert planned(guarded) == ([2, 1], [SMALL])


def test_spot_is_replaced_by_spot_only_behind_the_gate_and_if_15_types_are_cheaper(observe):
    """consolidation_test.go, `spot to spot`: types of 10 to 26 dollars, the second on. s16 has 16 cheaper ones, s14 14."""
    price = (100, *range(10, 27))
    given = {"capacity": ((5,),) * 18, "price": price}
    for number, replaced in ((16, True), (15, True), (14, False)):
        observation = observe([(FIVE, 0)], [number + 1], **given)
        upkeep = replace(observation.upkeep, machines=Disruption((Pool("p"),), [], [], list(range(1, 18))))
        observation = replace(observation, upkeep=upkeep)
        assert planned(karpenter(observation)) == ([0], [])
        assert planned(karpenter(observation, spot_to_spot=True)) == (([1], [1]) if replaced else ([0], []))


def test_cluster_autoscaler_keeps_machines_of_tasks_that_say_so(observe):
    tasks, machines = [(FIVE, 0), (FIVE, 1)], [BIG, BIG]
    assert planned(autoscaled(observe(tasks, machines))) == ([1, 1], [])
    for kept_tasks, place in (([1, 0], [0, 0]), ([0, 1], [1, 1]), ([1, 1], [0, 1])):
        assert planned(autoscaled(observe(tasks, machines, kept=kept_tasks))) == (place, [])
    # What Karpenter leaves alone is not its concern.
    assert planned(autoscaled(observe(tasks, machines, held_s=[ALWAYS, ALWAYS]))) == ([1, 1], [])
    marked = observe(tasks, machines, first=2, now_s=0)
    given = Disruption((Pool("p"),), [0, 0], [NO_SCALE_DOWN, NO_SCALE_DOWN], [])
    assert planned(autoscaled(replace(marked, upkeep=replace(marked.upkeep, machines=given)))) == ([0, 1], [])


def test_cluster_autoscaler_looks_at_guards_before_each_machine(observe):
    # Four halves: two machines go, unless of the guard only one may be away.
    tasks, machines = [(FIVE, m) for m in range(4)], [BIG] * 4
    assert len(set(autoscaled(observe(tasks, machines)).machine.tolist())) == 2
    for number, left in ((0, 4), (1, 3), (2, 2)):
        given = observe(tasks, machines, guard=[0] * 4, guards=(Guard("g", number, False, is_least=False),))
        assert len(set(autoscaled(given).machine.tolist())) == left
    assert planned(autoscaled(observe(tasks, machines, guard=[SEVERAL] * 4))) == ([0, 1, 2, 3], [])


def test_weights_tell_which_goes_first_and_none_is_as_empty(observe):
    """Each of two bigs can take the other's tasks, and a budget lets one go: the one of more price for what its tasks count."""
    budgets = (Pool("p", (budget(1),)),)
    tasks, half, ten = [(FIVE, 0), (THREE, 1)], 2**26, 10 * 2**27
    for weight, place in (([half, ten], [1, 1]), ([ten, half], [0, 0])):
        assert planned(karpenter(observe(tasks, [BIG, BIG], budgets, weight=weight)))[0] == place
    # Tasks that count nothing keep no machine: it goes within the budget of empty ones, and they are placed anew.
    only_empty = (Pool("p", only_empty=True),)
    assert planned(karpenter(observe(tasks, [BIG, BIG], only_empty, weight=[2**27, 0]))) == ([0, 0], [])


def test_a_balanced_pool_gives_up_what_is_worth_it(observe):
    """Of a single big for a small one: savings of 4 of 10, disruption of 2 of 2, a score of 0.4, below one half.

    One of two goes: savings of 10 of 20 for a disruption of 2 of 4, a score of 1.
    """
    balanced = (Pool("p", balanced=True),)
    assert planned(karpenter(observe([(FIVE, 0)], [BIG], balanced))) == ([0], [])
    assert planned(karpenter(observe([(FIVE, 0)], [BIG]))) == ([1], [SMALL])
    assert planned(karpenter(observe(HALVES, [BIG, BIG], balanced))) == ([1, 1], [])


def test_a_policy_is_shown_what_is_said_of_jobs_that_it_sees(make_instance):
    instance = make_instance(1)
    secret = np.arange(instance.num_jobs) + 77_000
    upkeep = Upkeep.of(Disruption.of(0), [-1] * instance.catalogue.num_types, instance.num_jobs, held_s=secret)
    seen = []

    def decide(observation):
        seen.append(observation.upkeep.held_s.tolist() == (observation.job + 77_000).tolist())
        return karpenter(observation)

    play(Player(instance.replace(upkeep=upkeep), frozenset()), decide)
    assert all(seen)
    assert len(seen) > 10
