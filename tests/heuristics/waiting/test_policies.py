"""Registered methods: worked examples, the paper's closed forms, and what each parameter does."""

import math

import numpy as np
import pytest

import schedgap.formulations.waiting.no_wait
import schedgap.heuristics.waiting.policies  # noqa: F401
from schedgap.instances.errors import MethodError
from schedgap.instances.method import REGISTRY, Status, find_method
from schedgap.instances.waiting import FAMILY, measures, mms, verify

SECOND = 1_000_000
POLICIES = ("all-rented", "njw", "ajw", "ajw-t", "sww", "ljw", "compound", "compound-mispredicted")


def seconds(rows):
    return [(submit * SECOND, runtime * SECOND, cores, memory) for submit, runtime, cores, memory in rows]


def played(name, instance, **parameters):
    outcome = find_method(FAMILY, name).run(instance, parameters=parameters)
    schedule = outcome.solution
    verify(instance, schedule)
    wait_s = (schedule.start_us - instance.submit_us) / SECOND
    return schedule.machine.tolist(), wait_s.tolist()


@pytest.fixture
def one_machine(make_instance):
    """Four jobs on one machine: 10 s, 4 s, 1 s and 6 s, a second apart."""
    return make_instance(seconds([(0, 10, 1, 0), (1, 4, 1, 0), (2, 1, 1, 0), (3, 6, 1, 0)]), 1, 4)


def test_who_waits_on_one_machine(one_machine):
    # In turn the jobs start at 0, 10, 14 and 15: waits of 9, 12 and 12 seconds.
    assert played("njw", one_machine, machines=1) == ([0, -1, -1, -1], [0, 0, 0, 0])
    assert played("ajw", one_machine, machines=1) == ([0, 0, 0, 0], [0, 9, 12, 12])
    # The third leaves after 11 s, at 13; the fourth starts at 14, having waited exactly 11.
    assert played("ajw-t", one_machine, machines=1, wait_limit_s=11) == ([0, 0, -1, 0], [0, 9, 11, 11])
    assert played("sww", one_machine, machines=1, wait_limit_s=11) == ([0, 0, -1, 0], [0, 9, 0, 11])
    # Jobs of a second rent; so do those of 6 in the second line, and the limit of 9 s is met exactly in the third.
    assert played("ljw", one_machine, machines=1, short_s=1) == ([0, 0, -1, 0], [0, 9, 0, 11])
    assert played("ljw", one_machine, machines=1, short_s=6) == ([0, -1, -1, -1], [0, 0, 0, 0])
    assert played("compound", one_machine, machines=1, short_s=1, wait_limit_s=9) == ([0, 0, -1, -1], [0, 9, 0, 0])
    assert played("all-rented", one_machine) == ([-1, -1, -1, -1], [0, 0, 0, 0])


def test_the_order_of_service(one_machine):
    # Shortest first: 1 s, 4 s, 6 s start at 10, 11, 15.
    assert played("ajw", one_machine, machines=1, scheduling="sjf") == ([0, 0, 0, 0], [0, 10, 8, 12])
    assert played("ajw", one_machine, machines=1, scheduling="easy") == ([0, 0, 0, 0], [0, 9, 12, 12])


def test_easy_backfills_beside_the_promise(make_instance):
    # Two cores. The second job needs both and is promised them at 10. The third ends by then and may start, the fourth
    # would not and waits behind it.
    instance = make_instance(seconds([(0, 10, 1, 0), (1, 5, 2, 0), (2, 8, 1, 0), (3, 9, 1, 0)]), 2, 4)
    assert played("ajw", instance, machines=1, scheduling="easy") == ([0, 0, 0, 0], [0, 9, 0, 12])
    assert played("ajw", instance, machines=1) == ([0, 0, 0, 0], [0, 9, 13, 12])


def test_best_fit_takes_the_fuller_machine(make_instance):
    # Free cores 1 and 2 of 4 when the third comes: the first has room as well, the best is the first; then 0 and 2.
    instance = make_instance(seconds([(0, 9, 2, 0), (0, 9, 3, 0), (1, 9, 1, 0), (2, 9, 1, 0)]), 4, 4)
    assert played("njw", instance, machines=2)[0] == [0, 1, 0, 0]
    assert played("njw", instance, machines=2, fit="best")[0] == [0, 1, 1, 0]


