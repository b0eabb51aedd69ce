import json

import pytest

from schedgap.instances import SolutionError
from schedgap.instances.provisioning import Provisioning, read_solution, verify, write_solution
from schedgap.instances.provisioning.files import task_names, write_plan

BY_TASK = [
    {"type": "y-small", "tasks": ["a/0", "a/1"]},
    {"type": "x-small", "tasks": ["b"]},
    {"type": "x-small", "tasks": ["c/0"]},
    {"type": "x-small", "tasks": ["c/1"]},
]
BY_COUNT = [
    {"type": "y-small", "counts": {"a": 2}},
    {"type": "x-small", "counts": {"b": 1}},
    {"type": "x-small", "counts": {"c": 1}, "repeat": 2},
]


def written(tmp_path, machines, **extra):
    path = tmp_path / "solution.json"
    path.write_text(json.dumps({"schema": "schedgap/provisioning-solution/1", "machines": machines, **extra}))
    return path


@pytest.mark.parametrize("machines", [BY_TASK, BY_COUNT])
def test_both_ways_of_writing_cost_the_same(tmp_path, two_families, machines):
    assert verify(two_families, read_solution(two_families, written(tmp_path, machines))) == 3_700_000


@pytest.mark.parametrize("named", [False, True])
def test_round_trip(tmp_path, two_families, named):
    solution = Provisioning.from_patterns([2, 0, 0], [1, 1, 2], [[2, 0, 0], [0, 1, 0], [0, 0, 1]])
    if named:
        solution = solution.with_tasks(two_families)
    path = tmp_path / "s.json"
    write_solution(two_families, solution, path)
    again = read_solution(two_families, path)
    assert verify(two_families, again) == 3_700_000
    assert (again.task2machine is None) is not named


def test_tasks_have_names_of_their_own(tmp_path, two_families):
    """The first of two tasks of `x` would be called as the one of `x/0`."""
    instance = two_families.replace(class_names=("x", "x/0", "x/1"))
    assert task_names(instance) == ["x/0", "x/1", "x/0/0", "x/1/0", "x/1/1"]
    solution = Provisioning.from_patterns([2, 0, 0], [1, 1, 2], [[2, 0, 0], [0, 1, 0], [0, 0, 1]]).with_tasks(instance)
    write_solution(instance, solution, tmp_path / "s.json")
    again = read_solution(instance, tmp_path / "s.json")
    assert again.task2machine.tolist() == solution.task2machine.tolist()
    assert verify(instance, again) == 3_700_000


@pytest.mark.parametrize(
    ("machines", "extra", "message"),
    [
        ([{"type": "z", "counts": {"a": 1}}], {}, "machines.0 has type 'z'; the instance has x-small"),
        ([{"type": "x-small", "counts": {"q": 1}}], {}, "task class 'q'"),
        ([{"type": "x-small", "tasks": ["q"]}], {}, "holds task 'q'"),
        ([{"type": "x-small", "tasks": ["b", "b"]}], {}, "task b is on machines 0 and 0"),
        (BY_TASK[:3], {}, "task c/1 is on no machine"),
        ([BY_TASK[0], BY_COUNT[1]], {}, "machines.1 must have either"),
        ([{"type": "x-small"}], {}, "machines.0 must have either"),
        (BY_COUNT, {"instance": "0" * 64}, "solves instance 000000000000"),
        ([{"type": "x-small", "counts": {"a": 0}}], {}, "greater than or equal to 1"),
    ],
)
def test_bad_files(tmp_path, two_families, machines, extra, message):
    with pytest.raises(SolutionError, match=message):
        read_solution(two_families, written(tmp_path, machines, **extra))


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        ({"type": "x-small", "counts": {"b": 10**30}}, r"counts.b: .* less than or equal to 9007199254740992"),
        (
            {"type": "x-small", "counts": {"b": 1}, "repeat": 2**63},
            r"repeat: .* less than or equal to 9007199254740992",
        ),
        ({"type": "y" * 5000, "counts": {"b": 1}}, r"machines.0 has type 'y{60}'; the instance has "),
    ],
)
def test_odd_values(tmp_path, two_families, machine, message):
    with pytest.raises(SolutionError, match=message):
        read_solution(two_families, written(tmp_path, [machine]))


def test_a_plan_holds_the_steps_that_lead_to_it(tmp_path, two_families):
    """They are written, checked for their form, and no part of the solution."""
    solution = Provisioning.from_patterns([2, 0, 0], [1, 1, 2], [[2, 0, 0], [0, 1, 0], [0, 0, 1]])
    steps = [{"machine": "n1", "moves": [{"task": "a", "count": 2, "to": "new y-small #1"}], "evicts_first": True}]
    write_plan(two_families, solution, steps, tmp_path / "p.json")
    document = json.loads((tmp_path / "p.json").read_text())
    assert document["drain"] == steps
    assert verify(two_families, read_solution(two_families, tmp_path / "p.json")) == 3_700_000
    (tmp_path / "p.json").write_text(json.dumps(document | {"drain": [{"machine": 3}]}))
    with pytest.raises(SolutionError, match="drain"):
        read_solution(two_families, tmp_path / "p.json")
    write_solution(two_families, solution, tmp_path / "s.json")
    assert "drain" not in json.loads((tmp_path / "s.json").read_text())
