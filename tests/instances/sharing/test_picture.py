import numpy as np
import pytest

from schedgap.instances.picture import MARK, MAX_POINTS, MAX_ROWS, RUNS, TICKS
from schedgap.instances.sharing import SharingSchedule, picture, random_jobs
from schedgap.instances.sharing.simulator.simulator import Simulator

SCHEDULE = SharingSchedule([2, 2, 0, 1, 1], [0, 0, 0, 1000, 4000])


def test_tasks_by_machine_and_time(pair):
    """Over 7 s: two tasks of a on the fast machine for 2 s, one on machine 0 for 4 s, b on machine 1 for 3 s twice."""
    table = picture(pair, SCHEDULE).timetable
    assert (table.unit, table.begin, table.end) == ("seconds", 0, 7)
    assert [row.name for row in table.rows] == ["0 slow", "1 slow", "2 fast"]
    found = [[row.marks[i + 2 : i + MARK] for i in range(0, len(row.marks), MARK)] for row in table.rows]
    a, b = (table.labels.index(name) for name in "ab")
    second = TICKS / 7
    assert found[0] == [(0, round(4 * second), RUNS, a)]
    assert found[1] == [(round(s * second), round(3 * second), RUNS, b) for s in (1, 4)]
    assert found[2] == [(0, round(2 * second), RUNS, a)] * 2


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
    assert len(shown.timetable.rows) <= MAX_ROWS + 1
    assert sum("Share of" in curve.title for curve in shown.curves) == 12
