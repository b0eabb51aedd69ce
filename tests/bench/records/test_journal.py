"""The journal: nothing recorded is lost, torn lines are mended, trouble is said in words."""

import errno
import gc
import json
import os
import shutil
import time

import pytest

from schedgap.bench.records.contradictions import Contradiction
from schedgap.bench.records.journal import FILE_NAME, KEPT_NAME, Journal, read_journal
from schedgap.instances.errors import JournalError


@pytest.fixture
def records(make_record):
    trajectory = ((0.5, 7, None), (1.0, 5, 3))
    return [
        make_record("a", objective=5, bound=3, wall_s=0.25, trajectory=trajectory, details={"nodes": 3}),
        make_record("b", objective=6, output="a\nb\x00"),
    ]


def write(directory, records):
    with Journal(directory) as journal:
        for record in records:
            journal.append(record)


def test_round_trip(tmp_path, records):
    """What was appended is read back, field by field, in order."""
    write(tmp_path / "new" / "folder", records)
    assert list(read_journal(tmp_path / "new" / "folder").values()) == records


def test_appends_to_what_is_there(tmp_path, records):
    write(tmp_path, records[:1])
    write(tmp_path, records[1:])
    assert list(read_journal(tmp_path).values()) == records


def test_a_later_row_replaces_an_earlier_one(tmp_path, make_record, records):
    again = make_record("a", objective=4)
    assert again.key == records[0].key
    write(tmp_path, [*records, again])
    assert list(read_journal(tmp_path).values()) == [again, records[1]]


def test_every_torn_last_line_is_mended(tmp_path, records):
    """Cut after any byte of the last line: the first record stays, the second can be appended again."""
    path = tmp_path / FILE_NAME
    write(tmp_path, records)
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for cut in range(first, len(whole), 37):
        path.write_bytes(whole[:cut])
        write(tmp_path, records[1:])
        assert path.read_bytes() == whole


def test_torn_before_the_first_newline(tmp_path, records):
    (tmp_path / FILE_NAME).write_bytes(b'{"schema": "sched')
    write(tmp_path, records)
    assert list(read_journal(tmp_path).values()) == records


@pytest.mark.parametrize("content", [b"my notes", b"my notes\nthe last line", b'{"schema": "mine/1"}', b"\x00"])
def test_nothing_is_taken_from_a_file_of_something_else(tmp_path, content):
    """Whose file it is, is asked before its last line counts as torn."""
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(JournalError, match="line 1: no record of a run"):
        Journal(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes() == content


def test_second_harness_is_told(tmp_path):
    with Journal(tmp_path), pytest.raises(JournalError, match="another schedgap writes here"):
        Journal(tmp_path)
    with Journal(tmp_path):
        pass


def test_full_disk(tmp_path, records, monkeypatch):
    """Half a line goes to the disk before it is full: it is taken back, and the message counts what is safe."""
    with Journal(tmp_path) as journal:
        journal.append(records[0])
        write_line, sizes = os.write, []

        def full(fd, data):
            sizes.append(len(data))
            if len(sizes) == 1:
                return write_line(fd, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(JournalError, match=r"No space left on device\); 1 runs are recorded"):
            journal.append(records[1])
        monkeypatch.undo()
        journal.append(records[1])
    assert list(read_journal(tmp_path).values()) == records


def test_directory_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="cannot be written"):
        Journal(tmp_path / "file" / "below")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("not JSON", "line 2: no record of a run"),
        ("[]", "line 2: no record of a run"),
        ('{"schema": "schedgap/run/1"}', "line 2: no record of a run"),
        ('{"schema": "schedgap/run/0"}', "line 2: schema 'schedgap/run/0', this version reads 'schedgap/run/2'"),
    ],
)
def test_a_line_of_something_else(tmp_path, records, line, message):
    write(tmp_path, records[:1])
    with open(tmp_path / FILE_NAME, "a") as file:
        file.write(line + "\n")
    with pytest.raises(JournalError, match=message):
        Journal(tmp_path)


