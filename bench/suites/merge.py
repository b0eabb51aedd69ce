"""Directories of one suite's runs as one directory: the shards of a suite, done anywhere, become what one run would give.

Each journal is read once and checked line by line; of a row only its place is kept, so that a million rows take some
400 MB. Rows are then copied, byte by byte, in the order of the plan: the result is the same whatever the order of the
directories. O(bytes): see docs/bench.md.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schedgap.bench.records import journal, pictures
from schedgap.bench.records.contradictions import Contradiction
from schedgap.bench.records.host import versions_of, write_host
from schedgap.bench.records.journal import Lines, gc_paused
from schedgap.bench.suites.results import FILE_NAME, PlanFile, read_hosts, read_plan, write_plan
from schedgap.instances.documents.openings import lines_of, open_given
from schedgap.instances.errors import JournalError, about_file

# Of the fields in which two rows differ.
_SHOWN_FIELDS = 3
_SPARE_FILES = 64


@dataclass(frozen=True, slots=True)
class Merged:
    """What was written. runs : of the plan that are there; planned : of all."""

    directory: Path
    sources: int
    runs: int
    planned: int


@dataclass(slots=True)
class _Places:
    """Where the last line of each key is, by the key's number: which directory (-1 for none), offset and length in bytes."""

    source: array[int] = field(default_factory=lambda: array("i"))
    offset: array[int] = field(default_factory=lambda: array("q"))
    length: array[int] = field(default_factory=lambda: array("q"))

    def grow(self, size: int) -> None:
        """Make room for so many keys."""
        more = size - len(self.source)
        self.source.extend([-1] * more)
        self.offset.extend([0] * more)
        self.length.extend([0] * more)

    def put(self, number: int, source: int, offset: int, length: int) -> None:
        """Say where a key's line is."""
        self.source[number], self.offset[number], self.length[number] = source, offset, length


@gc_paused()
def merge(directories: Sequence[str | Path], out: str | Path) -> Merged:
    """Write all that directories of one suite hold to a new one, whole or not at all.

    Raises
    ------
    JournalError
        if `out` holds something, a directory has no plan, another plan or another suite, two of them have different rows
        of one run, or rows were measured with different versions; naming both sides.
    """
    sources, target = [Path(each) for each in directories], Path(out)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise JournalError(f"{target} exists and is not written over; choose another --out.")
    _allow_files(len(sources) + _SPARE_FILES)
    plan = _common_plan(sources)
    gathered = _Gathered(sources, plan.keys)
    hosts = gathered.read()
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        partial.mkdir(parents=True)
        runs = gathered.write(partial)
        for facts in hosts:
            write_host(partial, facts)
        write_plan(partial, plan.suite, plan.command, plan.keys, commit=plan.commit)
        partial.rename(target)
    except OSError as error:
        raise JournalError(f"{target}: cannot be written ({error.strerror}); choose another --out.") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Merged(target, len(sources), runs, len(plan.keys))


