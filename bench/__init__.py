"""The bench: runs of methods on instances, in limited child processes, journalled, verified and summarised.

    from schedgap.bench import gap, run_suite
    from schedgap.instances.provisioning import table7

    result = gap(table7(12), ["full-reconfiguration", my_function])
    print(result)                        # the table: objective, proven bound and gap of each
    result.frame()                       # the same in pandas; result.plot() draws a figure

    run_suite("smoke")                   # `schedgap list suites` names them all

`help(gap)` and `help(run_suite)` say all. Names are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schedgap.bench.api import Progress, gap, run_suite
    from schedgap.bench.comparison.comparison import Comparison, compare
    from schedgap.bench.programs.program import Program
    from schedgap.bench.records.runs import Limits, Measurement, Record, Run
    from schedgap.bench.result import GapResult, SuiteResult
    from schedgap.bench.testing.evaluator import Evaluation, Evaluator, evaluator

_MODULES = {
    "GapResult": "result",
    "Progress": "api",
    "SuiteResult": "result",
    "gap": "api",
    "run_suite": "api",
    "Comparison": "comparison.comparison",
    "compare": "comparison.comparison",
    "Measurement": "records.runs",
    "Record": "records.runs",
    "Evaluation": "testing.evaluator",
    "Evaluator": "testing.evaluator",
    "evaluator": "testing.evaluator",
    "Limits": "records.runs",
    "Program": "programs.program",
    "Run": "records.runs",
}

__all__ = [
    "Comparison",
    "Evaluation",
    "Evaluator",
    "GapResult",
    "Limits",
    "Measurement",
    "Program",
    "Progress",
    "Record",
    "Run",
    "SuiteResult",
    "compare",
    "evaluator",
    "gap",
    "run_suite",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"schedgap.bench.{_MODULES[name]}"), name)
