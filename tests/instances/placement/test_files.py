import json

import numpy as np
import pytest

from schedgap.instances.documents import inline_up_to
from schedgap.instances.errors import SchedgapError
from schedgap.instances.placement import (
    Placement,
    openb_like,
    random_pods,
    read_instance,
    read_solution,
    verify,
    write_instance,
    write_solution,
)

DOCUMENT = {
    "schema": "schedgap/placement/1",
    "name": "by-hand",
    "unit": "GPUs",
    "resources": ["cpu", "ram_gib"],
    "node_types": [
        {"name": "a100", "capacity": [64, 512], "gpus": 8, "model": "A100"},
        {"name": "cpu", "capacity": [32, 64], "model": ""},
    ],
    "pod_classes": [
        {"name": "half", "demand": [4, 16], "gpus": 0.5, "types": ["a100"]},
        {"name": "train", "demand": [32, 256], "gpus": 4, "value": 10},
        {"name": "web", "demand": [2, 4]},
    ],
    "nodes": {"type": ["a100", "cpu"]},
    "pods": {"class": ["web", "half", "train", "train"], "node": [1, None, None, None], "gang": [None, None, 0, 0]},
}


def test_numbers_are_read_as_people_write_them(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(DOCUMENT))
    instance = read_instance(path)
    assert instance.capacity.tolist() == [[64_000, 512 * 1024], [32_000, 64 * 1024]]
    assert (instance.gpus.tolist(), instance.gpu_milli.tolist()) == ([1, 4, 0], [500, 1000, 0])
    assert instance.value.tolist() == [500, 10_000, 0]
    assert instance.admits.tolist() == [[True, False], [True, True], [True, True]]
    assert (instance.running_node.tolist(), instance.gang.tolist()) == ([1, -1, -1, -1], [-1, -1, 0, 0])
    solution = Placement([1, 0, -1, -1], [0, 4, 0, 0])
    assert verify(instance, solution) == 20_000
    write_solution(instance, solution, tmp_path / "s.json")
    assert json.loads((tmp_path / "s.json").read_text())["gpus"] == [[], [2], [], []]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pods": {"class": ["web", "more"]}}, "'more'; the instance has half, train, web"),
        ({"pods": {"class": ["web"], "gpus": [[1, 1]]}}, r"gpus.0 is \[1, 1\]; give each once"),
        ({"pod_classes": [{"name": "odd", "demand": [1, 1], "gpus": 1.5}]}, "odd takes 1.5 GPUs; give whole GPUs"),
        ({"pod_classes": [{"name": "odd", "demand": [1, 1], "types": ["b"]}]}, "may run on node type 'b'; there are a100, cpu"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(tmp_path, change, message):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({**DOCUMENT, **change}))
    with pytest.raises(SchedgapError, match=message):
        read_instance(path)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("inline", [np.inf, -1])
def test_what_is_written_is_read(tmp_path, seed, inline):
    instance = random_pods(seed=seed, pods=20, running=0.5, moves=2, gangs=True, unit="value", divided=seed % 2 == 1)
    with inline_up_to(inline):
        write_instance(instance, tmp_path / "a.json")
        assert read_instance(tmp_path / "a.json").digest == instance.digest
    stays = Placement(instance.running_node, instance.running_gpus, instance.running_start)
    write_solution(instance, stays, tmp_path / "s.json")
    assert verify(instance, read_solution(instance, tmp_path / "s.json")) == verify(instance, stays)


def test_many_pods_are_written_beside(tmp_path):
    instance = openb_like(nodes=1300)
    write_instance(instance, tmp_path / "a.json")
    assert list(tmp_path.glob("*.npz"))
    assert read_instance(tmp_path / "a.json").digest == instance.digest
