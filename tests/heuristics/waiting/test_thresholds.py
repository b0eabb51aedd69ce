"""Thresholds that policies learn: from which jobs, by which search, and that what is to come teaches nothing."""

import numpy as np
import pytest

from schedgap.heuristics.waiting.thresholds import Thresholds
from schedgap.instances.errors import MethodError
from schedgap.instances.method import find_method
from schedgap.instances.waiting import FAMILY, mms, verify

LEARNERS = {
    "ajw-t": {"wait_limit_s": -1},
    "sww": {"wait_limit_s": -1},
    "ljw": {"short_s": -1},
    "compound": {"wait_limit_s": -1, "short_s": -1},
    "worth-waiting": {"hours_per_dollar": -1, "wait_limit_s": -1},
}


def run(name, instance, **parameters):
    outcome = find_method(FAMILY, name).run(instance, parameters=parameters)
    return verify(instance, outcome.solution), outcome.details


def trace(**parameters):
    return mms(2000, seed=5, arrival_rate=0.02, wait_price=0.02, **parameters)


@pytest.mark.parametrize("name", LEARNERS)
def test_no_neighbour_is_better_on_the_jobs_learnt_from(name):
    instance = trace()
    found, details = run(name, instance, **LEARNERS[name])
    for key in LEARNERS[name]:
        for factor in (0.5, 2):
            given = {each: details[each] for each in LEARNERS[name]} | {key: details[key] * factor}
            assert found <= run(name, instance, **given)[0]


@pytest.mark.parametrize("name", LEARNERS)
def test_the_history_teaches_what_an_instance_of_its_own_does(name):
    instance = trace(split=0.5)
    _, learnt = run(name, instance.history, **LEARNERS[name])
    scored, details = run(name, instance, **LEARNERS[name])
    assert details == learnt
    assert scored == run(name, instance, **{key: details[key] for key in (*LEARNERS[name], "machines")})[0]
    # With hindsight it is as if there were no history.
    empty = dict.fromkeys(("history_before_us", "history_runtime_us", "history_cores", "history_memory_mib"), ())
    hindsight = run(name, instance, tuned_on="itself", **LEARNERS[name])
    assert hindsight == run(name, instance.replace(**empty), **LEARNERS[name])


def test_what_comes_teaches_nothing():
    instance = trace(split=0.5)
    changed = instance.replace(runtime_us=instance.runtime_us[::-1])
    for name, free in LEARNERS.items():
        assert run(name, instance, **free)[1] == run(name, changed, **free)[1]


def test_free_waiting_is_worth_any_time():
    assert "hours_per_dollar" not in run("worth-waiting", mms(200))[1]


def test_mispredictions_are_drawn_alike_at_every_point():
    """So a point that is tried again costs the same, and what was found is what is scored."""
    method = find_method(FAMILY, "compound-mispredicted")
    instance = trace()
    free = {"wait_limit_s": -1, "short_s": -1}
    outcome = method.run(instance, seed=3, parameters=free)
    given = {key: outcome.details[key] for key in (*free, "machines")}
    again = method.run(instance, seed=3, parameters=given)
    assert np.array_equal(outcome.solution.start_us, again.solution.start_us)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"wait_limit_s": -2}, "wait_limit_s is -2; give seconds, 0 or more, or -1 for the best found"),
        ({"hours_per_dollar": float("nan")}, "hours_per_dollar is nan; give hours"),
    ],
)
def test_what_is_no_threshold(given, message):
    with pytest.raises(MethodError, match=message):
        Thresholds(**given)
