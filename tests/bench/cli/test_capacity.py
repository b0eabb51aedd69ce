"""`schedgap capacity` as people call it: what it prints, what it writes, its mistakes and its exit codes."""

import json
import re
from random import Random
from xml.etree import ElementTree

import pytest

from tests.instances.placement.kubectl import node, pod


def on_premises():
    """Four nodes of 8 GPUs with odd mixes of CPU and GPUs, four without, and six pods of 4 or 8 GPUs that wait.

    Node 0 and 1 hold 4 + 1 + 1, node 2 holds 2 + 1, node 3 holds 7 single ones: 2, 2, 5 and 1 GPUs are free.
    """
    random, items = Random(1), []
    for n, sizes in enumerate([(4, 1, 1), (4, 1, 1), (2, 1), (1,) * 7]):
        items.append(node(f"gpu-{n}", gpus=8, cpu="126", memory="1000Gi"))
        items[-1]["spec"]["taints"] = [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]
        items += [train(f"train-{n}{k}", f"gpu-{n}", size, random.choice((2, 4, 8))) for k, size in enumerate(sizes)]
    for n in range(4):
        items += [node(f"cpu-{n}", cpu="62", memory="250Gi"), pod(f"web-{n}x", f"cpu-{n}", cpu="4", memory="8Gi")]
    return items + [train(f"big-{n}x", None, size, 32) for n, size in enumerate((8, 4, 4, 8, 8, 4))]


def train(name, on, gpus, cpu):
    tolerates = {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}
    return pod(name, on, gpus=gpus, cpu=str(cpu), memory=f"{gpus * 30}Gi", spec=tolerates, owner="Job")


@pytest.fixture
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "items": on_premises()}))
    return path


def test_how_many_of_the_pending_pods_fit(schedgap, state, tmp_path):
    """10 GPUs are free: two of 4 fit and no more; one fits on node 2 as it is, the other after two moves.

    Two single ones leave node 0 for the places that are free on nodes 1 and 3.
    """
    folder = tmp_path / "out"
    code, out, err = schedgap("capacity", state, "--time-limit", "90", "--out", folder)
    assert code == 5
    assert "kubernetes-cluster: 8 nodes, 19 pods run, 6 wait" in out
    said = " ".join(out.split())
    assert (
        "The 6 pending pods: 2 fit after 2 moves, the others never (proven); fewer moves are not enough (proven)."
        in said
    )
    assert "0 slots of 8 GPUs are free now; 1 after" in said
    assert "Steps for the 6 pending pods, each of which fits when it is done" in out
    assert max(map(len, out.splitlines())) <= 80
    # What arithmetic knows is told before any method is asked.
    assert err.splitlines()[0].startswith("the 6 pending pods: 0 to ")
    written = json.loads((folder / "capacity.json").read_text())
    assert (written["pending"]["fit"], written["pending"]["at_most"], written["pending"]["moves"]) == (2, 2, 2)
    assert written["groups"][0] == {
        "name": "8 x a100, 126 cpu",
        "nodes": 4,
        "used": written["groups"][0]["used"],
        "total": {"cpu": 504.0, "ram_mib": 4096000.0, "pods": 440.0, "GPUs": 32.0},
    }
    assert len(written["plan"]["steps"]) == 4
    assert schedgap("verify", folder / "instance.json", folder / "plan.json")[0] == 0
    drawn = ElementTree.fromstring((folder / "capacity.svg").read_bytes())
    assert "after the plan" in "".join(drawn.itertext())


def test_more_pods_of_a_shape(schedgap, state):
    """With no moves, one pod of 4 GPUs on node 2, and never three: 10 GPUs are free."""
    code, out, _ = schedgap("capacity", state, "--pod", "cpu=8,gpu=4,memory=64Gi", "--moves", "0", "--json")
    found = json.loads(out)
    assert code == 0
    (shape,) = found["shapes"]
    assert (shape["fit_now"], shape["at_most"], shape["name"]) == (1, 2, "4 GPU, 8 cpu, 64 GiB")
    assert found["more"]["points"] == [{"max_moves": 0, "fit": 1, "at_most": 1, "moves": 0}]
    gpus = shape["idle"][0]
    assert (gpus["what"], gpus["idle"], gpus["usable"], gpus["causes"]) == (
        *("GPUs", 10.0, 4.0),
        {"too few GPUs on a node": 6.0},
    )


def test_a_shape_of_which_none_fits(schedgap, state):
    code, out, _ = schedgap("capacity", state, "--pod", "gpu=8,cpu=200", "--time-limit", "5")
    assert code == 5
    assert "0 fit now; no more with any number of moves (proven)" in " ".join(out.split())


def test_all_that_waits_fits(schedgap, tmp_path):
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"kind": "List", "items": [node("a"), pod("p", "a"), pod("q")]}))
    code, out, _ = schedgap("capacity", path, "--time-limit", "10")
    assert code == 0
    assert "The 1 pending pod: all fit as it is." in out
    # Arithmetic alone: it is not known whether the pod fits.
    assert schedgap("capacity", path, "--time-limit", "0")[0] == 4


def test_other_kinds_of_state(schedgap, tmp_path):
    """Tables in a folder, and an instance file of the family."""
    (tmp_path / "nodes.csv").write_text("name,cpu,gpus\nn,8,2\n")
    (tmp_path / "pods.csv").write_text("name,cpu,gpus,node\np,4,1,n\nq,4,1,\n")
    assert schedgap("capacity", tmp_path, "--time-limit", "10")[0] == 0
    instance = tmp_path / "instance.json"
    assert schedgap("import", "csv", tmp_path / "nodes.csv", "--family", "placement", "--out", instance)[0] == 0
    code, out, _ = schedgap("capacity", instance, "--time-limit", "10")
    assert code == 0
    assert re.search(r"1 pending pod: all fit", out)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["none.json"], "cannot be read"),
        (["cluster.json", "--pod", "gpu=x"], "--pod: gpu is 'x'"),
        (["other.json"], "is an instance of family provisioning; give one of placement"),
        (["own.json", "own.json"], "2 files are given, the first an instance"),
    ],
)
def test_mistakes(schedgap, state, monkeypatch, given, said):
    monkeypatch.chdir(state.parent)
    schedgap("generate", "provisioning", "table3", "--out", "other.json")
    schedgap("generate", "placement", "random-pods", "--out", "own.json")
    code, _, err = schedgap("capacity", *given)
    assert code == 2
    assert said in err
