"""The rules of our own in which the longest tasks of a job choose first."""

import pytest

from schedgap.heuristics.harvest.slacksched.slacksched import longest_first_matching, longest_first_no_delay
from schedgap.instances.harvest import quick, verify

METHODS = pytest.mark.parametrize("method", [longest_first_matching, longest_first_no_delay])


@METHODS
def test_longest_task_of_each_job_starts_first(method):
    # One VM at a time: jobs in order, their tasks from the longest on.
    instance = quick(1, 2, "4", seed=3, cores="2", most_cores=3, min_sizes="2", interarrival_min=0.0, stability=1000.0)
    solution = method(instance).solution
    verify(instance, solution)
    # Task numbers are the instance's own again.
    started = list(dict.fromkeys(solution.task[solution.start_ms.argsort(kind="stable")].tolist()))
    runtime = instance.runtime_ms
    assert started == [*sorted(range(4), key=lambda t: -runtime[t]), *sorted(range(4, 8), key=lambda t: -runtime[t])]


@METHODS
@pytest.mark.parametrize("seed", range(3))
def test_schedules_verify(method, seed):
    instance = quick(12, 6, "5-20", seed=seed, cores="1,2,4", load=0.5, error=0.3, interruptible=0.3)
    verify(instance, method(instance).solution)
