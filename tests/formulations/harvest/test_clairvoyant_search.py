"""The best schedule that is known with hindsight, and its bound."""

import numpy as np
import pytest

from schedgap.formulations.harvest import clairvoyant as search
from schedgap.formulations.harvest.clairvoyant import Lists, clairvoyant_list, clairvoyant_search
from schedgap.formulations.harvest.price_bound import bound_prices
from schedgap.formulations.harvest.work_bound import alone_ends
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.generators.datacentre import quick
from schedgap.instances.harvest.verify import verify
from schedgap.instances.method import Status


def rng():
    """Return the same numbers each time."""
    return np.random.default_rng(4)


@pytest.mark.parametrize("objective", ["jobs", "tasks", "makespan"])
def test_it_is_better_than_lists_and_repeatable(objective):
    instance = quick(vms=4, jobs=12, tasks="6-12", interarrival_min=4, seed=3, objective=objective)
    listed = verify(instance, clairvoyant_list(instance).solution)
    found = clairvoyant_search(instance, rng=rng(), changes=50, rounds=30, moves=200_000)
    again = clairvoyant_search(instance, rng=rng(), changes=50, rounds=30, moves=200_000)
    assert verify(instance, found.solution) < listed
    assert np.array_equal(found.solution.start_ms, again.solution.start_ms)
    assert 200_000 <= found.details["moves"] <= 240_000
    objectives = [point.objective for point in found.trajectory]
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[-1] == verify(instance, found.solution)
    assert found.bound == max(bound_prices(instance, rounds=30).bound, clairvoyant_list(instance).bound)


def test_never_below_the_optimum_and_mostly_there(optima):
    """Whole runs, tasks of one size and of several: the search finds the optimum of nearly all, and no bound is above it."""
    fixed = [(each, best) for each, best in optima if each.is_fixed and each.checkpoint_ms[0] < 0]
    found = 0
    for instance, best in fixed:
        outcome = clairvoyant_search(instance, rng=rng(), changes=20, rounds=10, moves=2_000)
        objective = verify(instance, outcome.solution)
        assert outcome.bound <= best <= objective
        found += objective == best
    assert found > 0.95 * len(fixed)


def test_due_dates_by_prices_are_one_of_two_starts_and_the_better_one_goes_on(monkeypatch):
    """Due dates that are given, good or bad: their list counts, and the start of the better draft has the rest of the moves."""
    instance = quick(vms=4, jobs=12, tasks="6-12", interarrival_min=4, seed=3)
    best = clairvoyant_search(instance, rng=rng(), changes=200, rounds=10, moves=200_000).solution
    ends = np.zeros(instance.num_tasks, np.int64)
    ends[best.task] = best.end_ms
    good = np.maximum.reduceat(ends, instance.first_task[:-1]) - instance.arrival_ms[0]
    improved, given = search._improved, []

    def recorded(lists, start, *args):
        objective, done = improved(lists, start, *args)
        given.append((start[1], objective))
        return objective, done

    monkeypatch.setattr(search, "_improved", recorded)
    for due in (good.astype(np.float64), -good.astype(np.float64)):
        given.clear()
        monkeypatch.setattr(search, "priced_ends", lambda *_, due=due: due)
        clairvoyant_search(instance, rng=rng(), changes=0, rounds=10, moves=30_000)
        (_, of_list), (start, of_prices), (chosen, _), _ = given
        placed = Lists(instance, 0.0, alone_ends(instance)).place(due + instance.arrival_ms[0])[1]
        assert np.array_equal(start, placed)
        assert np.array_equal(chosen, given[int(of_prices < of_list)][0])


def test_no_moves_after_the_proof(make):
    """Three tasks of 5 for a core: prices prove that they end at 5, 10 and 15, as every list has it."""
    instance = make([[(0, 1)]], [[5], [5], [5]])
    outcome = clairvoyant_search(instance, rng=rng(), changes=0)
    assert (outcome.status, outcome.details["moves"], outcome.bound) == (Status.OPTIMAL, 0, 30)


def test_proven_where_nobody_waits():
    instance = quick(vms=16, jobs=4, seed=1)
    outcome = clairvoyant_search(instance, rng=rng())
    assert (outcome.status, outcome.details["moves"]) == (Status.OPTIMAL, 0)


def test_without_time_there_is_no_solution(make):
    outcome = clairvoyant_search(make([[(0, 1)]], [[3], [3]]), rng=rng(), time_limit_s=0.0)
    assert (outcome.solution, outcome.status, outcome.bound) == (None, Status.NO_SOLUTION, 6)


@pytest.mark.parametrize("bad", [{"changes": -1}, {"rounds": 0}, {"moves": -1}])
def test_bad_parameters(make, bad):
    with pytest.raises(MethodError, match="give at least 0, 1 and 0"):
        clairvoyant_search(make([[(0, 1)]], [[3], [3]]), rng=rng(), **bad)
