"""Two harnesses, a full disk, a read-only directory: one sentence, exit code 2, and what was recorded stays whole."""

import errno
import json
import os
import signal
import time

import pytest

from schedgap.bench.records.journal import FILE_NAME
from schedgap.bench.records.pictures import read_pictures


def whole_rows(out):
    path = out / FILE_NAME
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]] if path.exists() else []


@pytest.fixture
def run(start_harness, hostile):
    """Start a harness that does two runs at a time."""

    def start(out, suite, before=""):
        return start_harness(suite, "--out", out, "--plugin", hostile, "-j", "2", before=before)

    return start


def test_second_harness_says_so(tmp_path, write_suite, run):
    suite, out = write_suite(["x-random[pause_s=0.5]"], seeds=200), tmp_path / "out"
    first = run(out, suite)
    deadline = time.monotonic() + 60
    while len(whole_rows(out)) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    second = run(out, suite)
    printed, complaint = second.communicate(timeout=60)
    assert (second.returncode, printed) == (2, "")
    assert complaint == (
        f"JournalError: {out / FILE_NAME}: another schedgap writes here; wait until it has finished, "
        "or choose another --out.\n"
    )
    before = len(whole_rows(out))
    first.send_signal(signal.SIGINT)
    _, complaint = first.communicate(timeout=60)
    assert (first.returncode, complaint.count("\n")) == (130, 1)
    assert len({row["key"] for row in whole_rows(out)}) == len(whole_rows(out)) >= before


@pytest.mark.parametrize(("method", "file"), [("x-nothing", FILE_NAME), ("x-honest", "pictures.jsonl")])
def test_full_disk(tmp_path, write_suite, run, method, file):
    """The system cuts the write that goes beyond the room; with more room the same command does the rest."""
    suite, out = write_suite([method], seeds=40, tasks=40), tmp_path / "out"
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000));"
    harness = run(out, suite, limit)
    printed, complaint = harness.communicate(timeout=120)
    assert (harness.returncode, printed) == (2, "")
    assert complaint.startswith(f"JournalError: {out / file}: cannot be written (File too large); ")
    assert complaint.count("\n") == 1
    kept = whole_rows(out)
    assert 0 < len(kept) < 40
    harness = run(out, suite)
    printed, complaint = harness.communicate(timeout=120)
    assert (harness.returncode, complaint) == (0, "")
    assert json.loads(printed)["measured_now"] == 40 - len(kept)
    assert whole_rows(out)[: len(kept)] == kept
    assert len({row["key"] for row in whole_rows(out)}) == len(whole_rows(out)) == 40
    solved = {row["key"] for row in whole_rows(out) if row["objective"] is not None}
    assert set(read_pictures(out, solved)) == solved


def test_read_only_directory(tmp_path, write_suite, schedgap, monkeypatch):
    """Whoever runs the tests may write anywhere, so the system call says what a read-only disk would."""
    opened = os.open

    def refuse(path, flags, *mode, **others):
        if str(path).endswith(FILE_NAME) and flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return opened(path, flags, *mode, **others)

    monkeypatch.setattr(os, "open", refuse)
    out = tmp_path / "out"
    assert schedgap("run", write_suite(["no-packing"]), "--out", out) == (
        2,
        "",
        f"JournalError: {out / FILE_NAME}: cannot be written (Read-only file system); "
        "choose another directory with --out.\n",
    )


def test_no_directory_at_all(tmp_path, write_suite, schedgap):
    (tmp_path / "file").write_text("")
    out = tmp_path / "file" / "out"
    assert schedgap("run", write_suite(["no-packing"]), "--out", out) == (
        2,
        "",
        f"JournalError: {out / FILE_NAME}: cannot be written (Not a directory); choose another directory with --out.\n",
    )
