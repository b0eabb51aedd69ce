"""Generated clusters as files and as instances: the reader takes them, and a seed says all."""

import csv
import json

import numpy as np
import pytest

from schedgap.instances import InstanceError
from schedgap.instances.provisioning import cluster_of_kind, kubernetes, write_cluster
from schedgap.instances.provisioning.generators.clusters import KINDS

FILES = {"cluster.json", "nodepools.json", "volumes.json", "budgets.json", "prices.csv", "node_types.csv"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_reader_takes_it(kind):
    """Nothing is over capacity, what is pending is there, and nodes cost what the price list says."""
    instance = cluster_of_kind(kind, 60 if kind == "large" else 0, seed=1)
    running = instance.running
    content = running.contents(instance.num_classes)
    assert 3 <= instance.num_tasks - content.sum() <= 5
    assert running.size == (60 if kind == "large" else KINDS[kind].nodes)
    family = instance.type2family[running.machine_type]
    for number in range(running.size):
        load = content[number] @ np.maximum(instance.demand[family[number]], 0)
        assert (load <= instance.capacity[running.machine_type[number]]).all()
    assert instance.name == f"cluster-{kind}-{running.size}-s1"


def test_same_seed_same_bytes(tmp_path):
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        write_cluster("karpenter", tmp_path / name, 20, seed=seed)
    first, same, other = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("a", "b", "c")
    )
    assert set(first) == FILES
    assert first == same != other


def test_files_as_a_user_has_them(tmp_path):
    """The instance of the files is that of the generator, where the provider labels nodes with their type."""
    write_cluster("eks", tmp_path, 20, seed=2)
    paths = [tmp_path / name for name in ("cluster.json", "nodepools.json", "volumes.json", "budgets.json")]
    read = kubernetes(*paths, catalogue=str(tmp_path / "prices.csv"))
    assert read.digest == cluster_of_kind("eks", 20, seed=2).digest
    assert any("PodDisruptionBudgets" in note for note in read.notes)


def test_types_of_nodes_without_a_label(tmp_path):
    """Own machines: as many of each type as the price list has."""
    write_cluster("kubeadm", tmp_path)
    with open(tmp_path / "node_types.csv", encoding="utf-8") as file:
        of_node = {row["node"]: row["type"] for row in csv.DictReader(file)}
    items = json.loads((tmp_path / "cluster.json").read_text())["items"]
    assert set(of_node) == {each["metadata"]["name"] for each in items if each["kind"] == "Node"}
    with open(tmp_path / "prices.csv", encoding="utf-8") as file:
        count = {row["name"]: int(row["count"]) for row in csv.DictReader(file)}
    assert count == {name: list(of_node.values()).count(name) for name in count}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kind": "ecs"}, "kind is one of eks, karpenter, .*, not 'ecs'"),
        ({"kind": "eks", "nodes": 9}, "kind eks has 5 groups of nodes; give at least 10 nodes, not 9"),
        ({"kind": "eks", "nodes": -1}, "give at least 10 nodes, not -1"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    with pytest.raises(InstanceError, match=message):
        cluster_of_kind(**parameters)
