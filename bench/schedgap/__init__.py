"""How far from optimal is your cluster scheduler? Proven gaps, verified solutions.

    from schedgap.bench import gap                           # run_suite, compare: measuring
    from schedgap.instances.provisioning import table7       # what is given, what a solution is and costs
    from schedgap.instances import method                    # registers a scheduler of your own

    print(gap(table7(12), ["full-reconfiguration", "pattern-rounding"]))

Methods of `schedgap.formulations` prove bounds and optima, those of `schedgap.heuristics` nothing; they are asked for by
name.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # Not above: the command line would wait for it each time.
        return import_module("importlib.metadata").version("schedgap")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
