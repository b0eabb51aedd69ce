"""Figures and pictures of a schedule whose times are known by hand (see `simulator/test_simulator.py`)."""

import pytest

from schedgap.instances.picture import AWAY, IDLE, MARK, MOVES, RUNS, TICKS, WAITS
from schedgap.instances.reconfiguration.measures import measures, picture


def test_figures_of_a_schedule_with_a_move(two_jobs, schedule_of):
    schedule = schedule_of([(0, 0, 60), (0, 60, 180), (0, 60, 180)], [(0, 0, 0), (60, 0, 1), (60, 1, 2)])
    figures = measures(two_jobs(), schedule)
    # Jobs end at 139 and 122, arrived at 0 and 1, progressed for 41 + 59 and 50 seconds.
    assert figures["cost"] == pytest.approx((61 + 118 + 118) / 1000)
    assert figures["mean_jct_h"] == pytest.approx((139 + 121) / 2 / 3600)
    assert figures["idle_h"] == pytest.approx((39 + 71) / 2 / 3600)
    assert figures["machines"] == 3
    assert figures["moves_per_task"] == 0.5
    assert figures["job_throughput"] == 1
    # Slots are held from 10 to 63, from 70 to 139 and from 70 to 122.
    assert figures["tasks_per_machine"] == pytest.approx((53 + 69 + 52) / 297)
    assert figures["cpu_allocation"] == pytest.approx((53 * 2 + 69 * 2 + 52 * 1) / (297 * 4))
    assert figures["median_uptime_h"] == pytest.approx(118 / 3600)


def test_planned_tasks_are_of_days_30_to_60(two_jobs, schedule_of):
    day = 86_400
    long = two_jobs(work_s=[70 * day] * 2, period_s=day)
    # Alone each until day 45, then both on machine 0.
    schedule = schedule_of([(0, 0, 200 * day), (0, day, 45 * day)], [(0, 0, 0), (day, 1, 1), (45 * day, 1, 0)])
    assert measures(long, schedule)["planned_tasks"] == pytest.approx(1.5)
    assert "planned_tasks" not in measures(two_jobs(), schedule_of([(0, 0, 180)], [(0, 0, 0), (60, 1, 0)]))


def test_picture_of_a_schedule(two_jobs, schedule_of):
    schedule = schedule_of([(0, 0, 180), (0, 60, 180)], [(0, 0, 0), (60, 1, 1)])
    drawn = picture(two_jobs(), schedule)
    assert drawn.axes == ("cpu",)
    (bar,) = drawn.bars
    assert (bar.label, bar.repeat, bar.capacity) == ("four, 0 h", 2, (4.0,))
    # Slots are held from 10 to 120 and from 70 to 122.
    assert bar.parts[0].amounts == pytest.approx(((110 * 2 + 52 * 1) / 296,))
    uptimes, cost, machines = drawn.curves
    assert (uptimes.x[0], uptimes.x[-1], uptimes.y[-1]) == (0.0327778, 0.0494444, 1.0)
    assert (cost.y[0], cost.y[-1]) == (0, pytest.approx(0.296))
    assert (max(machines.y), machines.y[-1]) == (2.0, 0.0)


def test_what_is_where_when(two_jobs, schedule_of):
    """Job 0 goes from machine 0 to machine 1 at 60 s, job 1 is sent to machine 2 then; they end at 139 s and 122 s.

    Machines are up 10 s after their order, and are paid for one more second after the last task; what left machine 0 had
    been sent away at 60 s.
    """
    schedule = schedule_of([(0, 0, 60), (0, 60, 180), (0, 60, 180)], [(0, 0, 0), (60, 0, 1), (60, 1, 2)])
    table = picture(two_jobs(), schedule).timetable
    second = (table.end - table.begin) / TICKS
    shown = {
        row.name: [
            (round(table.begin + second * m[2]), round(table.begin + second * (m[2] + m[3])), m[4])
            for m in sorted((row.marks[i : i + MARK] for i in range(0, len(row.marks), MARK)), key=lambda mark: mark[2])
        ]
        for row in table.rows
    }
    assert table.unit == "seconds"
    assert shown["waiting"] == [(1, 60, WAITS)]
    assert [(begin, end) for begin, end, look in shown["0 four"] if look == AWAY] == [(0, 10)]
    first, second_one = shown["0 four"], shown["1 four"]
    assert first[-1][:2] == (60, 64)
    assert (first[-1][2], first[-2][1], first[-2][2]) == (IDLE, 60, RUNS)
    assert [look for *_, look in second_one] == [AWAY, MOVES, RUNS, IDLE]
    assert second_one[2][1] == 139
    assert shown["2 four"][2][1] == 122


def test_figures_do_not_depend_on_the_unit_of_sizes(two_jobs, schedule_of):
    """174 seconds of 2^56 units and more have more than 63 bits."""
    schedule = schedule_of([(0, 0, 60), (0, 60, 180), (0, 60, 180)], [(0, 0, 0), (60, 0, 1), (60, 1, 2)])
    instance = two_jobs()
    catalogue = instance.catalogue
    larger = catalogue.replace(
        demand=catalogue.demand // 1000 * 2**56, capacity=catalogue.capacity // 1000 * 2**56, price=catalogue.price
    )
    assert measures(instance.replace(catalogue=larger), schedule) == pytest.approx(measures(instance, schedule))
