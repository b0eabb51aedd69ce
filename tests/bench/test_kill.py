"""SIGKILL the harness at random moments: nothing recorded is lost or doubled, the same command finishes the rest.

`SCHEDGAP_KILLS=500` kills more often than a test run has time for.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter

import psutil

from schedgap.bench.journal import FILE_NAME

KILLS = int(os.environ.get("SCHEDGAP_KILLS", "8"))
CODE = """
import sys
from schedgap.bench import run_suite

run_suite(sys.argv[1], out=sys.argv[2], plugins=[sys.argv[3]], jobs=2)
"""


def whole_rows(path):
    """The rows that a newline ends; a torn one does not count as recorded."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def below(process):
    """The spawner, servers and children of a harness."""
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def test_kill_at_random_points(tmp_path, write_suite, hostile):
    runs = 20 * KILLS
    suite = write_suite(["x-random[pause_s=0.02]", "x-random[pause_s=0.05]"], seeds=runs // 2)
    out = tmp_path / "out"
    command = [sys.executable, "-c", CODE, str(suite), str(out), str(hostile)]
    rng = random.Random(1)
    kept, left, killed_working = [], [], 0
    for _ in range(KILLS):
        before = len(whole_rows(out / FILE_NAME))
        harness = subprocess.Popen(command)
        target = before + rng.randrange(0, 20)
        deadline = time.monotonic() + 60
        while harness.poll() is None and len(whole_rows(out / FILE_NAME)) < target and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(rng.random() * 0.05)
        left += below(harness)
        harness.send_signal(signal.SIGKILL)
        killed_working += harness.wait() == -signal.SIGKILL
        rows = whole_rows(out / FILE_NAME)
        assert rows[: len(kept)] == kept
        kept = rows
    assert killed_working > KILLS // 2
    subprocess.run(command, check=True, timeout=300)
    rows = whole_rows(out / FILE_NAME)
    assert rows[: len(kept)] == kept
    assert len(rows) == runs
    assert set(Counter(row["key"] for row in rows).values()) == {1}
    _, alive = psutil.wait_procs(left, timeout=10)
    assert alive == []


def test_interrupt_is_clean(tmp_path, write_suite, hostile):
    """Ctrl-C: exit code 130, one sentence, no process left, and what was recorded stays."""
    suite = write_suite(["x-random[pause_s=0.2]"], seeds=100)
    out = tmp_path / "out"
    arguments = ["run", str(suite), "--out", str(out), "--plugin", str(hostile), "--json"]
    command = [sys.executable, "-c", "from schedgap.bench.cli import main; main()", *arguments]
    harness = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while len(whole_rows(out / FILE_NAME)) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    left = below(harness)
    harness.send_signal(signal.SIGINT)
    printed, complaint = harness.communicate(timeout=60)
    assert harness.returncode == 130
    assert printed == ""
    assert complaint == "interrupted; what was recorded stays, the same command finishes the rest.\n"
    assert 3 <= len(whole_rows(out / FILE_NAME)) < 100
    _, alive = psutil.wait_procs(left, timeout=10)
    assert alive == []
