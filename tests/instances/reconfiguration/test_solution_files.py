"""Schedules as JSON files: what is written is read, and what is wrong is named."""

import json

import pytest

from schedgap.instances.errors import SolutionError
from schedgap.instances.reconfiguration.files import read_solution, write_solution
from schedgap.instances.reconfiguration.generators import eva_synthetic
from schedgap.instances.reconfiguration.model import ReconfigurationSchedule

ARRAYS = ("machine_type", "rented_s", "released_s", "move_s", "move_task", "move_machine")
DOCUMENT = {
    "schema": "schedgap/reconfiguration-solution/1",
    "machines": {"type": ["p3.2xlarge", "c7i.large"], "rented_s": [0, 300], "released_s": [900, 600]},
    "moves": {"at_s": [300, 300, 600], "job": [0, 2, 2], "task": [1, 0, 2], "machine": [0, 1, 0]},
}


@pytest.fixture(scope="module")
def instance():
    """Three jobs of three tasks each."""
    return eva_synthetic(3, tasks_per_job=3)


def written(tmp_path, document):
    path = tmp_path / "s.json"
    path.write_text(json.dumps(document))
    return path


def test_columns(tmp_path, instance):
    """Task 1 of job 0 is task 1, task 2 of job 2 is task 8; p3.2xlarge is type 0, c7i.large type 3."""
    schedule = read_solution(instance, written(tmp_path, DOCUMENT))
    assert [getattr(schedule, key).tolist() for key in ARRAYS] == [
        *([0, 3], [0, 300], [900, 600]),
        *([300, 300, 600], [1, 6, 8], [0, 1, 0]),
    ]


def test_moves_are_of_first_tasks_by_default(tmp_path, instance):
    moves = {key: values for key, values in DOCUMENT["moves"].items() if key != "task"}
    assert read_solution(instance, written(tmp_path, {**DOCUMENT, "moves": moves})).move_task.tolist() == [0, 6, 6]


@pytest.mark.parametrize("tasks", [1, 3])
def test_round_trip(tmp_path, tasks):
    instance = eva_synthetic(3, tasks_per_job=tasks)
    schedule = ReconfigurationSchedule([0, 20], [0, 300], [900, 600], [0, 0, 300], [0, 3 * tasks - 1, tasks], [0, 1, 1])
    path = tmp_path / "s.json"
    write_solution(instance, schedule, path)
    again = read_solution(instance, path)
    for key in ARRAYS:
        assert getattr(again, key).tolist() == getattr(schedule, key).tolist()
    document = json.loads(path.read_text())
    assert document["instance"] == instance.digest
    assert ("task" in document["moves"]) == (tasks > 1)


def test_nothing_is_a_schedule_too(tmp_path, instance):
    nothing = ReconfigurationSchedule([], [], [], [], [], [])
    write_solution(instance, nothing, tmp_path / "s.json")
    assert read_solution(instance, tmp_path / "s.json").num_machines == 0


def test_the_schedule_of_another_instance(tmp_path, instance):
    with pytest.raises(SolutionError, match=r"s.json: solves instance abc\.\.\., not eva-synthetic-3-"):
        read_solution(instance, written(tmp_path, {**DOCUMENT, "instance": "abc"}))
    assert read_solution(instance, written(tmp_path, {**DOCUMENT, "instance": instance.digest})).num_machines == 2


@pytest.mark.parametrize(
    ("part", "key", "value", "message"),
    [
        (
            "machines",
            "type",
            ["p3.2xlarge", "x"],
            r"s.json: machines.type.1 is 'x'; the instance has p3.2xlarge, .*, \.\.\.",
        ),
        ("machines", "type", ["p3.2xlarge"], r"s.json: machines: rented_s has 2 entries, type has 1; give one each"),
        ("machines", "rented_s", [0, -300], r"machines.rented_s.1: .*greater than or equal to 0"),
        ("machines", "released_s", [0, 10**30], r"machines.released_s.1: .*less than or equal to"),
        ("machines", "colour", [], r"machines.colour: unknown field"),
        ("moves", "at_s", [300], r"s.json: moves: job has 3 entries, at_s has 1; give one each"),
        ("moves", "machine", [0.5, 1, 0], r"moves.machine.0: .*integer"),
        ("moves", "job", [0, 2, 3], r"s.json: moves.job.2 is 3; jobs are 0\.\.2"),
        ("moves", "task", [1, 3, 2], r"s.json: moves.task.1 is 3; the tasks of job 2 are 0\.\.2"),
        ("moves", "machine", None, r"moves.machine: field required"),
    ],
)
def test_bad_files_are_one_sentence(tmp_path, instance, part, key, value, message):
    changed = {k: v for k, v in {**DOCUMENT[part], key: value}.items() if v is not None}
    with pytest.raises(SolutionError, match=message) as caught:
        read_solution(instance, written(tmp_path, {**DOCUMENT, part: changed}))
    assert "\n" not in str(caught.value)


def test_no_file(tmp_path, instance):
    with pytest.raises(SolutionError, match="cannot be read"):
        read_solution(instance, tmp_path / "none.json")
    schedule = read_solution(instance, written(tmp_path, DOCUMENT))
    with pytest.raises(SolutionError, match="cannot be written"):
        write_solution(instance, schedule, tmp_path / "no" / "folder.json")
