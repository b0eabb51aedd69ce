"""The paper's baseline, limits of each model, and simulation where a model is exact."""

import heapq

import numpy as np
import pytest

from schedgap.formulations.waiting.models import ajw, ajw_t, impatient, njw, scaled_phi, scaled_psi, sww
from schedgap.instances.errors import MethodError

BASE = {"arrival_rate": 0.2, "service_rate": 0.002, "discount": 0.4}
SERVERS = np.arange(1, 251)


def simulated(servers, wait_limit_s, jobs, seed):
    """Return (mean wait of those served, averaged over all; share that would wait longer) of a FCFS queue.

    A job whose wait would exceed the limit takes no server; the first tenth of the jobs warms up.
    """
    rng = np.random.default_rng(seed)
    arrivals = np.cumsum(rng.exponential(1 / 0.2, jobs)).tolist()
    runtimes = rng.exponential(500.0, jobs).tolist()
    free = [0.0] * servers
    waited, gone = 0.0, 0
    for i, (now, runtime) in enumerate(zip(arrivals, runtimes, strict=True)):
        wait = max(0.0, free[0] - now)
        counted = i >= jobs // 10
        if wait > wait_limit_s:
            gone += counted
            continue
        heapq.heapreplace(free, now + wait + runtime)
        waited += wait * counted
    return waited / (jobs - jobs // 10), gone / (jobs - jobs // 10)


def test_njw_baseline():
    """Issue and paper: s* = 108, P = 0.46694, r = 0.03494, $117,804 over 26,280 hours at $0.096."""
    found = njw(SERVERS, **BASE)
    best = int(np.argmin(found.normalised_price))
    assert SERVERS[best] == 108
    assert round(float(found.normalised_price[best]), 5) == 0.46694
    assert round(float(found.on_demand_share[best]), 5) == 0.03494
    assert round(float(found.normalised_price[best]) * 100 * 0.096 * 26_280) == 117_804
    assert not found.mean_wait_s.any()


def test_sww_wait_peaks_at_93():
    assert SERVERS[np.argmax(sww(SERVERS, wait_limit_s=900.0, **BASE).mean_wait_s)] == 93


def test_ajw_diverges_up_to_its_load():
    found = ajw([99, 100, 101, 120], **BASE)
    assert np.isinf(found.mean_wait_s).tolist() == [True, True, False, False]
    assert np.isnan(found.normalised_price).tolist() == [True, True, False, False]
    assert found.normalised_price[2:].tolist() == pytest.approx([0.404, 0.48])
    # The paper: w is about 20 s where NJW is cheapest, 0 at 120.
    assert float(ajw(108, **BASE).mean_wait_s) == pytest.approx(20.5, abs=0.1)
    assert found.mean_wait_s[3] < 1
    # Here the load is 7,000, and less in floating point.
    assert np.isinf(ajw([7000, 7001], 1.0, 1 / 7000, 0.4).mean_wait_s).tolist() == [True, False]


def test_no_threshold_is_njw_and_a_long_one_is_ajw():
    none, lost = ajw_t(SERVERS, wait_limit_s=0.0, **BASE), njw(SERVERS, **BASE)
    assert none.on_demand_share == pytest.approx(lost.on_demand_share, rel=1e-12)
    assert not none.mean_wait_s.any()
    long, all_wait = sww([105, 120], wait_limit_s=1e6, **BASE), ajw([105, 120], **BASE)
    assert long.mean_wait_s == pytest.approx(all_wait.mean_wait_s, rel=1e-9)
    assert long.normalised_price == pytest.approx(all_wait.normalised_price, rel=1e-9)


def test_balking_and_reneging_differ_by_what_the_rented_wait():
    reneging, balking = (model(SERVERS, wait_limit_s=900.0, **BASE) for model in (ajw_t, sww))
    assert (reneging.normalised_price == balking.normalised_price).all()
    assert reneging.mean_wait_s - balking.mean_wait_s == pytest.approx(900 * balking.on_demand_share)


def test_equation_10_with_its_sign():
    """alpha = 1 / (1 + beta (1 / delta - e^(-delta b) lambda / (delta s mu))), r = alpha beta e^(-delta b) / (s mu)."""
    s, rate, mu, b = 105.0, 0.2, 0.002, 900.0
    loss = float(njw(105, rate, mu, 0.4).on_demand_share)
    beta, delta = s * mu * loss / (1 - loss), s * mu - rate
    alpha = 1 / (1 + beta * (1 / delta - np.exp(-delta * b) * rate / (delta * s * mu)))
    gone, waited = impatient(*map(np.asarray, (s, rate, mu, b)))
    assert float(gone) == pytest.approx(alpha * beta * np.exp(-delta * b) / (s * mu), rel=1e-10)
    mean = alpha * beta * (1 - delta * b * np.exp(-delta * b) - np.exp(-delta * b)) / delta**2
    assert float(waited) == pytest.approx(mean, rel=1e-10)


def test_continuous_where_the_load_is_the_number_of_servers():
    s, mu, b = np.asarray(100.0), np.asarray(0.002), np.asarray(900.0)
    loss = float(njw(100, 0.2, 0.002, 0.4).on_demand_share)
    beta = 0.2 * loss / (1 - loss)
    alpha = 0.2 / (0.2 + beta * (0.2 * 900 + 1))
    for rate in 0.2 * (1 + np.array([-1e-9, -1e-13, 0.0, 1e-13, 1e-9])):
        gone, waited = impatient(s, np.asarray(rate), mu, b)
        assert float(gone) == pytest.approx(alpha * beta / 0.2, rel=1e-6)
        assert float(waited) == pytest.approx(alpha * beta * 900**2 / 2, rel=1e-6)


def test_integrals_are_smooth_and_bounded():
    x = np.array([-2000.0, -5.0, -0.5000001, -0.4999999, 0.0, 0.4999999, 0.5000001, 5.0, 2000.0])
    u = (np.arange(400_000) + 0.5) / 400_000
    scale = np.exp(np.minimum(x, 0.0))
    assert scaled_phi(x)[1:8] == pytest.approx(
        [np.mean(np.exp(-v * u)) * k for v, k in zip(x[1:8], scale[1:8], strict=True)]
    )
    assert scaled_psi(x)[1:8] == pytest.approx(
        [np.mean(u * np.exp(-v * u)) * k for v, k in zip(x[1:8], scale[1:8], strict=True)]
    )
    assert scaled_phi(x)[[0, 8]] == pytest.approx([1 / 2000, 1 / 2000])


def test_overload_does_not_overflow():
    """Served at full use, 50 of 1,000; everybody served waits for nearly the whole limit."""
    found = ajw_t(50, 2.0, 0.002, 0.4, 1e7)
    assert float(found.on_demand_share) == pytest.approx(0.95)
    assert float(found.mean_wait_s) == pytest.approx(1e7, rel=1e-3)


def test_no_machines_rent_everything():
    assert float(sww(0, wait_limit_s=900.0, **BASE).normalised_price) == 1.0
    assert float(njw(0, **BASE).normalised_price) == 1.0


@pytest.mark.parametrize(("servers", "limit"), [(85, 900.0), (100, 300.0), (108, 60.0)])
def test_impatience_within_three_standard_errors_of_simulation(servers, limit):
    runs = np.array([simulated(servers, limit, 30_000, seed) for seed in range(6)])
    error = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
    found = sww(servers, wait_limit_s=limit, **BASE)
    predicted = np.array([found.mean_wait_s, found.on_demand_share])
    assert (np.abs(runs.mean(axis=0) - predicted) <= 3 * error).all()


def test_loss_within_three_standard_errors_of_simulation():
    runs = np.array([simulated(108, 0.0, 30_000, seed)[1] for seed in range(6)])
    error = runs.std(ddof=1) / np.sqrt(len(runs))
    assert abs(runs.mean() - float(njw(108, **BASE).on_demand_share)) <= 3 * error


@pytest.mark.parametrize("change", [{"arrival_rate": 0.0}, {"service_rate": -1.0}, {"discount": np.nan}])
def test_refuses_nonsense(change):
    with pytest.raises(MethodError, match=r"finite|positive"):
        njw(5, **{**BASE, **change})
