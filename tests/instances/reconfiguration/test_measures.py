"""Figures and pictures of a schedule whose times are known by hand (see `simulator/test_simulator.py`)."""

import pytest

from schedgap.instances.reconfiguration.measures import measures
from schedgap.instances.reconfiguration.picture import picture


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


def test_figures_do_not_depend_on_the_unit_of_sizes(two_jobs, schedule_of):
    """174 seconds of 2^56 units and more have more than 63 bits."""
    schedule = schedule_of([(0, 0, 60), (0, 60, 180), (0, 60, 180)], [(0, 0, 0), (60, 0, 1), (60, 1, 2)])
    instance = two_jobs()
    catalogue = instance.catalogue
    larger = catalogue.replace(
        demand=catalogue.demand // 1000 * 2**56, capacity=catalogue.capacity // 1000 * 2**56, price=catalogue.price
    )
    assert measures(instance.replace(catalogue=larger), schedule) == pytest.approx(measures(instance, schedule))
