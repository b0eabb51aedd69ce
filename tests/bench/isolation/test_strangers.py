"""What strangers may send: each ends as one right row, and nothing of it is left, in files, processes or other rows."""

import json
import os
import pty
import shutil
import socket
import tempfile
import termios
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from schedgap.bench import run_suite
from schedgap.bench.executors.execute import close_pools
from schedgap.bench.isolation.confinement import MAY_WRITE
from schedgap.bench.isolation.handle import end_spawners

PLUGINS = ("strangers.py", "intruders.py")
REACHES = ("s-owner", "s-terminal", "s-kernel", "s-imports", "s-machine", "s-pipes")
REACHES += ("i-doors", "i-by-descriptor", "i-signals", "i-screen")
ALL = {"landlock", "scopes", "seccomp", "mounts"}
NO_ANSWER = "is no answer"
UNREADABLE = "its answer cannot be read"
KILLED = "killed over 250 MiB of memory"
EXPECTED = {
    **{label: ("feasible", None) for label in REACHES},
    "s-out-of-band": ("feasible", None),
    "s-sends-descriptors": ("feasible", None),
    "s-shuts-the-pipe": ("crashed", "SIGPIPE"),
    "s-half-a-frame": ("crashed", "exited with code 0 and without an answer"),
    "s-flood-of-frames": ("feasible", None),
    "s-answers-twice-in-a-thread": ("invalid", NO_ANSWER),
    "s-thread-without-end": ("feasible", None),
    "s-leaves-a-child-with-the-pipe": ("feasible", None),
    "s-tells-afterwards": ("no_solution", None),
    "s-handlers-at-the-end": ("feasible", None),
    "s-odd-whole": ("invalid", "a number of 201 bits"),
    "s-true-as-bound": ("invalid", "bound"),
    "s-lying-array": ("feasible", None),
    "s-array-of-objects": ("error", "got object"),
    "s-negative-and-huge": ("invalid", None),
    "s-pickle-in-details": ("feasible", None),
    "s-generator": ("invalid", "it returned a generator"),
    "s-coroutine": ("invalid", "it returned a coroutine"),
    "s-own-class-of-outcome": ("feasible", None),
    "s-numbers-without-measure": ("invalid", None),
    "s-names-of-columns": ("feasible", None),
    "s-words-for-terminals": ("error", "ValueError"),
    "s-half-letters": ("error", "ValueError"),
    "s-text-without-end": ("timeout", "killed after 6 s"),
    "s-text-that-exits": ("error", "Exiting: a Exiting that cannot be printed"),
    "s-not-even-an-exception": ("error", "Strange"),
    "s-keyboard": ("error", "KeyboardInterrupt"),
    "s-deep": ("memory", None),
    "s-claims-to-be-the-harness": ("error", "MethodError"),
    "s-traced": ("error", "SystemExit"),
    "s-collected": ("feasible", None),
    "s-other-units": ("feasible", None),
    "s-other-json": ("invalid", UNREADABLE),
    "s-in-place": ("invalid", "changed the instance"),
    "s-in-place-and-denied": ("feasible", None),
    "s-other-time": ("feasible", None),
    "s-surroundings": ("feasible", None),
    "s-alarms": ("crashed", "exited with code 0 and without an answer"),
    "s-descriptors": ("error", "Too many open files"),
    "s-threads": ("crashed", "killed for starting processes without end"),
    "s-undumpable": ("memory", KILLED),
    "s-undead": ("feasible", None),
    "s-chase": ("feasible", None),
    "s-names-of-processes": ("feasible", None),
    "s-own-reaper": ("feasible", None),
    "s-traps-everything": ("feasible", None),
    "s-port": ("feasible", None),
    "s-sparse": ("feasible", None),
    "s-hard-links": ("feasible", None),
    "s-too-deep": ("memory", "killed over 250 MiB of files in its folder"),
    "s-without-name": ("memory", KILLED),
    "s-locked-folders": ("feasible", None),
    "s-watches": ("feasible", None),
    "s-locks": ("feasible", None),
    "s-core": ("crashed", "SIGABRT"),
    "i-shared-and-left": ("memory", KILLED),
    "i-full-and-stopped": ("memory", KILLED),
    "i-siblings": ("feasible", None),
    "i-full-sibling": ("memory", KILLED),
    "i-ends-that-do-nothing": ("feasible", None),
    "i-no-way-out": ("crashed", "without an answer"),
    "i-dump-later": ("crashed", "exited with code 1 and without an answer"),
    "i-exit-in-a-thread": ("crashed", "exited with code 0 and without an answer"),
    "i-audited": ("crashed", "without an answer"),
    "i-profiled": ("error", "KeyboardInterrupt"),
    "i-hunts": ("feasible", None),
    "i-full-of-words": ("error", "RuntimeError"),
    "i-other-end-first": ("feasible", None),
    "i-backwards": ("feasible", None),
    "i-without-end": ("memory", None),
    **{
        f"i-{name}": ("error", "expected whole numbers")
        for name in ("halves", "not-a-number", "no-sign", "dates", "records")
    },
    **{f"i-{name}": ("invalid", "do not fit together") for name in ("true-or-false", "more-axes", "nothing")},
    "i-no-shape": ("invalid", "cannot be read"),
    "i-masked": ("invalid", None),
    "i-cut-off": ("crashed", "SIGBUS"),
    "i-other-at-each-look": ("feasible", None),
    "i-equal-to-all": ("invalid", "it returns a bound"),
    "i-words-as-keys": ("feasible", None),
    "i-too-many-facts": ("invalid", UNREADABLE),
    "i-odd-points": ("invalid", UNREADABLE),
    "i-of-the-small": ("invalid", "tasks of"),
    "i-packed-otherwise": ("invalid", UNREADABLE),
}
HONEST = ("s-honest", "no-packing", "full-reconfiguration")
SUITE = """
schema = "schedgap/suite/1"
name = "strangers"
title = ""
question = ""
family = "provisioning"
methods = {methods}
[limits]
time_limit_s = 1
wall_s = 6
memory_mib = 250
[[instances]]
generator = "table7"
parameters = {{ tasks = 6 }}
"""


