import numpy as np
import pytest

from schedgap.instances.picture import MAX_POINTS
from schedgap.instances.sharing import SharingSchedule, picture, random_jobs
from schedgap.instances.sharing.simulator.simulator import Simulator

SCHEDULE = SharingSchedule([2, 2, 0, 1, 1], [0, 0, 0, 1000, 4000])


def test_bars_are_machine_classes_in_mean_use(pair):
    shown = picture(pair, SCHEDULE)
    assert shown.axes == ("cpu", "ram_gib")
    assert [(bar.label, bar.repeat, bar.capacity) for bar in shown.bars] == [
        ("slow", 2, (2.0, 4.0)),
        ("fast", 1, (4.0, 2.0)),
    ]
    # Over 7 s: 4 s x 1 cpu and 6 s x 2 cpu on two slow machines, 4 s x 1 cpu on fast.
    assert [bar.parts[0].amounts for bar in shown.bars] == [
        (pytest.approx(16 / 14), pytest.approx(16 / 14)),
        (pytest.approx(4 / 7), pytest.approx(4 / 7)),
    ]


def test_curves_are_delays_fairness_and_shares(pair):
    curves = {curve.title: curve for curve in picture(pair, SCHEDULE).curves}
    assert list(curves) == [
        "Queueing delay",
        "Completion delay",
        "Jain's index over time",
        "Share of a over time",
        "Share of b over time",
    ]
    assert (curves["Completion delay"].x[0], curves["Completion delay"].x[-1]) == (4.0, 6.0)
    assert all(len(curve.x) <= MAX_POINTS for curve in curves.values())
    a, b = curves["Share of a over time"], curves["Share of b over time"]
    assert (a.y[0], a.y[-1]) == (0.625, 0)
    # The area below is what a did: (2 x 2 x 2 s + 4 s) / 8 and, for b, two tasks of 3 s out of 2 at once.
    assert [float(np.dot(c.y[:-1], np.diff(c.x))) for c in (a, b)] == pytest.approx([12 / 8, 6 / 2], rel=1e-4)


def test_many_jobs_and_classes_are_cut():
    instance = random_jobs(20, seed=1, machine_classes=70)
    simulator = Simulator(instance)
    simulator.run()
    shown = picture(instance, simulator.schedule())
    assert (len(shown.bars), shown.left_out) == (60, 10)
    assert sum("Share of" in curve.title for curve in shown.curves) == 12
