"""Pods as people write them."""

import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.placement.stranded import with_shape
from tests.instances.placement.kubectl import node, pod


@pytest.fixture
def found(read):
    tainted = node("a", gpus=2)
    tainted["spec"]["taints"] = [{"key": "gpu", "effect": "NoSchedule"}]
    tolerates = {"tolerations": [{"key": "gpu", "operator": "Exists"}]}
    return read(tainted, node("b"), node("c", unschedulable=True), pod("p", "a", gpus=1, spec=tolerates), pod("q", "b"))


def test_a_shape_is_one_more_class(found):
    """16Gi is 16,384 MiB; a pod of 100M asks for 96 MiB. With a GPU it runs where others with one do, else where others do."""
    made, c = with_shape(found, "cpu=500m,gpu=0.5,memory=16Gi")
    assert c == 2
    assert made.demand[c].tolist() == [500, 16 * 1024, 1000]
    assert (made.gpus[c], made.gpu_milli[c]) == (1, 500)
    assert dict(zip(made.type_names, made.admits[c].tolist(), strict=True)) == {
        "2 x a100, 16 cpu": True,
        "16 cpu": False,
        "closed, 16 cpu": False,
    }
    made, c = with_shape(found, "memory=100M")
    assert made.demand[c].tolist() == [0, 96, 1000]
    assert made.admits[c].tolist() == [False, True, False]


def test_a_model(found):
    made, c = with_shape(found, "gpu=2,model=a100")
    assert made.admits[c].tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("4", "--pod has '4'"),
        ("cpu=1,cpu=2", "is there twice"),
        ("cpu=much", "'much' is no quantity"),
        ("cpu=-1", "is below 0"),
        ("disk=1", "there is no resource 'disk'; there are gpu, cpu, ram_mib, pods"),
        ("gpu=1.5", "gpu is '1.5'"),
        ("gpu=99", "gpu is '99'"),
        ("gpu=1,model=T4", "no node has GPUs of model 'T4'; there are a100"),
    ],
)
def test_what_is_wrong(found, text, said):
    with pytest.raises(InstanceError) as problem:
        with_shape(found, text)
    assert said in str(problem.value)
