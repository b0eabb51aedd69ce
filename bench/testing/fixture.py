"""What the fixture `gap` does; imported by the first test that asks for it.

The table of gaps at the end of a pytest session.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from schedgap.bench.programs.program import Kind, Program, parse_program
from schedgap.bench.records.runs import Record
from schedgap.bench.statistics.tables import Head, in_percent, table_lines
from schedgap.bench.suites.shipped import shipped_suites
from schedgap.bench.testing import PROPERTY
from schedgap.bench.testing.gap_figures import Gaps, gaps_of, printed
from schedgap.bench.testing.measure import measure_gap
from schedgap.instances.errors import JournalError, SchedgapError

_HEADS = (
    Head("test", is_text=True),
    Head("method", is_text=True),
    Head("suite", 4, is_text=True),
    Head("runs", 3),
    Head("mean gap (%)"),
    Head("worst gap (%)", 1),
    Head("proven optimal", 2),
)


def gap_lines(rows: Iterable[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Return a line for each measurement, given by the test's ID and `Gaps.to_json` (totals and instances not needed)."""
    cells = []
    for test, row in rows:
        failed = f" ({row['failed']} failed)" if row["failed"] else ""
        proven = f"{row['proven_optimal']} of {row['runs']}"
        gaps = (in_percent(row["gap_mean"]), in_percent(row["gap_worst"]))
        cells.append((test, row["method"], row["suite"], f"{row['runs']}{failed}", *gaps, proven))
    return table_lines("", _HEADS, cells)


DEFAULT_SUITE = "smoke"
# Of the runs without a gap, this many are told of.
SHOWN_PROBLEMS = 10
# Of a summary, what the table at the end of the session shows.
_BRIEF = ("method", "suite", "runs", "failed", "proven_optimal", "gap_mean", "gap_worst")


