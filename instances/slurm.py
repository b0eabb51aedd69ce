"""One line of `sacct --parsable2`: its values, exactly, and messages that name where a faulty one stands.

Forms as in SchedMD's manual page of sacct (25.11), and those of releases before 21.08 for requested memory.

A log of `sacct --parsable2`: the runs that held machines, and a report of what is left out or relaxed.

A run is a line without a step, with a start, that ended after a second or more; whatever its state, it held what it
held. Steps, and jobs that are pending, running or never started, are left out and counted.
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from math import ceil
from pathlib import Path

from schedgap.instances.csv_table import read_rows
from schedgap.instances.documents.openings import lines_of
from schedgap.instances.errors import InstanceError
from schedgap.instances.units import DAY_S, GIB_MIB, HOUR_S
from schedgap.instances.unpacked import unpacked

# A job, a task of an array or tasks that have not started, a part of a heterogeneous job; and perhaps a step of it.
JOB_ID = re.compile(r"\d+(_\d+|_\[(?P<tasks>[^\]]+)\]|\+\d+)?(?P<step>\..+)?", re.ASCII)
STATES = (
    *("BOOT_FAIL", "CANCELLED", "COMPLETED", "COMPLETING", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY"),
    *("PENDING", "PREEMPTED", "RUNNING", "REQUEUED", "RESIZING", "REVOKED", "SUSPENDED", "TIMEOUT"),
)
UNKNOWN = ("", "None", "Unknown")
MIB = {unit: Fraction(GIB_MIB) ** power for power, unit in enumerate("KMGTP", start=-1)}
EPOCH = datetime(1970, 1, 1)
# Beyond any cluster's memory and clock, and far from the end of 64 bits.
WHOLE = re.compile(r"\d{1,15}", re.ASCII)
MEMORY = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)([KMGTP]?)([nc]?)", re.ASCII)
SECONDS = re.compile(r"\d{1,11}", re.ASCII)
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", re.ASCII)


@dataclass(frozen=True, slots=True)
class Line:
    """A line by its column names. number : from 1, the header's."""

    path: Path
    number: int
    fields: Mapping[str, str]

    def error(self, column: str, wanted: str) -> InstanceError:
        """Return what is wrong with the value of a column."""
        where = f"{self.path.name} line {self.number}: {column} is '{self.fields.get(column, ''):.60}'"
        return InstanceError(f"{where}; {wanted}, or remove the line.")

    def named(self, *columns: str) -> str:
        """Return the first of the columns that the log has, the first of all where it has none."""
        return next((column for column in columns if column in self.fields), columns[0])

    def job_id(self) -> re.Match[str]:
        """Return the job's number in its parts, `tasks` and `step` among them."""
        match = JOB_ID.fullmatch(self.fields["JobID"])
        if match is None:
            raise self.error("JobID", "give one as sacct prints it, such as 12, 12_7, 12_[1-9], 12+0 or 12.batch")
        return match

    def tasks_waiting(self) -> int:
        """Return how many tasks a line stands for: those of `12_[3-6,9%2]` are five, any other job is one."""
        expression = self.job_id()["tasks"]
        if expression is None:
            return 1
        number = 0
        for item in expression.partition("%")[0].split(","):
            # sacct cuts long lists off.
            if item.endswith("..."):
                continue
            span = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?", item, re.ASCII)
            if span is None or int(span[3] or 1) == 0:
                raise self.error("JobID", "give array tasks as in 12_[1,3-9%2]")
            number += max(0, int(span[2] or span[1]) - int(span[1])) // int(span[3] or 1) + 1
        return number

    def state(self) -> str:
        """Return the state without who brought it about."""
        word = self.fields["State"].partition(" ")[0]
        if word not in STATES:
            raise self.error("State", f"known are {', '.join(STATES)}")
        return word

    def time_s(self, column: str) -> int | None:
        """Return a time as seconds since 1970, those of a date by the cluster's own clock; None where it is unknown."""
        text = self.fields.get(column, "")
        if text in UNKNOWN:
            return None
        if SECONDS.fullmatch(text):
            return int(text)
        try:
            if DATE.fullmatch(text) is None:
                raise ValueError
            since = datetime.fromisoformat(text) - EPOCH
        except ValueError:
            wanted = "give YYYY-MM-DDTHH:MM:SS, or seconds since 1970 (SLURM_TIME_FORMAT=%s sacct ...)"
            raise self.error(column, wanted) from None
        return since.days * DAY_S + since.seconds

    def known_time_s(self, column: str) -> int:
        """Return a time that must be known."""
        time_s = self.time_s(column)
        if time_s is None:
            raise self.error(column, "a job that ran has one: give it")
        return time_s

    def whole(self, *columns: str) -> int:
        """Return the whole number in the first of the columns that the log has."""
        column = self.named(*columns)
        text = self.fields[column]
        if WHOLE.fullmatch(text) is None:
            raise self.error(column, "give a whole number, as sacct --noconvert does")
        return int(text)

    def elapsed_s(self) -> int:
        """Return for how long the job ran, without the time for which it was suspended."""
        if "ElapsedRaw" in self.fields:
            return self.whole("ElapsedRaw")
        match = re.fullmatch(r"(?:(?:(\d{1,6})-)?(\d\d):)?(\d\d):(\d\d)", self.fields["Elapsed"], re.ASCII)
        if match is None:
            raise self.error("Elapsed", "give [DAYS-[HH:]]MM:SS, or ask sacct for ElapsedRaw")
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
        return days * DAY_S + hours * HOUR_S + minutes * 60 + seconds

    def tres(self) -> dict[str, str]:
        """Return the trackable resources that were held, by name."""
        text = self.fields.get("AllocTRES", "")
        pairs = dict(item.split("=", 1) for item in text.split(",") if "=" in item)
        if len(pairs) != len(text.split(",") if text else ()):
            raise self.error("AllocTRES", "give name=number pairs as in cpu=4,mem=16G,node=1")
        return pairs

    def gpus(self, tres: Mapping[str, str]) -> int:
        """Return the GPUs that were held; those with and without a model's name are the same ones."""
        typed = [value for name, value in tres.items() if name.startswith("gres/gpu:")]
        values = [tres["gres/gpu"]] if "gres/gpu" in tres else typed
        if any(re.fullmatch(r"\d{1,9}", value, re.ASCII) is None for value in values):
            raise self.error("AllocTRES", "gres/gpu is a whole number")
        return sum(map(int, values))

    def memory_mib(self, tres: Mapping[str, str], cores: int, nodes: int) -> Fraction | None:
        """Return the memory that was held, else what was asked for; None where neither is known. 0 is what nobody counted.

        A suffix n or c, of releases before 21.08, is for each node or each CPU.
        """
        for column, text in (("AllocTRES", tres.get("mem", "")), ("ReqMem", self.fields.get("ReqMem", ""))):
            match = MEMORY.fullmatch(text)
            if (match is None and text) or (match is not None and not match[2] and Fraction(match[1])):
                raise self.error(column, "give memory as a number with K, M, G, T or P")
            if match is not None and Fraction(match[1]):
                return Fraction(match[1]) * MIB[match[2]] * {"n": nodes, "c": cores, "": 1}[match[3]]
        return None