def _allow_files(number: int) -> None:
    """Let this process have so many files open, as far as the system does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < number:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(number, hard), hard))


def _common_plan(sources: Sequence[Path]) -> PlanFile:
    """Return the plan that all directories have; the words of its command may differ, then the first by the alphabet."""
    first: PlanFile | None = None
    for source in sources:
        plan = read_plan(source)
        if plan is None:
            raise JournalError(f"{source} has no {FILE_NAME}; give directories of `schedgap run`.")
        if first is None:
            first = plan
            continue
        if plan.suite.name != first.suite.name:
            problem = f"is of suite {plan.suite.name}, {sources[0]} of suite {first.suite.name}"
        elif plan.suite != first.suite:
            names = [name for name, value in plan.suite if value != getattr(first.suite, name)]
            problem = f"has other {', '.join(names)} in suite {plan.suite.name} than {sources[0]}"
        elif plan.keys != first.keys:
            there, here = set(first.keys), set(plan.keys)
            problem = (
                f"and {sources[0]} have different plans, {len(here - there)} and {len(there - here)} of their "
                f"{len(here)} and {len(there)} runs are in one only (a method's version, a back end's, a plug-in or an option)"
            )
        else:
            first = min(first, plan, key=lambda each: each.command)
            continue
        raise JournalError(f"{source} {problem}; merge shards of one suite, run alike.")
    assert first is not None
    return first


class _Gathered:
    """Where the rows and pictures of all directories are."""

    def __init__(self, sources: Sequence[Path], keys: Sequence[str]) -> None:
        self._sources = sources
        self._planned = len(keys)
        self._numbers = {key: number for number, key in enumerate(keys)}
        self._rows, self._pictures = _Places(), _Places()
        # Of the run's row: a number in `_hosts`.
        self._host = array("i")
        self._hosts: dict[str, int] = {}
        self._verdicts: set[Contradiction] = set()
        self._grow()

    def _grow(self) -> None:
        for places in (self._rows, self._pictures):
            places.grow(len(self._numbers))
        self._host.extend([-1] * (len(self._numbers) - len(self._host)))

    def read(self) -> list[Mapping[str, Any]]:
        """Find all rows and pictures, and return the facts of the hosts that did the runs."""
        lines = Lines()
        for source in range(len(self._sources)):
            self._read_journal(source, lines)
            for key, offset, line in pictures.picture_lines(self._sources[source]):
                number = self._numbers.get(key)
                if number is not None and self._rows.source[number] == source:
                    self._pictures.put(number, source, offset, len(line))
        return self._checked_hosts()

    def _read_journal(self, source: int, lines: Lines) -> None:
        path = self._sources[source] / journal.FILE_NAME
        rows, numbers = self._rows, self._numbers
        # Of runs that another directory has too: the last line here.
        again: dict[int, tuple[int, int]] = {}
        offset = 0
        refusing = about_file(path, "read", JournalError, "give the directory of a suite's runs")
        with refusing, open_given(path, journal.READ_BYTES) as file:
            for line, row in journal.read_rows(path, lines_of(file), lines):
                if isinstance(row, Contradiction):
                    self._verdicts.add(row)
                else:
                    number = numbers.setdefault(row.key, len(numbers))
                    if number == len(rows.source):
                        self._grow()
                    if rows.source[number] in (-1, source):
                        rows.put(number, source, offset, len(line))
                        self._host[number] = self._hosts.setdefault(row.host, len(self._hosts))
                    else:
                        again[number] = offset, len(line)
                offset += len(line)
            for number, (start, length) in again.items():
                self._require_same(number, source, os.pread(file.fileno(), length, start))

    def _require_same(self, number: int, source: int, line: bytes) -> None:
        """Raise unless the row of another directory is the same."""
        rows = self._rows
        other = self._sources[rows.source[number]]
        with open(other / journal.FILE_NAME, "rb") as file:
            known = os.pread(file.fileno(), rows.length[number], rows.offset[number])
        if known == line:
            return
        one, two = json.loads(known), json.loads(line)
        names = [name for name in {**one, **two} if one.get(name) != two.get(name)]
        if not names:
            return
        said = ", ".join(f"{name} {two.get(name)!r:.60}, not {one.get(name)!r:.60}" for name in names[:_SHOWN_FIELDS])
        raise JournalError(
            f"{self._sources[source]} and {other} have different rows of {two['label']} on {two['instance']} "
            f"(key {two['key']}: {said}); leave one of the directories out."
        )

    def _checked_hosts(self) -> list[Mapping[str, Any]]:
        """Return the facts of the hosts that the rows name; raise where versions differ, which are part of a row."""
        used = set(self._host)
        wanted = {name for name, number in self._hosts.items() if number in used}
        found: dict[str, Mapping[str, Any]] = {}
        first: tuple[Path, dict[str, str | None]] | None = None
        for source in self._sources:
            for name, facts in read_hosts(source).items():
                if name not in wanted or name in found:
                    continue
                found[name] = facts
                versions = versions_of(facts)
                first = first or (source, versions)
                differing = [
                    f"{package} {versions.get(package) or 'none'} (there {first[1].get(package) or 'none'})"
                    for package in {**first[1], **versions}
                    if versions.get(package) != first[1].get(package)
                ]
                if differing:
                    raise JournalError(
                        f"{source} was measured with other versions than {first[0]}: {', '.join(differing)}; "
                        "leave one of the two out, and run it again with the versions of the others."
                    )
        return [found[name] for name in sorted(found)]

    def write(self, directory: Path) -> int:
        """Copy rows and pictures, in the order of the plan, what is not in it by key; return how many rows are in it."""
        more = sorted(list(self._numbers)[self._planned :])
        order = [*range(self._planned), *(self._numbers[key] for key in more)]
        _copy(self._rows, order, [each / journal.FILE_NAME for each in self._sources], directory / journal.FILE_NAME)
        with open(directory / journal.FILE_NAME, "ab") as file:
            for verdict in sorted(self._verdicts, key=lambda each: (each.keys, each.reason)):
                file.write(journal.journal_line(journal.verdict_row(verdict)))
            file.flush()
            os.fsync(file.fileno())
        if max(self._pictures.source, default=-1) >= 0:
            names = [each / pictures.FILE_NAME for each in self._sources]
            _copy(self._pictures, order, names, directory / pictures.FILE_NAME)
        return sum(source >= 0 for source in self._rows.source[: self._planned])


def _copy(places: _Places, order: Iterable[int], paths: Sequence[Path], to: Path) -> None:
    """Write the lines at these places to a new file."""
    used = sorted(set(places.source) - {-1})
    opened = {source: os.open(paths[source], os.O_RDONLY | os.O_CLOEXEC) for source in used}
    try:
        with open(to, "xb", buffering=1 << 20) as file:
            for number in order:
                source = places.source[number]
                if source >= 0:
                    file.write(os.pread(opened[source], places.length[number], places.offset[number]))
    finally:
        for fd in opened.values():
            os.close(fd)
