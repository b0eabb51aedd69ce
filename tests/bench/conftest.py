"""What the bench's tests share: the hostile plug-in, honest programs, suites made of text, records made of nothing."""

from __future__ import annotations

import math
import signal
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from schedgap.bench.cli import progress
from schedgap.bench.cli.app import main
from schedgap.bench.records.runs import Limits, Measurement, Record, Run
from schedgap.instances.method import Status

SUITE = """
schema = "schedgap/suite/1"
name = "little"
title = "A little suite"
question = "Does it work?"
family = "provisioning"
methods = {methods}

[limits]
time_limit_s = 1
wall_s = {wall_s}
memory_mib = {memory_mib}

[[instances]]
group = "tiny"
generator = "table7"
parameters = {{ tasks = {tasks} }}
seeds = {seeds}
"""

# A method for provisioning: each task on a machine of its own, as `no-packing` has it.
ALONE = """
import json, sys
instance = json.load(sys.stdin)
machines = []
for task in instance["tasks"]:
    needs = [(t["price"], t["name"], task["demand"].get(t["family"], task["demand"].get("any")), t["capacity"])
             for t in instance["machine_types"]]
    _, name, *_ = min(each for each in needs if each[2] and all(d <= c for d, c in zip(each[2], each[3])))
    machines.append({"type": name, "counts": {task["name"]: 1}, "repeat": task.get("count", 1)})
print(json.dumps({"schema": "schedgap/provisioning-solution/1", "machines": machines}))
"""
# A policy for sharing: the first job that fits is served.
SERVE = """
import json, sys
def say(said): print(json.dumps(said), flush=True)
input()
say({"schema": "schedgap/policy/1", "fields": ["job", "fitting"]})
for line in sys.stdin:
    asked = json.loads(line)
    if "end" in asked: break
    say({"decision": asked["decision"], "actions": asked["observation"]["job"][asked["observation"]["fitting"][0]]})
"""


@pytest.fixture
def script(tmp_path):
    """Write an executable file: `script("name.sh", "echo")`; with another first line, for another interpreter."""

    def write(name, text, *, interpreter="/bin/sh"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{interpreter}\n{text}\n")
        path.chmod(0o755)
        return path

    return write


@pytest.fixture
def alone(script):
    """An honest program: a method for provisioning that costs what `no-packing` costs."""
    return script("alone.py", ALONE, interpreter=f"{sys.executable} -IS")


@pytest.fixture
def serve(script):
    """An honest program: a policy for sharing."""
    return script("serve.py", SERVE, interpreter=f"{sys.executable} -IS")


@pytest.fixture(scope="session")
def hostile() -> Path:
    """The plug-in file with methods that misbehave."""
    return Path(__file__).parent / "plugins" / "hostile.py"


@pytest.fixture
def write_suite(tmp_path):
    """Write a suite file: `write_suite(methods=[...])`."""

    def write(methods, *, tasks=6, seeds=1, wall_s=20, memory_mib=512, name="little.toml"):
        path = tmp_path / name
        text = SUITE.format(methods=list(methods), tasks=tasks, seeds=seeds, wall_s=wall_s, memory_mib=memory_mib)
        path.write_text(text.replace("'", '"'))
        return path

    return write


@pytest.fixture
def schedgap(monkeypatch, capsys):
    """Call the command line in this process: `code, out, err = schedgap("list", "suites")`."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    # However slow the machine, only runs that tests ask about are told.
    monkeypatch.setattr(progress, "LEAST_S", math.inf)
    monkeypatch.setattr(progress, "PERIOD_S", math.inf)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["schedgap", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        return end.value.code or 0, printed.out, printed.err

    yield call
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def make_record():
    """Make a record: `make_record("method", "instance", objective=5, bound=3, wall_s=0.1, ...)`."""
    blank = Run(
        family="provisioning",
        instance="",
        digest="",
        group="",
        source={},
        method="",
        label="",
        version=1,
        parameters={},
        given={},
        backend=None,
        backend_version=None,
        seed=0,
        repetition=0,
        limits=Limits(wall_s=100.0),
    )

    def make(label, instance="i", *, status=None, group="", source=None, family="provisioning", **figures):
        if status is None:
            status = Status.FEASIBLE if figures.get("objective") is not None else Status.NO_SOLUTION
        run = replace(blank, family=family, label=label, method=label, instance=instance, digest=instance, group=group)
        run = replace(run, source=source or {})
        return Record(run.key, run, Measurement(status, **figures), "host", "2030-01-01T00:00:00+00:00")

    return make
