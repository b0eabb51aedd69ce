"""Instances as JSON files: what is written is read, and what is wrong is named."""

import json
from copy import deepcopy

import numpy as np
import pytest

from schedgap.instances.documents import inline_up_to
from schedgap.instances.errors import InstanceError
from schedgap.instances.reconfiguration.files import read_instance, write_instance
from schedgap.instances.reconfiguration.generators import alibaba_like, eva_synthetic

# The most jobs that are not put beside.
INLINE = 10_000
DELAYS = {"fetch_s": 1, "build_s": 10, "kill_s": 1, "upload_s": 2, "init_s": 143}
DOCUMENT = {
    "schema": "schedgap/reconfiguration/1",
    "name": "three jobs",
    "resources": ["gpu", "cpu", "ram_gib"],
    "machine_types": [
        {"name": "p", "family": "p3", "capacity": [1, 8, 61], "price": 3.06, "acquire_s": 22, "setup_s": 151},
        {"name": "c", "family": "c7i", "capacity": [0, 8, 16], "price": 0.357, "acquire_s": 7, "setup_s": 149},
    ],
    "workloads": [{"name": "vit", **DELAYS}, {"name": "gcn", **DELAYS, "init_s": 28}],
    "interference": {"workloads": ["vit", "gcn"], "throughput": [[0.928, 0.835], [0.915, 0.904]]},
    "tasks": [
        {"name": "image", "demand": {"any": [1, 4, 24]}, "workload": "vit"},
        {"name": "graph", "demand": {"p3": [0, 4, 10.5], "c7i": [0, 2, 10.5]}, "workload": "gcn"},
    ],
    "jobs": {
        "arrival_s": [0, 100, 700],
        "work_s": [3600, 7200, 1800],
        "task": ["graph", "image", "graph"],
        "num_tasks": [1, 1, 2],
    },
}


def written(tmp_path, document):
    path = tmp_path / "i.json"
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


def test_reads_the_example_exactly(tmp_path):
    instance = read_instance(written(tmp_path, DOCUMENT))
    catalogue = instance.catalogue
    assert (instance.name, instance.period_s, instance.terminate_s) == ("three jobs", 300, 1)
    # The first job is of class graph, which therefore is the first.
    assert catalogue.class_names == ("graph", "image")
    assert catalogue.workloads == ("gcn", "vit")
    assert instance.job2class.tolist() == [0, 1, 0]
    assert instance.num_tasks.tolist() == [1, 1, 2]
    assert catalogue.counts.tolist() == [3, 1]
    assert catalogue.demand[0].tolist() == [[0, 4000, 10_752], [1000, 4000, 24 * 1024]]
    assert catalogue.demand[1].tolist() == [[0, 2000, 10_752], [1000, 4000, 24 * 1024]]
    assert catalogue.price.tolist() == [3_060_000, 357_000]
    assert (instance.acquire_s.tolist(), instance.setup_s.tolist()) == ([22, 7], [151, 149])
    assert (instance.init_s.tolist(), instance.upload_s.tolist()) == ([28, 143], [2, 2])
    assert instance.throughput.tolist() == [[904, 915], [835, 928]]
    assert (instance.arrival_s.tolist(), instance.work_s.tolist()) == ([0, 100, 700], [3600, 7200, 1800])


@pytest.mark.parametrize("key", ["period_s", "terminate_s"])
def test_other_plans_and_ends(tmp_path, key):
    instance = read_instance(written(tmp_path, {**DOCUMENT, key: 60}))
    assert getattr(instance, key) == 60


def test_the_order_of_classes_workloads_and_throughputs_is_no_matter(tmp_path):
    base = read_instance(written(tmp_path, DOCUMENT))
    other = {**DOCUMENT, "workloads": DOCUMENT["workloads"][::-1], "tasks": DOCUMENT["tasks"][::-1]}
    assert read_instance(written(tmp_path, other)).digest == base.digest
    turned = {"workloads": ["gcn", "vit"], "throughput": [[0.904, 0.915], [0.835, 0.928]]}
    assert read_instance(written(tmp_path, {**other, "interference": turned})).digest == base.digest


