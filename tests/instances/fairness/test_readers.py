"""Alibaba's cluster: what is in the real files, and each rule on a small list."""

import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.fairness import ONE, UNLIMITED, openb_constraints

PODS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec"
NODES = "sn,cpu_milli,memory_mib,gpu,model"
POD_LINES = [
    "p0,4000,8192,1,500,",
    "p1,4000,8192,1,500,",
    "p2,4000,8192,1,500,T4",
    "p3,8000,1024,0,0,",
    "p4,1000,1024,2,1000,T4|V100M32",
    "p5,1000,1024,8,1000,T4",
]
NODE_LINES = ["n0,16000,65536,2,T4", "n1,32000,65536,0,", "n2,16000,65536,2,T4", "n3,6000,65536,8,V100M32"]


@pytest.fixture
def files(tmp_path):
    def files(pods=POD_LINES, nodes=NODE_LINES, node_list="openb_node_list_all_node.csv"):
        (tmp_path / "pods.csv").write_text("\n".join([PODS, *pods]) + "\n")
        (tmp_path / node_list).write_text("\n".join([NODES, *nodes]) + "\n")
        return tmp_path / "pods.csv"

    return files


@pytest.fixture(scope="module")
def gpuspec33(alibaba_csv):
    path = alibaba_csv.with_name("openb_pod_list_gpuspec33.csv")
    if not (path.exists() and path.with_name("openb_node_list_all_node.csv").exists()):
        pytest.skip(f"the trace with constraints is not there ({path})")
    return path


def test_the_real_cluster(gpuspec33):
    """1,523 nodes of 27 configurations; 8,152 pods of 457 requests, of which one fits nowhere."""
    instance = openb_constraints(gpuspec33)
    assert (instance.num_machine_classes, instance.machine_count.sum()) == (27, 1523)
    assert (instance.num_users, instance.tasks.sum()) == (456, 8151)
    assert instance.notes == (
        "the speeds of GPU models are assumptions, the trace has none: A10 2.5, G2 2, G3 4, P100 1.25, T4 1, "
        "V100M16 2.5, V100M32 2.5",
        "left out, since no node that they admit is large enough: 1 of 8,152 pods",
    )
    # Of 2,388 pods that name models, the one left out asks for 8 G2 and 120 cores; 7,064 use GPUs.
    assert instance.tasks[[name.count("-") > 2 for name in instance.user_names]].sum() == 2387
    assert instance.tasks[instance.demand[:, 2] > 0].sum() == 7063
    assert (instance.machine_count @ instance.capacity)[2] == 6212 * ONE


def test_a_user_a_pod(gpuspec33):
    instance = openb_constraints(gpuspec33, users="pod")
    assert instance.num_users == 8151
    assert (instance.tasks == 1).all()
    assert instance.user_names[0] == "openb-pod-0000"


def test_a_small_cluster(files):
    """p5 asks for 8 T4s, no node has more than two; p3 needs no GPU and runs anywhere with 8 cores."""
    instance = openb_constraints(files())
    assert instance.machine_names == ("8xV100M32-6cpu-64gib", "2xT4-16cpu-64gib", "32cpu-64gib")
    assert instance.machine_count.tolist() == [1, 2, 1]
    assert instance.capacity.tolist() == [[6000, 65536, 8000], [16_000, 65536, 2000], [32_000, 65536, 0]]
    assert instance.user_names == (
        "0.5gpu-4cpu-8192mib",
        "0.5gpu-4cpu-8192mib-T4",
        "0gpu-8cpu-1024mib",
        "2gpu-1cpu-1024mib-T4|V100M32",
    )
    assert instance.tasks.tolist() == [2, 1, 1, 1]
    assert instance.demand.tolist() == [[4000, 8192, 500], [4000, 8192, 500], [8000, 1024, 0], [1000, 1024, 2000]]
    assert instance.allowed.tolist() == [
        [True, True, False],
        [False, True, False],
        [False, True, True],
        [True, True, False],
    ]
    assert instance.performance.tolist() == [[2500, 1000, 1000], [2500, 1000, 1000], [1000] * 3, [2500, 1000, 1000]]
    assert instance.weight.tolist() == [ONE] * 4
    assert instance.notes[1] == "left out, since no node that they admit is large enough: 1 of 6 pods"


