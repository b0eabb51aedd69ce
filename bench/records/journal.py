"""The append-only record of a suite's runs: one fsynced JSON line a run, so that a kill loses nothing recorded.

A line as this version writes it is decoded and checked in one go; what rows share is recognised by its bytes, so that
it is parsed once. Any other line is read field by field, to say which of them is wrong.
"""

from __future__ import annotations

import errno
import fcntl
import gc
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import msgspec

from schedgap.bench.records.contradictions import Contradiction
from schedgap.bench.records.runs import (
    LACKING,
    MOST,
    OLDER,
    RUN_SCHEMA,
    Measurement,
    Record,
    Run,
    hashed,
    is_small,
    json_text,
)
from schedgap.instances.documents.openings import lines_of, open_given, open_own
from schedgap.instances.errors import JournalError, about_file

_RUN_FIELDS, _MEASUREMENT_FIELDS = Run.__struct_fields__, Measurement.__struct_fields__
_RUN = slice(1, 1 + len(_RUN_FIELDS))
_MEASUREMENT = slice(_RUN.stop, _RUN.stop + len(_MEASUREMENT_FIELDS))
# What a row may hold, by name, in order.
KINDS: Mapping[str, Any] = {
    "key": str,
    **{each.name: each.type for kind in (Run, Measurement) for each in msgspec.structs.fields(kind)},
    **dict.fromkeys(("host", "ended_at", "isolation"), str),
}
_NAMES = tuple(KINDS)
# Recognised by their bytes, and checked once.
_RAW = ("source", "parameters", "given", "limits")
_SOURCE, _PARAMETERS, _GIVEN, _LIMITS = map(_NAMES.index, _RAW)
_SHARED_TEXTS = tuple(
    place
    for place, (name, kind) in enumerate(KINDS.items())
    if kind in (str, str | None) and name not in ("key", "ended_at")
)


class Lines:
    """Reads lines, and keeps once what they have in common."""

    def __init__(self) -> None:
        self._pieces: dict[str, _Parsed] = {name: _Parsed(KINDS[name]) for name in ("parameters", "limits")}
        self._texts: dict[str | None, str | None] = {}
        self._written = _Written()

    def record(self, line: bytes) -> Record | None:
        """Return the record of a line as this version writes it, None of any other: that may hold one all the same."""
        # Bytes that are no text would pass where nothing is made of them.
        if not line.isascii():
            return None
        try:
            return self._made(_DECODER.decode(line))
        except (msgspec.MsgspecError, RecursionError, TypeError, ValueError):
            return None

    def of_row(self, row: Mapping[str, Any]) -> Record:
        """Return the record of a JSON object; `KeyError`, `TypeError` or `ValueError` if it is none, or has another's key.

        Rows of an older schema get what they lack; they stay as they are in their file.
        """
        full = {**(LACKING if row["schema"] == RUN_SCHEMA else OLDER[row["schema"]]), **row}
        values = {}
        for name, kind in KINDS.items():
            try:
                values[name] = msgspec.convert(full[name], kind)
            except msgspec.ValidationError as error:
                raise ValueError(f"{name} is {full[name]!r:.60}; {str(error).lower()}") from None
            if not is_small(full[name]):
                raise ValueError(f"{name} is {full[name]!r:.60}, a number beyond {MOST:g}")
        values |= {name: json.dumps(full[name]).encode() for name in _RAW}
        return self._made(_LINE(**values))

    def _made(self, line: Any) -> Record:
        """Return the record of a decoded line, which has an attribute for each field; `ValueError` if its key is another's."""
        if not -MOST < (line.objective or 0) < MOST or not -MOST < (line.bound or 0) < MOST:
            raise ValueError(f"a number beyond {MOST:g}")
        mappings, written = self._pieces["parameters"], self._written
        limits, written_limits = self._pieces["limits"][bytes(line.limits)]
        parameters, written_parameters = mappings[bytes(line.parameters)]
        key = hashed(
            written[line.backend],
            written[line.backend_version],
            written[line.digest],
            written[line.family],
            written_limits,
            written[line.method],
            written_parameters,
            written[line.plugin],
            # As `json_text` writes whole numbers.
            str(line.seed),
            str(line.version),
        )
        if line.key != key:
            raise ValueError(f"its key is {line.key!r:.60}, its own parts make it '{key}'")
        values = list(msgspec.structs.astuple(line))
        for place in _SHARED_TEXTS:
            text = values[place]
            values[place] = self._texts.setdefault(text, text)
        values[_SOURCE], _ = mappings[bytes(line.source)]
        values[_GIVEN], _ = mappings[bytes(line.given)]
        values[_LIMITS], values[_PARAMETERS] = limits, parameters
        return Record(key, Run(*values[_RUN]), Measurement(*values[_MEASUREMENT]), *values[_MEASUREMENT.stop :])