def test_jobs_have_one_task_by_default(tmp_path):
    assert read_instance(written(tmp_path, changed(["jobs", "num_tasks"], None))).num_tasks.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "instance",
    [
        eva_synthetic(),
        eva_synthetic(5, interference="none", cpu="vcpu").replace(period_s=60, terminate_s=0),
        alibaba_like(50, multi_task=0.5, multi_gpu=0.2),
        eva_synthetic(5, interference="artifact-sets"),
        alibaba_like(100, interference="artifact-sets"),
        alibaba_like(INLINE),
        alibaba_like(INLINE + 1, multi_task=0.5),
    ],
    ids=lambda instance: instance.name,
)
def test_round_trip_keeps_the_digest(tmp_path, instance):
    path = tmp_path / "i.json"
    write_instance(instance, path)
    again = read_instance(path)
    assert again.digest == instance.digest
    assert again.name == instance.name
    assert (again.stored_sets is None) == (instance.stored_sets is None)
    assert ("jobs_file" in json.loads(path.read_text())) == (instance.num_jobs > INLINE)
    assert not list(tmp_path.glob("*.partial"))


def test_classes_without_names_are_given_some(tmp_path, made):
    for seed in range(5):
        instance = made(seed)
        write_instance(instance, tmp_path / "i.json")
        assert read_instance(tmp_path / "i.json").digest == instance.digest


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["jobs"], None, r"i.json: give either 'jobs' or 'jobs_file'"),
        (["jobs_file"], "x.npz", r"i.json: give either 'jobs' or 'jobs_file', not both"),
        (["jobs", "work_s"], [3600, -5, 1800], r"i.json: jobs.work_s.1: input should be greater than .* \(found -5\)"),
        (["jobs", "work_s"], [3600, 7200.5, 1800], r"jobs.work_s.1: .*integer.* \(found 7200.5\)"),
        (["jobs", "work_s"], [3600, 10**30, 1800], r"jobs.work_s.1: .*less than or equal to 9007199254740992"),
        (["jobs", "work_s"], [3600, 2**52, 1800], r"its last job ends after \d+ s at best"),
        (["jobs", "work_s"], [3600, 1800], r"i.json: jobs: work_s has 2 entries, arrival_s has 3; give one each"),
        (["jobs", "task"], ["graph"], r"jobs: task has 1 entries, arrival_s has 3"),
        (["jobs", "num_tasks"], [1], r"jobs: num_tasks has 1 entries, arrival_s has 3"),
        (["jobs", "num_tasks"], [1, 0, 1], r"jobs.num_tasks.1: .*greater than or equal to 1 \(found 0\)"),
        (["jobs", "arrival_s"], [0, 100, 99], r"three jobs: job 2 arrives at 99 s, before job 1 at 100 s"),
        (["jobs", "arrival_s"], [-1, 100, 99], r"jobs.arrival_s.0: .*greater than or equal to 0"),
        (["jobs", "task"], ["graph", "x", "graph"], r"jobs.task.1 is 'x', which is not among the tasks; add it there"),
        (["jobs", "task"], ["graph"] * 3, r"no job has tasks of class image; remove the class"),
        (["jobs", "colour"], ["red"], r"jobs.colour: unknown field"),
        (["tasks", 0, "workload"], "x", r"task image has workload 'x', which is not among the workloads; add it"),
        (["tasks", 0, "workload"], None, r"tasks.0.workload: field required"),
        (["tasks", 0, "workload"], "gcn", r"no task has workload vit; remove it"),
        (["tasks", 1, "name"], "image", r"jobs.task.0 is 'graph', which is not among the tasks"),
        (
            ["tasks", 0, "demand"],
            {"any": [2, 4, 24]},
            r"task image needs 2 gpu on family p3, the largest type there has 1",
        ),
        (["tasks", 0, "demand"], {"any": [1, 4]}, r"task image has 2 demands on 'any' for 3 resources"),
        (
            ["tasks", 0, "demand"],
            {"g5": [1, 4, 8]},
            r"task image has a demand for family 'g5'; machine types have p3, c7i",
        ),
        (["tasks", 0, "demand"], {}, r"task image may run on no family"),
        (["tasks"], [], r"tasks: list should have at least 1 item"),
        (["workloads", 0, "init_s"], -3, r"workloads.0.init_s: .*greater than or equal to 0 \(found -3\)"),
        (["workloads", 0, "kill_s"], None, r"workloads.0.kill_s: field required"),
        (["workloads", 1, "name"], "vit", r"task graph has workload 'gcn', which is not among the workloads"),
        (["machine_types", 0, "setup_s"], 1.5, r"machine_types.0.setup_s: .*integer"),
        (["machine_types", 0, "price"], 0, r"machine_types.0.price: .*greater than 0"),
        (["machine_types", 0, "capacity"], [1, 8], r"machine type p has 2 capacities for the 3 resources"),
        (["machine_types"], [], r"machine_types: list should have at least 1 item"),
        (["period_s"], 0, r"period_s: .*greater than or equal to 1"),
        (["terminate_s"], -1, r"terminate_s: .*greater than or equal to 0"),
        (["interference", "throughput", 0, 1], 1.5, r"interference: the throughput of vit beside gcn is 1.5; give a"),
        (["interference", "throughput", 1, 0], -0.5, r"interference.throughput.1.0: .*greater than or equal to 0"),
        (["interference", "throughput", 1], [0.9], r"interference: throughput is not 2 x 2"),
        (
            ["interference", "throughput", 1, 1],
            0.12345,
            r"interference.throughput of .*: 0.12345 is not a whole number",
        ),
        (["interference", "workloads", 1], "x", r"interference names workload 'x' which is not among the workloads"),
        (["interference", "workloads", 1], "vit", r"interference names workload 'vit' twice; name each workload once"),
        (
            ["interference"],
            {"workloads": ["vit"], "throughput": [[1]]},
            r"interference: the throughput of vit beside gcn is missing; give a number in \[0, 1\]",
        ),
        (["schema"], "schedgap/reconfiguration/2", r"schema: .*'schedgap/reconfiguration/1'"),
    ],
)
def test_bad_files_are_one_sentence(tmp_path, path, value, message):
    with pytest.raises(InstanceError, match=message) as caught:
        read_instance(written(tmp_path, changed(path, value)))
    assert "\n" not in str(caught.value)


