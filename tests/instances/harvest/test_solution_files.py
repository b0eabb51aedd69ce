"""Schedules as files."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedgap.instances.errors import SolutionError
from schedgap.instances.harvest import HarvestSchedule, read_solution, write_solution
from schedgap.instances.harvest import files as solution_files

COLUMNS = HarvestSchedule.__slots__
INTS = st.integers(0, 2**50)
RUNS, LEASES = (st.lists(st.tuples(*[INTS] * width), max_size=5) for width in (5, 3))


def same(one, other):
    return all(np.array_equal(getattr(one, key), getattr(other, key)) for key in COLUMNS)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given=RUNS, leases=LEASES, beside=st.booleans())
def test_round_trip(tmp_path, trio, given, leases, beside):
    columns = *np.array(given, np.int64).reshape(-1, 5).T, *np.array(leases, np.int64).reshape(-1, 3).T
    schedule = HarvestSchedule(*columns)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solution_files.SOLUTION.parts[1], "inline", -1 if beside else 10)
        write_solution(trio, schedule, tmp_path / "s.json")
    assert ("runs" in json.loads((tmp_path / "s.json").read_text())) != beside
    assert same(read_solution(trio, tmp_path / "s.json"), schedule)


def test_what_is_written(tmp_path, trio, pool, runs):
    write_solution(trio, runs((0, 1, 0, 40), (1, 0, 2.5, 40.001)), tmp_path / "s.json")
    document = json.loads((tmp_path / "s.json").read_text())
    assert document == {
        "schema": "schedgap/harvest-solution/1",
        "instance": trio.digest,
        "runs": {"task": [0, 1], "vm": [1, 0], "start_s": [0, 2.5], "end_s": [40, 40.001]},
    }
    write_solution(pool, runs((2, 0, 10, 60, 10), leases=[(0, 0, 120)]), tmp_path / "s.json")
    document = json.loads((tmp_path / "s.json").read_text())
    assert document["runs"]["checkpoint_every_s"] == [10]
    assert document["leases"] == {"vm": [0], "start_s": [0], "end_s": [120]}


def test_many_runs_go_beside(tmp_path, trio):
    numbers = np.arange(10_001)
    schedule = HarvestSchedule(numbers, numbers, numbers, numbers + 1, numbers % 2)
    write_solution(trio, schedule, tmp_path / "s.json")
    assert json.loads((tmp_path / "s.json").read_text())["runs_file"] == "s.arrays.npz"
    assert same(read_solution(trio, tmp_path / "s.json"), schedule)


def test_the_schedule_of_another_instance(tmp_path, trio, pool, runs):
    write_solution(trio, runs((0, 1, 0, 40)), tmp_path / "s.json")
    with pytest.raises(SolutionError, match="give the instance that it was made for"):
        read_solution(pool, tmp_path / "s.json")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"runs": None}, "give either 'runs' or 'runs_file', not both and not neither"),
        ({"runs_file": "x.npz"}, "give either 'runs' or 'runs_file', not both and not neither"),
        ({"runs": None, "runs_file": "x.npz"}, "x.npz: cannot be read .*; keep it beside this file"),
        (
            {"runs": None, "runs_file": "x.npz", "leases": {"vm": [], "start_s": [], "end_s": []}},
            "leases are in the 'runs_file' too; leave out 'leases'",
        ),
        ({"task": [-1]}, "runs.task.0: input should be greater than or equal to 0"),
        ({"task": [2**70]}, "runs.task.0: input should be less than or equal to 9007199254740992"),
        ({"start_s": [0.00001]}, "runs.start_s of 0: 1e-05 is not a whole number of 1/1000"),
        ({"end_s": [float("nan")]}, "runs.end_s.0: input should be a finite number"),
        ({"machine": [1]}, "runs.machine: unknown field"),
        ({"leases": {"vm": [0], "start_s": [0]}}, "leases.end_s: field required"),
    ],
)
def test_a_malformed_schedule(tmp_path, trio, changes, message):
    document = {"schema": "schedgap/harvest-solution/1", "runs": {"task": [0], "vm": [0], "start_s": [0], "end_s": [1]}}
    outside = {key: changes[key] for key in changes if key in ("runs", "runs_file", "leases")}
    document["runs"] |= {key: changes[key] for key in changes if key not in outside}
    document = {key: value for key, value in (document | outside).items() if value is not None}
    (tmp_path / "s.json").write_text(json.dumps(document))
    with pytest.raises(SolutionError, match=f"s.json: {message}"):
        read_solution(trio, tmp_path / "s.json")
