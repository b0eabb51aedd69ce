"""What schedules cost: Table I of Waiting Game, a reserved m5.large beside one on demand."""

import numpy as np
import pytest

from schedgap.instances.units import HOUR_US
from schedgap.instances.waiting import RENTED, WaitingSchedule, costs

YEARS_H = 26_280  # three years
ON_DEMAND, RESERVED = 0.096, 988


@pytest.fixture
def used(make):
    """A job that uses one machine for a share of three years; a machine for all that time costs $988."""

    def made(share):
        return make(
            [0],
            [1],
            machine_cores=1,
            fixed_price=round(RESERVED / YEARS_H * 1e6),
            rented_price=np.array([96_000, 384_000]),
            horizon_us=YEARS_H * HOUR_US,
        ).replace(runtime_us=[round(share * YEARS_H * HOUR_US)])

    return made


@pytest.mark.parametrize(
    ("share", "rented"),
    # $0.096 an hour for all of three years are $2,522.88; for a third of them $840.96.
    [(1.0, 2522.88), (1 / 3, 840.96), (0.4, 1009.152)],
)
def test_table_i(used, share, rented):
    instance = used(share)
    on_demand = costs(instance, WaitingSchedule(0, [RENTED], [0])).objective / 1e6
    fixed = costs(instance, WaitingSchedule(1, [0], [0])).objective / 1e6
    assert on_demand == pytest.approx(rented, abs=0.01)
    # Due whether it is used or not; the price is rounded to a micro-dollar an hour.
    assert fixed == pytest.approx(RESERVED, abs=0.02)
    # The effective price of what is used, over that on demand: 0.4 at full use, 1 where two fifths are used.
    assert fixed / (share * YEARS_H) / ON_DEMAND == pytest.approx(0.3916 / share, rel=1e-3)


def test_fixed_machines_are_cheaper_above_40_percent(used):
    for share, is_fixed_cheaper in ((0.38, False), (0.39, False), (0.40, True), (0.9, True)):
        instance = used(share)
        fixed = costs(instance, WaitingSchedule(1, [0], [0])).objective
        assert (fixed < costs(instance, WaitingSchedule(0, [RENTED], [0])).objective) == is_fixed_cheaper
