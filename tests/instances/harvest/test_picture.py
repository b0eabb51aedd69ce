import numpy as np
import pytest

from schedgap.instances.harvest import picture, quick
from schedgap.instances.harvest.simulator.simulator import Simulator
from schedgap.instances.picture import MAX_POINTS

GIVEN = [(0, 0, 0, 40), (1, 1, 0, 30), (1, 1, 30, 70), (2, 0, 10, 60)]


def test_bars_are_vms_in_mean_use(trio, runs):
    shown = picture(trio, runs(*GIVEN))
    assert (shown.axes, shown.left_out) == (("cores",), 0)
    # Over 70 s: a has 8 cores for 60 s, then 4.
    assert [(bar.label, bar.repeat, bar.capacity) for bar in shown.bars] == [
        ("a", 1, (pytest.approx((8 * 60 + 4 * 10) / 70),)),
        ("b", 1, (pytest.approx(4),)),
    ]
    assert [bar.parts[0].amounts for bar in shown.bars] == [
        (pytest.approx((4 * 40 + 2 * 50) / 70),),
        (pytest.approx(4),),
    ]


def test_curves(trio, runs):
    later = trio.replace(arrival_ms=[0, 0])
    shown = {curve.title: curve for curve in picture(later, runs(*GIVEN)).curves}
    assert list(shown) == [
        "Job completion time",
        "Cores in use over time",
        "Cores available over time",
        "Work lost until then",
    ]
    assert all(len(curve.x) == MAX_POINTS for curve in shown.values())
    used, there = shown["Cores in use over time"], shown["Cores available over time"]
    assert (used.x[0], used.x[-1]) == (0, 70)
    assert (used.y[0], there.y[0], used.y[-2], there.y[-2]) == (8, 12, 4, 8)
    # The areas: 4 cores for 40, 30 and 40 s and 2 for 50 s, of 8 for 60 s, then 4, and 4.
    areas = [float(np.dot(curve.y[:-1], np.diff(curve.x))) for curve in (used, there)]
    assert areas == pytest.approx([4 * 110 + 2 * 50, 8 * 60 + 4 * 10 + 4 * 70], rel=1e-4)
    lost, jct = shown["Work lost until then"], shown["Job completion time"]
    # 4 cores for 30 s, lost at 30 s.
    assert [y for x, y in zip(lost.x, lost.y, strict=True) if x < 30] == [0] * 51
    assert lost.y[51:] == (pytest.approx(120 / 3600, rel=1e-5),) * (MAX_POINTS - 51)
    assert (jct.x[0], jct.x[-1], jct.y[0], jct.y[-1]) == (60, 70, 0, 1)


def test_vms_without_cores_have_no_bar_and_many_are_cut(pool, runs):
    schedule = runs((0, 0, 0, 40), (1, 0, 0, 40), (2, 0, 40, 90), leases=[(0, 0, 120)])
    assert [bar.label for bar in picture(pool, schedule).bars] == ["a"]
    instance = quick(70, 2, "1-2", seed=1, history_h=1.0)
    simulator = Simulator(instance)
    simulator.run_plain()
    shown = picture(instance, simulator.schedule())
    assert len(shown.bars) == 60
    assert 0 < shown.left_out <= 10