# Of several names for one thing the first that is there counts.
COLUMNS = (
    *(("JobID",), ("State",), ("Submit",), ("Start",), ("ElapsedRaw", "Elapsed"), ("AllocCPUS", "NCPUS")),
    *(("AllocTRES", "ReqMem"), ("NNodes", "AllocNodes")),
)
# Resources that are looked at, or that are none.
KNOWN = ("cpu", "mem", "node", "billing", "energy", "gres/gpu")
SHOWN = 3
HETEROGENEOUS = "relaxed, parts of heterogeneous jobs need not start together"
REQUEUED = "runs of requeued jobs, each submitted when it was requeued"
RESIZED = "relaxed, what follows a change of a job's size is a job of its own, submitted as it starts"
SUSPENDED = "ran for less time than from start to end (suspended, or the clock was changed), of which the former counts"
SET_BACK = "ran for more time than from start to end (the clock was set back), of which the former counts"
NO_WAIT = "relaxed, started before they were submitted or eligible, and are taken to come as they start"
TIMES = ("Submit", "Eligible", "Start", "End")
# How other forms of what sacct prints begin, and what to ask it for instead.
OTHER_FORMS = (
    (re.compile(rb"[\[{]"), "JSON", "run sacct --parsable2 without --json"),
    (re.compile(rb"JobID[^|]*;"), "fields with ';' between them", "run sacct --parsable2 without --delimiter"),
    (re.compile(rb"\s*JobID[^|]*$"), "columns with spaces between them", "run sacct with --parsable2"),
    (re.compile(rb"\d+[_.+\[][^;|]*\||\d+\|"), "a job, where the header should be", "run sacct without --noheader"),
    (re.compile(rb"\d+[^;|]*;"), "a job, and ';' between fields", "run sacct without --noheader and --delimiter"),
)


