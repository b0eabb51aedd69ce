"""All jobs on one machine as fast as the cluster, and with some of them left out."""

from fractions import Fraction

import numpy as np
import pytest

from schedgap.formulations.sharing.work_bound import bound_work, shortest_first, worths
from schedgap.instances.method import Status
from schedgap.instances.sharing.generators import macro, micro


def test_shortest_remaining_first():
    """At rate 2: job 0 has 4 left at 1, job 1 ends at 2, and job 0 has 2 left at 3, less than job 2: it ends at 4."""
    assert shortest_first([0, 1, 3], [6, 2, 3], 2) == [4, 1, Fraction(5, 2)]


def test_idle_until_the_next_job():
    assert shortest_first([0, 10], [3, 3], 2) == [Fraction(3, 2), Fraction(3, 2)]


def test_micro_benchmark():
    """1,000 x 2 s on 150 of performance: 13.33 s each, one after the other; the sum is rounded up."""
    outcome = bound_work(micro())
    assert outcome.bound == -(-1000 * 2000 * 1000 * (1 + 2 + 3 + 4) // 150_000) == 133_334
    assert (outcome.status, outcome.details) == (Status.NO_SOLUTION, {"left_out": 0})


def test_performance_of_jobs_that_differ(make):
    """Worth 2 and 3 a class. Job 0 (2, 1) uses up 1 of it a unit of work, job 1 (1, 3) too: 5 in all, 3 and 12 of work."""
    instance = make([[3], [12]], count=[1, 1], performance=np.array([[2000, 1000], [1000, 3000]]))
    used, rate = worths(instance, 0)
    assert [Fraction(each, rate) for each in used] == [Fraction(3, 5), Fraction(12, 5)]
    # Alone 3 / 2 -> 2 and 12 / 3 = 4; together on the machine 3 / 5 + 15 / 5 -> 4.
    assert bound_work(instance).bound == 6


def test_some_jobs_are_left_out(make):
    """Ten short jobs on one machine, 1 + ... + 10 of delay; a long one on a machine that is theirs counts by itself."""
    work = [[1]] * 10 + [[100]]
    allowed = np.array([[1, 0]] * 10 + [[0, 1]], bool)
    instance = make(work, count=[1, 1], allowed=allowed)
    assert bound_work(instance).bound >= 110


def test_a_time_limit_leaves_the_cheapest_bound():
    outcome = bound_work(micro(), time_limit_s=0.0)
    assert outcome.bound == 75_350


@pytest.mark.parametrize("load", [0.5, 0.95])
def test_where_machines_are_many_jobs_alone_bound_more(load):
    instance = macro(load=load, jobs=100, machines=30, tasks=1000)
    outcome = bound_work(instance)
    assert outcome.details["left_out"] > 50
