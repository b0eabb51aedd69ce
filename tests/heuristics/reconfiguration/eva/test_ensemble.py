"""Eva's rules one by one, on machines "big" (10 CPUs, $10) and "small" (5 CPUs, $6), by hand."""

import numpy as np
import pytest

from schedgap.heuristics.player import play
from schedgap.heuristics.reconfiguration.eva.ensemble import Candidate, Ensemble, Events, eva
from schedgap.heuristics.reconfiguration.observation import EXECUTING, MIGRATING, QUEUED
from schedgap.heuristics.reconfiguration.player import Player
from schedgap.heuristics.reconfiguration.rules import no_packing
from schedgap.instances.reconfiguration.verify import verify

BIG, SMALL = 0, 1
DEFAULTS = {
    "mode": "ensemble",
    "throughput_aware": True,
    "multi_task": True,
    "tau": 0.95,
    "semantics": "artifact",
    "tie_break": "alignment",
}


class Spy(Ensemble):
    """An ensemble that keeps its candidates."""

    def __init__(self, **given):
        super().__init__(**{**DEFAULTS, **given})
        self.seen = []

    def choose(self, fresh, kept, now_s):
        self.seen.append((fresh, kept))
        return super().choose(fresh, kept, now_s)


def shown(plan):
    return plan.machine.tolist(), plan.new_types.tolist()


def test_table_3_is_packed_as_the_paper_walks_through_it(make_observation):
    observation = make_observation(
        [(2, 8, 24), (1, 4, 10), (0, 6, 20), (0, 4, 12)],
        [(0, -1), (1, -1), (2, -1), (3, -1)],
        capacity=[(4, 16, 244), (1, 4, 61), (0, 8, 32), (0, 4, 16)],
        price=[120, 30, 8, 4],
    )
    # tau1, tau2 and tau4 on it1; tau3, which found no room beside tau1 and tau2, on it3.
    assert shown(eva(observation, throughput_aware=False)) == ([0, 0, 1, 0], [0, 2])


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        # 2 x 6 x 0.95 = 11.4 pays for big, 2 x 6 x 0.8 = 9.6 does not.
        ({}, ([0, 0], [BIG])),
        ({"tau": 0.8}, ([0, 1], [SMALL, SMALL])),
        ({"tau": 0.8, "throughput_aware": False}, ([0, 0], [BIG])),
    ],
)
def test_two_tasks_share_a_machine_if_their_worth_beside_each_other_pays(make_observation, parameters, expected):
    assert shown(eva(make_observation([(5,)], [(0, -1), (0, -1)]), **parameters)) == expected


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        # A task of a job of 4 is worth 6 x (1 - 4 x 0.05) = 4.8 beside another, and 2 x 4.8 does not pay for big.
        ({}, ([0, 1, 2, 3], [SMALL] * 4)),
        ({"multi_task": False}, ([0, 0, 1, 1], [BIG, BIG])),
    ],
)
def test_a_task_of_a_large_job_is_worth_less_when_slowed(make_observation, parameters, expected):
    observation = make_observation([(5,)], [(0, -1)] * 4, sizes=[4])
    assert shown(eva(observation, **parameters)) == expected


def test_a_set_that_pays_for_a_machine_gets_the_cheapest_that_takes_it(make_observation):
    # 3 x 6 pays for big, and 3 CPUs fit small. Algorithm 1 as printed rents big.
    observation = make_observation([(1,)], [(0, -1)] * 3)
    assert shown(eva(observation, throughput_aware=False)) == ([0, 0, 0], [SMALL])
    observation = make_observation([(1,)], [(0, -1)] * 3)
    assert shown(eva(observation, throughput_aware=False, semantics="paper")) == ([0, 0, 0], [BIG])


def test_downsizing_never_picks_a_family_where_a_task_may_not_run(make_observation):
    # As above, with small of a family that has no demand of the class, and 4 more for a medium type.
    rows = [[(1,)], [(-1,)]]
    observation = make_observation(
        rows, [(0, -1)] * 3, capacity=[(10,), (5,), (4,)], price=[12, 6, 9], family=[0, 1, 0]
    )
    assert shown(eva(observation, throughput_aware=False)) == ([0, 0, 0], [2])


def test_alignment_or_the_list_decides_between_tasks_of_equal_worth(make_observation):
    # (4, 5) comes first either way. Of the room left, (6, 5) of (10, 10), (1, 5) listed next uses 0.1 x 0.6 + 0.5 x 0.5
    # = 0.31 and (5, 1) uses 0.5 x 0.6 + 0.1 x 0.5 = 0.35; there is room for one of them.
    def observation():
        rows, tasks = [(4, 5), (1, 5), (5, 1)], [(0, -1), (1, -1), (2, -1)]
        return make_observation(rows, tasks, capacity=[(10, 10), (5, 5)], price=[14, 7])

    assert shown(eva(observation(), throughput_aware=False)) == ([0, 1, 0], [BIG, SMALL])
    assert shown(eva(observation(), throughput_aware=False, tie_break="paper")) == ([0, 0, 1], [BIG, SMALL])


