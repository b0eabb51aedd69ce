"""Every way in which a method can misbehave ends as one row with the right status, and the others still run."""

import json
import time

import psutil
import pytest

from schedgap.bench import run_suite
from schedgap.bench.records.journal import FILE_NAME

EXPECTED = {
    "x-honest": ("feasible", None),
    "x-random": ("feasible", None),
    "x-nothing": ("no_solution", None),
    "x-unsupported": ("unsupported", "it never does"),
    "x-segfault": ("crashed", "SIGSEGV"),
    "x-abort": ("crashed", "SIGABRT"),
    "x-hang": ("timeout", "killed after 2 s of wall-clock time"),
    "x-spin": ("timeout", "killed after 2 s of wall-clock time"),
    "x-bomb": ("memory", "killed over 200 MiB"),
    "x-large": ("memory", "MemoryError"),
    "x-offspring": ("feasible", None),
    "x-flood": ("error", "RuntimeError: after the flood"),
    "x-wrong": ("invalid", "over capacity"),
    "x-liar": ("invalid", "its bound 1000000000000000 is above the objective"),
    "x-boaster": ("feasible", "claims to be optimal"),
    "x-mutator": ("invalid", "changed the instance"),
    "x-foreign": ("invalid", "OwnSolution"),
    "x-text": ("invalid", "it returned a str, and a solution is a Provisioning"),
    "x-error": ("error", "ValueError: no such luck"),
    "x-mute": ("error", "MuteError: a MuteError that cannot be printed"),
    "x-exit": ("error", "SystemExit: 0"),
    "x-hard-exit": ("crashed", "exited with code 0 and without an answer"),
    "x-ignores-limit": ("timeout", "killed after 2 s of wall-clock time"),
    "x-elsewhere": ("invalid", "table7-6"),
    "x-grand-bomb": ("memory", "killed over 200 MiB"),
    "x-spike": ("memory", "over"),
    "x-forged": ("invalid", "it says that it failed as 'optimal'; a run fails as memory or error"),
    "x-shut-output": ("feasible", None),
    "x-garbage": ("invalid", "is no answer"),
    "x-huge-answer": ("invalid", "is no answer"),
    "x-two-answers": ("invalid", "is no answer"),
    "x-restart": ("timeout", "killed after 2 s of wall-clock time"),
    "x-close": ("crashed", "exited with code 1 and without an answer"),
    "x-kill-parent": ("crashed", "the process that watched it died"),
    "x-stop": ("timeout", "killed after 2 s of wall-clock time"),
    "x-stop-group": ("timeout", "killed after 2 s of wall-clock time"),
    "x-stop-parent": ("feasible", None),
}
# Where the kernel keeps runs from other processes.
SCOPED = {"x-kill-parent": ("error", "PermissionError: [Errno 1] Operation not permitted")}
# Those that wait for a limit: all at once, before the others.
WAITING = ("x-hang", "x-ignores-limit", "x-restart", "x-stop", "x-stop-group", "x-stop-parent")


@pytest.fixture(scope="module")
def outcome(tmp_path_factory, hostile):
    """One run of each method, the honest one on two instances; the records by method, and the directory."""
    folder = tmp_path_factory.mktemp("hostile")
    suite = folder / "hostile.toml"
    suite.write_text(
        f"""
        schema = "schedgap/suite/1"
        name = "hostile"
        title = ""
        question = ""
        family = "provisioning"
        methods = {json.dumps(list(EXPECTED))}
        [limits]
        time_limit_s = 1
        wall_s = 2
        memory_mib = 200
        [[instances]]
        generator = "table7"
        parameters = {{ tasks = 6 }}
        """
    )
    how = {"out": folder / "out", "plugins": [hostile]}
    run_suite(suite, only=["|".join(WAITING)], jobs=len(WAITING), **how)
    return run_suite(suite, jobs=2, **how), folder


