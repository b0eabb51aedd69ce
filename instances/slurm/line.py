"""One line of `sacct --parsable2`: its values, exactly, and messages that name where a faulty one stands.

Forms as in SchedMD's manual page of sacct (25.11), and those of releases before 21.08 for requested memory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import TYPE_CHECKING

from schedgap.instances.errors import InstanceError
from schedgap.instances.units import DAY_S, GIB_MIB, HOUR_S

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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
