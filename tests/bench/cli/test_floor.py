"""`schedgap floor` as people call it: what it prints, what it writes, and its mistakes."""

import json
from xml.etree import ElementTree

import pytest

PRICES = "name,price,cpu,memory_gib\nbig.8xlarge,0.8,8,32\nsmall.2xlarge,0.3,2,8\n"
# A node that has less than the others of its type is a type of its own, by its name.
ODD = "gke-production-cluster-1-default-pool-3f2a9c1b-x7zq.europe-west4-a"


def node(name, memory_gib=32):
    allocatable = {"cpu": "8", "memory": f"{memory_gib}Gi", "pods": "110"}
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": {"node.kubernetes.io/instance-type": "big.8xlarge"}},
        "status": {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def pod(name, node_name):
    container = {"name": "main", "resources": {"requests": {"cpu": "2", "memory": "4Gi"}}}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"containers": [container], **({"nodeName": node_name} if node_name else {})},
        "status": {"phase": "Running" if node_name else "Pending"},
    }


@pytest.fixture
def cluster(tmp_path):
    """Three big machines with one pod each, and a pending one: $2.40; all four fit on one big machine, $0.80."""
    items = [node("a"), node("b"), node(ODD, 16), *(pod(f"web-{n}", n) for n in ("a", "b", ODD)), pod("web", None)]
    state, prices = tmp_path / "state.json", tmp_path / "prices.csv"
    state.write_text(json.dumps({"kind": "List", "items": items}))
    prices.write_text(PRICES)
    return [state, "--catalogue", prices, "--time", "10"]


@pytest.fixture
def terminal(monkeypatch):
    """Set the width of the terminal."""

    def set_width(columns):
        monkeypatch.setenv("COLUMNS", str(columns))

    return set_width


def test_on_a_terminal_of_80_columns_names_are_whole(schedgap, cluster, terminal):
    """The odd machine's name ends its line."""
    terminal(80)
    code, out, _ = schedgap("floor", *cluster)
    lines = out.splitlines()
    assert code == 0
    assert lines[:4] == [
        "kubernetes-state: 4 tasks, 1 of them on no machine",
        "now             2.4000 $/h",
        "floor (proven)  0.8000 $/h",
        "best plan       0.8000 $/h, gap 0%, 2 tasks move",
    ]
    start = lines.index("Machines")
    assert lines[start + 1].split() == ["now", "plan", "type"]
    assert "  2     1  big.8xlarge" in lines[start + 3]
    assert "".join(line.strip() for line in lines[start + 4 : start + 6]) == f"1     0  big.8xlarge({ODD})"
    start = lines.index("Price against moves")
    assert [line.split() for line in lines[start + 3 : start + 6]] == [
        ["0", "2.4000", "2.4000", "0", "0"],
        ["1", "1.6000", "1.6000", "0", "1"],
        ["any", "0.8000", "0.8000", "0", "2"],
    ]
    assert any(line.startswith("Taken: 4 pods") for line in lines)


def test_on_a_wide_terminal_a_line_a_machine(schedgap, cluster, terminal):
    terminal(120)
    code, out, _ = schedgap("floor", *cluster, "--moves", "1", "--no-front")
    assert code == 0
    assert "best plan       1.6000 $/h, gap 0%, 1 of at most 1 tasks move" in out
    assert f"  1     0  big.8xlarge ({ODD})\n" in out
    assert "Price against moves" not in out


def test_json_and_files(schedgap, cluster, tmp_path):
    """The plan is one of the instance beside it; nothing is written over unless asked."""
    folder = tmp_path / "answer"
    code, out, _ = schedgap("floor", *cluster, "--moves", "1", "--json", "--out", folder)
    content = json.loads(out)
    assert code == 0
    assert (content["price"], content["floor"], content["moves"], content["max_moves"]) == (1.6, 1.6, 1, 1)
    assert sorted(path.name for path in folder.iterdir()) == ["floor.json", "floor.svg", "instance.json", "plan.json"]
    assert json.loads((folder / "floor.json").read_text()) == content
    assert json.loads((folder / "instance.json").read_text())["max_moves"] == 1
    assert ElementTree.fromstring((folder / "floor.svg").read_bytes()).tag.endswith("svg")
    code, out, _ = schedgap("verify", folder / "instance.json", folder / "plan.json", "--json")
    assert (code, json.loads(out)["objective"]) == (0, 1.6)
    code, out, err = schedgap("floor", *cluster, "--out", folder)
    assert (code, out) == (2, "")
    assert err == f"InstanceError: {folder} exists and is not written over; choose another name or give --force.\n"
    # The instance that was written is a cluster, too, with its limit on moves.
    code, out, _ = schedgap("floor", folder / "instance.json", "--no-front", "--json", "--force", "--out", folder)
    again = json.loads(out)
    assert (code, again["max_moves"], again["price"], again["digest"]) == (0, 1, 1.6, content["digest"])


def test_a_failed_run_is_told(schedgap, cluster):
    code, out, _ = schedgap("floor", *cluster, "--no-front", "--memory", "1")
    assert code == 3
    assert "best plan       - $/h" not in out
    assert "\nbest plan       -\n" in out
    assert "with any number of moves: " in out.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["none.json"], "none.json"),
        (["state.json", "--catalogue", "none.csv"], "none.csv: cannot be read"),
        (["none.json", "--catalogue", "prices.csv"], "none.json: "),
        (["state.json", "state.json"], "name its price list by --catalogue"),
        (["state.json", "--set", "zones=auto"], "name its price list by --catalogue"),
        (["state.json", "--catalogue", "prices.csv", "--set", "zones=some"], "zones"),
        (["state.json", "--catalogue", "prices.csv", "--set", "colour=red"], "colour"),
        (["state.json", "--catalogue", "prices.csv", "--set", "zones"], "'zones' is not parameter=value"),
        (["state.json", "--catalogue", "prices.csv", "--set", "=x"], "'=x' is not parameter=value"),
        (
            ["state.json", "--catalogue", "p.csv", "--set", "zones=a", "--set", "zones=b"],
            "'zones' is given twice, as 'a'",
        ),
        (
            ["state.json", "--catalogue", "p.csv", "--set", "catalogue=b"],
            "'catalogue' is given twice, as 'p.csv' and 'b'",
        ),
        (["fair.json"], "instances of family fairness are no running clusters; give one of provisioning."),
        (["t7.json", "--moves", "1"], "no machine runs, so no task can move; leave the limit on moves out."),
    ],
)
def test_mistakes(schedgap, cluster, tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    for family, generator, path in (("fairness", "alice-bob", "fair.json"), ("provisioning", "table3", "t7.json")):
        assert schedgap("generate", family, generator, "--out", path)[0] == 0
    code, out, err = schedgap("floor", *arguments)
    assert (code, out) == (2, "")
    assert sentence in err
    assert "Traceback" not in err
