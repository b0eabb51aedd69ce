"""Prices on the cores of all VMs together."""

import numpy as np
import pytest

from schedgap.formulations.harvest.price_bound import PriceProblem, bound_prices
from schedgap.formulations.harvest.work_bound import alone_ends, bound_work, machine_of
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Status


def test_without_prices_it_is_the_bound_alone_of_cells(make):
    """Ends at 4 and 6 alone, and nothing is paid."""
    instance = make([[(0, 1)]], [[4], [6]])
    problem = PriceProblem(instance, machine_of(instance), alone_ends(instance), 10)
    found, load = problem.evaluate(np.zeros(10))
    assert found == 4 + 6
    assert load.sum() == 10


def test_prices_see_that_long_tasks_collide(make):
    """Two cores, three jobs of one task of 10: one of them ends at 20, though the work is done by 15."""
    instance = make([[(0, 2)]], [[10], [10], [10]])
    assert bound_work(instance).bound == 10 + 10 + 15
    outcome = bound_prices(instance)
    assert 10 + 10 + 15 < outcome.bound <= 10 + 10 + 20
    assert outcome.status is Status.NO_SOLUTION


def test_tasks_with_checkpoints_have_no_price(make):
    """Two tasks of 5 may share a core in turns; as many as there are, none is priced."""
    instance = make([[(0, 1)]], [[5], [5]], checkpoint_ms=[0, 0])
    problem = PriceProblem(instance, machine_of(instance), alone_ends(instance), 10)
    assert problem.evaluate(np.zeros(10))[1].sum() == 0
    assert bound_prices(instance).bound == bound_work(instance).bound == 5 + 10


def test_what_groups_pay_by_each_end_is_the_bound(optima):
    """Each group at the end at which its delay and what it pays are least, less what all cores are worth."""
    rng, tried = np.random.default_rng(3), 0
    for instance, _ in optima[::5]:
        problem = PriceProblem(instance, machine_of(instance), alone_ends(instance), 12)
        price = rng.random(12) * (rng.random(12) < 0.6)
        found, _ = problem.evaluate(price)
        paid, limit = problem.paid(price)
        groups, total = problem.groups, -limit
        for g in range(paid.shape[0]):
            low, high = (groups.earliest[g] - 1) // problem.cell, groups.cells[g]
            ends = np.maximum(np.arange(low, high) * problem.cell + 1, groups.earliest[g])
            never = max(high * problem.cell + 1, groups.earliest[g])
            total += min([never, *(ends + paid[g, low:high]).tolist()]) - groups.release[g]
        # Each sum is rounded down by less than 1 ms.
        assert 0 <= found - total <= paid.shape[0] + 1
        tried += price.any()
    assert tried > 10


def test_between_the_bound_of_work_and_the_optimum(optima):
    bounds = [(bound_work(each).bound, bound_prices(each, rounds=30, levels=1).bound, best) for each, best in optima]
    assert all(work <= found <= best for work, found, best in bounds)
    assert sum(work < found for work, found, _ in bounds) > 5


def test_without_time_it_is_the_bound_of_tasks_alone(make):
    assert bound_prices(make([[(0, 1)]], [[3], [3]]), time_limit_s=0.0).bound == 6


def test_on_grids_so_fine_that_no_step_is_long_enough(make):
    instance = make([[(0, 2)]], [[10], [10], [10]])
    assert bound_prices(instance, rounds=2, levels=7).bound >= bound_prices(instance, rounds=2, levels=1).bound


@pytest.mark.parametrize("bad", [{"rounds": 0}, {"levels": 0}])
def test_bad_parameters(make, bad):
    with pytest.raises(MethodError, match="give at least 1"):
        bound_prices(make([[(0, 1)]], [[3]]), **bad)
