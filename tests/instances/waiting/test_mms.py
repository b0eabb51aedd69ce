"""The baseline has the statistics that it promises."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.waiting import mms


def test_baseline_has_the_papers_rates():
    """Means of 200,000 exponential draws lie within 4 standard errors, 0.9%."""
    instance = mms(200_000, seed=3)
    assert np.diff(instance.submit_us).mean() / 1e6 == pytest.approx(5, rel=0.009)
    assert instance.runtime_us.mean() / 1e6 == pytest.approx(500, rel=0.009)
    assert (instance.fixed_price, instance.rent().max()) == (38_400, 96_000)
    assert instance.horizon_us == instance.submit_us[-1]


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


def test_spot_jobs_run_on_spot_machines_alone():
    instance = mms(2000, seed=1, spot_share=0.25, spot_price=0.2)
    spot = instance.rent() == round(0.2 * 96_000)
    assert spot.mean() == pytest.approx(0.25, abs=0.03)
    assert (instance.rent()[~spot] == 96_000).all()
    assert np.array_equal(instance.fits_fixed(), ~spot)
    # Nor do two jobs fit a machine.
    assert (2 * instance.cores[~spot] > instance.machine_cores).all()
    assert np.array_equal(instance.submit_us, mms(2000, seed=1).submit_us)


@pytest.mark.parametrize("given", [{"spot_share": 1.0}, {"spot_share": -0.5}, {"spot_share": 0.5, "spot_price": 0.0}])
def test_impossible_spot_machines(given):
    with pytest.raises(InstanceError, match="spot_"):
        mms(5, **given)