SETS = {
    "workloads": ["vit", "gcn"],
    "throughput": [[0.928, 0.835], [0.915, 0.904]],
    "sorted": ["gcn", "vit"],
    "listed": ["vit", "gcn"],
    "most": 10,
    "listed_long": ["gcn"],
    "most_long": 25,
}


def test_stored_sets_exactly(tmp_path):
    instance = read_instance(written(tmp_path, {**DOCUMENT, "stored_sets": SETS}))
    # GCN, whose job is the first, is workload 0.
    sets = instance.stored_sets
    assert sets.throughput.tolist() == [[904, 915], [835, 928]]
    assert (sets.sorted_rank.tolist(), sets.listed_rank.tolist()) == ([0, 1], [1, 0])
    assert (sets.long_rank.tolist(), sets.most, sets.most_long) == ([0, -1], 10, 25)
    write_instance(instance, tmp_path / "again.json")
    assert read_instance(tmp_path / "again.json").digest == instance.digest


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("sorted", ["gcn"], r"stored_sets.sorted lacks workload 'vit'; name each workload once"),
        ("listed", ["gcn", "gcn"], r"stored_sets.listed names workload 'gcn' twice; name each workload once"),
        ("listed_long", ["x"], r"stored_sets.listed_long names workload 'x' which is not among the workloads"),
        ("workloads", ["gcn", "x"], r"stored_sets names workload 'x' which is not among the workloads"),
        ("throughput", [[0.9, 0.9]], r"stored_sets: throughput is not 2 x 2"),
        ("throughput", [[0.9, 0.9], [None, 2]], r"stored_sets: the throughput of gcn beside vit is missing; give"),
        ("throughput", [[0.9, 0.9], [0.12345, 1]], r"stored_sets.throughput of .*: 0.12345 is not a whole number"),
        ("most", 2, r"stored sets: most is 2 and most_long 25; give at least 3"),
        ("most", 0, r"stored_sets.most: .*greater than or equal to 1 \(found 0\)"),
        ("colour", "red", r"stored_sets.colour: unknown field"),
    ],
)
def test_bad_stored_sets_are_one_sentence(tmp_path, key, value, message):
    with pytest.raises(InstanceError, match=rf"i.json: {message}") as caught:
        read_instance(written(tmp_path, {**DOCUMENT, "stored_sets": {**SETS, key: value}}))
    assert "\n" not in str(caught.value)


