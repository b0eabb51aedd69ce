"""Pipes and devices where files are asked for: one sentence and exit code 2, and no reading without end."""

import json
import os

import pytest

from schedgap.bench.plugins.discover import load_families
from schedgap.bench.suites.source import Source
from schedgap.instances.errors import InstanceError
from schedgap.instances.family import FAMILIES

SPECIAL = {"pipe": os.mkfifo, "device": lambda path: path.symlink_to("/dev/zero")}
# Formats that are read from a folder, and what they need beside a file.
FOLDERS = {"azure-v1": "flav_map.txt", "openb-constraints": "openb_node_list_all_node.csv"}
NEEDED = {
    "provisioning/kubernetes": "catalogue",
    "provisioning/csv": "tasks",
    "reconfiguration/kubernetes": "catalogue",
    "reconfiguration/slurm": "machines",
    "placement/openb": "nodes",
}
COMMANDS = (
    *("verify X solution.json", "verify instance.json X", "gap X", "export X --formulation assignment --out x.mps"),
    *("gap instance.json --solution X", "gap instance.json --solution s=X", "gap instance.json --program p=X"),
    *("run X", "run smoke --out OUT", "history page --file X -o p.html"),
    *("run alibaba --trace X", "certify X instance.json", "certify proof.json X", "certify X", "floor X", "capacity X"),
    *("floor instance.json --catalogue X", "import kubernetes instance.json --catalogue X -o x.json"),
    *(
        "import bpplib X -o x.json",
        "import vbp X member=a -o x.json",
        "history add OUT --file h.jsonl",
        "merge OUT -o y",
    ),
    *("report OUT", "compare OUT other", "compare other OUT", "runs FOLDER"),
)


@pytest.fixture
def folder(tmp_path, monkeypatch, schedgap):
    monkeypatch.chdir(tmp_path)
    assert schedgap("generate", "provisioning", "table3", "--out", "instance.json")[0] == 0
    (tmp_path / "proof.json").write_text(
        '{"schema": "schedgap/certificate/1", "instance": "i", "bound": 1, "proof": {}}'
    )
    for name in ("other", "folder/out"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "other" / "journal.jsonl").write_text("")
    return tmp_path


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_refuse_them(folder, schedgap, command, kind):
    SPECIAL[kind](folder / "x")
    SPECIAL[kind](folder / "folder" / "out" / "journal.jsonl")
    words = {"X": "x", "OUT": "folder/out", "FOLDER": "folder"}
    given = [words.get(word, word.replace("=X", "=x")) for word in command.split()]
    code, _, err = schedgap(*given)
    assert code == 2
    assert "Error: " in err or "Usage: " in err
    assert "Traceback" not in err


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("name", ["plan.json", "pictures.jsonl", "hosts/a.json"])
def test_files_beside_a_journal(folder, schedgap, make_record, kind, name):
    (folder / "other" / "hosts").mkdir()
    SPECIAL[kind](folder / "other" / name)
    if name == "pictures.jsonl":
        (folder / "other" / "journal.jsonl").write_text(json.dumps(make_record("a", objective=5).to_row()) + "\n")
    code, _, err = schedgap("report", "other", "--html", "page.html")
    assert code == 2
    assert f"{name}: " in err


@pytest.mark.parametrize("kind", SPECIAL)
def test_every_format_refuses_them(tmp_path, kind):
    load_families()
    for family in FAMILIES.values():
        for name in family.importers:
            path = tmp_path / family.name / name
            special = path / FOLDERS[name] if name in FOLDERS else path
            if name == "openb-constraints":
                path = path / "pods.csv"
            special.parent.mkdir(parents=True, exist_ok=True)
            SPECIAL[kind](special)
            full = f"{family.name}/{name}"
            other = {NEEDED[full]: str(path)} if full in NEEDED else {}
            if full == "provisioning/csv":
                other["machines"] = str(path)
            with pytest.raises(InstanceError, match=rf"{special}: cannot be read \(it is a {kind}"):
                Source(family.name, "importer", name, None if full == "provisioning/csv" else path, other).build()
