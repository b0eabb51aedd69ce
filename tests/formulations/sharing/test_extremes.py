"""All methods at the ends of what the format admits: no false claim, and no exception."""

import numpy as np
import pytest

from schedgap.bench.plugins.discover import load_methods
from schedgap.formulations.sharing import interval_bound as module
from schedgap.formulations.sharing.interval_bound import bound_intervals, interval_model, rounded_ms
from schedgap.formulations.sharing.work_bound import bound_work
from schedgap.instances.family import find_family
from schedgap.instances.method import REGISTRY, Status
from schedgap.instances.sharing.model import FAMILY
from schedgap.instances.sharing.verify import as_users, verify

load_methods([FAMILY])
METHODS = [
    method
    for (family, _), method in sorted(REGISTRY.items())
    if family == FAMILY and method.func.__module__.startswith("schedgap.")
]


@pytest.mark.parametrize("seed", range(24))
def test_all_methods_against_brute_force(seed, nasty_instance, optimum):
    instance = nasty_instance(seed)
    best = optimum(instance)
    assert len(METHODS) >= 10
    for method in METHODS:
        outcome = method.run(instance, time_limit_s=5.0)
        assert outcome.bound is None or outcome.bound <= best, (instance.name, method.name)
        if outcome.solution is not None:
            found = verify(instance, outcome.solution)
            assert found >= best, (instance.name, method.name)
            assert outcome.status is not Status.OPTIMAL or found == outcome.bound == best
            assert all(np.isfinite(list(find_family(FAMILY).measures(instance, outcome.solution).values())))


def test_the_moment_at_which_all_begins_is_no_matter(tiny_instance):
    """Seconds are counted from the first arrival, in which moments of 2^40 ms lose nothing."""
    for seed in range(6):
        instance = tiny_instance(seed)
        late = instance.replace(arrival_ms=instance.arrival_ms + 2**40 - int(instance.arrival_ms[-1]))
        assert bound_intervals(late).bound == bound_intervals(instance).bound


def test_what_moments_lose_is_taken_off(make):
    """Two jobs, the second 2^40 ms after the first: 8 times the 2^-12 ms of that moment's last digit."""
    assert rounded_ms(make([[1], [1]], arrival=np.array([0, 2**40]))) == 8 * 2.0**-12


def test_what_cp_sat_does_not_count_is_not_searched(make, monkeypatch):
    instance = make([[3, 2], [4]], count=[1], capacity=[6 * 2**36], demand=[4 * 2**36, 4 * 2**36])
    assert (interval_model(instance).status, interval_model(instance).bound) == (Status.OPTIMAL, 4 + 9)
    # The same in units of 2^38, which is what all demands have in common: 1 of 1, for up to some 18 ms.
    monkeypatch.setattr(module, "MAX_AREA", 1000)
    assert (interval_model(instance).status, interval_model(instance).bound) == (Status.OPTIMAL, 4 + 9)
    for limit, reason in (("MAX_AREA", "units of time and capacity"), ("MAX_OBJECTIVE", "up to which CP-SAT's bounds")):
        monkeypatch.setattr(module, limit, 1)
        outcome = interval_model(instance)
        assert (outcome.status, outcome.bound) == (Status.FEASIBLE, bound_work(instance).bound)
        assert reason in outcome.details["reason"]
        assert verify(instance, outcome.solution) >= outcome.bound
        monkeypatch.setattr(module, limit, 2**52)


def test_more_tasks_than_a_fairness_problem_has(make):
    """Ten million of a job, as they come up in the measures: they count as nine million."""
    instance = make([[1]], capacity=[1000])
    assert as_users(instance, np.array([0]), np.array([10_000_000])).tasks.tolist() == [9_000_000]
