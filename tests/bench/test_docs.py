"""`docs/bench.md` and `docs/journal.md` against the code: the example runs, and they name every field."""

import re
from dataclasses import fields
from pathlib import Path
from unittest import mock

import pytest

from schedgap.bench import gap, run_suite
from schedgap.bench.api import SuiteResult
from schedgap.bench.plugins.discover import load_families, load_methods
from schedgap.bench.records.runs import Limits, Record
from schedgap.bench.statistics.summary import MethodSummary
from schedgap.bench.suites.collection import Collection, Listed, Reference, Setting
from schedgap.bench.suites.source import Source
from schedgap.bench.suites.suite import InstanceBlock, Suite, TraceBlock
from schedgap.instances.method import REGISTRY, Status

PAGE = Path(__file__).parents[2] / "docs" / "bench.md"


@pytest.fixture(scope="module")
def page():
    return PAGE.read_text()


@pytest.fixture(scope="module")
def example(page, tmp_path_factory):
    """The page's suite and plug-in, as files."""
    folder = tmp_path_factory.mktemp("docs")
    blocks = re.findall(r"```(?:toml|python)\n(.*?)```", page, re.DOTALL)
    (folder / "mine.toml").write_text(next(text for text in blocks if text.startswith("schema = ")))
    (folder / "mine.py").write_text(next(text for text in blocks if text.startswith("# mine.py")))
    return folder


@pytest.fixture(scope="module")
def result(example) -> SuiteResult:
    return run_suite(example / "mine.toml", out=example / "out", plugins=[example / "mine.py"], jobs=1)


def test_the_example_runs(result, example):
    """Four instances of Table 7 with 1 + 1 + 3 runs each, one like the trace with 1 + 3."""
    assert (len(result.records), result.failed) == (24, 0)
    assert any(row["paper_mean"] == 1.05 for row in result.to_json()["table"])
    again = run_suite(example / "mine.toml", out=example / "out", plugins=[example / "mine.py"], jobs=1)
    assert again.measured_now == 0


def test_every_field_is_named(page, result):
    named = set(re.findall(r"`([\w.\[\]]+)`", page + (PAGE.parent / "journal.md").read_text()))
    models = (Suite, InstanceBlock, TraceBlock, Collection, Listed, Reference, Setting)
    wanted = {name for model in models for name in model.model_fields}
    wanted |= {name for row in (Record.to_row(result.records[0]), result.to_json()) for name in row}
    wanted |= {*(field.name for field in fields(MethodSummary)), *Limits.__struct_fields__}
    wanted |= set(Status)
    # `schema` and `instances` are named in the headings of their blocks, `group` and others as `instances[].group`.
    named |= {name.split("[].")[-1] for name in named} | {"schema_"}
    assert wanted - named == set()


@pytest.mark.parametrize(
    ("family", "generator", "parameters", "name"),
    [
        ("fairness", "alice-bob", {}, "fast-machines-first"),
        ("harvest", "quick", {}, "longest-unchanged"),
        ("sharing", "micro", {"tasks": 5}, "most-to-do-first"),
    ],
)
def test_methods_of_the_pages_on_families(tmp_path, family, generator, parameters, name):
    """The plug-in on a family's page gives a verified solution of what its generator makes."""
    page = (PAGE.parent / f"{family}.md").read_text()
    code = next(text for text in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if f'"{name}"' in text)
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    (tmp_path / "mine.py").write_text(code)
    load_families()
    # What is registered within the block below is forgotten, and modules are loaded once.
    load_methods([family])
    instance = Source(family, "generator", generator, parameters=parameters).build()
    with mock.patch.dict(REGISTRY):
        result = gap(instance, [name], family=family, plugins=[tmp_path / "mine.py"])
    assert [record.status for record in result.records if record.run.method == name] == ["feasible"]
    assert result.best.bound is not None
