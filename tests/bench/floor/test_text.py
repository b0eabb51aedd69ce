"""What is printed of a cluster: little enough to be read."""

import pytest

from schedgap.bench.floor import Floor, Point, floor_lines
from schedgap.bench.floor.text import MOST_NOTES, MOST_ROWS
from schedgap.instances.family import find_family
from schedgap.instances.provisioning import Provisioning, Running
from schedgap.instances.provisioning.running import ONE_TASK


@pytest.fixture
def printed(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    def show(instance, point, **changes):
        fields = {"price_now": 3_000_000, "pending": 0, "chosen": point, "front": (point,)}
        return floor_lines(Floor(instance, find_family("provisioning"), **(fields | changes)))

    return show


def test_many_types_and_notes_are_counted(printed, two_families):
    number = MOST_ROWS + 5
    notes = ("Taken: all.", *(f"Kept exactly: {i}." for i in range(40)), "Relaxed: this.", "Relaxed: that.")
    instance = two_families.replace(
        type_names=tuple(f"t{k}" for k in range(number)),
        type2family=[0] * (number - 1) + [1],
        capacity=[[9000] * len(two_families.resources)] * number,
        price=[100_000] * number,
        notes=notes,
        running=Running.from_contents([f"n{e}" for e in range(number)], range(number), [[0, 0, 0]] * number),
    )
    plan = Provisioning.from_patterns([0], [1], [[2, 1, 2]])
    lines = printed(instance, Point(None, 100_000, 100_000, 0, plan))
    start = lines.index("Machines")
    rows = lines[start + 3 : lines.index("", start)]
    assert len(rows) == MOST_ROWS
    assert rows[-1].split()[:2] == [str(number - MOST_ROWS + 1), "0"]
    assert rows[-1].endswith("of 6 more types, which are in floor.json (--out)")
    shown = [line for line in lines if line in notes]
    assert len(shown) == MOST_NOTES
    # None of the kinds is crowded out.
    assert {"Taken: all.", "Relaxed: this.", "Relaxed: that.", "Kept exactly: 0."} <= set(shown)
    assert f"{len(notes) - MOST_NOTES} more notes are in floor.json (--out) and --json." in lines


def test_savings_a_month_and_at_most(printed, two_families):
    """1 and 1.5 $/h for 730 hours."""
    plan = Provisioning.from_patterns([0], [5], [[1, 0, 0]])
    lines = printed(two_families, Point(None, 2_000_000, 1_500_000, 0, plan))
    assert "saves           1.0000 $/h, 730 $ a month" in lines
    assert "saves at most   1.5000 $/h, 1,095 $ a month, proven" in lines
    lines = printed(two_families, Point(None, 3_500_000, 3_100_000, 0, plan))
    assert "costs more      0.5000 $/h, 365 $ a month" in lines
    assert not any(line.startswith("saves") for line in lines)


def test_steps_remarks_and_reasons(printed, two_families):
    steps = (
        {
            "machine": "n1",
            "moves": [{"task": "a", "count": 2, "to": "n2"}, {"task": "b", "count": 1, "to": "n3"}],
            "stays": True,
        },
        {"machine": "n4", "moves": []},
        *({"machine": f"n{e}", "moves": [{"task": "a", "count": 1, "to": "n2"}]} for e in (5, 6)),
    )
    plan = Provisioning.from_patterns([0], [5], [[1, 0, 0]])
    lines = printed(two_families, Point(None, 1, 1, 3, plan), drain=steps, plan_remarks=("The plan breaks a rule.",))
    start = lines.index("Drain first")
    assert lines[start + 1 : start + 5] == [
        "1. n1 (stays): 3 tasks to n2, n3",
        "2. n4: empty",
        "3. n5: 1 task to n2",
        "1 more steps are in plan.json (--out).",
    ]
    assert "The plan breaks a rule." in lines
    none = (Point(0, why="too slow"), Point(5 * ONE_TASK, why="too slow"), Point(None, 1, 1, 3, plan))
    lines = printed(two_families, none[2], front=none)
    assert "No plan with a disruption up to 0 or 5: too slow." in lines
