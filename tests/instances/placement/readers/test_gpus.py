"""GPUs by device: shares in the words of each system, and which devices running pods hold."""

import pytest

from schedgap.instances.placement.readers.gpus import Held, assigned, kinds_of
from tests.instances.placement.kubectl import node, pod

ALIYUN = {"aliyun.com/gpu-mem": "32", "aliyun.com/gpu-count": "2"}
HAMI = {"hami.io/node-nvidia-register": "GPU-a,10,16000,100,NVIDIA-T4,0,true:GPU-b,10,16000,100,NVIDIA-T4,0,true:"}


@pytest.mark.parametrize(
    ("has", "asks", "milli", "said"),
    [
        ({"gpus": 2}, {"notes": {"gpu-fraction": "0.25"}}, 250, ""),
        ({"gpus": 2}, {"notes": {"gpu-fraction": "0.33333"}}, 333, "rounded down to thousandths"),
        ({"gpus": 2}, {"notes": {"gpu-memory": "2000"}}, 1, "memory is not known"),
        ({"gpus": 2, "labels": {"nvidia.com/gpu.memory": "16000"}}, {"notes": {"gpu-memory": "2000"}}, 125, ""),
        ({"gpus": 2}, {"notes": {"gpu-fraction": "half"}}, 0, "no share or number"),
        ({"gpus": 2}, {"notes": {"gpu-fraction": "0.5", "gpu-fraction-num-devices": "2"}}, 0, "several GPUs"),
        ({"gpus": 2}, {"notes": {"alibabacloud.com/gpu-milli": "460", "alibabacloud.com/gpu-count": "1"}}, 460, ""),
        ({"gpus": 2}, {"notes": {"alibabacloud.com/gpu-milli": "1000"}}, 1000, ""),
        (ALIYUN, {"aliyun.com/gpu-mem": "4"}, 250, ""),
        (ALIYUN, {"aliyun.com/gpu-mem": "3"}, 187, "rounded down to thousandths"),
        ({"gpus": 20, "notes": HAMI}, {"gpus": 1, "nvidia.com/gpumem-percentage": "30"}, 300, ""),
        ({"gpus": 20, "notes": HAMI}, {"gpus": 1, "nvidia.com/gpumem": "4000"}, 250, ""),
        ({"gpus": 20, "notes": HAMI}, {"gpus": 1, "nvidia.com/gpucores": "30"}, 1000, ""),
        (
            {"gpus": 20, "notes": HAMI},
            {"gpus": 1, "nvidia.com/gpumem-percentage": "30", "nvidia.com/gpucores": "50"},
            300,
            "cores beside",
        ),
    ],
)
def test_shares(read, has, asks, milli, said):
    found = read(node("a", **has), pod("p", **asks))
    assert found.num_gpus.tolist() == [2]
    assert found.gpu_milli.tolist() == [milli]
    assert found.admits.tolist() == [[True]]
    assert any(said in note for note in found.notes if note.startswith("Relaxed")) == bool(said)


def test_annotations_say_which_device(read):
    found = read(
        node("a", gpus=4),
        node("b", gpus=20, notes=HAMI),
        pod("p", "a", notes={"alibabacloud.com/gpu-milli": "500", "alibabacloud.com/gpu-index": "2"}),
        pod(
            "q",
            "a",
            notes={
                "alibabacloud.com/gpu-milli": "1000",
                "alibabacloud.com/gpu-count": "2",
                "alibabacloud.com/gpu-index": "0-3",
            },
        ),
        pod(
            "r",
            "b",
            gpus=1,
            notes={"hami.io/vgpu-devices-allocated": "GPU-b,NVIDIA,8000,0:;"},
            **{"nvidia.com/gpumem": "8000"},
        ),
    )
    assert found.running_gpus.tolist() == [0b100, 0b1001, 0b10]
    assert not any(note.startswith("Assumed") for note in found.notes)


def test_a_model_that_is_asked_for(read):
    notes = {"alibabacloud.com/gpu-milli": "500", "alibabacloud.com/gpu-card-model": "T4|A10"}
    found = read(node("a", gpus=1), node("b", gpus=1, labels={"nvidia.com/gpu.product": "T4"}), pod("p", notes=notes))
    assert dict(zip(found.gpu_model, found.admits[0].tolist(), strict=True)) == {"a100": False, "T4": True}


def test_devices_are_assigned_tightest_first():
    """300 is known to be on 1; 700 fits beside it with nothing left, 400 goes to another one, and two whole ones fit beside."""
    pods = [Held(1, 400), Held(1, 700), Held(2, 1000), Held(1, 300, (1,)), Held(0, 0)]
    assert assigned(pods, 4) == ([0b1000, 0b10, 0b101, 0b10, 0], 4, 2)


def test_pods_of_a_group_share_their_device():
    pods = [Held(1, 300, (), "x"), Held(1, 300, (), "y"), Held(1, 300, (), "x")]
    # 600 goes first; 300 then where the least is left that is enough: beside it.
    assert assigned(pods, 2) == ([1, 1, 1], 2, 3)


def test_a_node_has_as_many_devices_as_its_pods_hold():
    assert assigned([Held(2, 1000), Held(1, 1000)], 2) == ([0b11, 0b100], 3, 0)


def test_resources_that_count_by_device():
    nvidia, amd = {"nvidia.com/gpu": 8_000}, {"amd.com/gpu": 4_000}
    assert kinds_of([nvidia, nvidia, amd]) == ("nvidia.com/gpu", "amd.com/gpu")
    assert kinds_of([nvidia, nvidia | amd]) == ("nvidia.com/gpu",)
    # 80 shares in time of 8 GPUs are no devices.
    assert kinds_of([{"nvidia.com/gpu": 80_000}]) == ()
