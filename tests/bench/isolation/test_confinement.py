"""What the kernel keeps from runs, where it does: nothing beside a run is changed, and its row tells what held."""

import json
import os
import shutil
import socket
import struct
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from schedgap.bench import run_suite
from schedgap.bench.isolation.confinement import _MACHINES, MAY_WRITE, Confinement, _program
from schedgap.bench.isolation.processes import ProcessorClock

ALL = {"landlock", "scopes", "seccomp", "mounts"}
ATTACKS = (
    "journal",
    "plug-in",
    "files",
    "links",
    "signals",
    "memory-of-others",
    "limits-of-others",
    "hidden-memory",
    "sockets",
)
ALLOW, REFUSE = 0x7FFF0000, 0x00050000


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    confinement = Confinement.prepared(tmp_path_factory.mktemp("held"))
    confinement.close()
    if missing := ALL - set(confinement.held):
        pytest.skip(f"the kernel does not confine runs here: {', '.join(sorted(missing))} cannot be had")


@pytest.fixture(scope="module")
def reached(held, tmp_path_factory, hostile):
    """One run of each attack and honest ones between; the measurements by label, and the folder with what is precious."""
    folder = tmp_path_factory.mktemp("reach")
    plugin = Path(shutil.copy(hostile.with_name("reaching.py"), folder))
    name = f"mine-{os.getpid()}"
    (folder / "precious").write_text(f"{name}\n")
    with pytest.MonkeyPatch.context() as patch, socket.socket(socket.AF_UNIX) as ours:
        patch.delenv(MAY_WRITE, raising=False)
        ours.bind(f"\0schedgap-{name}")
        ours.listen()
        before = {path: (path.read_bytes(), path.stat()) for path in (plugin, folder / "precious")}
        labels = [f"r-{name}" for name in (*ATTACKS, "program", "priority", "daemon", "honest", "writes", "uncounted")]
        suite = write(folder, labels, "cpu_s = 2")
        records = run_suite(suite, out=folder / "out", plugins=[plugin], jobs=1).records
        again = run_suite(suite, out=folder / "out", plugins=[plugin], jobs=1, only=["r-honest"], fresh=True).records
    changed = [path.name for path, (content, known) in before.items() if stamped(path) != (content, *facts(known))]
    ends = {record.run.label: record.measurement for record in records}
    return ends, {record.run.label: record.measurement for record in again}["r-honest"], folder, changed


def facts(known):
    return known.st_mode, known.st_mtime_ns, known.st_nlink, known.st_ino


def stamped(path):
    return (path.read_bytes(), *facts(path.stat()))


def write(folder, methods, limits=""):
    suite = folder / "reach.toml"
    suite.write_text(
        f"""
        schema = "schedgap/suite/1"
        name = "reach"
        title = ""
        question = ""
        family = "provisioning"
        methods = {json.dumps(methods)}
        [limits]
        time_limit_s = 5
        wall_s = 60
        memory_mib = 600
        {limits}
        [[instances]]
        generator = "table7"
        parameters = {{ tasks = 6 }}
        """
    )
    return suite


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_gets_nothing(reached, name):
    end = reached[0][f"r-{name}"]
    assert (end.status, end.reason, end.details["got"]) == ("feasible", None, "")
    assert set(end.confined) >= ALL


def test_where_nothing_confines_them_they_do_harm(tmp_path, hostile, unconfined):
    """What they are refused above is there to be had."""
    plugin = Path(shutil.copy(hostile.with_name("reaching.py"), tmp_path))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "journal.jsonl").write_text("{}\n")
    name = f"harm-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as ours:
        ours.bind(f"\0schedgap-{name}")
        ours.listen()
        found = unconfined(plugin, name, "ATTACKS")
    assert {name.partition("/")[0] for name in found} == set(ATTACKS)
    assert {name: said for name, said in found.items() if said != "got"} == {}


def test_nothing_else_is_changed(reached):
    ends, _, folder, changed = reached
    assert changed == []
    assert {path.name for path in folder.iterdir()} == {"reaching.py", "precious", "reach.toml", "out"}
    assert ends["r-program"].status == "feasible"
    rows = [json.loads(line) for line in (folder / "out" / "journal.jsonl").read_text().splitlines()]
    assert {row["label"] for row in rows} == ends.keys()
    assert {row["objective"] for row in rows} == {ends["r-honest"].objective, None}


