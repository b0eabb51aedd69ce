"""The ascent keeps all that it has proved, on every grid and for every number of machines that it tried."""

import time

from schedgap.formulations.waiting.fluid_bound import moments
from schedgap.formulations.waiting.machine_prices import Ascent, MachineTime
from schedgap.formulations.waiting.models import scale
from schedgap.instances.waiting import mms


def start(max_wait_h=0.2, deadline=None):
    scaled = scale(mms(300, seed=2, max_wait_h=max_wait_h))
    return scaled, Ascent(MachineTime(scaled, by_memory=False), deadline)


def test_finer_grids_never_lose():
    scaled, ascent = start()
    amounts = []
    for size in (20, 80, 320):
        ascent.improve(moments(scaled, size, scaled.horizon), 30)
        amounts.append(ascent.problem.least(ascent.lines)[1])
        assert all(rate.shape == (1, ascent.grid.shape[0] - 1) for rate in ascent.rates.values())
    assert amounts == sorted(amounts)
    assert amounts[-1] > amounts[0]


def test_works_on_the_number_of_machines_that_costs_least():
    scaled, ascent = start(max_wait_h=0.0)
    ascent.improve(moments(scaled, 200, scaled.horizon), 100)
    machines, amount = ascent.problem.least(ascent.lines)
    assert machines in ascent.rates
    # What one machine more or less costs at least is no less.
    for other in (machines - 1, machines + 1):
        assert max(line.at(other) for line in ascent.lines) >> ascent.problem.bits >= amount


def test_stops_at_a_number_once_another_proves_no_more():
    scaled, ascent = start()
    ascent.improve(moments(scaled, 50, scaled.horizon), 100)
    before = len(ascent.lines)
    ascent.improve(moments(scaled, 200, scaled.horizon), 100)
    machines, least = ascent.problem.least(ascent.lines)
    assert len(ascent.rates) > 1
    assert len(ascent.lines) - before < 100 * len(ascent.rates)
    others = [max(line.at(number) for line in ascent.lines) for number in ascent.rates if number != machines]
    assert min(others) >> ascent.problem.bits >= least


def test_stops_at_the_deadline():
    scaled, ascent = start(deadline=time.perf_counter())
    ascent.improve(moments(scaled, 200, scaled.horizon), 50)
    # Two to begin with, and one for the first number of machines.
    assert len(ascent.lines) == 3
