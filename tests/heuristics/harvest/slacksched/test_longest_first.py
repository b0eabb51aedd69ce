"""Rules in which the longest tasks of a job choose first, and the names that `slacksched` with options had before."""

from dataclasses import asdict

import numpy as np
import pytest

from schedgap.heuristics.harvest.slacksched.slacksched import NAMES, RuleOptions, slacksched
from schedgap.instances.harvest import quick, verify
from schedgap.instances.harvest.model import FAMILY
from schedgap.instances.method import find_method

METHODS = pytest.mark.parametrize("rule", ["holding", "no-delay", "literal"])


@METHODS
def test_longest_task_of_each_job_starts_first(rule):
    # One VM at a time: jobs in order, their tasks from the longest on.
    instance = quick(1, 2, "4", seed=3, cores="2", most_cores=3, min_sizes="2", interarrival_min=0.0, stability=1000.0)
    solution = slacksched(instance, rule=rule, order="longest-first").solution
    verify(instance, solution)
    # Task numbers are the instance's own again.
    started = list(dict.fromkeys(solution.task[solution.start_ms.argsort(kind="stable")].tolist()))
    runtime = instance.runtime_ms
    assert started == [*sorted(range(4), key=lambda t: -runtime[t]), *sorted(range(4, 8), key=lambda t: -runtime[t])]


@METHODS
@pytest.mark.parametrize("seed", range(3))
def test_schedules_verify(rule, seed):
    instance = quick(12, 6, "5-20", seed=seed, cores="1,2,4", load=0.5, error=0.3, interruptible=0.3)
    verify(instance, slacksched(instance, rule=rule, order="longest-first").solution)


@pytest.mark.parametrize("name", NAMES)
def test_old_names_are_options(name):
    instance = quick(12, 6, "5-20", seed=2, cores="1,2,4", load=0.8, error=0.3)
    _, options, _ = NAMES[name]
    told, optioned = find_method(FAMILY, name), find_method(FAMILY, "slacksched")
    chosen = asdict(options)
    runs, same = told.run(instance).solution, optioned.run(instance, parameters=chosen).solution
    for field in ("task", "vm", "start_ms", "end_ms"):
        assert np.array_equal(getattr(runs, field), getattr(same, field))
    # Rows of either name stay what they were before there were options.
    assert told.recorded({}).keys() <= optioned.recorded({}).keys() | {"threshold"}
    assert optioned.recorded(optioned.checked(asdict(RuleOptions()))) == optioned.recorded({})
    changed = {key for key, value in chosen.items() if value != getattr(RuleOptions(), key)}
    assert optioned.recorded(optioned.checked(chosen)).keys() - optioned.recorded({}).keys() == changed