def test_what_differs_in_the_seventh_digit_is_no_equal(files):
    """Six digits are 1007.34 GiB of both nodes and 1234.56 cores of both pods; exact names stay short."""
    pods = ["p0,1234561,8192,0,0,", "p1,1234564,8192,0,0,", "p2,1000000000,8192,0,0,"]
    nodes = ["n1,9600000,1031518,0,", "n2,9600000,1031519,0,", "n3,2000000000,1048576,0,"]
    instance = openb_constraints(files(pods, nodes))
    assert instance.machine_names == ("9600cpu-1007.341796875gib", "9600cpu-1007.3427734375gib", "2e+06cpu-1024gib")
    assert instance.user_names == ("0gpu-1234.561cpu-8192mib", "0gpu-1234.564cpu-8192mib", "0gpu-1e+06cpu-8192mib")
    assert instance.tasks.tolist() == [1, 1, 1]


def test_options(files):
    path = files(node_list="nodes.csv")
    nodes = str(path.with_name("nodes.csv"))
    base = openb_constraints(path, nodes=nodes)
    assert (openb_constraints(path, nodes=nodes, limited=False).tasks == UNLIMITED).all()
    assert openb_constraints(path, nodes=nodes, weights="tasks").weight.tolist() == [2 * ONE, ONE, ONE, ONE]
    other = openb_constraints(path, nodes=nodes, gpu_speeds="V100M32=3.5, T4=0.5")
    assert other.performance[0].tolist() == [3500, 500, 1000]
    assert "T4 0.5, V100M32 3.5" in other.notes[0]
    pods = openb_constraints(path, nodes=nodes, users="pod", notion="drf", limited=False)
    assert pods.user_names == ("p0", "p1", "p2", "p3", "p4")
    assert (base.name, pods.name) == ("openb-constraints", "openb-constraints-pod-unlimited-drf")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"users": "job"}, "users is 'job'; choose one of request, pod"),
        ({"weights": "big"}, "weights is 'big'; choose one of equal, tasks"),
        ({"gpu_speeds": "T4"}, "gpu_speeds has 'T4'; write MODEL=SPEED,MODEL=SPEED with positive speeds"),
        ({"gpu_speeds": "T4=0"}, "gpu_speeds has 'T4=0'"),
        ({"gpu_speeds": "T4=nan"}, "gpu_speeds has 'T4=nan'"),
        (
            {"gpu_speeds": "T4=0.0001"},
            "the speed of 'T4' in gpu_speeds: 0.0001 is not a whole number of 1/1000; round it",
        ),
        ({"gpu_speeds": "T4=1e300"}, r"the speed of 'T4' in gpu_speeds: 1e\+300 is too large to be exact; use larger"),
        ({"nodes": "no.csv"}, "no.csv: cannot be read .*; give the node list of the trace"),
    ],
)
def test_parameters_out_of_range(files, parameters, message):
    with pytest.raises(InstanceError, match=message):
        openb_constraints(files(), **parameters)


@pytest.mark.parametrize(
    ("pods", "nodes", "message"),
    [
        (["p0,4000,8192,1,0,"], NODE_LINES, "pods.csv line 2: num_gpu is 1 and gpu_milli 0; give both or none"),
        (["p0,4000,x,1,500,"], NODE_LINES, "pods.csv line 2: memory_mib is 'x', not a whole number"),
        ([], NODE_LINES, "pods.csv: no pods after the header"),
        (["p0,99000,8192,0,0,"], NODE_LINES, "pods.csv: no pod fits on a node that it admits; give the node list"),
        (POD_LINES, [], "openb_node_list_all_node.csv: no nodes after the header"),
        (POD_LINES, ["n0,16000,65536,2,"], "line 2: 2 GPUs of model ''; give a model where there are GPUs"),
        (POD_LINES, ["n0,16000,65536,0,T4"], "line 2: 0 GPUs of model 'T4'"),
        (POD_LINES, ["n0,16000,65536,2,H100"], "GPU model H100 has no speed; give one, such as gpu_speeds=H100=2"),
    ],
)
def test_malformed_lists(files, pods, nodes, message):
    with pytest.raises(InstanceError, match=message):
        openb_constraints(files(pods, nodes))


def test_a_pod_listed_twice(files):
    path = files([*POD_LINES, POD_LINES[0]])
    assert openb_constraints(path).tasks.sum() == 6
    with pytest.raises(InstanceError, match=r"pods.csv line 8: pod p0 is listed twice; remove one"):
        openb_constraints(path, users="pod")
