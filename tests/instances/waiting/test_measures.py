import numpy as np
import pytest

from schedgap.instances.picture import MARK, MAX_MARKS, OTHER, PARTS, RUNS, TICKS, WAITS
from schedgap.instances.units import HOUR_US
from schedgap.instances.waiting import RENTED, WaitingSchedule, mms, shrink, verify
from schedgap.instances.waiting.measures import assumptions, measures, picture


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


def test_what_is_assumed_is_the_users_to_say():
    patient, hasty = mms(5, seed=1, wait_price=0, max_wait_h=-1), mms(5, seed=1, wait_price=0.5, max_wait_h=2)
    assert assumptions(patient)[0] == "waiting is free (wait_price, max_wait_h)"
    assert assumptions(hasty)[0] == "an hour of waiting costs $0.5 (wait_price, max_wait_h), no job waits over 2 h"
    assert "to own (machine_cores, discount)" in assumptions(patient)[1]


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


def test_picture_shows_who_waits_and_runs_where(make):
    """Job 1 is rented from 0 h to 2 h; job 2 waits from 1 h to 4 h for the machine that job 0 has until then."""
    instance = make([0, 0, 1], [4, 2, 1], cores=[2, 1, 2])
    seen = picture(instance, WaitingSchedule(2, [0, RENTED, 0], np.array([0, 0, 4]) * HOUR_US))
    table = seen.timetable
    assert seen.notes == ("2 fixed machines are paid for 10 h each, 1 of them run jobs",)
    assert (table.unit, table.begin, table.end) == ("hours", 0, 5)
    hour = TICKS // 5
    assert {row.name: row.marks for row in table.rows} == {
        "waiting": (0, PARTS, hour, 3 * hour, WAITS, table.labels.index("job 2")),
        "rented": (0, PARTS, 0, 2 * hour, OTHER, table.labels.index("job 1")),
        "fixed 0": (0, PARTS, 0, 4 * hour, RUNS, 2, 0, PARTS, 4 * hour, hour, RUNS, 0),
        "fixed 1": (),
    }


def test_picture_of_many_jobs_is_small():
    """The same sizes bound it whatever there is: 20,000 jobs on 1,000 machines."""
    instance = mms(20_000, seed=1)
    schedule = WaitingSchedule(1000, np.arange(20_000) % 1000, instance.submit_us + 7)
    table = picture(instance, schedule).timetable
    assert table.is_sound
    assert sum(len(row.marks) for row in table.rows) < 2 * MARK * MAX_MARKS


def test_shrunk_is_small_and_of_the_same_kind():
    instance = mms(200, seed=1, wait_price=1.0, max_wait_h=1.0)
    small = shrink(instance)
    assert small.num_jobs == 8
    assert (small.wait_price, small.max_wait_us) == (instance.wait_price, instance.max_wait_us)