def test_an_honest_run_is_as_without_them(reached):
    """It has /dev/shm, /dev/null and processes of its own, and finds nothing of the run before."""
    ends, again, _, _ = reached
    for end in (ends["r-honest"], again):
        assert (end.status, end.reason) == ("feasible", None)
        assert (end.details["seen"], end.details["sum"]) == ("", 6)
        assert (end.details["nice"], end.details["processors"]) == (os.nice(0), len(os.sched_getaffinity(0)))
    assert ends["r-priority"].details["nice"] == os.nice(0)


def test_daemons_are_gone(reached):
    end = reached[0]["r-daemon"]
    assert end.status == "feasible"
    assert end.details["name"] not in {process.name() for process in psutil.process_iter()}


def test_a_run_is_told_where_it_may_write(reached):
    end = reached[0]["r-writes"]
    assert end.status == "error"
    assert end.reason.endswith(f"(it may write to $TMPDIR, and where {MAY_WRITE} says)")


def test_processor_time_that_nobody_waits_for(reached):
    end = reached[0]["r-uncounted"]
    if "cpu" not in end.confined:
        pytest.skip("processor time of children that nobody waits for cannot be counted here")
    assert (end.status, end.reason) == ("timeout", "killed after 2.0 s of processor time")


def test_a_folder_of_the_users(held, tmp_path, hostile, monkeypatch):
    """The method's own end is all that is left of the complaint."""
    plugin = Path(shutil.copy(hostile.with_name("reaching.py"), tmp_path))
    (tmp_path / "asked").mkdir()
    monkeypatch.setenv(MAY_WRITE, f"{tmp_path}/none:{tmp_path}/asked")
    (record,) = run_suite(write(tmp_path, ["r-writes"]), out=tmp_path / "out", plugins=[plugin]).records
    assert record.measurement.reason == "RuntimeError: EPERM"
    assert (tmp_path / "asked" / "file").read_text() == "x"


def test_methods_of_this_package_are_not_confined(tmp_path):
    (record,) = run_suite(write(tmp_path, ["no-packing"]), out=tmp_path / "out").records
    assert set(record.measurement.confined) <= {"cpu"}


def answer(program, audit, number, *arguments):
    """What a filter says of a system call, by doing what its instructions say."""
    data = struct.pack("=iIQ6Q", number, audit, 0, *arguments, *[0] * (6 - len(arguments)))
    parts = [struct.unpack_from("HBBI", program, at) for at in range(0, len(program), 8)]
    value = at = 0
    while True:
        code, if_true, if_false, given = parts[at]
        at += 1
        if code == 0x20:
            (value,) = struct.unpack_from("=I", data, given)
        elif code == 0x06:
            return given
        else:
            at += if_true if (value == given if code == 0x15 else value >= given) else if_false


@pytest.mark.parametrize("name", _MACHINES)
def test_the_filter_of_each_machine(name):
    machine, pid = _MACHINES[name], 77
    program = _program(machine, pid)

    def said(*call):
        return answer(program, machine.audit, *call)

    assert {said(number) for number in machine.absent} == {REFUSE | 38}
    assert {said(number) for number in machine.refused} == {REFUSE | 1}
    for number, place in (*machine.own_only, *machine.ignored):
        both = [0] * place
        others = REFUSE | (1 if (number, place) in machine.own_only else 0)
        assert (said(number, *both, 0), said(number, *both, 77), said(number, *both, 78)) == (ALLOW, ALLOW, others)
    assert (said(0), said(1), said(59)) == (ALLOW, ALLOW, ALLOW)
    assert answer(program, 0x40000003, 0) == REFUSE | 38
    if name == "x86_64":
        assert said(0x40000000 + 319) == REFUSE | 38


def test_a_machine_without_any_of_it(tmp_path, monkeypatch):
    """Nothing is promised, and what is confined goes on."""
    monkeypatch.setattr("platform.machine", lambda: "of tomorrow")
    monkeypatch.setattr("schedgap.bench.isolation.confinement._landlock_abi", lambda: 0)
    monkeypatch.setattr("schedgap.bench.isolation.confinement._mounted", lambda folder, also: ())
    assert Confinement.prepared(tmp_path).held == ()
    assert not ProcessorClock().is_exact
    code = (
        "from schedgap.bench.isolation.confinement import Confinement\n"
        "Confinement((), ()).enter()\nopen('here', 'w').close()"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    assert (tmp_path / "here").exists()
