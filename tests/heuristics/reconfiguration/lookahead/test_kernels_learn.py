"""What the look-ahead policy learns, against figures reckoned by hand."""

import numpy as np
import pytest

from schedgap.heuristics.reconfiguration.lookahead.kernels_problem import learn_rates, mark_changed, revalue, tally
from schedgap.heuristics.reconfiguration.lookahead.kernels_search import begin


def test_pairwise_throughputs_are_learned_from_products():
    # On one machine workloads 0, 1, 1, on another 0 and 1, on a third one 0 alone.
    rate = np.array([[1.0, 0.8], [0.9, 0.7]])
    log_rate = np.full((2, 2), np.log(0.95))
    held_on = np.array([0, 0, 0, 1, 1, 2])
    workload = np.array([0, 1, 1, 0, 1, 0])
    shown = np.array([0.8 * 0.8, 0.9 * 0.7, 0.9 * 0.7, 0.8, 0.9, 1.0])
    dirty, seen = np.zeros(3, np.int64), np.zeros((2, 2), np.bool_)
    for _ in range(100):
        learn_rates(log_rate, np.arange(2), workload, np.arange(6), held_on, shown, dirty, seen)
    assert dirty.tolist() == [1, 1, 0]
    assert np.exp(log_rate[0, 1]) == pytest.approx(rate[0, 1], rel=1e-6)
    assert np.exp(log_rate[1]) == pytest.approx(rate[1], rel=1e-6)
    # No two tasks of workload 0 were together.
    assert seen.tolist() == [[False, True], [True, True]]
    assert np.exp(log_rate[0, 0]) == pytest.approx(0.95)


def test_the_slowest_task_of_a_job_is_blamed_and_none_is_slower_than_the_job():
    # One job with a task of workload 0 beside workload 1 (believed to run at 0.9) and one beside workload 2 (0.5).
    believed = np.array([[0.95, 0.9, 0.5], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
    classes, jobs, held_on = np.array([0, 0, 1, 2]), np.array([0, 0, 1, 2]), np.array([0, 1, 0, 1])
    for shown, wanted in ((0.4, (0.9, 0.4)), (0.7, (0.9, 0.7)), (0.95, (0.95, 0.95))):
        log_rate, dirty = np.log(believed), np.zeros(2, np.int64)
        learn_rates(log_rate, np.arange(3), classes, jobs, held_on, np.array([shown, shown, 1.0, 1.0]), dirty,
                    np.zeros((3, 3), np.bool_))  # fmt: skip
        assert np.exp(log_rate[0, 1:]) == pytest.approx(wanted)
        assert dirty.tolist() == [int(wanted[0] != 0.9), 1]


def test_a_machine_on_which_a_task_shows_nothing_teaches_nothing():
    log_rate, dirty = np.log(np.full((1, 1), 0.95)), np.zeros(1, np.int64)
    learn_rates(log_rate, np.zeros(1, np.int64), np.zeros(2, np.int64), np.arange(2), np.zeros(2, np.int64),
                np.array([0.5, -1.0]), dirty, np.zeros((1, 1), np.bool_))  # fmt: skip
    assert np.exp(log_rate[0, 0]) == 0.95
    assert dirty.tolist() == [0]


def test_values_move_towards_the_price_of_their_machine(random_problem):
    p, d = random_problem(1)
    begin(p, d)
    factor = np.ones(3)
    revalue(p, d, factor, 0.5)
    on_first = [t for t in range(5) if d.place[t] == 0]
    worth = 0.0
    for t in on_first:
        rate = np.prod([p.rate[p.workload[t], p.workload[u]] for u in on_first if u != t])
        worth += p.weight[t] * rate
    others = {int(p.task_class[t]) for t in range(5) if d.place[t] == 1}
    mine = [int(p.task_class[t]) for t in on_first if int(p.task_class[t]) not in others]
    assert mine
    for c in set(mine):
        assert factor[c] == pytest.approx(min(2.0, (p.price[2] / worth) ** (0.5 * mine.count(c))))


def test_machines_that_changed_are_marked():
    planned = np.array([[3, 2, 2], [5, 1, 0], [9, 4, 4]])
    size, free = tally(np.array([0, 0, 1, 2, -1]), np.array([True, True, True, False, True]), 3)
    assert (size.tolist(), free.tolist()) == ([2, 1, 1], [2, 1, 0])
    dirty = np.ones(3, np.int64)
    # Machine 3 is as planned; a task of machine 5 may move again; machine 7 is not in the plan.
    mark_changed(np.array([3, 5, 7]), size, free, planned, dirty)
    assert dirty.tolist() == [0, 1, 1]
