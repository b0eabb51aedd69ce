import json
from inspect import signature

import numpy as np
import pytest

from schedgap.instances import InstanceError
from schedgap.instances.family import FAMILIES
from schedgap.instances.provisioning import (
    alibaba_like,
    distinct,
    read_instance,
    table3,
    table7,
    verify,
    write_instance,
)
from schedgap.instances.provisioning.solution import Provisioning

DOCUMENT = {
    "schema": "schedgap/provisioning/1",
    "name": "table3",
    "resources": ["gpu", "cpu", "ram_gib"],
    "machine_types": [{"name": "it1", "family": "p3", "capacity": [4, 16, 244], "price": 12.08925}],
    "tasks": [
        {"name": "gcn", "count": 14, "demand": {"p3": [0, 12, 40]}, "workload": "gcn"},
        {"name": "tau1", "count": 1, "demand": {"any": [2, 8, 24.5]}},
    ],
}


def written(tmp_path, document):
    path = tmp_path / "instance.json"
    path.write_text(json.dumps(document))
    return path


def changed(path, value):
    """Return DOCUMENT with the entry at a path of keys set (or removed, for None)."""
    document = json.loads(json.dumps(DOCUMENT))
    place = document
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return document


@pytest.mark.parametrize(
    "instance",
    [
        table3(),
        table7(30, interference=True),
        alibaba_like(50),
        distinct(10_001),
        table7(30).replace(job_names=("j",), class2job=[0, *[-1] * (table7(30).num_classes - 1)]),
    ],
    ids=lambda instance: instance.name,
)
def test_round_trip_keeps_the_digest(tmp_path, instance):
    path = tmp_path / "instance.json"
    write_instance(instance, path)
    again = read_instance(path)
    assert again.digest == instance.digest
    assert again.name == instance.name
    assert not list(tmp_path.glob("*.partial"))


def test_reads_the_documented_example_exactly(tmp_path):
    instance = read_instance(written(tmp_path, DOCUMENT))
    assert instance.price.tolist() == [12_089_250]
    assert instance.capacity.tolist() == [[4000, 16_000, 244 * 1024]]
    assert instance.demand[0].tolist() == [[0, 12_000, 40 * 1024], [2000, 8000, 25_088]]
    assert instance.counts.tolist() == [14, 1]
    solution = Provisioning.from_tasks(instance, [0] * 15, np.arange(15))
    assert verify(instance, solution) == 15 * 12_089_250


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["tasks", 0, "colour"], "red", r"instance.json: tasks.0.colour: unknown field"),
        (
            ["schema"],
            "schedgap/provisioning/9",
            r"schema: .*'schedgap/provisioning/1'.*found 'schedgap/provisioning/9'",
        ),
        (["machine_types"], None, r"machine_types: field required"),
        (["machine_types", 0, "price"], 0, r"machine_types.0.price: input should be greater than 0 \(found 0"),
        (["machine_types", 0, "price"], 0.0000001, "not a whole number of 1/1000000"),
        (["machine_types", 0, "capacity"], [4, 16], "it1 has 2 capacities for the 3 resources"),
        (["machine_types", 0, "capacity"], [4, -1, 3], r"capacity.1: .*greater than or equal to 0 \(found -1"),
        (["tasks", 1, "demand"], {"any": [2, 8]}, "task tau1 has 2 demands on 'any' for 3 resources"),
        (["tasks", 1, "demand"], {"g5": [2, 8, 3]}, "task tau1 has a demand for family 'g5'; machine types have p3"),
        (
            ["tasks", 1, "demand"],
            {"any": [2, 99, 3]},
            "task tau1 needs 99 cpu on family p3, the largest type there has 16",
        ),
        (["tasks", 1, "demand"], {"any": [float("nan"), 1, 3]}, r"tasks.1.demand.any.0: .*finite"),
        (["tasks", 1, "name"], "gcn", "class_names names 'gcn' twice"),
        (["tasks", 1, "count"], 0, r"tasks.1.count: .*greater than or equal to 1"),
        (["tasks", 1, "count"], "7", r"tasks.1.count: .*valid integer"),
        (["tasks"], [], "no tasks"),
        (["tasks"], None, "either 'tasks' or 'tasks_file'"),
        (["interference"], {"workloads": ["gcn"], "throughput": [[1.5]]}, r"throughput.0.0: .*less than or equal to 1"),
        (["interference"], {"workloads": ["gcn", "x"], "throughput": [[1, 1]]}, "throughput is not 2 x 2"),
        (["interference"], {"workloads": ["x"], "throughput": [[1]]}, "workload 'gcn' is not among"),
    ],
)
def test_bad_files_are_one_sentence(tmp_path, path, value, message):
    with pytest.raises(InstanceError, match=message) as caught:
        read_instance(written(tmp_path, changed(path, value)))
    assert "\n" not in str(caught.value)


