"""The bench: runs of methods on instances, in limited child processes, journalled, verified and summarised.

    from schedgap.bench import gap, run_suite

    result = run_suite("smoke")
    print(result.to_json()["table"])

Names are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schedgap.bench.api import GapResult, Progress, SuiteResult, gap, run_suite
    from schedgap.bench.measurement import Measurement
    from schedgap.bench.record import Record
    from schedgap.bench.runs import Limits, Run

_HOMES = {
    "GapResult": "api",
    "Progress": "api",
    "SuiteResult": "api",
    "gap": "api",
    "run_suite": "api",
    "Measurement": "measurement",
    "Record": "record",
    "Limits": "runs",
    "Run": "runs",
}

__all__ = ["GapResult", "Limits", "Measurement", "Progress", "Record", "Run", "SuiteResult", "gap", "run_suite"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"schedgap.bench.{_HOMES[name]}"), name)