class _Written(dict[str | None, str]):
    """Texts as `json_text` writes them."""

    def __missing__(self, text: str | None) -> str:
        written = self[text] = json_text(text)
        return written


class _Parsed(dict[bytes, Any]):
    """What pieces of JSON of one kind stand for, and how `json_text` writes them, by their bytes.

    Pieces of equal content are kept once: `True`, `1` and `1.0` are equal and yet not the same, but written differently.
    """

    def __init__(self, kind: Any) -> None:
        super().__init__()
        self._kind = kind
        self._made: dict[str, Any] = {}

    def __missing__(self, content: bytes) -> Any:
        said = json.loads(content)
        made, written = msgspec.convert(said, self._kind), json_text(said)
        if not is_small(said):
            raise ValueError(content)
        found = self[content] = self._made.setdefault(json.dumps(said), made), written
        return found


def _line_type(schema: str, lacking: Mapping[str, Any]) -> type[msgspec.Struct]:
    """Return the type of a schema's lines. lacking : what an older schema may lack, and what it means by that."""
    types = {**KINDS, **dict.fromkeys(_RAW, msgspec.Raw)}
    columns = [(name, kind, *([lacking[name]] if name in lacking else [])) for name, kind in types.items()]
    return msgspec.defstruct("Line", columns, tag_field="schema", tag=schema, kw_only=True, gc=False)


_LINE = _line_type(RUN_SCHEMA, LACKING)
_DECODER: msgspec.json.Decoder[Any] = msgspec.json.Decoder(
    _LINE | _line_type("schedgap/run/1", OLDER["schedgap/run/1"])
)


