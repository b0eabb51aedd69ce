import numpy as np
import pytest

from schedgap.instances.harvest import picture, quick
from schedgap.instances.harvest.simulator.simulator import Simulator
from schedgap.instances.picture import MARK, MAX_POINTS, MAX_ROWS, TICKS

GIVEN = [(0, 0, 0, 40), (1, 1, 0, 30), (1, 1, 30, 70), (2, 0, 10, 60)]


def timetable_of(instance, schedule):
    """Return (row, begin, end, what, of what) of each mark, in seconds."""
    table = picture(instance, schedule).timetable
    tick = {"seconds": 1, "minutes": 60}[table.unit] * (table.end - table.begin) / TICKS
    begin = table.begin * {"seconds": 1, "minutes": 60}[table.unit]
    return [
        (
            row.name,
            round(begin + tick * m[2]),
            round(begin + tick * (m[2] + m[3])),
            table.looks[m[4]],
            _label(table, m[5]),
        )
        for row in table.rows
        for m in (row.marks[i : i + MARK] for i in range(0, len(row.marks), MARK))
    ]


def _label(table, number):
    return table.labels[number] if number >= 0 else ""


def test_runs_and_what_is_lost_by_vm_and_time(trio, runs):
    """Run 1 is stopped at 30 s and loses all; y waits for 0 s, x for none."""
    assert timetable_of(trio, runs(*GIVEN)) == [
        ("a", 0, 40, "runs", "x"),
        ("a", 10, 60, "runs", "y"),
        ("b", 0, 30, "runs, and is lost", "x"),
        ("b", 30, 70, "runs", "x"),
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


def test_waits_and_vms_without_cores(trio, runs):
    """VM a has no cores from 120 s to 180 s; y waits until then."""
    shown = timetable_of(trio, runs((0, 0, 0, 40), (1, 1, 0, 40), (2, 0, 180, 230)))
    assert ("waiting", 10, 180, "waits for its first run", "y") in shown
    assert ("a", 120, 180, "no cores here", "") in shown


def test_only_leased_vms_are_rows_and_many_are_cut(pool, runs):
    schedule = runs((0, 0, 0, 40), (1, 0, 0, 40), (2, 0, 40, 90), leases=[(0, 0, 120)])
    assert {row for row, *_ in timetable_of(pool, schedule)} - {"waiting"} == {"a"}
    instance = quick(70, 2, "1-2", seed=1, history_h=1.0)
    simulator = Simulator(instance)
    simulator.run_plain()
    table = picture(instance, simulator.schedule()).timetable
    assert len(table.rows) <= MAX_ROWS + 1
    assert "evenly chosen" in table.note
