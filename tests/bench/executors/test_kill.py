"""SIGKILL the harness at random moments: nothing recorded is lost or doubled, the same command finishes the rest.

`SCHEDGAP_KILLS=500` kills more often than a test run has time for, `SCHEDGAP_KILL_SEED=2` at other moments.
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

from schedgap.bench.records.journal import FILE_NAME
from schedgap.bench.records.pictures import read_pictures
from schedgap.bench.suites.results import FILE_NAME as PLAN
from schedgap.bench.suites.results import read_results

KILLS = int(os.environ.get("SCHEDGAP_KILLS", "8"))
SEED = int(os.environ.get("SCHEDGAP_KILL_SEED", "1"))
# A harness that is killed has recorded half as many rows on average.
ROWS_A_KILL = 16
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


def number_of_rows(path):
    """Of the same, without reading them: this is asked again and again."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def below(process):
    """The spawner, servers and children of a harness."""
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def test_kill_at_random_points(tmp_path, write_suite, hostile):
    """The moments: while it starts, plans and writes plans (one in eight), and after a random number of rows."""
    runs = ROWS_A_KILL * KILLS
    suite = write_suite(["x-random", "x-random[pause_s=0.02]"], seeds=runs // 2)
    out = tmp_path / "out"
    command = [sys.executable, "-c", CODE, str(suite), str(out), str(hostile)]
    rng = random.Random(SEED)
    kept, left, killed_working, killed_starting = [], [], 0, 0
    for _ in range(KILLS):
        before = number_of_rows(out / FILE_NAME)
        harness = subprocess.Popen(command)
        offset = rng.randrange(-2, ROWS_A_KILL - 2)
        if offset <= 0:
            time.sleep(rng.random() * 2)
        deadline = time.monotonic() + 60
        while harness.poll() is None and time.monotonic() < deadline:
            if number_of_rows(out / FILE_NAME) >= before + offset:
                break
            time.sleep(0.005)
        time.sleep(rng.random() * 0.05)
        left += below(harness)
        harness.send_signal(signal.SIGKILL)
        killed_working += harness.wait() == -signal.SIGKILL
        rows = whole_rows(out / FILE_NAME)
        killed_starting += len(rows) == before
        assert rows[: len(kept)] == kept
        kept = rows
        check_what_lies_beside(out, rows)
    assert killed_working > KILLS // 2
    subprocess.run(command, check=True, timeout=300)
    rows = whole_rows(out / FILE_NAME)
    assert rows[: len(kept)] == kept
    assert len(rows) == runs
    assert set(Counter(row["key"] for row in rows).values()) == {1}
    check_what_lies_beside(out, rows)
    assert read_results(out).planned == runs
    _, alive = psutil.wait_procs(left, timeout=10)
    assert alive == []
    print(
        f"{KILLS} kills from seed {SEED}, {killed_starting} before the first row; {len(rows)} rows, 0 lost, 0 doubled"
    )


def check_what_lies_beside(out, rows):
    """The plan and the hosts are whole or not there, and each recorded solution has its picture."""
    if (out / PLAN).exists():
        assert len(read_results(out).records) == len(rows)
    solved = {row["key"] for row in rows if row["objective"] is not None}
    assert set(read_pictures(out, solved)) == solved


def test_interrupt_is_clean(tmp_path, write_suite, hostile, start_harness):
    """Ctrl-C: exit code 130, one sentence, no process left, and what was recorded stays."""
    suite = write_suite(["x-random[pause_s=0.2]"], seeds=100)
    out = tmp_path / "out"
    harness = start_harness(suite, "--out", out, "--plugin", hostile)
    deadline = time.monotonic() + 60
    while len(whole_rows(out / FILE_NAME)) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    left = below(harness)
    harness.send_signal(signal.SIGINT)
    printed, complaint = harness.communicate(timeout=60)
    assert harness.returncode == 130, complaint
    assert printed == ""
    assert complaint == "interrupted; what was recorded stays, the same command finishes the rest.\n"
    assert 3 <= len(whole_rows(out / FILE_NAME)) < 100
    _, alive = psutil.wait_procs(left, timeout=10)
    assert alive == []
