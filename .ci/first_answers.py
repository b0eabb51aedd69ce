"""Seconds of a first answer from an empty cache of compiled code: what whoever tries a method waits for.

    python .ci/first_answers.py [--kernels] [FAMILY/METHOD ...]

Each method answers a small instance in a process of its own, and the answer is verified. `--kernels` adds what was
compiled: seconds without those of what it calls, and how many signatures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

from numba.core import event

from schedgap.bench.plugins.discover import load_methods
from schedgap.instances.family import find_family
from schedgap.instances.method import find_method

INSTANCES = {
    "provisioning": "alibaba_like(30, seed=1)",
    "reconfiguration": "eva_synthetic(8, seed=1)",
    "fairness": "random_users(12, seed=1)",
    "harvest": "quick(4, 2, '1-3', seed=1)",
    "sharing": "random_jobs(4, seed=1)",
    "waiting": "mms(20, seed=1)",
}
METHODS = [
    *(f"provisioning/{name}" for name in ("patterns", "full-reconfiguration", "pattern-rounding")),
    *("provisioning/column-generation", "provisioning/branch-cut-and-price", "sharing/eunomia"),
    *(f"harvest/{name}" for name in ("capacity-scheduler", "oracle", "slacksched")),
]
SHOWN = 25


class Compiled(event.Listener):  # type: ignore[misc]
    """Listener of Numba's compile events: seconds and signatures a function, those of what it calls left out."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self.signatures: Counter[str] = Counter()
        self._within = [0.0]
        self._began: list[float] = []

    def on_start(self, event: Any) -> None:
        """Take note that something is compiled, maybe within another."""
        self._within.append(0.0)
        self._began.append(time.process_time())

    def on_end(self, event: Any) -> None:
        """Take note of its end."""
        taken = time.process_time() - self._began.pop()
        function = event.data["dispatcher"].py_func
        name = f"{function.__module__}.{function.__name__}"
        self.seconds[name] += taken - self._within.pop()
        self.signatures[name] += 1
        self._within[-1] += taken


def answer(method: str) -> None:
    """Answer here, and print what it took as JSON."""
    compiled = Compiled()
    event.register("numba:compile", compiled)
    family, name = method.split("/")
    instance = eval(INSTANCES[family], vars(import_module(f"schedgap.instances.{family}")))
    load_methods([family])
    outcome = find_method(family, name).run(instance, seed=1, time_limit_s=60.0)
    objective = None if outcome.solution is None else find_family(family).verify(instance, outcome.solution)
    print(json.dumps([objective, outcome.bound, compiled.seconds, compiled.signatures]))


def main() -> None:
    """Print a line a method."""
    given = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    for method in given or METHODS:
        with tempfile.TemporaryDirectory() as cache:
            before, start = os.times(), time.perf_counter()
            run = subprocess.run(
                [sys.executable, __file__, "--answer", method],
                env={**os.environ, "NUMBA_CACHE_DIR": cache},
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            wall, after = time.perf_counter() - start, os.times()
            kept = sum(file.stat().st_size for file in Path(cache).rglob("*.nbc"))
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        objective, bound, seconds, signatures = json.loads(run.stdout.splitlines()[-1])
        print(f"{method:35} {wall:6.1f} s, {cpu:6.1f} s of CPU, {sum(seconds.values()):6.1f} s compiling", end=" ")
        print(f"{sum(signatures.values())} signatures ({kept / 2**20:.1f} MiB): {objective}, bound {bound}", flush=True)
        if "--kernels" in sys.argv:
            for name, taken in sorted(seconds.items(), key=lambda item: -item[1])[:SHOWN]:
                print(f"    {taken:6.2f} s {signatures[name]:3d}  {name}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--answer"]:
        answer(sys.argv[2])
    else:
        main()
