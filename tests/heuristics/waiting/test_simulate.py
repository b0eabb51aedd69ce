"""The compiled simulators against plain references: placements identical, starts equal to the microsecond."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedgap.heuristics.waiting.simulate import NO_LIMIT_US, Policy, Simulation
from schedgap.instances.waiting.generate import bursty, mms
from schedgap.instances.waiting.model import SECOND_US
from schedgap.instances.waiting.verify import verify

QUICK = settings(max_examples=60, deadline=None)
# Few values, so that times tie.
GAPS = st.sampled_from([0, 0, 1, 2, 3, 7])
RUNTIMES = st.sampled_from([1, 2, 3, 5, 8, 20])
LIMITS = st.sampled_from([None, 0, 1, 4, 10])


def rows_of(draw, cores, memory, most=40):
    now, rows = 0, []
    for _ in range(draw(st.integers(1, most))):
        now += draw(GAPS)
        rows.append((now, draw(RUNTIMES), draw(cores), draw(memory)))
    return rows


@st.composite
def single_core(draw):
    return rows_of(draw, st.just(1), st.just(1)), 1, 1


@st.composite
def multi_core(draw):
    """Machines of 4 cores and 8 MiB; some jobs are larger."""
    cores, memory = st.sampled_from([1, 1, 2, 3, 4, 5]), st.sampled_from([0, 1, 2, 5, 8, 9])
    return rows_of(draw, cores, memory), 4, 8


@st.composite
def alike(draw):
    """Jobs of 2 cores and 3 MiB on machines of 5 and 8: two a machine."""
    return rows_of(draw, st.just(2), st.just(3)), 5, 8


TRACES = st.one_of(single_core(), multi_core(), alike())


def policy_of(limit, **others):
    return Policy(limit_us=NO_LIMIT_US if limit is None else limit, **others)


def agrees(schedule, expected) -> None:
    assert (schedule.machine.tolist(), schedule.start_us.tolist()) == expected


@QUICK
@given(TRACES, st.integers(0, 4), LIMITS, st.sampled_from(["first", "best"]))
def test_reneging_in_turn(make_instance, plain_paper, trace, machines, limit, fit):
    if limit is None:
        machines += 1
    instance = make_instance(*trace)
    schedule = Simulation(instance, policy_of(limit, fit=fit)).run(machines)
    agrees(schedule, plain_paper(instance, machines, [limit] * instance.num_jobs, fit=fit))
    verify(instance, schedule)


@QUICK
@given(TRACES, st.integers(0, 4), LIMITS, st.integers(-1, 4), st.sampled_from(["first", "best"]))
def test_balking(make_instance, plain_paper, trace, machines, limit, short, fit):
    if limit is None:
        machines += 1
    instance = make_instance(*trace)
    schedule = Simulation(instance, policy_of(limit, balks=True, short_us=short, fit=fit)).run(machines)
    at_once = (instance.runtime_us <= short).tolist()
    limits = [limit] * instance.num_jobs
    agrees(schedule, plain_paper(instance, machines, limits, balks=True, at_once=at_once, fit=fit))
    verify(instance, schedule)


@QUICK
@given(TRACES, st.integers(1, 4), st.lists(st.sampled_from([-1, 0, 2, 6, 11]), min_size=40, max_size=40))
def test_balking_with_a_limit_for_each_job(make_instance, plain_paper, trace, machines, limits):
    instance = make_instance(*trace)
    limits = np.array(limits[: instance.num_jobs])
    schedule = Simulation(instance, Policy(balks=True), limit_us=limits).run(machines)
    at_once = (limits < 0).tolist()
    agrees(schedule, plain_paper(instance, machines, limits.tolist(), balks=True, at_once=at_once))


@QUICK
@given(TRACES, st.integers(0, 3))
def test_no_jobs_wait(make_instance, plain_paper, trace, machines):
    instance = make_instance(*trace)
    schedule = Simulation(instance, Policy(waits=False)).run(machines)
    agrees(schedule, plain_paper(instance, machines, [0] * instance.num_jobs))
    assert (schedule.start_us == instance.submit_us).all()


@QUICK
@given(TRACES, st.integers(1, 4), LIMITS, st.sampled_from(["easy", "sjf"]), st.sampled_from(["first", "best"]))
def test_other_orders(make_instance, plain_paper, trace, machines, limit, scheduling, fit):
    instance = make_instance(*trace)
    schedule = Simulation(instance, policy_of(limit, scheduling=scheduling, fit=fit)).run(machines)
    limits = [limit] * instance.num_jobs
    agrees(schedule, plain_paper(instance, machines, limits, scheduling=scheduling, fit=fit))
    verify(instance, schedule)


@QUICK
@given(TRACES, st.integers(0, 4), LIMITS, st.booleans(), st.sampled_from(["first", "best"]))
def test_conservative_backfilling(make_instance, plain_conservative, trace, machines, limit, balks, fit):
    if limit is None:
        machines += 1
    instance = make_instance(*trace)
    schedule = Simulation(instance, policy_of(limit, balks=balks, scheduling="conservative", fit=fit)).run(machines)
    agrees(schedule, plain_conservative(instance, machines, [limit] * instance.num_jobs, balks=balks, fit=fit))
    verify(instance, schedule)


@QUICK
@given(TRACES, st.integers(1, 4), st.lists(st.sampled_from([-1, 0, 2, 6, 11, 30]), min_size=40, max_size=40))
def test_conservative_backfilling_with_a_limit_for_each_job(make_instance, plain_conservative, trace, machines, limits):
    instance = make_instance(*trace)
    limits = np.array(limits[: instance.num_jobs])
    simulation = Simulation(instance, Policy(balks=True, scheduling="conservative"), limit_us=limits)
    agrees(simulation.run(machines), plain_conservative(instance, machines, limits.tolist()))


@QUICK
@given(TRACES, st.integers(1, 3), LIMITS, st.integers(0, 2**32))
def test_wrong_predictions(make_instance, plain_paper, trace, machines, limit, seed):
    instance = make_instance(*trace)
    policy = policy_of(limit, balks=True, short_us=2, runtime_error=0.3, wait_error=0.3)
    simulation = Simulation(instance, policy, np.random.default_rng(seed))
    schedule = simulation.run(machines)
    expected = plain_paper(
        instance,
        machines,
        [limit] * instance.num_jobs,
        balks=True,
        at_once=simulation.short.tolist(),
        mistaken=simulation.mistaken.tolist(),
    )
    agrees(schedule, expected)


@pytest.mark.parametrize("limit", [None, 40])
def test_a_long_queue_is_passed_over_in_blocks(make_instance, plain_paper, limit):
    """Two cores and up to 200 waiting jobs: more than a block of 64 places."""
    rng = np.random.default_rng(5)
    rows = [(int(t), int(rng.integers(1, 9)), int(rng.integers(1, 3)), 0) for t in np.sort(rng.integers(0, 300, 400))]
    instance = make_instance(rows, 2, 1)
    schedule = Simulation(instance, policy_of(limit, scheduling="easy")).run(1)
    agrees(schedule, plain_paper(instance, 1, [limit] * 400, scheduling="easy"))


def test_promises_outgrow_their_rows(make_instance, plain_conservative):
    """80 jobs on one machine of two cores, all promised within 20 microseconds: more than 64 steps."""
    rng = np.random.default_rng(6)
    rows = [(int(t), int(rng.integers(5, 30)), int(rng.integers(1, 3)), 0) for t in np.sort(rng.integers(0, 20, 80))]
    instance = make_instance(rows, 2, 1)
    schedule = Simulation(instance, Policy(scheduling="conservative")).run(1)
    agrees(schedule, plain_conservative(instance, 1, [None] * 80))


@pytest.mark.parametrize("scheduling", ["fcfs", "easy", "sjf", "conservative"])
@pytest.mark.parametrize("semantics", ["paper", "artifact"])
@pytest.mark.parametrize("generator", [mms, bursty])
def test_less_than_100_bytes_a_job(generator, scheduling, semantics):
    """32 of the instance, 16 of the schedule, and what is allocated in between."""
    jobs = 60_000
    instance = generator(jobs)
    policy = Policy(limit_us=3600 * SECOND_US, short_us=180 * SECOND_US, scheduling=scheduling, semantics=semantics)
    tracemalloc.start()
    Simulation(instance, policy).run(100)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (100 - 32) * jobs


@pytest.mark.parametrize("semantics", ["paper", "artifact"])
@pytest.mark.parametrize(("runtime_error", "wait_error"), [(0.3, 0.0), (0.0, 0.3), (0.3, 0.3)])
def test_errors_of_jobs_do_not_depend_on_those_that_come_later(make_instance, semantics, runtime_error, wait_error):
    rows = [(i, 1 + i % 5, 1, 0) for i in range(40)]
    policy = Policy(
        limit_us=4, short_us=2, runtime_error=runtime_error, wait_error=wait_error, semantics=semantics, balks=True
    )
    few, all_ = (Simulation(make_instance(some, 2, 1), policy, np.random.default_rng(3)) for some in (rows[:25], rows))
    assert few.seed == all_.seed
    assert few.short.tolist() == all_.short[:25].tolist()
    assert few.mistaken.tolist() == all_.mistaken[:25].tolist()
