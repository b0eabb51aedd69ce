"""Folders for temporary files, and what becomes of those whose process was killed."""

import os
import subprocess
import sys
import tempfile

import pytest

from schedgap.bench.isolation.scratch import Scratch, sweep

HOLD = "from schedgap.bench.isolation.scratch import Scratch; print(Scratch().path, flush=True); input()"


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_a_folder_goes_with_all_that_is_in_it(root):
    scratch = Scratch()
    inner = scratch.path / "run-1" / "locked"
    inner.mkdir(parents=True)
    (inner / "file").touch()
    inner.chmod(0o500)
    scratch.remove()
    assert list(root.iterdir()) == []


def test_what_a_kill_left_is_swept_and_nothing_else(root):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    ) as held:
        path = held.stdout.readline().strip()
        (root / "schedgap-other").mkdir()
        (root / "schedgap-file").touch()
        (root / "of-somebody").mkdir()
        sweep()
        assert os.path.isdir(path)
        held.kill()
    sweep()
    assert sorted(entry.name for entry in root.iterdir()) == ["of-somebody", "schedgap-file", "schedgap-other"]