@contextmanager
def gc_paused() -> Iterator[None]:
    """Look for no cyclic garbage meanwhile: where there is none, all that was made would be looked at again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


VERDICT_SCHEMA = "schedgap/verdict/1"
FILE_NAME = "journal.jsonl"
# Read at a time: with the usual 8 KiB, a tenth of the time would be system calls.
READ_BYTES = 1 << 20
KEPT_NAME = "journal.kept-{}.jsonl"
# How the first line begins, without spaces.
_START = b'{"schema":"schedgap/'


class Journal:
    """A directory with `journal.jsonl`, held by one harness at a time; a context manager.

    A later row of the same key replaces an earlier one. Verdict rows tell of claims that a solution refutes; they
    change nothing by themselves, since whoever reads the runs finds the same (see `contradictions.judged`), and since a
    contradiction ends when the method that lied is mended.

    A run is somebody's code with this user's rights: whether the file is still the one that was opened, and holds what it
    did when it was opened and what was appended since, is asked before each row and at the end, however that comes. If not,
    all rows that are known go to a file beside it (`KEPT_NAME`).

    Raises
    ------
    JournalError
        if the directory cannot be written, another harness holds it, its file has another name too or is none, or a line is
        not what this version writes.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.path = directory / FILE_NAME
        with about_file(self.path, "written", JournalError, "choose another directory with --out"):
            directory.mkdir(parents=True, exist_ok=True)
            self._fd = open_own(self.path, os.O_RDWR | os.O_APPEND)
        try:
            self._lock()
            self._verdicts: set[Contradiction] = set()
            self.records = read_journal(directory, self._verdicts)
            self._mend()
            # Size, digest and times of what was written, which change at once, whenever an interruption comes. The digest
            # grows with each row, so that all of the file is read but once.
            self._written = os.fstat(self._fd).st_size, _digest(self._fd), _looks(self._fd)
            _sync_directory(directory)
        except BaseException:
            os.close(self._fd)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if not isinstance(error, JournalError):
                self._require_own(at_end=True)
        finally:
            os.close(self._fd)

    def append(self, record: Record) -> None:
        """Write a run down; when this returns, it survives a kill and a power failure.

        Raises
        ------
        JournalError
            if the disk is full or fails, what was written before stays whole; if somebody else has changed the file.
        """
        self._require_own({record.key: record})
        self._write(record.to_row())
        self.records[record.key] = record

    def append_verdict(self, contradiction: Contradiction) -> None:
        """Write down that a run's claim is false, once."""
        if contradiction not in self._verdicts:
            self._require_own()
            self._verdicts.add(contradiction)
            self._write(verdict_row(contradiction))

    def _write(self, row: dict[str, Any]) -> None:
        line = journal_line(row)
        left, (size, digest, _) = memoryview(line), self._written
        try:
            while left:
                left = left[os.write(self._fd, left) :]
            os.fsync(self._fd)
            self._written = size + len(line), _grown(digest, line), _looks(self._fd)
        except OSError as error:
            os.ftruncate(self._fd, size)
            raise JournalError(
                f"{self.path}: cannot be written ({error.strerror}); {len(self.records)} runs are recorded. "
                "Make room, then give the same command again to finish the rest."
            ) from None
        except BaseException:
            # Ctrl-C: a whole line stays, the run of a part is done again.
            if os.fstat(self._fd).st_size == size + len(line):
                self._written = size + len(line), _grown(digest, line), _looks(self._fd)
            else:
                os.ftruncate(self._fd, size)
            raise

    def _require_own(self, unwritten: Mapping[str, Record] | None = None, *, at_end: bool = False) -> None:
        """Raise `JournalError` unless the file is the one that was opened, and as it was left.

        It is read again only where its times have changed, and at the end: an edit within the few milliseconds that the system
        counts as one moment, or with the clock set back, is found then. O(1), else O(size): 0.1 s for 100,000 rows.

        unwritten : a run that is about to be written down, and is kept too.
        """
        mine, (size, digest, known_looks) = os.fstat(self._fd), self._written
        try:
            there = os.stat(self.path)
        except OSError as error:
            problem = f"is not there any more ({error.strerror})"
        else:
            if (there.st_ino, there.st_dev) != (mine.st_ino, mine.st_dev):
                problem = "is another file than the one that was opened"
            elif there.st_size != size:
                problem = f"has {there.st_size} bytes, {size} were written"
            else:
                looks = _looks(self._fd)
                if not at_end and looks == known_looks:
                    return
                if _digest(self._fd).digest() == digest.digest():
                    self._written = size, digest, looks
                    return
                problem = f"has other content than was written, of the same {size} bytes"
        kept = self._keep({**self.records, **(unwritten or {})})
        raise JournalError(f"{self.path} {problem}: something else writes here, maybe a run; {kept}.")

    def _keep(self, records: Mapping[str, Record]) -> str:
        """Write all that is known to a new file beside the journal, and return what to say of it."""
        number = 1
        while os.path.lexists(path := self.directory / KEPT_NAME.format(number)):
            number += 1
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            with open(path, "xb") as file:
                file.writelines(journal_line(record.to_row()) for record in records.values())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            return f"what was measured cannot be kept in {path} ({error.strerror})"
        return f"all {len(records)} runs are kept in {path}, rename it to {FILE_NAME} to go on with them"

    def _lock(self) -> None:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise JournalError(f"{self.path}: cannot be locked ({error.strerror}); choose a local disk.") from None
            raise JournalError(
                f"{self.path}: another schedgap writes here; wait until it has finished, or choose another --out."
            ) from None

    def _mend(self) -> None:
        """Drop a torn last line: the run that it was of is not recorded and will be done again.

        Raises
        ------
        JournalError
            if it is the first, and no beginning of a line of ours: nothing else tells whose file it is.
        """
        size = os.fstat(self._fd).st_size
        keep = size
        while keep:
            start = max(0, keep - 65536)
            cut = os.pread(self._fd, keep - start, start).rfind(b"\n")
            if cut >= 0:
                keep = start + cut + 1
                break
            keep = start
        if keep < size:
            torn = os.pread(self._fd, 65536, keep).replace(b" ", b"")
            if keep == 0 and not torn.startswith(_START[: len(torn)]):
                raise JournalError(f"{self.path} line 1: no record of a run; remove the file or choose another --out.")
            os.ftruncate(self._fd, keep)
            os.fsync(self._fd)