def test_verdicts_are_written_once(tmp_path, records):
    """They are information: the runs stay as they were measured."""
    verdict = Contradiction(tuple(record.key for record in records), "both cannot be")
    for _ in range(2):
        with Journal(tmp_path) as journal:
            journal.append(records[0])
            journal.append_verdict(verdict)
            journal.append_verdict(verdict)
    lines = [json.loads(line) for line in (tmp_path / FILE_NAME).read_text().splitlines()]
    assert [line["schema"] for line in lines].count("schedgap/verdict/1") == 1
    assert list(read_journal(tmp_path).values()) == records[:1]


def test_an_older_schema_is_upgraded_while_reading(tmp_path, records):
    """Rows of `schedgap/run/1` know nothing of `stochastic`, `reference_s` and `measures`; they stay as they are in the file."""
    row = records[0].to_row() | {"schema": "schedgap/run/1"}
    del row["stochastic"], row["reference_s"], row["measures"]
    line = json.dumps(row) + "\n"
    (tmp_path / FILE_NAME).write_text(line)
    with Journal(tmp_path) as journal:
        assert journal.records == {records[0].key: records[0]}
    assert (tmp_path / FILE_NAME).read_text() == line


def test_whatever_was_printed_is_read_back(tmp_path, make_record):
    """Halves of surrogates, which JSON can write and strict parsers refuse, line ends of other kinds, and 63 bits."""
    output = "\ud800 \u2028 \r \x85 \x00 \U0001f600 \\ud800"
    record = make_record("a", objective=2**63 - 1, bound=2**53 + 1, output=output, wall_s=0.1 + 0.2)
    write(tmp_path, [record])
    assert list(read_journal(tmp_path).values()) == [record]


def remove(path, records):
    path.unlink()


def replace_by_a_copy(path, records):
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content)


def cut(path, records):
    os.truncate(path, 10)


def append_a_row(path, records):
    with path.open("a") as file:
        file.write(json.dumps(records[1].to_row() | {"objective": 1}) + "\n")


def remove_the_directory(path, records):
    shutil.rmtree(path.parent)


def edit(path, records):
    """Of the same length; the time of the last change is set back, as far as one may."""
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(path.read_bytes().index(b'"objective":5') + len(b'"objective":'))
        file.write(b"9")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (remove, "is not there any more"),
        (replace_by_a_copy, "is another file than the one that was opened"),
        (cut, "has 10 bytes, [0-9]+ were written"),
        (append_a_row, "has [0-9]+ bytes, [0-9]+ were written"),
        (remove_the_directory, "is not there any more"),
        (edit, "has other content than was written, of the same [0-9]+ bytes"),
    ],
)
@pytest.mark.parametrize("number", [1, 2])
def test_what_a_run_does_to_the_journal_is_noticed(tmp_path, records, change, message, number):
    """At the end, and before the next row; what is known, the row that could not be written too, is in a file beside."""
    path = tmp_path / "out" / FILE_NAME
    message = f"{message}.*something else writes here.* all {number} runs are kept in .* rename it to {FILE_NAME}"
    with pytest.raises(JournalError, match=message), Journal(path.parent) as journal:
        journal.append(records[0])
        # Changes within one tick of the system's clock look like one.
        time.sleep(0.02)
        change(path, records)
        if number == 2:
            journal.append(records[1])
    path.with_name(KEPT_NAME.format(1)).rename(path)
    assert list(read_journal(path.parent).values()) == records[:number]


def test_nothing_that_was_kept_is_written_over(tmp_path, records):
    for record in records:
        with pytest.raises(JournalError), Journal(tmp_path) as journal:
            journal.append(record)
            (tmp_path / FILE_NAME).unlink()
    kept = [(tmp_path / KEPT_NAME.format(number)).read_bytes() for number in (1, 2)]
    assert [json.loads(content)["key"] for content in kept] == [record.key for record in records]


def test_a_disk_that_cannot_keep_anything_either(tmp_path, records, monkeypatch):
    message = r"is not there any more.*cannot be kept in .* \(No space left on device\)"
    with pytest.raises(JournalError, match=message), Journal(tmp_path) as journal:
        (tmp_path / FILE_NAME).unlink()
        monkeypatch.setattr(os, "fsync", full_disk)
        journal.append(records[0])


