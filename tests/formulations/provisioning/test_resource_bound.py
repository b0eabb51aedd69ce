import numpy as np
import pytest

from schedgap.formulations.backends import solve
from schedgap.formulations.provisioning.bounds import family_blocks, type_blocks
from schedgap.formulations.provisioning.patterns.patterns import patterns
from schedgap.formulations.provisioning.resource_bound import block_bound, block_model, certified


@pytest.mark.parametrize("seed", range(25))
def test_any_prices_and_any_rent_prove_a_bound(varied_instance, seed):
    instance = varied_instance(seed)
    best = patterns(instance).bound
    rng = np.random.default_rng(seed)
    for blocking in (False, True):
        blocks = type_blocks(instance, blocking=blocking)
        for scale in (0.0, 1e-3, 1.0, 1e6):
            prices = [rng.normal(0.5, 1, len(block.size)) * scale * instance.price.mean() for block in blocks]
            for rent in (0.0, 0.5 * scale, float(instance.price.max())):
                bound = certified(instance, blocks, prices, instance.num_tasks, rent)
                assert 0 <= bound <= best


@pytest.mark.parametrize("seed", range(25))
def test_the_best_prices_are_proven_and_limits_on_machines_help(varied_instance, seed):
    instance = varied_instance(seed)
    best = patterns(instance).bound
    blocks = type_blocks(instance, blocking=True)
    without, with_all = block_bound(instance, blocks), block_bound(instance, blocks, machines=instance.num_tasks)
    assert without <= best
    assert with_all <= best
    objective = solve(block_model(instance, [block.part(np.arange(len(block.size))) for block in blocks])).objective
    # The program's own optimum bounds what its prices prove, up to the rounding to the prices' divisor.
    assert without < objective * 1e6 * (1 + 1e-6) + np.gcd.reduce(instance.price)


def test_free_capacity_is_worth_nothing(two_families):
    blocks = family_blocks(two_families, np.arange(2))
    nothing = [np.zeros(len(block.size)) for block in blocks]
    assert certified(two_families, blocks, nothing) == 0
    assert block_bound(two_families, blocks, time_limit_s=0) is None


def test_one_resource_by_hand(two_families):
    # A core at $0.175, y-small's price (4 for $0.7): a 2, b 2 (on y), c 3 (x alone: 4 cores for $1, 8 for $1.9, so
    # at least as dear): 2 * 0.35 + 0.35 + 2 * 3 * 0.2375 = 2.475 with x's cores at 1.9 / 8; the step is $0.1.
    blocks = family_blocks(two_families, np.arange(2))
    prices = [np.array([1_900_000 / 8000, 0]), np.array([700_000 / 4000, 0])]
    assert certified(two_families, blocks, prices) == 2_500_000
