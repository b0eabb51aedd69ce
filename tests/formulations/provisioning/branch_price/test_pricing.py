import numpy as np
import pytest

from schedgap.formulations.provisioning.branch_price.program import Cut, Pricing, Program

NONE = np.zeros(0, np.int64)


@pytest.mark.parametrize("seed", range(8))
def test_a_packing_holds_everything_on_machines_that_it_fits(random_instance, seed):
    instance = random_instance(seed)
    program = Program.of_classes(instance)
    machines = Pricing(program).packing(np.ones(program.num_items, np.int64), NONE)
    assert sum(pattern for _, pattern in machines).tolist() == instance.counts.tolist()
    for k, pattern in machines:
        assert (pattern @ program.demand[instance.type2family[k]] <= program.capacity[k]).all()
        assert program.fits[k][pattern > 0].all()


def test_a_packing_of_what_is_left(bins):
    pricing = Pricing(Program.of_classes(bins([10], [6, 4], [2, 3])))
    machines = pricing.packing(np.array([6, 4]), NONE, np.array([1, 1]))
    assert [(k, pattern.tolist()) for k, pattern in machines] == [(0, [1, 1])]


def test_the_best_content_pays_the_penalties_of_cuts(bins):
    pricing = Pricing(Program.of_classes(bins([2, 2], [[1, 1]] * 3)))
    values, target = np.full(3, 600), np.array([0])
    assert pricing.best(values, NONE, target, 1000).upper.tolist() == [1200]
    pricing.respect([Cut(np.ones(3, np.int64), 2, 1)])
    assert pricing.best(values, np.array([500]), target, 1000).upper.tolist() == [700]
    assert pricing.best(values, np.array([700]), target, 1000).upper.tolist() == [600]


def test_rivals_do_not_meet(bins):
    pricing = Pricing(Program.of_classes(bins([10], [3, 4, 5])).expanded(range(3)).apart(0, 1))
    priced = pricing.best(np.array([30, 40, 1]), NONE, np.array([0]), 1000)
    assert (priced.upper.tolist(), priced.is_complete) == ([41], True)
    # One of each candidate of the root: of item 0 with those behind it, and of item 1.
    assert [pattern.tolist() for _, pattern in priced.patterns[:2]] == [[1, 0, 1], [0, 1, 1]]


def test_nothing_is_found_above_the_target(bins):
    pricing = Pricing(Program.of_classes(bins([10], [6, 5])))
    priced = pricing.best(np.array([6, 5]), NONE, np.array([6]), 1000)
    assert (priced.upper.tolist(), priced.patterns, priced.is_complete) == ([6], [], True)