class Scene:
    """A folder of the user's with what is precious, a terminal, and a suite beside the plug-in."""

    def __init__(self, folder, plugins):
        self.folder = folder
        self.plugins = [Path(shutil.copy(plugins / name, folder)) for name in PLUGINS]
        self.suite = folder / "strangers.toml"
        (folder / "precious").write_text("mine\n")
        os.mkfifo(folder / "fifo")
        self.reader = os.open(folder / "fifo", os.O_RDONLY | os.O_NONBLOCK)
        self.terminal, self.typed = pty.openpty()
        (folder / "terminal").write_text(os.ttyname(self.typed))

    def run(self, labels, out="out", **how):
        self.suite.write_text(SUITE.format(methods=json.dumps(labels)))
        records = run_suite(self.suite, out=self.folder / out, plugins=self.plugins, **how).records
        return {record.run.label: record.measurement for record in records}

    def state(self):
        """All that must stay as it is."""
        files = {
            path.relative_to(self.folder): (path.lstat().st_mode, path.lstat().st_nlink, path.read_bytes())
            for path in sorted(self.folder.iterdir())
            if path.is_file() and path != self.suite
        }
        return files, termios.tcgetattr(self.typed), os.getpriority(os.PRIO_PROCESS, 0), os.uname().nodename

    def close(self):
        for number in (self.reader, self.terminal, self.typed):
            os.close(number)


