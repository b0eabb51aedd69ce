"""What a report shows of an allocation."""

import numpy as np
import pytest

from schedgap.instances.fairness import alice_bob, allocation_of
from schedgap.instances.fairness.measures import MAX_PARTS, picture
from schedgap.instances.picture import MAX_BARS, MAX_POINTS


def test_alice_and_bob(fair_alice_and_bob):
    shown = picture(alice_bob(), allocation_of(alice_bob(), [[2, 2, 0], [0, 0, 2]], fair_alice_and_bob))
    assert shown.axes == ("cpu", "ram_gib")
    assert [(bar.label, bar.repeat, bar.capacity) for bar in shown.bars] == [
        (f"machine-{k}", 1, (2.0, 2.0)) for k in (1, 2, 3)
    ]
    assert [[(part.label, part.amounts) for part in bar.parts] for bar in shown.bars] == [
        [("alice", (2.0, 2.0))],
        [("alice", (2.0, 2.0))],
        [("bob", (2.0, 2.0))],
    ]
    assert [(curve.x, curve.y) for curve in shown.curves] == [((1.0, 2.0), (0.5, 0.5)), ((1.0, 2.0), (1.0, 1.0))]


def test_many_users_and_classes(make, certificate):
    """Equal machines with equal users: a bar of 60 classes, eight users by name, and the rest in one part."""
    count = np.arange(1, 71)
    instance = make(count, [[4]] * 70, [[1]] * 200)
    tasks = np.tile(4 * count / 200, (200, 1))
    cut = dict.fromkeys(range(200), 1.0), {(k, 0): 1 / (4000 * count.sum()) for k in range(70)}
    shown = picture(instance, allocation_of(instance, tasks, certificate(cut)))
    assert len(shown.bars) == MAX_BARS
    assert shown.left_out == sum(range(1, 11))
    assert [bar.repeat for bar in shown.bars] == list(range(70, 10, -1))
    parts = shown.bars[0].parts
    assert len(parts) == MAX_PARTS + 1
    assert parts[-1].label == "192 other users"
    assert parts[-1].amounts[0] == pytest.approx(192 * 4 / 200)
    assert [len(curve.x) for curve in shown.curves] == [MAX_POINTS] * 2
    assert shown.curves[0].x[-1] == 200