class GapFixture:
    """Measures schedulers for one test."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request
        self._calls = 0

    def __repr__(self) -> str:
        """Return what a failing assertion calls the fixture."""
        return "gap"

    def __call__(
        self,
        method: str | Callable[..., Any] | Program | None = None,
        *,
        solution: str | Path | None = None,
        suite: str | Path | None = None,
        instances: str | Path | Sequence[Any] | None = None,
        bound: str | None = None,
        plugins: Sequence[str | Path | Program] = (),
        trace: str | Path | None = None,
        time_limit_s: float | None = None,
        jobs: int | None = None,
        allow_failures: bool = False,
    ) -> Gaps:
        """Run a scheduler on a suite, each run in a limited process of its own, and return its gaps.

        The test fails here if a run gives no gap: it failed, found no solution, or nobody proved a bound.

        method : a function from instance to solution, which may take `rng`, `time_limit_s`, `threads` and parameters
        that have defaults; the name of a method, `NAME[parameter=value,...]`; or a `Program`. solution : file of a solution
        that was made elsewhere, instead of a method. suite : name of a shipped suite or a
        TOML file, relative to pytest's root directory as all paths are; by default that of `--schedgap-suite`, of the
        ini option `schedgap_suite`, or `smoke`. instances : objects or files of instances, instead of a suite. bound :
        method that proves the bounds, instead of those of the suite. plugins : Python files with methods. trace : file
        for instances that can come from one. time_limit_s : what the method is told, instead of the suite's limit.
        jobs : runs at a time, by default one a processor, shared with pytest-xdist's other workers.
        allow_failures : let runs without a gap pass; figures are then over the others.
        """
        __tracebackhide__ = True
        problem = None
        if suite is not None and instances is not None:
            pytest.fail(f"suite '{suite}' and instances are given; give one of them.")
        if (method is None) == (solution is None):
            pytest.fail("give a method, or a solution: a file, made for one of the instances.")
        chosen = self._suite(suite) if instances is None else None
        try:
            own, others = measure_gap(
                self._solution(solution) if method is None else method,
                directory=self._directory(),
                suite=chosen,
                instances=self._instances(instances),
                bound=bound,
                plugins=[each if isinstance(each, Program) else self._path(each) for each in plugins],
                trace=None if trace is None else self._path(trace),
                time_limit_s=time_limit_s,
                jobs=self._jobs() if jobs is None else jobs,
                by_value=self._modules(),
            )
        except SchedgapError as error:
            problem = f"{type(error).__name__}: {error}"
            if isinstance(error, JournalError):
                problem += " (`pytest --cache-clear` forgets all proven bounds)"
        if problem is not None:
            pytest.fail(problem)
        gaps = gaps_of("given instances" if chosen is None else Path(chosen).stem, own, others)
        self._tell(gaps)
        if gaps.problems and (gaps.summary.gap_mean is None or not allow_failures):
            pytest.fail(_complaint(gaps, own))
        return gaps

    def _solution(self, path: str | Path | None) -> Program:
        return parse_program(str(path), Kind.SOLUTION, self._request.config.rootpath)

    def _suite(self, suite: str | Path | None) -> str | Path:
        config = self._request.config
        option: str | None = config.getoption("--schedgap-suite")
        if suite is None and option is not None:
            return option if option in shipped_suites() else config.invocation_params.dir / option
        chosen = suite or config.getini("schedgap_suite") or DEFAULT_SUITE
        return chosen if str(chosen) in shipped_suites() else self._path(chosen)

    def _path(self, path: str | Path) -> Path:
        return self._request.config.rootpath / path

    def _instances(self, given: str | Path | Sequence[Any] | None) -> list[Any] | None:
        if given is None:
            return None
        several = [given] if isinstance(given, str | Path) else given
        return [self._path(each) if isinstance(each, str | Path) else each for each in several]

    def _jobs(self) -> int:
        workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        return max(1, (os.cpu_count() or 1) // workers)

    def _directory(self) -> Path:
        """Return where proven bounds are kept: pytest's cache, or the session's temporary folder where that is off."""
        if (cache := getattr(self._request.config, "cache", None)) is not None:
            return Path(cache.mkdir("schedgap"))
        factory: pytest.TempPathFactory = self._request.getfixturevalue("tmp_path_factory")
        directory = factory.getbasetemp() / "schedgap"
        directory.mkdir(exist_ok=True)
        return directory

    def _modules(self) -> list[ModuleType]:
        """Return the modules that pytest imported in its own way: this test's, and each conftest.py."""
        modules = [
            plugin
            for plugin in self._request.config.pluginmanager.get_plugins()
            if isinstance(plugin, ModuleType) and Path(plugin.__file__ or "").name == "conftest.py"
        ]
        test = self._request.node.getparent(pytest.Module)
        return modules if test is None else [*modules, test.obj]

    def _tell(self, gaps: Gaps) -> None:
        """Put the figures where reports find them: properties of the test, and pytest-benchmark's extra information."""
        self._calls += 1
        content = gaps.to_json()
        brief = {key: content[key] for key in _BRIEF}
        self._request.node.user_properties.append((PROPERTY, json.dumps(brief)))
        if "benchmark" in self._request.fixturenames:
            key = PROPERTY if self._calls == 1 else f"{PROPERTY}_{self._calls}"
            self._request.getfixturevalue("benchmark").extra_info[key] = content


def _complaint(gaps: Gaps, own: Sequence[Record]) -> str:
    problems = list(gaps.problems)
    told = {each.problem for each in gaps.details if each.problem is not None}
    if len(problems) > 1 and len(told) == 1:
        # One fault of the method's own, which no instance says more of.
        problems = [f"each of them: {told.pop()}"]
    shown = problems[:SHOWN_PROBLEMS]
    rest = [f"and {len(problems) - SHOWN_PROBLEMS} more"] if len(problems) > SHOWN_PROBLEMS else []
    head = f"{gaps.method} has no gap in {len(gaps.problems)} of {gaps.runs} runs on {gaps.suite}:"
    return "\n".join([head, *(f"  {line}" for line in [*shown, *rest]), *filter(None, [printed(own)])])