def full_disk(fd):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_line_without_its_end_is_not_read(tmp_path, records):
    """A suite under way is writing it; a whole line is read even so."""
    write(tmp_path, records)
    path = tmp_path / FILE_NAME
    path.write_bytes(path.read_bytes()[:-1])
    assert list(read_journal(tmp_path).values()) == records[:1]


def test_reading_leaves_garbage_collection_as_it_was(tmp_path, records):
    write(tmp_path, records)
    for was_enabled in (False, True):
        (gc.enable if was_enabled else gc.disable)()
        read_journal(tmp_path)
        assert gc.isenabled() is was_enabled
    with pytest.raises(JournalError, match="cannot be read"):
        read_journal(tmp_path / "nowhere")
    assert gc.isenabled()


def test_an_edit_is_noticed_however_a_command_ends(tmp_path, records):
    with pytest.raises(JournalError, match="has other content than was written"), Journal(tmp_path) as journal:
        journal.append(records[0])
        edit(tmp_path / FILE_NAME, records)
        raise KeyboardInterrupt


def test_an_edit_of_rows_of_earlier_commands(tmp_path, records):
    write(tmp_path, records[:1])
    with pytest.raises(JournalError, match="has other content than was written"), Journal(tmp_path) as journal:
        edit(tmp_path / FILE_NAME, records)
        journal.append(records[1])
    assert [json.loads(line)["objective"] for line in (tmp_path / KEPT_NAME.format(1)).read_text().splitlines()] == [
        5,
        6,
    ]


def test_what_changes_no_byte_is_allowed(tmp_path, records):
    """A backup may give the file a second name, an administrator other rights."""
    path = tmp_path / FILE_NAME
    with Journal(tmp_path) as journal:
        journal.append(records[0])
        os.chmod(path, 0o600)
        os.link(path, tmp_path / "backup")
        os.utime(path)
        journal.append(records[1])
    assert list(read_journal(tmp_path).values()) == records


def test_rows_are_read_again_only_where_something_has_changed(tmp_path, records, monkeypatch):
    """However many there are, a row costs the same: the file is read when it is opened, and at the end."""
    read, preads = os.pread, []
    monkeypatch.setattr(os, "pread", lambda fd, size, place: preads.append(place) or read(fd, size, place))
    with Journal(tmp_path) as journal:
        opened = len(preads)
        for _ in range(10):
            journal.append(records[0])
        assert len(preads) == opened
    assert len(preads) > opened


def link(path, other):
    os.link(other, path)


def symlink(path, other):
    path.symlink_to(other)


def pipe(path, other):
    os.mkfifo(path)


def folder(path, other):
    path.mkdir()


OTHERS = [(link, "hard link"), (symlink, "symbolic link"), (pipe, "a pipe"), (folder, "directory")]


@pytest.mark.parametrize(("make", "message"), OTHERS)
def test_nothing_else_is_written_to(tmp_path, records, make, message):
    """Not even a journal of somebody else, which only has another name here."""
    write(tmp_path / "other", records)
    before = (tmp_path / "other" / FILE_NAME).read_bytes()
    (tmp_path / "out").mkdir()
    make(tmp_path / "out" / FILE_NAME, tmp_path / "other" / FILE_NAME)
    with pytest.raises(JournalError, match=rf"journal\.jsonl: cannot be written \(.*{message}"):
        Journal(tmp_path / "out")
    assert (tmp_path / "other" / FILE_NAME).read_bytes() == before


def test_an_interruption_while_a_row_is_written_is_no_edit(tmp_path, make_record, monkeypatch):
    """Ctrl-C comes once the line is in the file, and before it is known there; or in its midst: the run is done again."""
    with pytest.raises(KeyboardInterrupt), Journal(tmp_path) as journal:
        journal.append(make_record("a", objective=1))
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", interrupt)
            journal.append(make_record("b", objective=1))
    with pytest.raises(KeyboardInterrupt), Journal(tmp_path) as journal, monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda fd, line: os_write(fd, line[:9]) and interrupt(fd))
        journal.append(make_record("c", objective=1))
    assert [record.run.label for record in read_journal(tmp_path).values()] == ["a", "b"]


os_write = os.write


def interrupt(fd):
    raise KeyboardInterrupt
