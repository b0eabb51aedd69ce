"""The search for a better plan, against the least cost and the plan that it begins with."""

import pytest

from schedgap.heuristics.reconfiguration.lookahead.kernels_problem import new_tables
from schedgap.heuristics.reconfiguration.lookahead.kernels_search import begin, insert_queued, search


@pytest.mark.parametrize("seed", range(10))
def test_search_makes_an_insertion_no_worse(random_problem, least_cost, cost_of, seed):
    p, d = random_problem(seed)
    begin(p, d)
    insert_queued(p, d)
    inserted = cost_of(p, d)
    search(p, d, new_tables(9, 3, 6, 2, 2), 9, 3, 100, 100, 50)
    assert least_cost(p, d.kind[:2]) - 1e-9 <= cost_of(p, d) <= inserted + 1e-9


def test_what_may_not_move_stays(random_problem):
    p, d = random_problem(4)
    p.movable[p.origin >= 0] = False
    begin(p, d)
    insert_queued(p, d)
    search(p, d, new_tables(9, 3, 6, 2, 2), 9, 3, 100, 100, 50)
    held = p.origin >= 0
    assert held.any()
    assert (d.place[held] == p.origin[held]).all()


def test_few_tasks_at_once_are_regrouped_when_there_are_many(random_problem, cost_of):
    p, d = random_problem(7, tasks=12)
    begin(p, d)
    insert_queued(p, d)
    before = cost_of(p, d)
    search(p, d, new_tables(3, 3, 6, 2, 2), 3, 3, 100, 100, 50)
    assert cost_of(p, d) <= before + 1e-9
