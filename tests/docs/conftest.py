"""The example programs, ready to be started."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples" / "programs"


@pytest.fixture(scope="session")
def examples(tmp_path_factory):
    """A copy of the folder of examples."""
    folder = tmp_path_factory.mktemp("examples") / "programs"
    shutil.copytree(EXAMPLES, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="session")
def commands(examples):
    """The command of an example by language and role: `commands("c", "method")`; skips what this machine does not have."""

    def command(language, role):
        if language == "python":
            return [sys.executable, f"first_fit_{role}.py"]
        tool = {"c": "cc", "awk": "awk"}[language]
        if shutil.which(tool) is None:
            pytest.skip(f"there is no '{tool}' here")
        if language == "awk":
            return ["awk", "-f", f"first_fit_{role}.awk"]
        program, source = examples / f"first-fit-{role}", examples / f"first_fit_{role}.c"
        if not program.exists():
            strict = ["-std=c99", "-pedantic-errors"]
            subprocess.run([tool, *strict, "-O2", "-o", str(program), str(source)], check=True)
        return [f"./{program.name}"]

    return command