def test_a_job_larger_than_a_machine_rents_or_blocks(make_instance):
    rows = seconds([(0, 2, 1, 0), (0, 2, 5, 0), (1, 2, 1, 0), (9, 2, 1, 0)])
    instance = make_instance(rows, 1, 4)
    assert played("ajw", instance, machines=1) == ([0, -1, 0, 0], [0, 0, 1, 0])
    # As the authors' simulator has it, the large job heads the queue for ever and everybody else rents in the end.
    assert played("ajw", instance, machines=1, semantics="artifact") == ([0, -1, -1, -1], [0, 0, 0, 0])


def test_sww_semantics_differ_on_several_cores(make_instance):
    # Two cores: the second job needs both, from 10 on. With a limit of 5 s it rents at once, and the third starts at 2.
    # In the artifact it stays at the head until the end at 10 and blocks the third, which then has waited 8 > 5.
    instance = make_instance(seconds([(0, 10, 1, 0), (1, 5, 2, 0), (2, 3, 1, 0)]), 2, 4)
    assert played("sww", instance, machines=1, wait_limit_s=5) == ([0, -1, 0], [0, 0, 0])
    assert played("sww", instance, machines=1, wait_limit_s=5, semantics="artifact") == ([0, -1, -1], [0, 0, 0])
    assert played("ajw-t", instance, machines=1, wait_limit_s=5) == ([0, -1, 0], [0, 5, 4])
    assert played("ajw-t", instance, machines=1, wait_limit_s=5, semantics="artifact") == ([0, -1, -1], [0, 5, 5])


def test_the_best_number_of_machines_is_bought(one_machine):
    # $0.4 an hour for a machine, paid until the end at 10 s, and rents of $1 an hour. Without waiting one machine serves
    # 10 of 21 seconds: 0.4 x 10 + 11 = 15 < 21. A second serves 4: 0.4 x 20 + 7 = 15. A third the rest: 12. A fourth: 16.
    outcome = find_method(FAMILY, "njw").run(one_machine)
    assert outcome.details["machines"] == 3
    assert verify(one_machine, outcome.solution) == math.ceil(12 * SECOND / 3600)


def test_figure_1_buys_up_to_the_break_even_point(make_instance):
    """Stacked demand, a job a level: levels used for more than 0.4 of the time are bought, the others are rented.

    Of 100 s the levels are in use for 100, 80, 41, 39 and 10: 3 x 40 + 39 + 10 = 169, which is the optimum.
    """
    instance = make_instance(seconds([(0, used, 1, 0) for used in (100, 80, 41, 39, 10)]), 1, 4)
    instance = instance.replace(horizon_us=100 * SECOND)
    outcome = find_method(FAMILY, "njw").run(instance)
    assert outcome.details["machines"] == 3
    assert outcome.solution.machine.tolist() == [0, 1, 2, -1, -1]
    assert verify(instance, outcome.solution) == math.ceil(169 * SECOND / 3600)
    unforgiving = instance.replace(max_wait_us=0)
    assert find_method(FAMILY, "clairvoyant-no-wait").run(unforgiving).bound == math.ceil(169 * SECOND / 3600)


def test_the_paper_s_baseline_without_waiting():
    """Erlang's loss formula at 108 machines: r = 0.03494 and P = 0.46694, within three standard errors of 10 traces."""
    shares, prices = [], []
    for seed in range(10):
        instance = mms(40_000, seed=seed)
        found = measures(instance, find_method(FAMILY, "njw").run(instance, parameters={"machines": 108}).solution)
        shares.append(found["steady_on_demand_share"])
        prices.append(found["steady_normalised_price"])
    assert abs(np.mean(shares) - erlang_b(108, 100)) < 3 * np.std(shares, ddof=1) / math.sqrt(10)
    assert abs(erlang_b(108, 100) - 0.03494) < 1e-5
    # The price counts the sampled work of each trace, which varies as much as the waits do.
    assert abs(np.mean(prices) - 0.46694) < 3 * np.std(prices, ddof=1) / math.sqrt(10)


def test_waits_agree_with_erlang_s_delay_formula():
    """All jobs wait for 12 machines at a load of 8: w = C(12, 8) / (12 mu - lambda)."""
    waits = []
    for seed in range(10):
        instance = mms(40_000, seed=seed, arrival_rate=0.016)
        found = measures(instance, find_method(FAMILY, "ajw").run(instance, parameters={"machines": 12}).solution)
        waits.append(found["steady_mean_wait_s"])
    blocked = erlang_b(12, 8)
    delayed = blocked / (1 - 8 / 12 * (1 - blocked))
    assert abs(np.mean(waits) - delayed / (12 * 0.002 - 0.016)) < 3 * np.std(waits, ddof=1) / math.sqrt(10)


