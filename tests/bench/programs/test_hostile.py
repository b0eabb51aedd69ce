"""Every way in which a program can misbehave ends as one row that says what it did, and the others still run.

The programs are those of `hostile_programs.py`, a suite of methods and one of policies; nothing of them is left.
"""

import importlib.util
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from schedgap.bench import run_suite
from schedgap.bench.executors.execute import close_pools
from schedgap.bench.programs.program import Kind, Program
from schedgap.bench.records.journal import FILE_NAME
from schedgap.instances.provisioning import Provisioning, table7, write_solution
from schedgap.instances.provisioning.files import task_names

MARK = f"schedgap-hostile-{os.getpid()}"
HONEST = {"provisioning": ["no-packing", "full-reconfiguration"], "sharing": ["fifo", "shortest-job-first"]}
# A policy that stays when all is over is given 2 s.
MORE = {
    "provisioning": {"wall_s": 2, "generator": "table7", "tasks": 6},
    "sharing": {"wall_s": 4, "generator": "micro", "tasks": 5},
}
SUITE = """
schema = "schedgap/suite/1"
name = "hostile"
title = ""
question = ""
family = "{family}"
methods = {methods}
[limits]
time_limit_s = 1
wall_s = {wall_s}
memory_mib = 300
[[instances]]
generator = "{generator}"
parameters = {{ tasks = {tasks} }}
"""


def load():
    spec = importlib.util.spec_from_file_location("hostile_programs", Path(__file__).with_name("hostile_programs.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PROGRAMS = load()
EXPECTED = {
    "provisioning": PROGRAMS.METHODS,
    "sharing": {**PROGRAMS.POLICIES, "p-honest": ("", "feasible", None), "p-stays": ("", "feasible", None)},
}
# Those that wait, for a limit or until they are ended: all at once, before the others.
WAITING = {
    "provisioning": ("m-silent", "m-ignores-term", "m-late", "m-half-and-silence", "m-after-its-limit"),
    "sharing": ("p-silent", "p-mute", "p-half-and-silence", "p-stays"),
}
ALL = [(family, label) for family, programs in EXPECTED.items() for label in programs]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def programs(folder):
    """The programs of each family, as files."""
    instance = table7(6)
    types = instance.reservation_type[instance.task_classes()]
    ok = folder / "ok.json"
    write_solution(instance, Provisioning.from_tasks(instance, types, range(instance.num_tasks)), ok)
    names = {"@TYPE": instance.type_names[types[0]], "@TASK": task_names(instance)[0], "@PYTHON": sys.executable}
    written = {}
    for family, kind in (("provisioning", Kind.METHOD), ("sharing", Kind.POLICY)):
        written[family] = []
        for label, (text, *_) in EXPECTED[family].items():
            path = folder / label
            if text:
                for place, name in names.items():
                    text = text.replace(place, name)
                path.write_text(f"#!/bin/sh\nOK={ok}\nOUT={folder / family}\nMARK={MARK}\n{text}\n")
            else:
                stays = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
                text = PROGRAMS.HONEST_POLICY + (stays if label == "p-stays" else "")
                path.write_text(f"#!{sys.executable} -IS\n{text}\n")
            path.chmod(0o755)
            words = [path, "{instance}", "{solution}"] if label in PROGRAMS.WITH_PATHS else [path]
            written[family].append(Program.make(label, words, kind=kind))
    return written


@pytest.fixture(scope="module")
def results(folder, programs):
    """Both suites, once with the programs and once without; temporary folders are below one that is seen afterwards."""
    temporary = folder / "temporary"
    temporary.mkdir()
    found = {}
    close_pools()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(temporary))
        patch.setattr(tempfile, "tempdir", None)
        for family, more in MORE.items():
            suite = folder / f"{family}.toml"
            suite.write_text(SUITE.format(family=family, methods=json.dumps(HONEST[family]), **more))
            found[family, "alone"] = run_suite(suite, out=folder / f"{family}-alone", jobs=2)
            beside = {"out": folder / family, "plugins": programs[family]}
            run_suite(suite, only=["|".join(WAITING[family])], jobs=len(WAITING[family]), **beside)
            found[family, "beside"] = run_suite(suite, jobs=2, **beside)
        close_pools()
    return found


@pytest.fixture(scope="module")
def ends(results):
    """The measurements by label."""
    return {r.run.label: r.measurement for family in EXPECTED for r in results[family, "beside"].records}


@pytest.mark.parametrize(("family", "label"), ALL)
def test_status_and_reason(ends, family, label):
    _, status, reason = EXPECTED[family][label]
    end = ends[label]
    if status == "memory" and end.status == "timeout":
        pytest.skip("the machine is too slow to fill 300 MiB in two seconds")
    assert end.status == status, end.reason
    assert reason is None or reason in end.reason
    assert "\n" not in (end.reason or "")
    assert "Traceback" not in end.output


@pytest.mark.parametrize("family", EXPECTED)
def test_one_row_each(results, folder, family):
    rows = [json.loads(line) for line in (folder / family / FILE_NAME).read_text().splitlines()]
    assert sorted(row["label"] for row in rows) == sorted([*EXPECTED[family], *HONEST[family]])
    assert len({row["key"] for row in rows}) == len(rows)
    assert all(row["plugin"] for row in rows if row["label"] in EXPECTED[family])


@pytest.mark.parametrize("family", EXPECTED)
def test_honest_methods_are_as_without_them(results, family):
    def answers(which):
        records = {r.run.label: r for r in results[family, which].records if r.run.label in HONEST[family]}
        return {n: (r.key, r.status, r.measurement.objective, r.measurement.solution_hash) for n, r in records.items()}

    assert answers("beside") == answers("alone")
    assert {status for _, status, *_ in answers("alone").values()} == {"feasible"}


def test_only_verified_figures_are_recorded(ends):
    """Every task alone costs what `no-packing` costs, whoever says it and however; the rest has no objective."""
    for family, programs in EXPECTED.items():
        right = {label for label, (_, status, _) in programs.items() if status == "feasible"}
        assert {label for label in programs if ends[label].objective is not None} == right
        assert len({ends[label].objective for label in right}) == 1
        if family == "provisioning":
            assert ends["m-honest"].objective == ends["no-packing"].objective
    assert ends["m-liar"].bound is None
    assert ends["m-boaster"].bound == 1000
    assert ends["m-after-its-limit"].wall_s > 1.2


def test_nothing_is_left_running(ends):
    """Not even a daemon that left its session and ignores SIGTERM."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        left = [p for p in psutil.process_iter(["cmdline"]) if MARK in (p.info["cmdline"] or [])]
        if not left:
            return
        time.sleep(0.05)
    assert left == []


def test_nothing_is_left_in_the_folder_for_temporary_files(results, folder):
    assert list((folder / "temporary").iterdir()) == []


def test_what_they_print_is_kept_and_bounded(ends):
    assert "bytes left out" in ends["m-stderr"].output
    assert len(ends["m-stderr"].output) < 30_000


def test_memory_is_what_is_used(ends):
    """A pipeline's, and not that of the harness's own process alone."""
    assert ends["m-memory"].peak_memory_mib > 300 or ends["m-memory"].status == "timeout"
    assert ends["m-honest"].peak_memory_mib < 300