def of_folder(temporary):
    """The processes that began with this folder for temporary files, or were forked from one that did."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("TMPDIR") == str(temporary):
                found.append(process.name())
    return found


@pytest.fixture(scope="module")
def scene(tmp_path_factory, hostile):
    made = Scene(tmp_path_factory.mktemp("strangers"), hostile.parent)
    yield made
    made.close()


@pytest.fixture(scope="module")
def met(scene):
    """One run of each, among honest ones; the measurements, those of honest ones before and after, and what changed."""
    temporary = scene.folder / "temporary"
    temporary.mkdir()
    close_pools()
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(MAY_WRITE, raising=False)
        patch.setenv("TMPDIR", str(temporary))
        patch.setattr(tempfile, "tempdir", None)
        before = scene.state()
        alone = scene.run(HONEST, "alone", jobs=1)
        ends = scene.run([*EXPECTED, *HONEST], jobs=2)
        after = scene.run(HONEST, "after", jobs=1)
        close_pools()
        end_spawners()
    return ends, alone, after, (before, scene.state()), of_folder(temporary), list(temporary.iterdir())


@pytest.mark.parametrize("label", EXPECTED)
def test_status_and_reason(met, label):
    status, reason = EXPECTED[label]
    end = met[0][label]
    assert end.status == status, end.reason
    assert reason is None or reason in end.reason
    assert "\n" not in (end.reason or "")


def test_what_they_reach_for_they_do_not_get(met):
    """Where the kernel confines runs as far as it can; elsewhere `test_nothing_is_left` tells of what is changed."""
    for label in REACHES:
        end = met[0][label]
        if not set(end.confined) >= ALL:
            pytest.skip(f"the kernel confines runs here by {' '.join(end.confined)} alone")
        assert end.details["got"] == "", label


def test_rows_are_what_they_are_without_them(met):
    """Every task alone costs what `no-packing` costs, whatever is patched, forged or changed; nobody else's row is another."""
    ends, alone, after, *_ = met
    for label in HONEST:
        rows = [each[label] for each in (alone, ends, after)]
        assert len({(row.status, row.objective, row.bound, row.solution_hash) for row in rows}) == 1
        assert rows[0].status == "feasible"
    around = [each["s-honest"].details for each in (alone, ends, after)]
    assert around[0] == around[1] == around[2]
    assert around[0]["there"] == ""
    right = {label for label, (status, _) in EXPECTED.items() if status == "feasible"}
    assert {label for label in EXPECTED if ends[label].objective is not None} == right
    assert {ends[label].objective for label in right} == {alone["no-packing"].objective}
    assert {ends[label].bound for label in EXPECTED} == {None}
    assert ends["s-other-time"].wall_s > 0.3


def test_one_row_each(met, scene):
    rows = [json.loads(line) for line in (scene.folder / "out" / "journal.jsonl").read_text().splitlines()]
    assert sorted(row["label"] for row in rows) == sorted([*EXPECTED, *HONEST])
    assert len({row["key"] for row in rows}) == len(rows)


def test_nothing_is_left(met):
    """No process, no file in the folder for temporary files, no port, no segment of memory; what was there is as it was."""
    ends, *_, (before, after), processes, files = met
    assert (processes, files) == ([], [])
    assert before == after
    with pytest.raises(ConnectionRefusedError), socket.socket() as client:
        client.connect(("127.0.0.1", ends["s-port"].details["port"]))


def test_what_reports_show_is_text(met, scene, schedgap):
    """To a terminal, a browser and the page of a pull request, whatever methods call their facts."""
    out = scene.folder / "out"
    printed = schedgap("report", out)[1]
    shown = {"terminal": printed}
    for name, command in {
        "html": ("report", out, "--html"),
        "markdown": ("compare", scene.folder / "alone", out, "--fail-on", "none", "--format", "markdown", "--out"),
    }.items():
        path = scene.folder / f"shown.{name}"
        code, printed, complaint = schedgap(*command, path)
        assert code == 0, complaint
        shown[name] = path.read_text()
        shown["terminal"] += printed + complaint
        path.unlink()
    for name in ("terminal", "markdown"):
        assert not set(shown[name]) & {"\x1b", "\x07", "\0"}
    assert "<img src=x" not in shown["html"] + shown["markdown"]
    assert "@everyone" not in shown["markdown"]


def test_where_nothing_confines_them_they_do_harm(tmp_path, hostile, unconfined):
    """What they are refused above is there to be had."""
    found = {}
    for number, name in enumerate(PLUGINS):
        (folder := tmp_path / name).mkdir()
        there = Scene(folder, hostile.parent)
        found |= unconfined(there.plugins[number], "mine", "REACHES")
        there.close()
    assert {name.partition("/")[0] for name in found} == {label[2:] for label in REACHES}
    assert {name: said for name, said in found.items() if said != "got"} == {}