class TestReuse:
    def test_a_running_machine_is_used_again_before_one_is_rented(self, make_observation):
        for running, expected in ((True, ([0, 0], [])), (False, ([1, 1], [BIG]))):
            observation = make_observation([(5,)], [(0, -1), (0, -1)], [BIG], running=[running])
            assert shown(eva(observation)) == expected

    def test_the_machine_with_the_most_tasks_comes_first(self, make_observation):
        observation = make_observation([(5,)], [(0, 1), (0, 1)], [BIG, BIG])
        assert shown(eva(observation, mode="full")) == ([1, 1], [])

    def test_tasks_that_are_there_already_come_before_those_listed_earlier(self, make_observation):
        observation = make_observation([(5,)], [(0, -1), (0, -1), (0, 0), (0, 0)], [BIG])
        assert shown(eva(observation, mode="full")) == ([1, 1, 0, 0], [BIG])


def test_a_lone_task_on_its_own_type_stays_though_it_is_slow(make_observation):
    observation = make_observation([(5,)], [(0, 0)], [SMALL], rate=[0.5])
    assert shown(eva(observation, mode="full")) == ([0], [])
    observation = make_observation([(5,)], [(0, 0)], [SMALL], rate=[0.5])
    assert shown(eva(observation, mode="partial")) == ([0], [])


def test_when_the_best_set_fails_each_task_of_the_type_gets_a_machine_of_its_own(make_observation):
    memory = Ensemble(**DEFAULTS)
    # Alone each is worth 3; together 3 + 2.25 is more, and less than small's price.
    memory.monitor.observe(make_observation([(3,), (2,)], [(0, 0), (1, 1)], [SMALL, SMALL], rate=[0.5, 0.5]))
    memory.monitor.observe(make_observation([(3,), (2,)], [(0, 0), (1, 0)], [SMALL], rate=[0.5, 0.375]))
    observation = make_observation([(3,), (2,)], [(0, -1), (1, -1)], [SMALL])
    assert shown(memory.decide(observation)) == ([0, 1], [SMALL])


class TestPartial:
    def test_machines_that_pay_stay_and_tasks_of_others_are_placed_anew(self, make_observation):
        # 11.4 pays for big; 6 does not.
        observation = make_observation([(5,)], [(0, 0), (0, 0), (0, 1)], [BIG, BIG])
        assert shown(eva(observation, mode="partial")) == ([0, 0, 2], [SMALL])

    @pytest.mark.parametrize(
        ("semantics", "expected"), [("artifact", ([0, 0, 0], [])), ("paper", ([0, 0, 1], [SMALL]))]
    )
    def test_a_new_task_is_inserted_where_it_fits_whether_that_pays_or_not(self, make_observation, semantics, expected):
        memory = Ensemble(**{**DEFAULTS, "mode": "partial", "semantics": semantics})
        memory.monitor.observe(make_observation([(4,), (2,)], [(0, 0), (1, 0)], [BIG], rate=[0.1, 0.1]))
        observation = make_observation([(4,), (2,)], [(0, 0), (0, 0), (1, -1)], [BIG])
        assert shown(memory.decide(observation)) == expected

    def test_insertion_prefers_the_machine_whose_tasks_are_worth_the_most(self, make_observation):
        # Three tasks of 3 CPUs (3 x 6 x 0.9025) beat two of 4, and alignment.
        observation = make_observation(
            [(4,), (3,), (1,)], [(0, 0), (0, 0), (1, 1), (1, 1), (1, 1), (2, -1)], [BIG, BIG]
        )
        assert shown(eva(observation, mode="partial"))[0] == [0, 0, 1, 1, 1, 1]

    def test_a_migrating_job_stays_and_others_may_join_it(self, make_observation):
        observation = make_observation(
            [(5,)], [(0, 0), (0, -1)], [BIG], phase=[MIGRATING, QUEUED], held=[-1, -1], rate=[-1, -1]
        )
        assert shown(eva(observation, mode="full")) == ([0, 0], [])
        assert shown(eva(observation, mode="full", semantics="paper")) == ([0, 0], [])

    def test_nothing_changes_while_every_job_migrates(self, make_observation):
        observation = make_observation([(5,)], [(0, 0)], [BIG], phase=[MIGRATING], held=[-1], rate=[-1])
        assert shown(eva(observation)) == ([0], [])


