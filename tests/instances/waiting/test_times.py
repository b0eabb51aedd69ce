"""What both generators do with seeds and steps."""

import pytest

from schedgap.instances.waiting import bursty, mms


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
