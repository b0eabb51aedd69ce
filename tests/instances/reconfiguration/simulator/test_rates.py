"""Rates on a machine, against Python's own dictionaries, and by hand."""

import numpy as np
import pytest

from schedgap.instances.reconfiguration.simulator.rates import rate_beside
from schedgap.instances.reconfiguration.simulator.simulator import Simulator


def stored_of(instance, sets):
    return Simulator(instance.replace(stored_sets=sets)).state.given.stored


def test_rates_are_rounded_down_factor_by_factor(two_jobs):
    throughput, nothing = np.array([[999, 333], [1000, 1000]]), Simulator(two_jobs()).state.given.stored
    assert nothing.shape == (0, 3)
    assert rate_beside(throughput, nothing, np.array([1, 0]), 0) == 10**9
    assert rate_beside(throughput, nothing, np.array([2, 1]), 0) == 10**9 * 999 // 1000 * 333 // 1000
    assert rate_beside(throughput, nothing, np.array([1, 3]), 0) == 36_926_037


@pytest.mark.parametrize("seed", range(12))
def test_sets_are_looked_up_as_in_a_dictionary_of_names(seed, wide, sets, looked_up, product):
    instance = wide(1 + seed % 9)
    given = sets(seed, instance.stored_sets.num_workloads)
    stored, rng = stored_of(instance, given), np.random.default_rng(seed)
    pairs = instance.throughput.copy()
    found = []
    for size in range(1, 13):
        for _ in range(40):
            together = rng.integers(0, given.num_workloads, size).tolist()
            contending = np.bincount(together, minlength=given.num_workloads)
            rates = looked_up(given, together)
            found.append(len(rates) > 0)
            for own in set(together):
                wanted = rates.get(own, product(pairs, together, own))
                assert rate_beside(pairs, stored, contending, own) == wanted
    assert any(found)
    assert not all(found)


def test_the_last_of_equal_names_counts(two_jobs, swapped):
    """Names b, b, a with the values of a, b, b: b is given the second value, which is its own, and a that of b."""
    stored, pairs = stored_of(two_jobs(), swapped), np.array([[1000, 500], [800, 1000]])
    assert [rate_beside(pairs, stored, np.array([1, 2]), w) for w in (0, 1)] == [300_000_000, 300_000_000]
    # Names b, a, a with the values of a, a, b.
    assert [rate_beside(pairs, stored, np.array([2, 1]), w) for w in (0, 1)] == [360_000_000, 630_000_000]


def test_pairs_and_large_sets_are_products_of_pairs(two_jobs, swapped):
    stored, pairs = stored_of(two_jobs(), swapped), np.array([[1000, 500], [800, 1000]])
    assert rate_beside(pairs, stored, np.array([1, 1]), 0) == 500_000_000
    # Of four tasks there are only sets of a, of five none.
    assert rate_beside(pairs, stored, np.array([4, 0]), 0) == 343_000_000
    assert rate_beside(pairs, stored, np.array([3, 1]), 0) == 500_000_000
    assert rate_beside(pairs, stored, np.array([5, 0]), 0) == 10**9