@dataclass(frozen=True, slots=True)
class Job:
    """One run of a job: times in seconds since 1970, by one clock; memory in MiB, rounded up; totals of all nodes."""

    job_id: str
    state: str
    submit_s: int
    eligible_s: int
    start_s: int
    elapsed_s: int
    cores: int
    nodes: int
    memory_mib: int
    gpus: int


@dataclass(frozen=True, slots=True)
class Log:
    """Runs in order of submission, and sentences on what is left out and relaxed, by kind and number."""

    name: str
    jobs: tuple[Job, ...]
    notes: tuple[str, ...]


def read_log(path: Path | str) -> Log:
    """Read what sacct printed with a header line, plain or gzip.

    Raises
    ------
    InstanceError
        naming file, line, column and value of what is malformed; or if no run is left.
    """
    path = Path(path)
    _refuse_other_forms(path)
    name = path.name.removesuffix(".gz").rpartition(".")[0] or path.name
    jobs: list[Job] = []
    report: dict[str, list[str]] = defaultdict(list)
    seen: dict[str, set[tuple[int, int | None]]] = defaultdict(set)
    state: dict[str, str] = {}
    for line in _lines(path):
        job_id = line.job_id()
        if job_id["step"]:
            report["left out, lines of job steps"].append(job_id[0])
            continue
        run = line.known_time_s("Submit"), line.time_s("Start")
        if run in seen[job_id[0]]:
            report["left out, the same run once more"].append(job_id[0])
            continue
        missing = _missing(line)
        if missing:
            report[missing] += [job_id[0]] * line.tasks_waiting()
        else:
            job = _job(line, report)
            if state.get(job_id[0]) == "RESIZING":
                report[RESIZED].append(job_id[0])
                job = replace(job, submit_s=job.start_s, eligible_s=job.start_s)
            elif seen[job_id[0]]:
                report[REQUEUED].append(job_id[0])
            jobs.append(job)
        seen[job_id[0]].add(run)
        state[job_id[0]] = line.state()
    notes = tuple(kind_note(name, kind, names) for kind, names in report.items())
    if not jobs:
        found = " ".join(notes) or "It is empty."
        raise InstanceError(f"{path.name}: no job that ran is in it; give another part of the log. {found}")
    return Log(name, tuple(sorted(jobs, key=lambda job: job.submit_s)), notes)


def _refuse_other_forms(path: Path) -> None:
    # What cannot be read is refused where it is read as a table.
    with suppress(OSError, EOFError, zlib.error), unpacked(path) as file:
        first = next(filter(bytes.strip, lines_of(file)), b"").removeprefix(codecs.BOM_UTF8)
        for form, found, instead in OTHER_FORMS:
            if form.match(first.rstrip()):
                raise InstanceError(f"{path.name} line 1: {found}, no log of sacct --parsable2; {instead}.")


def kind_note(log: str, kind: str, names: Sequence[str]) -> str:
    """Return the sentence that counts what is of a kind, with the names of the first."""
    shown = list(dict.fromkeys(names))
    more = ", ..." if len(shown) > SHOWN else ""
    return f"{log}: {kind}: {len(names)} ({', '.join(shown[:SHOWN])}{more})."


