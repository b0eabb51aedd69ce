"""Thresholds that policies learn: from which jobs, by which search, and that what is to come teaches nothing."""

import numpy as np
import pytest

import schedgap.heuristics.waiting.policies  # noqa: F401
from schedgap.heuristics.waiting.compiled.simulator import CompiledSimulator, Policy
from schedgap.heuristics.waiting.policies import Thresholds
from schedgap.instances.errors import MethodError
from schedgap.instances.method import find_method
from schedgap.instances.waiting import FAMILY, bursty, mms, verify

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
    # With hindsight it is as if there were no history, but for what the history teaches, which is tried as well.
    empty = dict.fromkeys(("history_before_us", "history_runtime_us", "history_cores", "history_memory_mib"), ())
    hindsight = run(name, instance, tuned_on="itself", **LEARNERS[name])[0]
    assert hindsight <= min(scored, run(name, instance.replace(**empty), **LEARNERS[name])[0])


@pytest.fixture(scope="module", params=[(3, 1.0), (3, 0.001)], ids=str)
def short_log(request):
    """A log of two minutes, of which some jobs run for days: what waits for them waits for long."""
    seed, wait_price = request.param
    return bursty(300, seed=seed, machine_cores=16, wait_price=wait_price, split=0.5)


# Under EASY nobody can tell at arrival how long a job would wait, which sww and compound must.
@pytest.mark.parametrize(
    ("name", "scheduling"),
    [
        *((name, order) for name in ("ajw-t", "ljw") for order in ("fcfs", "easy", "conservative")),
        *((name, order) for name in ("sww", "compound") for order in ("fcfs", "conservative")),
    ],
)
def test_what_is_learnt_is_no_worse_than_what_is_trivial(short_log, name, scheduling):
    free, order = LEARNERS[name], {"scheduling": scheduling}
    hindsight, details = run(name, short_log, tuned_on="itself", **order, **free)
    assert hindsight <= run("all-rented", short_log)[0]
    if "wait_limit_s" in free:
        assert hindsight <= run("njw", short_log, tuned_on="itself")[0]
    if name != "compound":
        # Everybody waits.
        assert hindsight <= run("ajw", short_log, tuned_on="itself", **order)[0]
    assert hindsight <= run(name, short_log, tuned_on="itself", **order)[0]
    assert hindsight <= run(name, short_log, **order, **free)[0]
    # What was found can be given, and gives the same.
    given = {key: details[key] for key in (*free, "machines")}
    assert hindsight == run(name, short_log, **order, **given)[0]


def test_worth_waiting_is_no_worse_than_what_is_trivial(short_log):
    hindsight, _ = run("worth-waiting", short_log, tuned_on="itself", **LEARNERS["worth-waiting"])
    for trivial in ("all-rented", "njw"):
        assert hindsight <= run(trivial, short_log)[0]
    assert hindsight <= run("worth-waiting", short_log, **LEARNERS["worth-waiting"])[0]


def test_no_machine_is_bought_only_where_nobody_waits_for_ever():
    instance = mms(50, seed=1)
    assert run("ljw", instance, short_s=1e13)[1]["machines"] == 0
    assert run("ajw-t", instance, wait_limit_s=1e13)[1]["machines"] > 0
    with pytest.raises(MethodError, match="machines is 0; give 1 to 10000000, since jobs wait"):
        run("ajw-t", instance, wait_limit_s=1e13, machines=0)


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


@pytest.mark.parametrize("name", ["ajw-t", "sww", "ljw", "compound", "worth-waiting"])
def test_what_is_too_dear_is_not_played_to_its_end(monkeypatch, short_log, name):
    order = {} if name == "worth-waiting" else {"scheduling": "conservative"}
    found = run(name, short_log, tuned_on="itself", **order, **LEARNERS[name])
    play, given_up = CompiledSimulator.run, []

    def to_the_end(self, num_machines, most_wait_us=-1):
        whole = play(self, num_machines)
        given_up.append(not np.array_equal(play(self, num_machines, most_wait_us).machine, whole.machine))
        return whole

    monkeypatch.setattr(CompiledSimulator, "run", to_the_end)
    whole = run(name, short_log, tuned_on="itself", **order, **LEARNERS[name])
    assert any(given_up) or short_log.wait_price < 1_000_000
    found[1].pop("numbers_tried"), whole[1].pop("numbers_tried")
    assert found == whole


def test_jobs_that_waited_too_long_together_are_followed_by_renters():
    instance = bursty(100, seed=2)
    policy = Policy(scheduling="conservative")
    whole, cut = (CompiledSimulator(instance, policy).run(1, most) for most in (-1, 10**10))
    waited = (cut.start_us - instance.submit_us).cumsum()
    last = int(np.argmax(waited > 10**10))
    assert 0 < last < 99
    assert np.array_equal(cut.start_us[: last + 1], whole.start_us[: last + 1])
    assert (cut.machine[last + 1 :] == -1).all()
    assert waited[-1] == waited[last]
