"""Long Jobs Wait and the compound policy: limits, and how far the approximations are from simulation."""

import heapq

import numpy as np
import pytest

from schedgap.formulations.waiting.models import ajw, compound, impatient, ljw, long_jobs, njw, sww

BASE = {"arrival_rate": 0.2, "service_rate": 0.002, "discount": 0.4}


def simulated(servers, wait_limit_s, short_s, jobs, seed):
    """Return (mean wait of all jobs, share of jobs on demand) of the compound policy."""
    rng = np.random.default_rng(seed)
    arrivals = np.cumsum(rng.exponential(1 / 0.2, jobs)).tolist()
    runtimes = rng.exponential(500.0, jobs).tolist()
    free = [0.0] * servers
    waited, gone = 0.0, 0
    for i, (now, runtime) in enumerate(zip(arrivals, runtimes, strict=True)):
        counted = i >= jobs // 10
        wait = max(0.0, free[0] - now)
        if runtime <= short_s or wait > wait_limit_s:
            gone += counted
            continue
        heapq.heapreplace(free, now + wait + runtime)
        waited += wait * counted
    return waited / (jobs - jobs // 10), gone / (jobs - jobs // 10)


def test_no_short_jobs_is_the_policy_for_all():
    servers = np.arange(0, 130)
    same, other = compound(servers, wait_limit_s=900.0, short_s=0.0, **BASE), sww(servers, wait_limit_s=900.0, **BASE)
    assert same.mean_wait_s == pytest.approx(other.mean_wait_s, rel=1e-9, abs=1e-9)
    assert same.on_demand_share == pytest.approx(other.on_demand_share, abs=1e-12)
    assert same.normalised_price == pytest.approx(other.normalised_price, rel=1e-12)
    assert ljw([101, 108], short_s=0.0, **BASE).mean_wait_s == pytest.approx(ajw([101, 108], **BASE).mean_wait_s)


def test_long_jobs_of_the_baseline():
    """t = 180: e^-0.36 of the jobs, 680 s each, 0.36 more than their share of the work."""
    jobs = long_jobs(np.asarray(0.2), np.asarray(0.002), np.asarray(180.0))
    assert float(jobs.share) == pytest.approx(0.697676)
    assert float(jobs.load) == pytest.approx(94.884, abs=1e-3)
    assert float(jobs.work_share) == pytest.approx(1.36 * 0.697676, rel=1e-5)


def test_ljw_diverges_up_to_the_load_of_long_jobs():
    found = ljw([94, 95], short_s=180.0, **BASE)
    assert np.isinf(found.mean_wait_s).tolist() == [True, False]
    assert float(found.normalised_price[1]) == pytest.approx(0.4 * 95 / 100 + 1 - 0.948840, rel=1e-5)


def test_compound_without_waits_is_a_loss_system_of_long_jobs():
    found = compound(100, wait_limit_s=0.0, short_s=180.0, **BASE)
    jobs = long_jobs(np.asarray(0.2), np.asarray(0.002), np.asarray(180.0))
    lost = njw(100, jobs.rate, 1 / jobs.mean_s, 0.4).on_demand_share
    assert float(found.on_demand_share) == pytest.approx(float(1 - jobs.share * (1 - lost)), rel=1e-10)
    assert float(found.mean_wait_s) == 0.0


@pytest.mark.parametrize(
    ("servers", "limit", "short"), [(85, 900, 180), (93, 900, 180), (108, 900, 180), (60, 900, 600), (95, 100, 180)]
)
def test_equations_23_and_24_have_nearly_the_price_of_the_model(servers, limit, short):
    """The share of long jobs that rent is Lemma 3.1's, as if their runtimes were exponential."""
    jobs = long_jobs(np.asarray(0.2), np.asarray(0.002), np.asarray(float(short)))
    gone = sww(servers, jobs.rate, 1 / jobs.mean_s, 0.4, limit).on_demand_share
    # Equation 24 in Equation 23: the fixed machines' part is d s mu / lambda; shares of work are those of mean runtimes.
    price = 0.4 * servers / 100 + jobs.work_share * gone + (1 - jobs.work_share)
    assert price == pytest.approx(
        compound(servers, wait_limit_s=limit, short_s=short, **BASE).normalised_price, rel=0.011
    )


def test_ajw_costs_as_much_as_renting_at_250_machines():
    found = ajw([120, 250], **BASE)
    assert found.normalised_price.tolist() == pytest.approx([0.48, 1.0])
    assert float(found.mean_wait_s[0]) < 1


def test_compound_with_long_waits_is_ljw():
    found = compound(105, wait_limit_s=1e6, short_s=180.0, **BASE)
    assert float(found.mean_wait_s) == pytest.approx(float(ljw(105, short_s=180.0, **BASE).mean_wait_s), rel=1e-9)


@pytest.mark.parametrize(
    ("servers", "limit", "short", "within"), [(85, 900, 180, 0.02), (80, 300, 180, 0.03), (60, 900, 600, 0.05)]
)
def test_compound_is_near_simulation_where_equation_25_is_not(servers, limit, short, within):
    wait, share = np.mean([simulated(servers, limit, short, 40_000, seed) for seed in range(4)], axis=0)
    found = compound(servers, wait_limit_s=limit, short_s=short, **BASE)
    assert float(found.mean_wait_s) == pytest.approx(wait, rel=within)
    assert float(found.on_demand_share) == pytest.approx(share, abs=0.01)
    jobs = long_jobs(np.asarray(0.2), np.asarray(0.002), np.asarray(float(short)))
    _, waited = impatient(np.asarray(float(servers)), jobs.rate, 1 / jobs.mean_s, np.asarray(float(limit)))
    assert abs(float(jobs.share * jobs.variability * waited) / wait - 1) > 0.2
