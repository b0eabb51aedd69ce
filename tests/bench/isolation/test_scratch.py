"""Folders for temporary files, and what becomes of those whose process was killed."""

import inspect
import os
import resource
import shutil
import subprocess
import sys
import tempfile

import pytest

from schedgap.bench.isolation.scratch import PREFIX, Scratch, _empty, sizes_of_files, sweep

HOLD = "from schedgap.bench.isolation.scratch import Scratch; print(Scratch().path, flush=True); input()"


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_a_folder_goes_with_all_that_is_in_it(root):
    scratch = Scratch()
    inner = scratch.fresh() / "locked"
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
        (root / f"{PREFIX}link").symlink_to(root / "of-somebody")
        sweep()
        assert os.path.isdir(path)
        held.kill()
    sweep()
    assert sorted(entry.name for entry in root.iterdir()) == ["of-somebody", "schedgap-file", "schedgap-other"]


def test_folders_in_folders(root):
    """More than a process may have files open or calls in calls, and none of them lets anybody in."""
    scratch, levels = Scratch(), 150
    inner = os.open(scratch.fresh(), os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=inner)
        outer, inner = inner, os.open("d", os.O_RDONLY, dir_fd=inner)
        os.fchmod(outer, 0)
        os.close(outer)
    os.close(inner)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    calls = sys.getrecursionlimit()
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 20, hard))
        sys.setrecursionlimit(len(inspect.stack()) + levels // 2)
        scratch.remove()
    finally:
        sys.setrecursionlimit(calls)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("kind", ["to-a-file", "to-a-folder", "hard"])
def test_links_are_not_followed(root, kind):
    precious = root / "precious"
    precious.mkdir()
    (precious / "file").touch()
    (precious / "file").chmod(0o440)
    precious.chmod(0o550)
    scratch = Scratch()
    folder = scratch.fresh() / "d"
    folder.mkdir()
    if kind == "hard":
        os.link(precious / "file", folder / "l")
    else:
        (folder / "l").symlink_to(precious if kind == "to-a-folder" else precious / "file")
    folder.chmod(0o555)
    scratch.remove()
    assert [each.stat().st_mode & 0o777 for each in (precious, precious / "file")] == [0o550, 0o440]
    assert list(root.iterdir()) == [precious]
    precious.chmod(0o700)


@pytest.mark.parametrize("instead", ["nothing", "a-link", "a-folder"])
@pytest.mark.parametrize("levels", [1, 2])
def test_a_folder_that_is_gone(root, instead, levels):
    """Nothing around it changes, and what was put in its place is no folder of ours."""
    (root / "precious").mkdir()
    (root / "precious" / "file").touch()
    modes = root.stat().st_mode, root.parent.stat().st_mode
    scratch = Scratch()
    inner = scratch.fresh()
    gone = inner if levels == 1 else scratch.path
    shutil.rmtree(gone)
    if instead == "a-link":
        gone.symlink_to(root / "precious")
    elif instead == "a-folder":
        gone.mkdir()
    scratch.clear()
    again = scratch.fresh()
    assert (list(again.iterdir()), again == inner) == ([], levels == 1)
    scratch.remove()
    assert (root.stat().st_mode, root.parent.stat().st_mode) == modes
    assert (root / "precious" / "file").exists()
    left = [gone.name] if instead == "a-folder" and levels == 2 else []
    assert sorted(entry.name for entry in root.iterdir()) == sorted(["precious", *left])


def test_a_folder_that_was_moved(root):
    scratch = Scratch()
    (scratch.fresh() / "file").touch()
    scratch.path.rename(root / "elsewhere")
    scratch.remove()
    assert list(root.iterdir()) == []


def test_the_folder_for_all_that_is_gone(root, monkeypatch):
    """Another one is found, as by any program that starts now."""
    Scratch().remove()
    os.rmdir(root)
    with Scratch() as scratch:
        assert scratch.path.is_dir()
    assert not scratch.path.exists()


def test_sizes_of_files_over_several_looks(tmp_path):
    """A file of two names counts once, links are not followed, and each of the ten entries is a KiB at least."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"x" * 8192)
    os.link(tmp_path / "a" / "b", tmp_path / "a" / "c")
    (tmp_path / "link").symlink_to(".")
    for number in range(6):
        (tmp_path / str(number)).touch()
    looks = sizes_of_files(tmp_path, 4)
    for _ in range(2):
        found = [next(looks) for _ in range(3)]
        assert [is_all for _, is_all in found] == [False, False, True]
        sizes = [size for size, _ in found]
        assert sizes == sorted(sizes)
        assert sizes[-1] == 10 * 1024 + 8192


def test_what_cannot_be_counted_is_more_than_any_limit(tmp_path):
    """A path that is longer than the system takes; a folder that is gone is nothing."""
    assert next(sizes_of_files(tmp_path / "none")) == (0, True)
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=here)
        inner = os.open("d" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    assert next(sizes_of_files(tmp_path)) == (sys.maxsize, True)
    # pytest's own clearing up takes paths.
    scratch = os.open(tmp_path, os.O_RDONLY)
    _empty(scratch)
    os.close(scratch)