def test_a_throughput_that_is_null_is_missing(tmp_path):
    document = changed(["interference", "throughput"], [[0.9, 0.8], [None, 0.7]])
    with pytest.raises(InstanceError, match=r"i.json: interference: the throughput of gcn beside vit is missing"):
        read_instance(written(tmp_path, document))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"work_s": None}, r"x.npz: no array 'work_s'; write the instance anew"),
        ({"work_s": np.ones(3)}, r"x.npz: work_s is float64 in 1 dimensions, expected whole numbers in 1"),
        ({"work_s": np.ones(2, int)}, r"jobs: work_s has 2 entries, arrival_s has 3"),
        ({"task": np.array([0, 1, 2])}, r"job 2 has task class 2; give one of 0\.\.1"),
        ({"num_tasks": np.array([0, 1, 2])}, r"job 0 has tasks 0; give at least 1"),
    ],
    ids=["missing", "fractions", "short", "class", "none"],
)
def test_malformed_arrays(tmp_path, arrays, message):
    document = changed(["jobs"], None)
    document["jobs_file"] = "x.npz"
    good = {"arrival_s": [0, 1, 2], "work_s": [5, 6, 7], "task": [0, 1, 0], "num_tasks": [1, 1, 2]}
    stored = {**{key: np.array(values) for key, values in good.items()}, **arrays}
    np.savez(tmp_path / "x.npz", **{key: values for key, values in stored.items() if values is not None})
    with pytest.raises(InstanceError, match=message):
        read_instance(written(tmp_path, document))


@pytest.mark.parametrize("name", ["../x.npz", "", "/x/x.npz"])
def test_arrays_lie_beside_the_file(tmp_path, name):
    document = changed(["jobs"], None)
    with pytest.raises(InstanceError, match=rf"i.json: jobs_file is '{name}'; give the name of a file beside"):
        read_instance(written(tmp_path, {**document, "jobs_file": name}))
    with pytest.raises(InstanceError, match=r"none.npz: cannot be read"):
        read_instance(written(tmp_path, {**document, "jobs_file": "none.npz"}))


def test_counts_and_fees_of_machine_types(tmp_path):
    document = changed(("machine_types", 0, "count"), 2)
    document["machine_types"][1]["fee"] = 0.043
    instance = read_instance(written(tmp_path, document))
    assert instance.catalogue.stock.tolist() == [2, -1]
    assert instance.catalogue.fee.tolist() == [0, 43_000]
    # What a machine costs, with its fee.
    assert instance.catalogue.price.tolist() == [3_060_000, 400_000]
    write_instance(instance, tmp_path / "again.json")
    assert read_instance(tmp_path / "again.json").digest == instance.digest
    kinds = json.loads((tmp_path / "again.json").read_text())["machine_types"]
    assert [(kind["price"], kind.get("fee"), kind.get("count")) for kind in kinds] == [
        (3.06, 0, 2),
        (0.357, 0.043, None),
    ]
    assert instance.digest != read_instance(written(tmp_path, DOCUMENT)).digest


PAST = {
    "start": 1_763_719_500,
    "end_s": 7200,
    "machines": {"name": ["n1", "n2"], "type": ["c", "p"], "from_s": [0, 600], "until_s": [7200, 1200]},
}


@pytest.mark.parametrize("inline", [10_000, -1])
def test_a_past_comes_back_and_is_not_in_the_digest(tmp_path, inline):
    document = changed(["past"], PAST)
    document["jobs"]["ran_on"] = [0, 1, -1]
    instance = read_instance(written(tmp_path, document))
    assert instance.digest == read_instance(written(tmp_path, DOCUMENT)).digest
    with inline_up_to(inline):
        write_instance(instance, tmp_path / "again.json")
    past = read_instance(tmp_path / "again.json").past
    assert (past.names, past.start, past.end_s) == (("n1", "n2"), 1_763_719_500, 7200)
    assert (past.machine_type.tolist(), past.from_s.tolist(), past.until_s.tolist()) == ([1, 0], [0, 600], [7200, 1200])
    assert past.job_node.tolist() == [0, 1, -1]
    # Two hours of c at 0.357 $, ten minutes of p at 3.06 $.
    assert past.paid_micro(instance.catalogue.price) == 714_000 + 510_000


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["past", "machines", "type"], ["c", "q"], "machines.type.1 is 'q'"),
        (["past", "machines", "name"], ["n1", "n1"], "machine 'n1' is given twice"),
        (["past", "machines", "until_s"], [7200, 500], "machine n2 was there from 600 to 500 s"),
        (["past", "end_s"], 7000, "machine n1 was there from 0 to 7200 s"),
        (["jobs", "ran_on"], [0, 2, 1], "job 1 ran on machine 2; there are 2"),
        (["jobs", "ran_on"], [0, -2, 1], "ran_on"),
        (["past"], None, "there is no past"),
    ],
)
def test_a_past_that_is_none(tmp_path, path, value, message):
    document = changed(["past"], deepcopy(PAST))
    document["jobs"]["ran_on"] = [0, 1, -1]
    place = document
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    with pytest.raises(InstanceError, match=message):
        read_instance(written(tmp_path, document))
