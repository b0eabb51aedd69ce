"""All methods together: small instances with and without limits, against exact methods alone."""

import time

import numpy as np
import pytest

from schedgap.bench.plugins.discover import load_methods
from schedgap.formulations.provisioning.patterns.patterns import patterns
from schedgap.formulations.provisioning.pooled.packing import reduced
from schedgap.formulations.provisioning.portfolio import Portfolio, portfolio
from schedgap.instances.method import Status
from schedgap.instances.provisioning import (
    Provisioning,
    ProvisioningInstance,
    Running,
    distinct,
    moves,
    table7,
    verify,
)
from schedgap.instances.provisioning.running import ONE_TASK

load_methods(["provisioning"])


@pytest.mark.parametrize("seed", range(20))
def test_small_instances_are_solved(varied_instance, seed):
    instance = varied_instance(seed)
    found = portfolio(instance, time_limit_s=20.0)
    assert found.status is Status.OPTIMAL
    assert verify(instance, found.solution) == found.bound == patterns(instance).bound
    assert found.details["solution_by"]
    assert (found.trajectory[-1].objective, found.trajectory[-1].bound) == (found.bound, found.bound)


def cluster(**changes):
    """Tasks of 3 on machines of 5 and of 9; three of 5 run with one each, two tasks are pending."""
    instance = ProvisioningInstance(
        *("cluster", ("cpu",), ("f",), ("small", "large"), [0, 0], [[5], [9]], [6, 9], [[[3]]], [5]),
        running=Running.from_contents(tuple("abc"), [0, 0, 0], [[1], [1], [1]]),
    )
    return instance.replace(**changes)


@pytest.mark.parametrize(
    ("changes", "cost"),
    [
        # Three on a large machine, two on another.
        ({}, 18),
        ({"max_disruption": 3 * ONE_TASK}, 18),
        # Two move: a small one and two large ones, one of which is full, hold five; or one of each and one more.
        ({"max_disruption": 2 * ONE_TASK}, 21),
        ({"max_disruption": 0}, 27),
        ({"stock": [3, 1]}, 21),
        ({"stock": [3, 1], "max_disruption": 3 * ONE_TASK}, 21),
        ({"stock": [-1, 0]}, 30),
    ],
)
def test_limits_are_kept(changes, cost):
    instance = cluster(**changes)
    found = portfolio(instance, time_limit_s=20.0)
    assert found.status is Status.OPTIMAL
    assert verify(instance, found.solution) == found.bound == cost
    assert moves(instance, found.solution) <= changes.get("max_disruption", 3 * ONE_TASK) / ONE_TASK


def test_machines_that_all_have_stocks_are_exchanged():
    """Seven tasks of 3, three a large machine for $9, one a small one for $6: 2 x 9 + 6, or with one large one 9 + 4 x 6."""
    instance = cluster(counts=[7], stock=[9, 4])
    search = Portfolio(instance, time.perf_counter(), 20.0, 1)
    search.keep(Provisioning.from_patterns([0], [7], [[1]]), 42)
    search._exchange()
    assert (verify(instance, search.best), search.bound) == (24, 24)
    fewer = Portfolio(instance.replace(stock=[9, 1]), time.perf_counter(), 20.0, 1)
    fewer.keep(Provisioning.from_patterns([0], [7], [[1]]), 42)
    fewer._exchange()
    assert verify(fewer.instance, fewer.best) == 33


def test_what_no_plan_keeps_to_is_infeasible():
    found = portfolio(cluster(stock=[4, 0]), time_limit_s=20.0)
    assert (found.status, found.solution) == (Status.INFEASIBLE, None)


def test_no_time_claims_nothing_false():
    for instance, least in ((cluster(), 18), (cluster(stock=[4, 0]), np.inf)):
        found = portfolio(instance, time_limit_s=0.0)
        assert found.bound <= least
        assert found.status in (Status.NO_SOLUTION, Status.FEASIBLE)


def test_what_its_parts_find_is_told_while_they_run():
    """Only what is better, as solutions of the instance as it was given."""
    told = []
    instance = table7(6)
    search = Portfolio(
        instance, time.perf_counter(), 20.0, 1, lambda *given, **named: told.append((*given, *named.values()))
    )
    small = reduced(instance)
    hear = search._hearing("a part", small.restore)
    types, content = small.instance.reservation_type, np.eye(small.instance.num_classes, dtype=np.int64)
    dear = Provisioning.from_patterns(types, small.instance.counts, content)
    hear(dear, 3)
    hear(dear)
    hear(bound=2)
    bound, solution = (each for (each,) in told)
    assert (bound, search.prover, search.solver) == (3, "a part", "a part")
    assert verify(instance, solution) == search.objective


def test_the_last_that_is_told_is_the_answer():
    told = []
    instance = distinct(40, seed=1)
    answer = portfolio(instance, time_limit_s=5.0, found=lambda *given, **named: told.append((given, named)))
    solutions = [given[0] for given, _ in told if given]
    bounds = [named["bound"] for _, named in told if named]
    assert verify(instance, solutions[-1]) == verify(instance, answer.solution)
    assert max(bounds) == answer.bound
    assert len(answer.trajectory) == len(told)
