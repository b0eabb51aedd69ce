"""Ctrl-C and SIGTERM, whatever runs: one sentence, nothing left running, nothing left on disk.

`SCHEDGAP_INTERRUPTS=500` interrupts more often than a test run has time for.
"""

import os
import random
import signal
import time

import psutil
import pytest

DAEMON = "schedgap-attack-daemon"
INTERRUPTS = int(os.environ.get("SCHEDGAP_INTERRUPTS", "2"))


def daemons(scratch):
    """The processes that runs of a harness with this folder for temporary files started, wherever they hide."""
    found = []
    for process in psutil.process_iter():
        try:
            is_ours = str(scratch) in process.environ().get("TMPDIR", "")
            if is_ours and DAEMON in process.cmdline():
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=str)
def test_nothing_is_left(tmp_path, monkeypatch, write_suite, hostile, start_harness, number):
    """A run that is deaf to SIGTERM, with a daemon in a session of its own; the next waits while the method is warmed up."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    suite = write_suite(["a-ignores-end"], seeds=4, wall_s=100)
    harness = start_harness(suite, "--out", tmp_path / "out", "--plugin", hostile.with_name("attacks.py"), "-j", "2")
    deadline = time.monotonic() + 90
    while not daemons(scratch) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert daemons(scratch)
    left = [*psutil.Process(harness.pid).children(recursive=True), *daemons(scratch)]
    assert len(left) > 4
    harness.send_signal(number)
    printed, complaint = harness.communicate(timeout=60)
    if number is not signal.SIGKILL:
        assert harness.returncode == 128 + number
        assert complaint == "interrupted; what was recorded stays, the same command finishes the rest.\n"
    assert printed == ""
    _, alive = psutil.wait_procs(left, timeout=20)
    assert alive == []
    assert list(scratch.glob("schedgap-*")) == []


def test_at_random_moments(tmp_path, monkeypatch, write_suite, hostile, start_harness):
    """While it starts, plans, imports plug-ins, warms up, runs: never a traceback, a process or a folder is left."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    rng = random.Random(int(os.environ.get("SCHEDGAP_INTERRUPT_SEED", "1")))
    # More seeds would give some tiny instance twice, which is refused.
    methods = [*(f"x-random[pause_s={pause_s}]" for pause_s in (0.02, 0.03, 0.04, 0.05)), "x-offspring"]
    suite = write_suite(methods, seeds=500)
    for done in range(INTERRUPTS):
        # Some twenty calls finish the suite, and then there is nothing to interrupt.
        out = tmp_path / f"out-{done // 10}"
        harness = start_harness(suite, "--out", out, "--plugin", hostile, "-j", "2")
        # Before the handlers are set, Python itself ends with a traceback.
        time.sleep(1.5 + rng.random() * 8)
        number = rng.choice([signal.SIGINT, signal.SIGTERM])
        left = psutil.Process(harness.pid).children(recursive=True)
        harness.send_signal(number)
        _, complaint = harness.communicate(timeout=90)
        assert (harness.returncode, complaint.count("\n")) == (128 + number, 1), complaint
        _, alive = psutil.wait_procs(left, timeout=20)
        assert alive == []
        assert list(scratch.glob("schedgap-*")) == []
