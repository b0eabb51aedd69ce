"""Bounds against schedules: reckoned by hand, and random ones that nobody would want."""

import itertools
import time

import numpy as np
import pytest

from schedgap.formulations.reconfiguration import work_bound as progress_bound
from schedgap.formulations.reconfiguration.work_bound import bound_presence, bound_progress
from schedgap.formulations.reconfiguration.work_prices import bound_work
from schedgap.instances.errors import InstanceError
from schedgap.instances.method import Status, find_method
from tests.oracles.reconfiguration import cheapest

# The least cost of all schedules, which `cheapest` proves, of some random instances with jobs of one task each.
OPTIMA = {3: 1300, 9: 9000, 11: 46_000, 20: 16_000, 25: 6200, 30: 7000, 36: 8000}


def test_one_job_is_paid_while_it_must_be_there(plain):
    # 120 s of work need the plans of 0, 50 and 100 s: 150 s of the machine, of which work alone counts 120.
    instance = plain((120,))
    assert bound_presence(instance).bound == 150
    assert bound_work(instance).bound == 120
    assert bound_progress(instance).bound == 150


def test_a_job_that_ends_at_a_plan_need_not_be_in_it(plain):
    assert bound_presence(plain((100,))).bound == 100


def test_interference_makes_work_dearer(plain):
    # Two jobs on one machine run at 0.6 each, 1.2 together: 600 s of work take 500 s of it.
    instance = plain((300, 300), throughput=[[600]], classes=(0, 0))
    assert bound_work(instance).bound == 500
    # Without interference both fit one machine for 300 s.
    assert bound_presence(instance).bound == 300
    assert bound_progress(instance).bound >= 500


def test_acquisition_for_nothing_is_priced(plain, wander):
    # Presence alone: a new machine every 50 s is paid for 40 s of them, each job of 100 s is there for 2 plans.
    instance = plain((100,), acquire_s=[10])
    assert bound_presence(instance).bound == 80
    # On one machine: 10 s late, so 3 plans, 140 s paid. Moving costs progress.
    assert bound_progress(instance).bound <= min(wander(instance, 20, 0))


def test_a_machine_that_may_never_be_paid_is_worth_nothing(plain):
    # Acquisition takes two periods: a job could be planned on a new machine in every plan, for nothing.
    instance = plain((100,), acquire_s=[100])
    assert bound_presence(instance).bound == 0
    assert bound_progress(instance).bound == bound_work(instance).bound == 100


def test_whoever_is_sent_to_a_slow_machine_stays_until_it_runs(plain):
    """In 100 s of acquisition nobody is paid for, but then 40 s of set-up are: of three windows 50 s are paid."""
    assert bound_presence(plain((100,), acquire_s=[100], setup_s=[40])).bound == pytest.approx(2 * 50 / 3, abs=1)


@pytest.mark.parametrize("seed", range(20))
def test_no_schedule_on_slow_machines_is_cheaper(seed, oddities, wander):
    try:
        instance = oddities(seed)
    except InstanceError:
        pytest.skip("a class fits no type")
    slower = np.random.default_rng(seed).integers(0, 3, (2, instance.acquire_s.size)) * instance.period_s
    instance = instance.replace(acquire_s=instance.acquire_s + slower[0], setup_s=instance.setup_s + slower[1])
    assert bound_progress(instance).bound <= min(wander(instance, 5, seed))


@pytest.mark.parametrize("seed", range(30))
def test_no_schedule_is_cheaper(seed, oddities, wander):
    try:
        instance = oddities(seed)
    except InstanceError:
        pytest.skip("a class fits no type")
    bounds = [bound(instance).bound for bound in (bound_work, bound_presence, bound_progress)]
    assert bounds[2] >= max(bounds)
    costs = wander(instance, 15, seed)
    assert costs
    assert max(bounds) <= min(costs)


@pytest.mark.parametrize("name", ["bound-work", "bound-presence", "bound-progress"])
def test_without_time_the_bound_is_zero(name, plain):
    outcome = find_method("reconfiguration", name).run(plain((120,)), time_limit_s=0.0)
    assert (outcome.claimed_status, outcome.bound) == (Status.NO_SOLUTION, 0)
    assert outcome.details["iterations"] == outcome.details["nodes"] == 0


@pytest.mark.parametrize("ticks", range(1, 40, 4))
def test_any_moment_to_stop_leaves_a_bound(ticks, plain, monkeypatch):
    # A clock that ticks at every look: the deadline falls before or after any search.
    clock = itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))
    instance = plain((300, 300), throughput=[[600]], classes=(0, 0))
    assert 0 <= bound_progress(instance, time_limit_s=ticks).bound <= bound_progress(instance).bound <= 500


def test_many_spells_do_not_lose_presence_alone(plain):
    # 101 jobs one after the other, each alone: presence pays for the last period of each, work does not.
    number = progress_bound.FEW_SPELLS + 1
    instance = plain((60,) * number, arrival_s=150 * np.arange(number), throughput=[[600]], acquire_s=[10])
    assert bound_progress(instance).details["spells"] == number
    assert bound_progress(instance).bound >= bound_presence(instance).bound > 0


@pytest.mark.parametrize("seed", OPTIMA)
def test_no_bound_is_above_the_least_cost_of_all_schedules(seed, oddities):
    instance = oddities(seed)
    instance = instance.replace(num_tasks=np.ones(instance.num_jobs), work_s=1 + instance.work_s // 3)
    # One more: a search that finds nothing below its limit returns the limit.
    assert cheapest(instance, OPTIMA[seed] + 1) == OPTIMA[seed]
    assert max(bound(instance).bound for bound in (bound_work, bound_presence, bound_progress)) <= OPTIMA[seed]


@pytest.mark.parametrize("seed", range(12))
def test_no_schedule_is_cheaper_from_a_start(seed, oddities, begun, wander):
    instance = begun(oddities(seed), seed)
    bounds = [bound(instance).bound for bound in (bound_work, bound_presence, bound_progress)]
    assert max(bounds) <= min(wander(instance, 60, seed))
