"""Schedules as files."""

import json

import numpy as np
import pytest

from schedgap.instances.errors import SolutionError
from schedgap.instances.sharing.files import read_solution, write_solution
from schedgap.instances.sharing.generators import micro
from schedgap.instances.sharing.model import SharingSchedule


def test_round_trip(tmp_path):
    instance = micro(tasks=1)
    schedule = SharingSchedule([0, 1, 2, 15], [0, 1500, 2, 0])
    write_solution(instance, schedule, tmp_path / "s.json")
    again = read_solution(instance, tmp_path / "s.json")
    assert np.array_equal(again.machine, schedule.machine)
    assert np.array_equal(again.start_ms, schedule.start_ms)
    assert json.loads((tmp_path / "s.json").read_text())["start_s"] == [0, 1.5, 0.002, 0]


def test_the_schedule_of_another_instance(tmp_path):
    write_solution(micro(tasks=1), SharingSchedule([0, 1, 2, 15], [0] * 4), tmp_path / "s.json")
    with pytest.raises(SolutionError, match="give the instance that it was made for"):
        read_solution(micro(tasks=1, constraint=False), tmp_path / "s.json")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"machine": [-1]}, "machine.0: input should be greater than or equal to 0"),
        ({"start_s": [0.00001]}, "start_s of 0: 1e-05 is not a whole number of 1/1000"),
        ({"machines": [1]}, "machines: unknown field"),
    ],
)
def test_a_malformed_schedule(tmp_path, changes, message):
    document = {"schema": "schedgap/sharing-solution/1", "machine": [0], "start_s": [0]} | changes
    (tmp_path / "s.json").write_text(json.dumps(document))
    with pytest.raises(SolutionError, match=f"s.json: {message}"):
        read_solution(micro(tasks=1), tmp_path / "s.json")
