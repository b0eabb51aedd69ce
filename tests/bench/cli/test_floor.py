"""`schedgap floor` as people call it: what it prints, what it writes, and its mistakes."""

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from schedgap.bench.cli.floor import exit_code
from schedgap.bench.floor import Floor, Point

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


def test_what_is_printed_on_a_terminal_of_80_columns(schedgap, cluster, terminal):
    """The odd machine is one of its type. 1.6 $/h x 730 h is 1,168 $ a month."""
    terminal(80)
    code, out, err = schedgap("floor", *cluster)
    lines = out.splitlines()
    assert code == 0
    assert lines[:5] == [
        "kubernetes-state: 4 tasks, 1 of them on no machine",
        "now             2.4000 $/h",
        "floor (proven)  0.8000 $/h",
        "best plan       0.8000 $/h, gap 0%, 2 tasks move, disruption 4",
        "saves           1.6000 $/h, 1,168 $ a month",
    ]
    start = lines.index("Machines")
    assert lines[start + 1 : start + 5 : 2] == ["now  plan  type", "  3     1  big.8xlarge"]
    start = lines.index("Price against disruption, in tasks")
    assert [line.split() for line in lines[start + 3 : start + 7]] == [
        ["0", "2.4000", "2.4000", "0", "0", "0"],
        ["1", "2.4000", "2.4000", "0", "0", "0"],
        ["3", "1.6000", "1.6000", "0", "2", "1"],
        ["any", "0.8000", "0.8000", "0", "4", "2"],
    ]
    start = lines.index("Drain first")
    assert lines[start + 2].startswith("2. ")
    assert ": 1 task to " in lines[start + 1]
    assert any(line.startswith("Taken: 4 pods") for line in lines)
    assert max(map(len, lines)) <= 80
    # Price, floor and plan are told before they are as good as can be.
    assert err.splitlines()[0].startswith("now 2.4000 $/h, floor ")


def test_one_point(schedgap, cluster, terminal):
    terminal(120)
    code, out, _ = schedgap("floor", *cluster, "--disruption", "2", "--no-front")
    assert code == 0
    assert "best plan       1.6000 $/h, gap 0%, 1 task moves, disruption 2 of at most 2" in out
    assert "Price against" not in out


def test_json_and_files(schedgap, cluster, tmp_path):
    """The plan is one of the instance beside it; nothing is written over unless asked."""
    folder = tmp_path / "answer"
    code, out, _ = schedgap("floor", *cluster, "--moves", "2", "--json", "--out", folder)
    content = json.loads(out)
    assert code == 0
    assert (content["price"], content["floor"], content["moves"], content["max_disruption"]) == (1.6, 1.6, 1, 2)
    assert sorted(path.name for path in folder.iterdir()) == ["floor.json", "floor.svg", "instance.json", "plan.json"]
    assert json.loads((folder / "floor.json").read_text()) == content
    assert json.loads((folder / "instance.json").read_text())["max_disruption"] == 2
    assert ElementTree.fromstring((folder / "floor.svg").read_bytes()).tag.endswith("svg")
    # The odd node has a type of its own in the file, and none in the table.
    assert content["machines_now"] == {"big.8xlarge": 2, f"big.8xlarge ({ODD})": 1}
    assert content["by_type"] == [{"type": "big.8xlarge", "now": 3, "plan": 2}]
    (step,) = json.loads((folder / "plan.json").read_text())["drain"]
    assert [(move["task"], move["count"]) for move in step["moves"]] == [(step["moves"][0]["task"], 1)]
    code, out, _ = schedgap("verify", folder / "instance.json", folder / "plan.json", "--json")
    assert (code, json.loads(out)["objective"]) == (0, 1.6)
    code, out, err = schedgap("floor", *cluster, "--out", folder)
    assert (code, out) == (2, "")
    assert err == f"InstanceError: {folder} exists and is not written over; choose another name or give --force.\n"
    # The instance that was written is a cluster, too, with its limit on disruption.
    code, out, _ = schedgap("floor", folder / "instance.json", "--no-front", "--json", "--force", "--out", folder)
    again = json.loads(out)
    assert (code, again["max_disruption"], again["price"], again["digest"]) == (0, 2, 1.6, content["digest"])


def test_a_failed_run_is_told(schedgap, cluster):
    code, out, _ = schedgap("floor", *cluster, "--no-front", "--memory", "1")
    assert code == 3
    assert "best plan       - $/h" not in out
    assert "\nbest plan       -\n" in out
    assert "with any disruption: " in out.splitlines()[-1]


def test_what_cannot_be_had_has_an_exit_code_of_its_own(schedgap, tmp_path):
    """One machine of 4 GPUs runs two tasks of 2; two tasks of 2 and one of 1 wait: 5 GPUs short."""
    files = {
        "machines.csv": "name,price,cpu,gpu,count\nm,1,8,4,1\n",
        "tasks.csv": "name,cpu,gpu,count,machine\na,1,2,2,n1\na,1,2,2,\nb,1,1,1,\n",
        "running.csv": "name,type\nn1,m\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    tables = [f"--{name.removesuffix('.csv')}={tmp_path / name}" for name in files]
    assert schedgap("import", "csv", *tables, "--out", tmp_path / "i.json")[0] == 0
    code, out, err = schedgap("floor", tmp_path / "i.json", "--out", tmp_path / "answer")
    assert (code, err) == (5, "")
    assert "The pending tasks do not fit in what there is: 3 are on no machine, at least 3 find no place" in out
    assert "5 gpu short: 9 are asked for, at most 4 can be had." in out
    assert "floor (proven)" not in out
    written = json.loads((tmp_path / "answer" / "floor.json").read_text())
    assert (written["shortage"]["tasks"], written["floor"]) == (3, None)
    assert not (tmp_path / "answer" / "plan.json").exists()


def test_exit_codes(schedgap):
    """As `--help` names them."""
    found = Floor(None, None, None, 0, Point(None), ())
    assert exit_code(found) == 4
    assert exit_code(replace(found, chosen=Point(None, plan="some"))) == 0
    assert exit_code(replace(found, problems=("it failed",))) == 3
    assert exit_code(replace(found, problems=("it failed",), is_infeasible=True)) == 5
    _, out, _ = schedgap("floor", "--help")
    assert "5 there is none" in " ".join(out.split())


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
        (["t7.json", "--moves", "1"], "no machine runs, so no task can move; leave the limit on disruption out."),
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
