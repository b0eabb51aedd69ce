import gzip

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.placement import openb, openb_like
from schedgap.instances.placement.openb import Pods, _tuned

NODES = """sn,cpu_milli,memory_mib,gpu,model
n-1,96000,393216,8,G2
n-0,104000,524288,2,T4
n-2,96000,393216,8,G2
"""
PODS = """name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos
p-0,4000,8192,1,500,,LS
p-1,4000,8192,1,500,,BE
p-2,8000,16384,2,1000,G2,LS
p-3,8000,16384,1,1000,T4|G2,LS
p-4,2000,1024,0,0,T4,LS
"""


@pytest.fixture
def trace(tmp_path):
    """18 GPUs in 3 nodes, 5 pods that ask for 4 GPUs together."""
    (tmp_path / "openb_node_list_gpu_node.csv").write_text(NODES)
    (tmp_path / "openb_pod_list_default.csv").write_text(PODS)
    with gzip.open(tmp_path / "openb_pod_list_other.csv.gz", "wt") as packed:
        packed.write(PODS.replace(",gpu_spec", ",spec"))
    return tmp_path / "openb_pod_list_default.csv"


def test_pods_are_drawn_again_until_they_ask_for_the_target(trace):
    instance = openb(trace, arrived=100, seed=3)
    milli = (instance.gpus * instance.gpu_milli)[instance.pod2class]
    assert instance.gpu_capacity == 18_000
    # At most one GPU more than the target, since the test counts one GPU of a pod of two.
    assert 17_000 <= milli.sum() <= 19_000
    # First all pods of the list once, in some order, then copies.
    assert sorted(instance.pod_names[:5]) == ["p-0", "p-1", "p-2", "p-3", "p-4"]
    assert all("-copy-" in name for name in instance.pod_names[5:])
    assert sorted(instance.node_names) == ["n-0", "n-1", "n-2"]
    # What policies expect is the list itself: classes in order of CPU, the two equal pods as one.
    assert instance.expected.tolist() == [1, 2, 1, 1]
    assert openb(trace, arrived=100, seed=3).digest == instance.digest != openb(trace, arrived=100, seed=4).digest


@pytest.mark.parametrize(
    ("first", "drawn", "total"),
    [
        # p1 makes 5,000 of 5,200; p4 asks for no GPU; p6 of two whole ones would make 6,000 by one of them, and ends it.
        (4500, [0, 3, 5], 5000),
        # From 4,000 on p6 passes, as one GPU makes 5,000, and both 6,000; then any pod with a GPU ends it.
        (4000, [5, 0], 6000),
    ],
)
def test_what_is_drawn_again(first, drawn, total):
    """In order of name p1, p2, p3, p4, p5, p6; of 4,500 thousandths together, or 4,000 without p5."""
    rows = [(1000, 1, 1, 500), (2000, 1, 1, 1000), (4000, 1, 0, 0), (8000, 1, 2, 1000)]
    pod2class = np.array([0, 0, 1, 2, 0, 3])
    if first == 4000:
        rows.append((1000, 1, 0, 0))
        pod2class[4] = 4
    numbers = np.array(rows)
    pods = Pods(numbers, ("",) * len(rows), pod2class, tuple(f"p{n}" for n in range(1, 7)))
    milli = (numbers[:, 2] * numbers[:, 3])[pod2class]
    assert milli.sum() == first

    class Draws:
        left = iter(drawn)

        def random(self, number=None):
            return np.arange(number) / number if number is not None else (next(self.left) + 0.5) / 6

    order = _tuned(Draws(), pods, milli, 5200)
    assert order.tolist() == [0, 1, 2, 3, 4, 5, *drawn[:-1]]
    assert milli[order].sum() == total


def test_pods_are_left_out_until_they_ask_for_no_more_than_the_target(trace):
    instance = openb(trace, arrived=10, seed=1)
    milli = (instance.gpus * instance.gpu_milli)[instance.pod2class]
    assert 0 < milli.sum() <= 1800


def test_until_cuts_the_order_where_the_share_that_arrived_passes_it(trace):
    whole, cut = openb(trace, arrived=130, seed=2), openb(trace, arrived=130, until=100, seed=2)
    milli = (whole.gpus * whole.gpu_milli)[whole.pod2class]
    kept = int((np.rint(100 * np.cumsum(milli) / 18_000) <= 100).sum())
    assert cut.num_pods == kept < whole.num_pods
    assert cut.pod_names == whole.pod_names[:kept]


def test_models_are_those_asked_for_and_pods_without_gpus_may_go_anywhere(trace):
    instance = openb(trace)
    names = dict(zip(instance.class_names, instance.admits.tolist(), strict=True))
    assert instance.gpu_model == ("G2", "T4")
    assert names["8 cpu, 16384 MiB, 2 GPU of G2"] == [True, False]
    assert names["8 cpu, 16384 MiB, 1 GPU of T4|G2"] == [True, True]
    assert names["2 cpu, 1024 MiB"] == [True, True]


def test_another_variant_beside_may_be_packed_and_have_no_models(trace):
    assert openb(trace, variant="other").admits.all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PODS.replace("p-2,8000,16384,2,1000", "p-2,8000,16384,2,500"), "line 4: gpu_milli is 500 of each of 2 GPUs"),
        (PODS.replace("p-2,8000", "p-2,-1"), "line 4: cpu_milli is -1"),
        ("\n".join(PODS.splitlines()[:1]), "no pods after the header"),
    ],
)
def test_what_is_wrong_is_said(trace, text, message):
    trace.write_text(text)
    with pytest.raises(InstanceError, match=message):
        openb(trace)


def test_no_node_with_a_gpu(trace):
    trace.with_name("openb_node_list_gpu_node.csv").write_text(NODES.replace(",8,", ",0,").replace(",2,", ",0,"))
    with pytest.raises(InstanceError, match="no node has a GPU"):
        openb(trace)


def test_drawn_shares_are_those_asked_for():
    instance = openb_like(nodes=600, sharing=0.4, without_gpu=0.25, constrained=0.2)
    milli = (instance.gpus * instance.gpu_milli)[instance.pod2class]
    shares = milli[(instance.gpu_milli < 1000)[instance.pod2class]].sum() / milli.sum()
    assert abs(shares - 0.4) < 0.02
    assert abs((milli == 0).mean() - 0.25) < 0.02
    asks = ~instance.admits.all(axis=1)[instance.pod2class]
    assert abs(asks[milli > 0].mean() - 0.2) < 0.02
    assert abs(milli.sum() / instance.gpu_capacity - 1.3) < 0.01


@pytest.mark.parametrize(
    "options", [{"nodes": 0}, {"sharing": 1.0}, {"constrained": -1.0}, {"arrived": 0}, {"sharing": 0.6, "multi": 0.5}]
)
def test_parameters_out_of_range(options):
    with pytest.raises(InstanceError, match="give"):
        openb_like(**options)