def test_missing_truncated_and_foreign_files(tmp_path):
    with pytest.raises(InstanceError, match="cannot be read"):
        read_instance(tmp_path / "none.json")
    path = tmp_path / "half.json"
    path.write_text(json.dumps(DOCUMENT)[:100])
    with pytest.raises(InstanceError, match=r"half.json: the document: invalid JSON"):
        read_instance(path)
    (tmp_path / "x.npz").write_bytes(b"not arrays")
    document = changed(["tasks"], None) | {"tasks_file": "x.npz"}
    with pytest.raises(InstanceError, match=r"x.npz: no .npz file of arrays"):
        read_instance(written(tmp_path, document))


def test_unwritable_target_leaves_nothing(tmp_path):
    with pytest.raises(InstanceError, match="cannot be written"):
        write_instance(table3(), tmp_path / "no" / "folder.json")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("tasks", 0, "count"), 10**30, r"tasks.0.count: .* less than or equal to 9007199254740992 \(found 10{30}\)"),
        (("task_order",), [10**30], r"task_order.0: .* \(found 10{30}\)"),
        (("machine_types",), [], r"machine_types: list should have at least 1 item"),
        (("tasks", 0, "cou\nnt"), 3, r"instance.json: tasks.0.cou nt: unknown field"),
    ],
)
def test_odd_values(tmp_path, path, value, message):
    with pytest.raises(InstanceError, match=message):
        read_instance(written(tmp_path, changed(path, value)))


@pytest.mark.parametrize("name", ["../instance.npz", "", "/x/instance.npz"])
def test_arrays_lie_beside_the_file(tmp_path, name):
    document = {key: value for key, value in DOCUMENT.items() if key != "tasks"}
    with pytest.raises(InstanceError, match=f"tasks_file is '{name}'; give the name of a file beside"):
        read_instance(written(tmp_path, {**document, "tasks_file": name}))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"demand": None}, r"x.npz: no array 'demand'"),
        ({"demand": np.ones((1, 1, 3))}, r"x.npz: demand is float64 in 3 dimensions, expected whole numbers in 3"),
        ({"counts": np.int64(3)}, r"x.npz: counts is int64 in 0 dimensions, expected whole numbers in 1"),
        ({"families": np.array(["c7i"])}, r"x.npz: is of families c7i, this file has p3"),
        ({"families": np.array(3)}, r"x.npz: families is int64 in 0 dimensions, expected text in 1"),
        ({"class_names": np.array("x")}, r"x.npz: class_names is <U1 in 0 dimensions, expected text in 1"),
        (b"", r"x.npz: no .npz file of arrays"),
        (b"\x93NUMPY", r"x.npz: no .npz file of arrays"),
        (None, r"x.npz: cannot be read \(No such file or directory\)"),
    ],
    ids=["missing", "fractions", "scalar", "families", "no-text", "names", "empty", "other", "absent"],
)
def test_malformed_arrays(tmp_path, arrays, message):
    document = {key: value for key, value in DOCUMENT.items() if key != "tasks"}
    path = written(tmp_path, {**document, "tasks_file": "x.npz"})
    good = {"demand": np.ones((1, 1, 3), np.int64), "counts": np.array([3]), "families": np.array(["p3"])}
    if isinstance(arrays, dict):
        np.savez(tmp_path / "x.npz", **{k: v for k, v in {**good, **arrays}.items() if v is not None})
    elif arrays is not None:
        (tmp_path / "x.npz").write_bytes(arrays)
    with pytest.raises(InstanceError, match=message):
        read_instance(path)


@pytest.mark.parametrize("name", ["cluster", "consolidation", "distinct", "table7"])
def test_what_a_generator_makes_is_the_same_from_a_file(tmp_path, name):
    """`distinct` names no task, and a file names them all; `consolidation` has notes."""
    make = FAMILIES["provisioning"].generators[name]
    made = make(**({"tasks": 100} if "tasks" in signature(make).parameters else {}))
    write_instance(made, tmp_path / "i.json")
    read = read_instance(tmp_path / "i.json")
    assert (read.digest, read.notes, read.class_names) == (made.digest, made.notes, made.class_names)


def test_names_that_are_usual_are_none(paper_example):
    """A digest knows no more of tasks that are called what they would be called anyway."""
    unnamed = paper_example.replace(class_names=None)
    assert paper_example.replace(class_names=tuple(f"task-{c}" for c in range(4))).digest == unnamed.digest
    assert paper_example.replace(class_names=("task-0", "task-1", "task-2", "x")).digest != unnamed.digest
