"""Tables of nodes and pods: what they say, and what is wrong with them."""

import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.placement import csv_tables

NODES = "name,cpu,memory_gib,gpus,model,count\nbig,32,256,2,A100,2\nsmall,16,64,,,\n"
PODS = """name,count,cpu,memory_gib,gpus,models,node,gang,movable
train,1,8,16,1,,big-0,,no
half,2,4,8,0.5,,big-1,,
job,2,8,16,2,A100 H100,,g,
web,1,2,4,,,small,,yes
"""


def read(folder, nodes=NODES, pods=PODS):
    (folder / "nodes.csv").write_text(nodes)
    (folder / "pods.csv").write_text(pods)
    return csv_tables(folder)


def test_tables(tmp_path):
    found = read(tmp_path)
    assert found.node_names == ("big-0", "big-1", "small")
    assert found.type_names == ("2 x A100", "node")
    assert found.pod_names == ("train", "half-0", "half-1", "web", "job-0", "job-1")
    assert found.running_node.tolist() == [0, 1, 1, 2, -1, -1]
    assert found.running_gpus.tolist() == [1, 1, 1, 0, 0, 0]
    assert found.gang.tolist() == [-1, -1, -1, -1, 0, 0]
    assert found.movable.tolist() == [False, True, True, True, True, True]
    assert found.admits[found.pod2class[-1]].tolist() == [True, False]
    assert found.notes == ("Assumed: 2 pods that share a GPU are put where the least is left that is enough.",)
    assert csv_tables(tmp_path / "nodes.csv", pods=str(tmp_path / "pods.csv")).digest == found.digest


@pytest.mark.parametrize(
    ("nodes", "pods", "said"),
    [
        ("name\na\n", PODS, "nodes.csv: no nodes with a column for a resource"),
        (NODES + "big-1,1,1,,,\n", PODS, "nodes.csv line 4: node big-1 is there twice"),
        (NODES.replace(",2,A100", ",99,A100"), PODS, "nodes.csv line 2: gpus is 99"),
        (NODES.replace("A100,2", "A100,9999999"), PODS, "nodes.csv line 2: more than"),
        (NODES, PODS.split("\n")[0], "pods.csv: no pods after the header"),
        (NODES, PODS.replace("0.5", "1.5"), "pods.csv line 3: gpus is 1.5"),
        (NODES, PODS.replace("0.5", "0.0005"), "pods.csv line 3: gpus is 0.0005"),
        (NODES, PODS.replace("small", "gone"), "pods.csv line 5: node is 'gone'"),
        (NODES, PODS.replace(",,g,", ",small,g,"), "pods.csv line 4: pod job runs and is in a gang"),
        (NODES, PODS.replace("no\n", "maybe\n"), "pods.csv line 2: movable is 'maybe'"),
        (NODES, PODS.replace("memory_gib", "disk"), "column 'disk' is no resource of the nodes"),
        (NODES, PODS.replace("train,1", "train,3"), "node big-0 has 2 GPUs, and its pods need 3"),
        (NODES, PODS.replace("web,1,2", "web,1,99"), "is over its cpu"),
    ],
)
def test_what_is_wrong(tmp_path, nodes, pods, said):
    with pytest.raises(InstanceError) as problem:
        read(tmp_path, nodes, pods)
    assert said in str(problem.value)
    assert "\n" not in str(problem.value)
