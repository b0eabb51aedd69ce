"""The package as a whole: what is in it, what importing it costs, and its floors."""

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import schedgap

ROOT = Path(__file__).resolve().parent.parent
FLOORS = ("instances", "formulations", "heuristics", "bench")


def test_packages_listed_are_the_packages_there():
    """pyproject.toml names every folder with an __init__.py, and no other."""
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    folders = [path.parent.relative_to(ROOT).parts for floor in FLOORS for path in (ROOT / floor).rglob("__init__.py")]
    there = {"schedgap" if parts == ("bench", "schedgap") else ".".join(("schedgap", *parts)) for parts in folders}
    assert listed == there


def test_light_imports():
    """Instances and the bench import no compiler, solver, plotting or data-frame package."""
    code = (
        "import sys, schedgap.instances.provisioning, schedgap.bench;"
        "print(*sorted({name.split('.')[0] for name in sys.modules} & "
        "{'numba', 'highspy', 'ortools', 'pulp', 'pandas', 'matplotlib', 'pooch', 'scipy'}))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == ""


def test_every_portion_is_typed():
    assert all((ROOT / floor / "py.typed").exists() for floor in FLOORS)


def test_the_version_is_that_of_the_package():
    assert schedgap.__version__ == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


@pytest.mark.parametrize("floor", FLOORS)
def test_help_begins_with_an_example(floor):
    documented = importlib.import_module(f"schedgap.{floor}").__doc__ or ""
    assert "\n    from schedgap." in documented