def core_hours(jobs: Sequence[Job]) -> float:
    """Return the hours for which cores were held, summed."""
    return sum(job.cores * job.elapsed_s for job in jobs) / HOUR_S


def share_of(kind: str, jobs: Sequence[Job], log: Log) -> tuple[tuple[str, float], ...]:
    """Return a kind of jobs with its share of the log's core-hours; nothing where there are none."""
    return ((kind, core_hours(jobs) / core_hours(log.jobs)),) if jobs else ()


def _lines(path: Path) -> Iterator[Line]:
    first, form = None, None
    for number, fields in read_rows(path, ("JobID",), "log of sacct --parsable2, header line included,", separator="|"):
        line = Line(path, number, fields)
        if first is None:
            first = line
            for names in COLUMNS:
                if line.named(*names) not in fields:
                    raise InstanceError(
                        f"{path.name} line 1: no column '{names[0]}'; ask sacct for "
                        f"{', '.join(columns[0] for columns in COLUMNS)}, and better for Eligible and End too."
                    )
        for column in TIMES:
            text = fields.get(column, "")
            # Dates are by the cluster's own clock, seconds are not. What is neither is refused where it is needed.
            if (is_date := text[10:11] == "T") or text.isdigit():
                form = form or (is_date, number, text)
                if is_date != form[0]:
                    raise line.error(column, f"line {form[1]} has '{form[2]:.60}': give one form of times")
        yield line


def _missing(line: Line) -> str:
    """Return why there is no run in a line, or nothing."""
    state = line.state()
    if state == "PENDING":
        return "left out, pending"
    if state in ("RUNNING", "SUSPENDED", "COMPLETING") or line.fields.get("End") in ("Unknown", "None"):
        return "left out, still running" if line.time_s("Start") is not None else "left out, never started"
    if line.time_s("Start") is None or line.whole("AllocCPUS", "NCPUS") == 0:
        return "left out, never started"
    return "" if line.elapsed_s() else "left out, ended within a second"


def _job(line: Line, report: dict[str, list[str]]) -> Job:
    job_id, tres = line.job_id()[0], line.tres()
    cores, nodes = line.whole("AllocCPUS", "NCPUS"), line.whole("NNodes", "AllocNodes")
    if nodes == 0:
        raise line.error(line.named("NNodes", "AllocNodes"), "a job that ran has at least one node")
    memory = line.memory_mib(tres, cores, nodes)
    submit_s, start_s, end_s = line.known_time_s("Submit"), line.known_time_s("Start"), line.time_s("End")
    elapsed_s = line.elapsed_s()
    # In the night in which the clock is set back by an hour, a date may be.
    if end_s is not None and end_s < start_s and (line.fields["End"].isdigit() or end_s + HOUR_S < start_s + elapsed_s):
        raise line.error("End", f"it is before Start, '{line.fields['Start']}'")
    # Unknown where the job was never held back.
    eligible_s = max(submit_s, line.time_s("Eligible") or 0)
    others = [item for item in tres if item not in KNOWN and not item.startswith("gres/gpu:")]
    for kind, is_so in (
        ("relaxed, memory is unknown and taken as 0", memory is None),
        ("memory is rounded up to whole MiB", memory is not None and memory.denominator > 1),
        (HETEROGENEOUS, "+" in job_id),
        (f"relaxed, other resources are dropped, such as {others[0] if others else ''}", bool(others)),
        (SUSPENDED, end_s is not None and end_s - start_s > elapsed_s),
        (SET_BACK, end_s is not None and end_s - start_s < elapsed_s),
        (NO_WAIT, eligible_s > start_s),
    ):
        if is_so:
            report[kind].append(job_id)
    times = min(submit_s, start_s), min(eligible_s, start_s), start_s, elapsed_s
    return Job(job_id, line.state(), *times, cores, nodes, ceil(memory or 0), line.gpus(tres))
