"""Only files are read and written: what else has a file's name ends in a sentence, and nothing waits or grows without end."""

import os
import socket

import pytest

from schedgap.bench.records.host import write_host
from schedgap.bench.records.pictures import append_picture
from schedgap.bench.suites.results import write_plan
from schedgap.bench.suites.suite import read_suite
from schedgap.instances.documents.json_files import write_whole
from schedgap.instances.documents.openings import lines_of, open_given, read_given
from schedgap.instances.errors import JournalError, SolutionError
from schedgap.instances.picture import Picture


def bind(path):
    """By its short name: that of a socket may not be long."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path.name)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (os.mkfifo, "a pipe, no file; write what it gives into a file first"),
        (lambda path: path.symlink_to("/dev/zero"), "a device"),
        (lambda path: path.mkdir(), "directory"),
        (bind, "a socket"),
    ],
)
def test_what_is_no_file_is_not_read(tmp_path, monkeypatch, make, message):
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "x")
    with pytest.raises(OSError, match=message):
        open_given(tmp_path / "x")


def test_a_link_to_a_file_is_read(tmp_path):
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_given(tmp_path / "link") == b"text"


def test_no_more_is_read_than_may_be(tmp_path):
    """A file of a TiB that takes no room, one that says it is empty, and one line of all that there is."""
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(2**40)
    with pytest.raises(OSError, match="it has more than 1000 bytes"):
        read_given(tmp_path / "sparse", 1000)
    with pytest.raises(OSError, match="it has more than 10 bytes"):
        read_given("/proc/self/status", 10)
    with open_given(tmp_path / "sparse") as file, pytest.raises(OSError, match="a line has more than 1000 bytes"):
        next(lines_of(file, 1000))


def write_pictures(folder):
    append_picture(folder, "a", Picture((), ()))


def write_a_host(folder):
    write_host(folder, {"schema": "schedgap/host/1"})


def write_a_plan(folder):
    write_plan(folder, read_suite("smoke")[0], [], [])


def test_no_other_file_gets_a_picture(tmp_path):
    """A run may leave a link where the harness will write."""
    (tmp_path / "mine").write_text("notes\n")
    for make in (os.link, os.symlink):
        make(tmp_path / "mine", tmp_path / "pictures.jsonl")
        with pytest.raises(JournalError, match=r"pictures\.jsonl: cannot be written \(.* link; .*\)"):
            write_pictures(tmp_path)
        (tmp_path / "pictures.jsonl").unlink()
    assert (tmp_path / "mine").read_text() == "notes\n"


def test_no_other_folder_gets_a_host(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "hosts").symlink_to(tmp_path / "mine")
    with pytest.raises(JournalError, match="hosts: it is a symbolic link; remove it"):
        write_a_host(tmp_path)
    assert not list((tmp_path / "mine").iterdir())


@pytest.mark.parametrize("make", [os.link, os.symlink, lambda _, path: os.mkfifo(path)])
@pytest.mark.parametrize(
    ("write", "name"),
    [
        (write_a_plan, "plan.json"),
        (write_a_host, "hosts/33b1e670dd59.json"),
        (lambda folder: write_whole(folder / "x.json", b"new", SolutionError), "x.json"),
    ],
)
def test_files_that_are_replaced_leave_what_was_linked(tmp_path, make, write, name):
    """Neither what has the name itself is written to, nor what has that of the file in the making."""
    mine, target = tmp_path / "mine", tmp_path / "out" / name
    mine.write_text("notes")
    target.parent.mkdir(parents=True)
    for each in (target, target.with_name(f"{target.name}.partial")):
        make(mine, each)
    if name.startswith("hosts"):
        target.unlink()
    write(tmp_path / "out")
    assert mine.read_text() == "notes"
    assert target.is_file()
    assert not target.is_symlink()
    assert [path.name for path in target.parent.iterdir()] == [target.name]