def read_journal(
    directory: Path, verdicts: set[Contradiction] | None = None, lines: Lines | None = None
) -> dict[str, Record]:
    """Return the recorded runs by key, in the order in which they were first recorded; a torn last line is left out.

    verdicts : is filled with those recorded. lines : reads them; one for several journals keeps once what they share.

    Raises
    ------
    JournalError
        naming the line that is not what this version writes.
    """
    path = directory / FILE_NAME
    refusing = about_file(path, "read", JournalError, "give the directory of a suite's runs")
    with refusing, open_given(path, READ_BYTES) as file, gc_paused():
        return _read(path, lines_of(file), verdicts, lines or Lines())


def _read(path: Path, file: Iterable[bytes], verdicts: set[Contradiction] | None, lines: Lines) -> dict[str, Record]:
    """Read line by line, in O(bytes). 100,000 rows of 1.2 kB: 1.2 s of processor time, 0.4 s of it parsing JSON.

    What rows share is kept once, so that all of them take some 100 MiB.
    """
    records: dict[str, Record] = {}
    for _, row in read_rows(path, file, lines):
        if isinstance(row, Record):
            records[row.key] = row
        elif verdicts is not None:
            verdicts.add(row)
    return records


def read_rows(path: Path, file: Iterable[bytes], lines: Lines) -> Iterator[tuple[bytes, Record | Contradiction]]:
    """Yield each line of a journal with what it says; a torn last one is left out.

    Raises
    ------
    JournalError
        naming the line that is not what this version writes.
    """
    for number, line in enumerate(file, start=1):
        if not line.endswith(b"\n"):
            break  # Torn.
        if (known := lines.record(line)) is not None:
            yield line, known
            continue
        try:
            row = json.loads(line, parse_constant=_no_number)
            schema = row["schema"]
            if schema == RUN_SCHEMA or schema in OLDER:
                yield line, lines.of_row(row)
                continue
            if schema == VERDICT_SCHEMA:
                yield line, Contradiction(tuple(row["keys"]), row["reason"])
                continue
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            said = error if isinstance(error, ValueError) else repr(error)
            raise JournalError(
                f"{path} line {number}: no record of a run ({said}); restore the file or choose another --out."
            ) from None
        raise JournalError(
            f"{path} line {number}: schema '{schema}', this version reads '{RUN_SCHEMA}'; "
            "use the version that wrote it, or choose another --out."
        )


def verdict_row(contradiction: Contradiction) -> dict[str, Any]:
    """Return the row that tells of a false claim."""
    return {"schema": VERDICT_SCHEMA, "keys": contradiction.keys, "reason": contradiction.reason}


def journal_line(row: Mapping[str, Any]) -> bytes:
    """Return a row as a line of the journal."""
    return json.dumps(row, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _looks(fd: int) -> tuple[int, int]:
    """Return the times of a file's last changes; nobody sets the second but the system."""
    found = os.fstat(fd)
    return found.st_mtime_ns, found.st_ctime_ns


def _grown(digest: hashlib._Hash, line: bytes) -> hashlib._Hash:
    grown = digest.copy()
    grown.update(line)
    return grown


def _digest(fd: int) -> hashlib._Hash:
    """Return the hash of all that a file holds, to go on with."""
    digest = hashlib.sha256()
    place = 0
    while block := os.pread(fd, READ_BYTES, place):
        digest.update(block)
        place += len(block)
    return digest


def _sync_directory(directory: Path) -> None:
    fd = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
