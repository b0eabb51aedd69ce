"""When budgets hold: windows by hand. 2026-11-28 was a Saturday."""

from datetime import UTC, datetime

import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.windows import Window

HOUR = 3600


def at(day, hour=0, minute=0, second=0, month=11, year=2026):
    return int(datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp())


def held(cron, hours, *times):
    return [Window(cron, int(hours * HOUR)).holds(time) for time in times]


def test_working_hours_begin_with_their_time_and_end_before_their_last_second():
    # Friday the 27th, 9 to 17; not on Saturday.
    times = (at(27, 8, 59, 59), at(27, 9), at(27, 16, 59, 59), at(27, 17), at(28, 10))
    assert held("0 9 * * 1-5", 8, *times) == [False, True, True, False, False]
    assert held("0 9 * * mon-FRI", 8, *times) == [False, True, True, False, False]


def test_a_window_goes_on_after_midnight_and_over_days():
    # From Friday at 22:30 to Saturday at 6:30.
    times = (at(27, 22, 29), at(27, 23), at(28, 0), at(28, 6, 29), at(28, 6, 30))
    assert held("30 22 * * 5", 8, *times) == [False, True, True, True, False]
    # Of a weekend that begins on Saturday at 0: 48 hours, over the end of the year, too.
    assert held("0 0 * * 6", 48, at(29, 23, 59), at(30, 0), at(27, 23)) == [True, False, False]
    assert held("0 0 31 12 *", 36, at(1, 11, month=1, year=2027), at(1, 12, month=1, year=2027)) == [True, False]


def test_steps_lists_and_short_forms():
    # Five minutes of each quarter of an hour.
    assert held("*/15 * * * *", 1 / 12, at(1, 3, 14), at(1, 3, 15), at(1, 3, 19, 59), at(1, 3, 20)) == [
        *(False, True, True, False)
    ]
    # From minute 50 on, each fifth: 50 and 55.
    assert held("50/5 1,3 * * ?", 1 / 60, at(1, 1, 50), at(1, 3, 55), at(1, 2, 50), at(1, 1, 45)) == [
        *(True, True, False, False)
    ]
    assert held("@daily", 1, at(5, 0, 59), at(5, 1)) == [True, False]
    assert held("@weekly", 24, at(29, 5), at(28, 5)) == [True, False]


def test_a_day_of_either_field_counts_where_both_are_given():
    # The first of a month (November's is a Sunday), or any Monday (the 2nd); with a star both must hold.
    assert held("0 0 1 * 1", 24, at(1, 5), at(2, 5), at(3, 5)) == [True, True, False]
    assert held("0 0 2 * *", 24, at(1, 5), at(2, 5), at(9, 5)) == [False, True, False]
    # A step is no star: odd days, or Mondays.
    assert held("0 0 */2 * 1", 24, at(2, 5), at(4, 5), at(5, 5)) == [True, False, True]


def test_times_that_follow_each_other_are_one_window():
    # Each hour for 90 minutes: always.
    assert all(held("0 * * * *", 1.5, *(at(3, 5, minute) for minute in range(0, 60, 7))))


def test_the_29th_of_february_comes_every_four_years():
    assert held("0 0 29 2 *", 24, at(28, 5, month=2), at(1, 5, month=3), at(29, 5, month=2, year=2028)) == [
        *(False, False, True)
    ]


@pytest.mark.parametrize(
    ("cron", "seconds", "message"),
    [
        ("0 9 * *", 1, "has 4 fields; give five"),
        ("60 * * * *", 1, "'60' as its minute; give 0 to 59"),
        ("0 9 * * 7", 1, "'7' as its day of the week; give 0 to 6"),
        ("0 17-9 * * *", 1, "'17-9' as its hour; give 0 to 23, in order"),
        ("0 9 L * *", 1, "'L' as its day of the month; give numbers"),
        ("0 9 * * 1-2-3", 1, "'1-2-3' as its day of the week; give numbers"),
        ("*/0 * * * *", 1, "as its minute; give 0 to 59"),
        ("@daily", 0, "lasts 0 s; give at least 1"),
    ],
)
def test_what_is_no_schedule_is_refused(cron, seconds, message):
    with pytest.raises(InstanceError, match=message.replace("*", r"\*")):
        Window(cron, seconds)