class TestCriterion:
    def test_a_plan_saves_worth_minus_price_and_costs_moves_and_new_machines(self, make_observation):
        spy = Spy()
        spy.decide(make_observation([(5,)], [(0, -1), (0, -1)]))
        fresh, kept = spy.seen[0]
        # 2 x 5.7 - 10 dollars an hour; two starts of 80 s at $6, and 300 s of big.
        assert fresh.saving == kept.saving == pytest.approx(1.4 / 3600)
        assert fresh.migration == pytest.approx((2 * 80 * 6 + 300 * 10) / 3600)

    def test_delays_count_once_they_have_been_seen(self, make_observation):
        spy = Spy()
        observation = make_observation([(5,)], [(0, 0), (0, 1)], [SMALL, SMALL], now_s=7200)
        assert shown(spy.decide(observation)) == ([2, 2], [BIG])
        # Fetching 1 s and building 10 s before 80 s; saving the state, 20 s, has not been seen yet, and then it has.
        assert spy.seen[0][0].migration == pytest.approx((2 * 91 * 6 + 300 * 10) / 3600)
        assert spy.seen[0][1].migration == 0
        spy.decide(make_observation([(5,)], [(0, 0), (0, 1)], [SMALL, SMALL], now_s=7500))
        assert spy.seen[1][0].migration == pytest.approx((2 * 111 * 6 + 300 * 10) / 3600)

    @pytest.mark.parametrize(("now_s", "adopted"), [(600, False), (2700, False), (3000, True)])
    def test_full_is_taken_if_it_pays_until_the_next_one(self, make_observation, now_s, adopted):
        # Before the first Full the estimate is the time so far: 1.4 D / 3600 against 1.1367, equal at D = 2923 s.
        spy = Spy()
        observation = make_observation([(5,)], [(0, 0), (0, 1)], [SMALL, SMALL], now_s=now_s)
        assert shown(spy.decide(observation)) == (([2, 2], [BIG]) if adopted else ([0, 1], []))
        assert spy.events.adoptions == adopted

    def test_equal_worth_to_the_cent_is_not_enough(self):
        memory = Ensemble(**DEFAULTS)
        fresh, kept = Candidate(None, 0.0100, 1.0), Candidate(None, 0.0, 0.0)
        assert memory.choose(fresh, kept, 100) is kept
        assert memory.choose(fresh, kept, 101) is fresh

    def test_the_time_until_the_next_full_is_that_of_poisson_events_each_a_full_with_p(self):
        events = Events()
        assert events.duration_s(300) == 300
        events.add(np.array([0, 600]))
        events.add(np.array([1200]))
        events.adoptions = 1
        # Mean gap 600 s, p = 1/3.
        assert events.duration_s(9000) == pytest.approx(600 / np.log(3 / 2))
        events.adoptions = 3
        assert events.duration_s(9000) == 0.0

    @pytest.mark.parametrize("times, adoptions", [([0], 1), ([0, 600], 3)])
    def test_more_fulls_than_events_or_a_single_event_keep_partial(self, times, adoptions):
        memory = Ensemble(**DEFAULTS)
        memory.events.add(np.array(times))
        memory.events.adoptions = adoptions
        # Full's plan saves more and takes fewer migrations.
        fresh, kept = Candidate(None, 1.0, 0.0), Candidate(None, 0.0, 1.0)
        assert memory.choose(fresh, kept, 9000) is kept
        assert memory.events.adoptions == adoptions

    def test_arrivals_and_ends_are_events(self, make_observation):
        spy = Spy()
        spy.decide(make_observation([(5,)], [(0, -1), (0, -1)], job_arrival_s=[100, 250]))
        later = make_observation(
            [(5,)], [(0, 0), (0, -1)], [BIG], job=[1, 2], job_arrival_s=[250, 650], ended=[0], ended_s=[700]
        )
        spy.decide(later)
        assert (spy.events.number, spy.events.first_s, spy.events.last_s) == (4, 100, 700)

    @pytest.mark.parametrize(("semantics", "number"), [("artifact", 3), ("paper", 2)])
    def test_the_artifact_counts_a_job_again_that_migrated_at_the_last_round(self, make_observation, semantics, number):
        spy = Spy(semantics=semantics)
        for phase in (MIGRATING, EXECUTING):
            spy.decide(
                make_observation([(5,)], [(0, 0), (0, 1)], [SMALL, SMALL], phase=[phase, EXECUTING], rate=[-1, 1])
            )
        assert spy.events.number == number

    @pytest.mark.parametrize(("semantics", "looked"), [("artifact", 2), ("paper", 1)])
    def test_paper_looks_at_full_only_after_an_event(self, make_observation, semantics, looked):
        spy = Spy(semantics=semantics)
        for _ in range(2):
            spy.decide(make_observation([(5,)], [(0, 0), (0, 1)], [SMALL, SMALL]))
        assert len(spy.seen) == looked


def test_jobs_that_stop_each_other_are_parted(make_instance):
    """A throughput of 0 is seen as any other: left where they are, such jobs never end."""
    instance = make_instance(1)
    none = np.zeros_like(instance.throughput)
    instance = instance.replace(catalogue=instance.catalogue.replace(throughput=none))
    schedule = play(Player(instance), eva).solution
    assert verify(instance, schedule) <= 1.5 * verify(instance, play(Player(instance), no_packing).solution)
