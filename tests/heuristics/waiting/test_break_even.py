from dataclasses import replace

import numpy as np

from schedgap.heuristics.waiting import policies  # noqa: F401
from schedgap.instances.method import find_method
from schedgap.instances.waiting import FAMILY, mms, verify

HOUR = 3_600_000_000


def test_a_job_rents_once_waiting_has_cost_its_rent(make_instance):
    """$0.5 an hour of waiting, rents of $10, $4, $1 and $6: limits of 20, 8, 2 and 12 hours. The machine is free at 10 h."""
    rows = [(0, 10 * HOUR, 1, 0), (HOUR, 4 * HOUR, 1, 0), (2 * HOUR, HOUR, 1, 0), (3 * HOUR, 6 * HOUR, 1, 0)]
    instance = replace(make_instance(rows, 1, 4), wait_price=500_000, digest="")
    schedule = find_method(FAMILY, "break-even").run(instance, parameters={"machines": 1}).solution
    verify(instance, schedule)
    assert (schedule.start_us / HOUR).tolist() == [0, 9, 4, 10]
    assert schedule.machine.tolist() == [0, -1, -1, 0]


def test_nobody_pays_more_than_twice_its_rent():
    instance = mms(2000, wait_price=0.05)
    schedule = find_method(FAMILY, "break-even").run(instance, parameters={"machines": 40}).solution
    verify(instance, schedule)
    waited_us = schedule.start_us - instance.submit_us
    rented = schedule.machine < 0
    assert 0 < rented.sum() < 2000
    limit_us = instance.rent() / instance.wait_price * instance.runtime_us
    np.testing.assert_allclose(waited_us[rented], limit_us[rented], atol=2)
    assert (waited_us <= limit_us + 2).all()
