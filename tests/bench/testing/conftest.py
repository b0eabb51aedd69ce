"""Another repository, with a scheduler, a suite of its own and the plug-in."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "pytest.md"

TINY = """
schema = "schedgap/suite/1"
name = "tiny"
title = "Tiny"
question = "Does it work?"
family = "provisioning"
methods = ["column-generation", "no-packing", "patterns"]

[limits]
time_limit_s = 5
memory_mib = 1024

[[instances]]
generator = "table3"

[[instances]]
generator = "table7"
parameters = { tasks = 6 }
"""

INI = """
[pytest]
filterwarnings = error
pythonpath = . src
schedgap_suite = tiny.toml
"""


@pytest.fixture
def repository(pytester, monkeypatch, example):
    """Another repository: the page's `mine.py`, the suite `tiny.toml`, and a configuration that lets no warning pass.

    On Table 3 every task alone costs $16.2 and the optimum $12.8: a gap of 3.4 / 16.2 = 20.99 %.
    """
    # Else the sessions below take themselves for workers of this one, and measure no time.
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    pytester.makepyfile(mine=example("mine.py"))
    (pytester.path / "tiny.toml").write_text(TINY)
    (pytester.path / "pytest.ini").write_text(INI)
    return pytester


@pytest.fixture(scope="session")
def with_bounds(tmp_path_factory):
    """The argument that names a cache which several tests share, so that bounds are proven once."""
    return f"--override-ini=cache_dir={tmp_path_factory.mktemp('cache')}"


@pytest.fixture(scope="session")
def example():
    """Return the page's code of a name."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return lambda name: next(block for block in blocks if block.startswith(f"# {name}\n"))
