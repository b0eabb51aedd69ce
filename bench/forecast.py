"""What a suite would run, and how long that took before: `schedgap run --dry-run`; nothing is run or written.

Which runs of a plan are to be done: those that are missing, failed or asked for again, and match `-k`.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median
from typing import Any, Literal

from schedgap.bench.plan import Plan, plan_suite
from schedgap.bench.plugins.discover import load_families
from schedgap.bench.programs.program import Program
from schedgap.bench.records.journal import FILE_NAME, read_journal
from schedgap.bench.records.runs import ERRORS, FAILED, Record, Run
from schedgap.bench.statistics.summary import counted_time
from schedgap.bench.suites.results import Shard, find_directories, refuse_other_suite, suite_of
from schedgap.bench.suites.suite import read_suite
from schedgap.instances.errors import JournalError, SuiteError, did_you_mean, one_of

Retry = Literal["none", "errors", "failed"]
RETRIED = {"none": frozenset(), "errors": ERRORS, "failed": FAILED}


def matching(plan: Plan, only: Sequence[str]) -> frozenset[str]:
    """Return the keys of the runs that match all of `only`, see `api.run_suite`.

    Raises
    ------
    SuiteError
        if there are none.
    """
    chosen = frozenset(key for key, run in plan.runs.items() if all(_matches(run, each) for each in only))
    if not chosen:
        words = {word for run in plan.runs.values() for word in (run.label, run.method, run.instance, run.group)}
        asked = " -k ".join(only)
        raise SuiteError(
            f"no run matches -k {asked}; {did_you_mean(only[-1], words)}give a part of a method's, an instance's or a "
            "group's name, or a pattern of it with * and ?."
        )
    return chosen


def to_do(
    plan: Plan, chosen: frozenset[str], known: Mapping[str, Record], *, retry: Retry = "errors", fresh: bool = False
) -> list[str]:
    """Return the keys of the plan's runs that are to be done, in its order.

    chosen : those that match, of which a shard may have none. known : what is recorded. retry, fresh : as in `api.run_suite`.
    """
    return [
        key for key in plan.runs if key in chosen and (fresh or key not in known or known[key].status in RETRIED[retry])
    ]


def _matches(run: Run, expression: str) -> bool:
    """Whether one of the alternatives `A|B` is part of a name of the run, or with * and ? describes all of it."""
    names = (run.label, run.method, run.instance, run.group)
    return any(_is_name(name, each.strip()) for each in expression.split("|") for name in names)


def _is_name(name: str, pattern: str) -> bool:
    if "*" in pattern or "?" in pattern:
        return fnmatchcase(name, pattern.replace("[", "[[]"))
    return pattern in name


# Where journals of earlier runs may be.
FOLDERS = ("runs", "results")


@dataclass(frozen=True, slots=True)
class Forecast:
    """What would be done.

    planned : runs of the suite. recorded : those that the journal in `directory` holds. runs : those that would be done
    now. expected_s : how long they took before, in wall time with so many `jobs` at a time; known : for how many of them
    that is known, by the journals in `sources`.
    """

    suite: str
    directory: Path
    planned: int
    recorded: int
    runs: tuple[Run, ...]
    expected_s: float
    known: int
    jobs: int
    sources: tuple[Path, ...]

    def to_json(self) -> dict[str, Any]:
        """Return what `schedgap run --dry-run --json` prints."""
        return {
            "suite": self.suite,
            "directory": str(self.directory),
            "planned": self.planned,
            "recorded": self.recorded,
            "runs": [{"method": run.label, "instance": run.instance, "seed": run.seed} for run in self.runs],
            "expected_s": self.expected_s,
            "known": self.known,
            "jobs": self.jobs,
            "sources": [str(path) for path in self.sources],
        }


def forecast(
    suite: str | Path,
    *,
    out: str | Path | None = None,
    jobs: int | None = None,
    plugins: Sequence[str | Path | Program] = (),
    trace: str | Path | None = None,
    retry: Retry = "errors",
    fresh: bool = False,
    only: Sequence[str] = (),
    audit: bool = False,
    isolation: str = "process-group",
    shard: str | None = None,
) -> Forecast:
    """Return what `run_suite` would do with the same arguments; instances are made, nothing is run or written.

    Raises
    ------
    SchedgapError
        as `run_suite`.
    """
    one_of("retry", retry, RETRIED, SuiteError)
    given, folder = read_suite(suite)
    chosen, files = given.with_programs(folder, plugins)
    load_families()
    directory = Path(out) if out is not None else Path("runs") / chosen.name
    refuse_other_suite(directory, chosen.name)
    plan = plan_suite(chosen, folder, plugins=files, trace=trace, audit=audit, isolation=isolation)
    chosen_runs = matching(plan, only)
    plan.keep(None if shard is None else Shard.parse(shard))
    recorded = read_journal(directory) if (directory / FILE_NAME).exists() else {}
    known = {key: recorded[key] for key in plan.runs if key in recorded}
    runs = tuple(plan.runs[key] for key in to_do(plan, chosen_runs, known, retry=retry, fresh=fresh))
    workers = jobs or os.cpu_count() or 1
    earlier = _earlier(chosen.name, {directory: recorded} if recorded else {})
    known_times = _Times(record for journal in earlier.values() for record in journal.values())
    times = [time for run in runs if (time := known_times.of(run)) is not None]
    # What is not known yet takes as long as the rest on average; nothing is shorter than its longest run.
    total = sum(times) * len(runs) / len(times) if times else 0.0
    expected_s = max([total / workers, *times]) if times else 0.0
    return Forecast(
        chosen.name, directory, len(plan.runs), len(known), runs, expected_s, len(times), workers, tuple(earlier)
    )


def _earlier(suite: str, read: Mapping[Path, Mapping[str, Record]]) -> dict[Path, Mapping[str, Record]]:
    """Return the journals of a suite, by directory. read : those that have been read already."""
    found = dict(read)
    for directory in (each for name in FOLDERS for each in find_directories(Path(name))):
        try:
            if directory not in found and suite_of(directory) == suite:
                found[directory] = read_journal(directory)
        except JournalError:
            # No forecast rests on what cannot be read.
            continue
    return found


class _Times:
    """How long runs took; each is looked up at once, however many there are."""

    def __init__(self, records: Iterable[Record]) -> None:
        found: dict[tuple[str, ...], list[float]] = defaultdict(list)
        for record in records:
            if (time := counted_time(record)) is not None:
                for name in _names(record.run):
                    found[name].append(time)
        self._medians = {name: median(times) for name, times in found.items()}

    def of(self, run: Run) -> float | None:
        """Return the median of what a run took: itself, else its method on the same instance, else its method elsewhere."""
        return next((self._medians[name] for name in _names(run) if name in self._medians), None)


def _names(run: Run) -> tuple[tuple[str, ...], ...]:
    """Return what times of a run are kept under, the nearest first."""
    return ("run", run.key), ("instance", run.label, run.digest), ("method", run.label)
