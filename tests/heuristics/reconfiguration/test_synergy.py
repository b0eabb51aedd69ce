"""Synergy: best fit by worth per price, and nothing moves."""

from schedgap.heuristics.reconfiguration.observation import EXECUTING, MIGRATING, QUEUED
from schedgap.heuristics.reconfiguration.rules import synergy

BIG, SMALL = 0, 1


def shown(plan):
    return plan.machine.tolist(), plan.new_types.tolist()


def test_a_new_task_goes_where_the_tasks_are_worth_the_most_per_price(make_observation):
    # Beside two of 4 CPUs on big: 18 x 0.9025 / 10 = 1.62. Beside one of 2 on small: 12 x 0.95 / 6 = 1.9.
    observation = make_observation([(4,), (2,)], [(0, 0), (0, 0), (1, 1), (1, -1)], [BIG, SMALL])
    assert shown(synergy(observation)) == ([0, 0, 1, 1], [])


def test_worth_has_to_reach_the_price(make_observation):
    for tau, expected in ((0.95, ([0, 0], [])), (0.8, ([0, 1], [SMALL]))):
        assert shown(synergy(make_observation([(4,)], [(0, 0), (0, -1)], [BIG]), tau=tau)) == expected


def test_machines_of_this_round_are_filled_too(make_observation):
    assert shown(synergy(make_observation([(2,)], [(0, -1)] * 3))) == ([0, 0, 1], [SMALL, SMALL])


def test_equal_worth_goes_to_the_better_aligned_and_then_to_the_first_listed(make_observation):
    rows, tasks = [(2, 2), (3, 2)], [(1, 0), (0, 1), (0, 2), (0, -1)]
    observation = make_observation(rows, tasks, [SMALL] * 3, capacity=[(10, 10), (5, 5)])
    # Room (2, 3), (3, 3) and (3, 3).
    assert shown(synergy(observation)) == ([0, 1, 2, 1], [])


def test_on_ties_machines_are_listed_by_their_first_tasks_those_of_migrating_jobs_before_the_others(make_observation):
    def chosen(**given):
        return synergy(make_observation([(2,)], [(0, 1), (0, 0), (0, -1)], [SMALL, SMALL], **given)).machine[2]

    assert chosen() == 1
    assert chosen(phase=[EXECUTING, MIGRATING, QUEUED]) == 0


def test_empty_machines_are_given_up_and_nothing_ever_moves(make_observation):
    observation = make_observation([(5,)], [(0, 1), (0, 2), (0, -1)], [BIG, SMALL, SMALL])
    assert shown(synergy(observation)) == ([1, 2, 3], [SMALL])


def test_in_paper_a_task_of_a_large_job_is_worth_less_when_slowed(make_observation):
    # A job of 3: 6 x (1 - 3 x 0.05) = 5.1, so that 5.7 + 5.1 on big still pays; of 5, 4.5, and 5.7 + 4.5 does as well.
    for sizes, expected in (([1, 3], [0, 0]), ([1, 6], [0, 1])):
        observation = make_observation([(4,)], [(0, 0)] + [(0, -1)] * sizes[1], [BIG], sizes=sizes)
        assert synergy(observation, semantics="paper").machine[:2].tolist() == expected
        observation = make_observation([(4,)], [(0, 0)] + [(0, -1)] * sizes[1], [BIG], sizes=sizes)
        assert synergy(observation).machine[:2].tolist() == [0, 0]
