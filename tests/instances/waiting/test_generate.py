"""Generators have the statistics that they promise, and the same ones everywhere."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.waiting import bursty, mms


def test_baseline_has_the_papers_rates():
    """Means of 200,000 exponential draws lie within 4 standard errors, 0.9%."""
    instance = mms(200_000, seed=3)
    assert np.diff(instance.submit_us).mean() / 1e6 == pytest.approx(5, rel=0.009)
    assert instance.runtime_us.mean() / 1e6 == pytest.approx(500, rel=0.009)
    assert (instance.fixed_price, instance.rent().max()) == (38_400, 96_000)
    assert instance.horizon_us == instance.submit_us[-1]


def test_bursty_has_the_statistics_of_figure_10():
    """Nine of ten gaps below 1 s at 0.4527 jobs a second, six of ten runtimes below 3 minutes with a mean of 6,225 s.

    The gaps' tail is so heavy that a few of a million draws are an eighth of the mean.
    """
    instance = bursty(1_000_000, seed=1)
    gaps_s, runtime_s = np.diff(instance.submit_us) / 1e6, instance.runtime_us / 1e6
    assert (gaps_s < 1).mean() == pytest.approx(0.9, abs=0.002)
    assert gaps_s.mean() == pytest.approx(1 / 0.4527, rel=0.2)
    assert gaps_s.max() < 50 * 3600
    assert (runtime_s <= 180).mean() == pytest.approx(0.6, abs=0.002)
    assert runtime_s.mean() == pytest.approx(6225, rel=0.05)
    assert instance.cores.mean() == pytest.approx(3.344, rel=0.02)
    assert instance.fits_fixed().all()


@pytest.mark.parametrize("make", [mms, bursty])
def test_the_seed_decides(make):
    assert make(50, seed=1).digest == make(50, seed=1).digest
    assert make(50, seed=1).digest != make(50, seed=2).digest


@pytest.mark.parametrize("make", [mms, bursty])
def test_times_may_be_coarse(make):
    fine, coarse = make(200, seed=1), make(200, seed=1, step_s=60.0)
    for key in ("submit_us", "runtime_us"):
        times, rounded = getattr(fine, key), getattr(coarse, key)
        assert (rounded % 60_000_000 == 0).all()
        assert ((rounded >= times) & (rounded < times + 60_000_000)).all()


def test_what_waiting_costs():
    instance = mms(5, wait_price=0.25, max_wait_h=1.5)
    assert (instance.wait_price, instance.max_wait_us) == (250_000, 5_400_000_000)
    assert mms(5).max_wait_us is None


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"jobs": 0}, "jobs is 0; give a positive number"),
        ({"arrival_rate": -0.1}, "arrival_rate is -0.1"),
        ({"service_rate": 0.0}, "service_rate is 0"),
        ({"discount": 1.5}, "discount is 1.5; give the fixed price as a share of the on-demand one, 0 to 1"),
        ({"wait_price": -1.0}, "cannot be negative"),
        ({"step_s": -1.0}, "step_s is -1; give seconds, or 0"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    with pytest.raises(InstanceError, match=message):
        mms(**{"jobs": 5, **parameters})


def test_a_machine_without_cores():
    with pytest.raises(InstanceError, match="machine_cores is 0"):
        bursty(5, machine_cores=0)
