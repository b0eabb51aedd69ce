import numpy as np
import pytest

from schedgap.instances.picture import MAX_BARS
from schedgap.instances.units import HOUR_US
from schedgap.instances.waiting import RENTED, WaitingSchedule, mms, shrink, verify
from schedgap.instances.waiting.measures import measures
from schedgap.instances.waiting.picture import picture


def test_figures_by_hand(make):
    """One machine of 2 cores for 10 h: $4; job 1 rents for 2 h at $1. Renting all: 4 h x $3, 2 h x $1, 1 h x $3.

    Job 2 waits 3 of 1 h; the machine runs 4 h x 2 + 1 h x 2 of 20 core-hours, of 12 core-hours in all.
    """
    instance = make([0, 0, 1], [4, 2, 1], cores=[2, 1, 2])
    found = measures(instance, WaitingSchedule(1, [0, RENTED, 0], np.array([0, 0, 4]) * HOUR_US))
    assert found["machines"] == 1
    assert found["cost"] == 6.0
    assert found["normalised_price"] == 6 / 17
    assert found["mean_wait_s"] == 3600.0
    assert found["on_demand_share"] == 1 / 3
    assert found["on_demand_work_share"] == 2 / 12
    assert found["utilisation"] == 10 / 20
    assert found["opportunity_cost"] == 6 / 17 * 3600


def test_objective_is_cost_and_what_waiting_is_worth():
    instance = mms(50, seed=1, wait_price=0.5)
    schedule = WaitingSchedule(0, [RENTED] * 50, instance.submit_us + 7 * HOUR_US)
    found = measures(instance, schedule)
    objective = found["cost"] + found["wait_worth"] * found["mean_wait_s"]
    assert objective * 1_000_000 == pytest.approx(verify(instance, schedule), abs=1)


def test_the_ends_are_trimmed(make):
    """Ten jobs an hour apart, of which the first and the last rent and wait: the steady figures do not see them.

    Eight jobs in the middle run alone; the machine is paid for the 7 h between their submissions.
    """
    instance = make(list(range(10)), [1] * 10, cores=[2] * 10)
    start = np.arange(10) * HOUR_US
    start[[0, 9]] += HOUR_US
    found = measures(instance, WaitingSchedule(1, [RENTED, *[0] * 8, RENTED], start))
    assert found["mean_wait_s"] == 720
    assert found["steady_mean_wait_s"] == 0
    assert found["steady_on_demand_share"] == 0
    assert found["steady_normalised_price"] == pytest.approx(0.4 * 7 / (3 * 8))


def test_one_job_has_figures_too(make):
    found = measures(make([0], [1]), WaitingSchedule(0, [RENTED], [0]))
    assert found["utilisation"] == 0
    assert found["steady_normalised_price"] == 1


def test_picture_shows_use_and_what_is_left_out():
    instance = mms(200, seed=1)
    schedule = WaitingSchedule(200, np.arange(200), instance.submit_us)
    seen = picture(instance, schedule)
    assert len(seen.bars) == MAX_BARS
    assert seen.left_out == 200 - (MAX_BARS - 1)
    assert seen.bars[-1].label == "rented"
    assert seen.bars[-1].capacity == (0.0,)


def test_shrunk_is_small_and_of_the_same_kind():
    instance = mms(200, seed=1, wait_price=1.0, max_wait_h=1.0)
    small = shrink(instance)
    assert small.num_jobs == 8
    assert (small.wait_price, small.max_wait_us) == (instance.wait_price, instance.max_wait_us)
