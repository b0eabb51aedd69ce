"""Bounds that are proven once and kept in a journal, for tools that measure one method again and again."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from schedgap.bench.api import recorded
from schedgap.bench.executors.factory import open_executor
from schedgap.bench.records.host import write_host
from schedgap.bench.records.journal import FILE_NAME, Journal, read_journal
from schedgap.bench.records.measurement import ERRORS
from schedgap.bench.statistics.summary import best_of
from schedgap.instances.documents.openings import open_own
from schedgap.instances.errors import JournalError, about_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from schedgap.bench.plan import Plan
    from schedgap.bench.records.record import Record
    from schedgap.bench.records.runs import Run


def prove_bounds(plan: Plan, runs: Mapping[str, Run], directory: Path, jobs: int | None) -> dict[str, Record]:
    """Return the records of bound-proving runs of a plan, those of the journal in `directory` without doing them again.

    An instance whose optimum one of its runs proved needs no other: its remaining runs are left out. Processes that
    share the directory wait for each other, so that each bound is proven once.

    Raises
    ------
    JournalError
        if the directory cannot be read or written.
    """
    known = _usable(read_journal(directory), runs) if (directory / FILE_NAME).exists() else {}
    if next(_missing(runs, known), None) is None:
        return known
    with (
        _alone(directory),
        Journal(directory) as journal,
        open_executor("process", plan.setting, jobs) as executor,
    ):
        known = _usable(journal.records, runs)
        for performed in executor.execute(plan.task(key) for key in _missing(runs, known)):
            record = recorded(performed, write_host(directory, performed.host))
            journal.append(record)
            known[record.key] = record
    return known


def _usable(records: Mapping[str, Record], runs: Mapping[str, Run]) -> dict[str, Record]:
    return {key: records[key] for key in runs if key in records and records[key].status not in ERRORS}


def _missing(runs: Mapping[str, Run], known: Mapping[str, Record]) -> Iterator[str]:
    """Yield the keys of what is still to do: each method on all instances before the next one.

    `known` is looked at again before each, since it grows as runs end.
    """
    ranks: dict[str, int] = {}
    counts: dict[str, int] = {}
    for key, run in runs.items():
        ranks[key] = counts[run.digest] = counts.get(run.digest, -1) + 1
    for key in sorted((key for key in runs if key not in known), key=ranks.__getitem__):
        best = best_of(list(known.values())).get(runs[key].digest)
        if best is None or not best.is_proven:
            yield key


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Wait until no other process proves bounds for this directory; a process that ends lets go of it."""
    path = directory / "lock"
    with about_file(path, "written", JournalError, "make the directory writable"):
        directory.mkdir(parents=True, exist_ok=True)
        file = os.fdopen(open_own(path, os.O_WRONLY), "wb")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