@pytest.fixture(scope="module")
def ends(outcome):
    return {record.run.label: record.measurement for record in outcome[0].records}


@pytest.mark.parametrize("label", EXPECTED)
def test_status_and_reason(ends, label):
    end = ends[label]
    status, reason = (SCOPED if "scopes" in end.confined and label in SCOPED else EXPECTED)[label]
    if label == "x-bomb" and end.status == "timeout":
        pytest.skip("the machine is too slow to fill 200 MiB in two seconds")
    assert end.status == status
    assert reason is None or reason in end.reason


def test_only_verified_figures_are_recorded(ends):
    """x-boaster's solution is as good as x-honest's, and no better proven; the rest has no objective at all."""
    solved = {label for label, end in ends.items() if end.objective is not None}
    assert solved == {"x-honest", "x-random", "x-offspring", "x-boaster", "x-stop-parent", "x-shut-output"}
    assert len({ends[label].objective for label in solved}) == 1
    assert ends["x-boaster"].claimed_status == "optimal"
    assert ends["x-liar"].bound is None


def test_processes_without_end(write_suite, hostile, tmp_path):
    """More than 512 of them; all gone when the row is there, and at most an idle spawner is left."""
    others = psutil.Process().children(recursive=True)
    suite = write_suite(["x-fork-bomb", "x-honest"], wall_s=60, memory_mib=16384)
    result = run_suite(suite, out=tmp_path / "out", plugins=[hostile], jobs=1)
    bomb, honest = (record.measurement for record in result.records)
    assert (bomb.status, bomb.reason) == ("crashed", "killed for starting processes without end")
    assert honest.status == "feasible"
    left = [child for child in psutil.Process().children(recursive=True) if child not in others]
    assert left in ([], [spawner for spawner in psutil.Process().children() if spawner not in others][:1])


def test_output_of_failures_is_kept_and_bounded(ends):
    assert "ValueError: no\nsuch luck" in ends["x-error"].output
    assert "bytes left out" in ends["x-flood"].output
    assert len(ends["x-flood"].output) < 30_000
    assert "Segmentation fault" in ends["x-segfault"].output


def test_nothing_is_left_running(ends):
    """Not even a daemon that left its session and ignores SIGTERM."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        left = [p for p in psutil.process_iter(["cmdline"]) if "schedgap-offspring" in (p.info["cmdline"] or [])]
        if not left:
            return
        time.sleep(0.05)
    assert left == []


def test_time_and_memory_are_recorded(ends):
    end = ends["x-honest"]
    assert 0 < end.wall_s < 2
    assert 0 < end.cpu_s < 2
    assert 5 < end.peak_memory_mib < 200
    assert end.warm == "child"
    assert end.compile_s == 0


def test_one_row_each_and_a_host_file(outcome):
    result, folder = outcome
    rows = [json.loads(line) for line in (folder / "out" / FILE_NAME).read_text().splitlines()]
    assert sorted(row["label"] for row in rows) == sorted(EXPECTED)
    assert len({row["key"] for row in rows}) == len(EXPECTED)
    (host,) = {row["host"] for row in rows}
    facts = json.loads((folder / "out" / "hosts" / f"{host}.json").read_text())
    assert facts["packages"]["numpy"]
    assert result.failed == sum(
        status in {"timeout", "memory", "crashed", "invalid", "error"} for status, _ in EXPECTED.values()
    )


def test_the_next_call_tries_errors_again_and_nothing_else(outcome, hostile):
    _, folder = outcome
    again = run_suite(folder / "hostile.toml", out=folder / "out", plugins=[hostile], jobs=2)
    errors = [label for label, (status, _) in EXPECTED.items() if status in {"error", "crashed"}]
    assert again.measured_now == len(errors)
    none = run_suite(folder / "hostile.toml", out=folder / "out", plugins=[hostile], retry="none")
    assert none.measured_now == 0
    assert [r.status for r in none.records] == [r.status for r in again.records]
