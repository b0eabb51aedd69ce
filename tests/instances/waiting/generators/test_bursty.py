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
