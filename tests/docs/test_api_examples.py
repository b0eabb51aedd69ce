"""The examples of the API's pages run, and each public function is in one of them."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "docs" / "examples" / "api"
# What needs files from elsewhere: `schedgap import` on the family's page is their example.
FROM_FILES = {
    *(
        "alibaba",
        "csv_tables",
        "kubernetes",
        "eva_csv",
        "openb",
        "slurm",
        "openb_constraints",
        "azure_v1",
        "spot_trace",
    ),
    *("kai_snapshot", "fetch", "cluster_of_kind", "write_cluster"),
}
spec = importlib.util.spec_from_file_location("hooks", ROOT / "docs" / "hooks.py")


@pytest.fixture(scope="module")
def hooks():
    pytest.importorskip("mkdocs")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize("name", sorted({path.stem for path in EXAMPLES.glob("*.py")} - {"family"}))
def test_an_example_runs(tmp_path, name):
    for words in ([f"{name}.py"], ["family.py", name])[: 1 if name in ("bench", "instances") else 2]:
        command = [sys.executable, str(EXAMPLES / words[0]), *words[1:]]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr


def test_every_public_function_has_an_example(hooks):
    common = (EXAMPLES / "family.py").read_text()
    for page, (_, packages) in hooks.API.items():
        text = common + (EXAMPLES / f"{page}.py").read_text()
        listed = {
            name for package in packages for name in re.findall(r"^::: \S+\.(\w+)$", hooks._documented(package), re.M)
        }
        missing = {name for name in listed if name[0].islower() and not re.search(rf"\b{name}\b", text)}
        assert missing <= FROM_FILES, page