def erlang_b(servers: int, load: float) -> float:
    blocking = 1.0
    for s in range(1, servers + 1):
        blocking = load * blocking / (s + load * blocking)
    return blocking


def test_limits_cut_to_what_the_instance_allows(one_machine):
    limited = one_machine.replace(max_wait_us=9 * SECOND)
    for name in ("ajw", "ljw"):
        outcome = find_method(FAMILY, name).run(limited)
        assert outcome.claimed_status == Status.UNSUPPORTED
        assert "9 s" in outcome.details["reason"]
    assert played("ajw-t", limited, machines=1) == ([0, 0, -1, -1], [0, 9, 9, 9])
    assert played("sww", limited, machines=1) == ([0, 0, -1, -1], [0, 9, 0, 0])


def test_fractions_of_seconds_are_not_for_the_artifact(make_instance):
    instance = make_instance([(0, 1_500_000, 1, 0)], 1, 4)
    for name in ("njw", "ajw", "ajw-t", "sww", "ljw", "compound", "compound-mispredicted"):
        outcome = find_method(FAMILY, name).run(instance, parameters={"semantics": "artifact"})
        assert outcome.claimed_status == Status.UNSUPPORTED
        assert "whole seconds" in outcome.details["reason"]


@pytest.mark.parametrize("scheduling", ["easy", "sjf"])
def test_the_artifact_knows_one_order(one_machine, scheduling):
    parameters = {"scheduling": scheduling, "semantics": "artifact"}
    outcome = find_method(FAMILY, "ajw").run(one_machine, parameters=parameters)
    assert outcome.claimed_status == Status.UNSUPPORTED


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("ajw", {"machines": 0}, "give 1 to 10000000, since jobs wait"),
        ("ljw", {"machines": 0, "short_s": 1}, "give 1 to 10000000, since jobs wait"),
        ("njw", {"machines": -2}, "machines is -2; give 0 to"),
        ("njw", {"machines": 10_000_001}, "give 0 to 10000000"),
        ("sww", {"wait_limit_s": -2}, "wait_limit_s is -2; give seconds, 0 or more, or -1 for the best found"),
        ("ajw-t", {"wait_limit_s": "nan"}, "'wait_limit_s' takes a finite number"),
        ("ljw", {"short_s": -3}, "short_s is -3"),
        ("compound-mispredicted", {"runtime_error": 1.5}, "runtime_error is 1.5; give a probability"),
        ("compound-mispredicted", {"wait_error": "nan"}, "'wait_error' takes a finite number"),
        ("ajw", {"scheduling": "lifo"}, "one of fcfs, easy, sjf"),
        ("sww", {"fit": "worst"}, "one of first, best"),
    ],
)
def test_bad_parameters(one_machine, name, parameters, message):
    with pytest.raises(MethodError, match=message):
        find_method(FAMILY, name).run(one_machine, parameters=parameters)


@pytest.mark.parametrize("semantics", ["paper", "artifact"])
def test_mispredictions_are_seeded(semantics, make_instance):
    rng = np.random.default_rng(1)
    rows = [
        (int(t), int(r), 1, 0)
        for t, r in zip(np.cumsum(rng.integers(0, 5, 300)), rng.integers(1, 60, 300), strict=True)
    ]
    instance = make_instance(seconds(rows), 1, 4)
    method = find_method(FAMILY, "compound-mispredicted")

    def starts(seed, **errors):
        parameters = {"machines": 9, "wait_limit_s": 40, "short_s": 10, "semantics": semantics, **errors}
        return method.run(instance, seed=seed, parameters=parameters).solution.machine.tolist()

    assert starts(1) == starts(1)
    assert starts(1) != starts(2)
    right = played("compound", instance, machines=9, wait_limit_s=40, short_s=10, semantics=semantics)
    assert starts(1, runtime_error=0, wait_error=0) == right[0]
    # All mistaken: short jobs may wait and long ones rent.
    inverted = starts(1, runtime_error=1, wait_error=0)
    assert all(machine == -1 for machine, row in zip(inverted, rows, strict=True) if row[1] > 10)
    assert any(machine >= 0 for machine, row in zip(inverted, rows, strict=True) if row[1] <= 10)


def test_every_method_plays_one_job(make_instance):
    instance = make_instance(seconds([(0, 1, 1, 0)]), 1, 4)
    for name in POLICIES:
        assert verify(instance, REGISTRY[FAMILY, name].run(instance).solution) <= 1_000_000 // 3600 + 1
