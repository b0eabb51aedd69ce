"""Tetris' packing: machines are filled by alignment, and nothing moves."""

from schedgap.heuristics.reconfiguration.rules import tetris

BIG, SMALL = 0, 1


def shown(plan):
    return plan.machine.tolist(), plan.new_types.tolist()


def test_machines_are_filled_with_what_is_best_aligned_and_the_rest_gets_new_ones(make_observation):
    # Beside 6 + 3 on big 4 + 7 are free: 1 + 6 scores 0.46 and 4 + 3 only 0.37, and then has no room. It gets a small one.
    rows, tasks = [(6, 3), (4, 3), (1, 6)], [(0, 0), (1, -1), (2, -1)]
    observation = make_observation(rows, tasks, [BIG], capacity=[(10, 10), (5, 5)])
    assert shown(tetris(observation)) == ([0, 1, 0], [SMALL])


def test_new_machines_are_filled_too_and_nothing_moves(make_observation):
    assert shown(tetris(make_observation([(2,)], [(0, -1)] * 3))) == ([0, 0, 1], [SMALL, SMALL])
    assert shown(tetris(make_observation([(2,)], [(0, 1), (0, 0)], [BIG, BIG]))) == ([1, 0], [])
