"""The bursty trace has the statistics that it promises."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.waiting import bursty


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


def test_a_machine_without_cores():
    with pytest.raises(InstanceError, match="machine_cores is 0"):
        bursty(5, machine_cores=0)


def test_campaigns_are_the_same_jobs_in_another_order():
    plain, instance = bursty(10_000, seed=1), bursty(10_000, seed=1, campaign_jobs=100)
    assert np.array_equal(plain.submit_us, instance.submit_us)
    for key in ("runtime_us", "cores", "memory_mib"):
        assert np.array_equal(np.sort(getattr(plain, key)), np.sort(getattr(instance, key)))
    # Blocks of 100 have jobs of one kind, but where one kind ends; in any other order there are all kinds of them.
    kinds = [len(set(block.tolist())) for block in instance.cores.reshape(-1, 100)]
    assert np.mean(np.array(kinds) == 1) > 0.9
    assert min(len(set(block.tolist())) for block in plain.cores.reshape(-1, 100)) > 3
    # Nor do campaigns come in order of what they are.
    assert np.mean(np.diff(instance.cores[::100]) < 0) > 0.1


def test_a_log_ends_at_its_horizon():
    instance, whole = bursty(5000, seed=1, horizon_h=1.0), bursty(5000, seed=1)
    hour_us = 3_600_000_000
    kept = instance.num_jobs
    assert instance.horizon_us == hour_us
    assert instance.submit_us[-1] <= hour_us - 1_000_000 < whole.submit_us[kept]
    end_us, long = instance.submit_us + instance.runtime_us, whole.submit_us + whole.runtime_us
    assert end_us.max() <= hour_us
    cut = long[:kept] > hour_us
    assert np.array_equal(instance.runtime_us[~cut], whole.runtime_us[:kept][~cut])
    assert (instance.runtime_us % 1_000_000 == 0).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"campaign_jobs": -1}, "campaign_jobs is -1 and horizon_h is 0; give numbers that are not negative"),
        ({"horizon_h": -2.0}, "horizon_h is -2"),
        ({"horizon_h": 1e-6}, "horizon_h is 1e-06; no job comes before"),
    ],
)
def test_impossible_campaigns_and_logs(parameters, message):
    with pytest.raises(InstanceError, match=message):
        bursty(5, **parameters)
