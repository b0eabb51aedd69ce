"""What a suite and a gap give: records with their table, as Python prints it and as a notebook shows it.

    result = run_suite("smoke")
    result                              # one line; in a notebook the table, as by print(result)
    result.frame()                      # a row a run, in pandas
    result.plot("gap-profile")          # a figure of the report

Neither pandas nor matplotlib is imported before it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedgap.bench.audit import Audit
from schedgap.bench.records.runs import FAILED, Record
from schedgap.bench.statistics.headlines.registry import find_headline, headline_rows, suite_json
from schedgap.bench.statistics.summary import Best, in_unit
from schedgap.bench.statistics.tables import (
    Head,
    failures,
    in_percent,
    in_seconds,
    measured,
    number,
    percent,
    readable,
    table_html,
    table_lines,
)
from schedgap.bench.suites.suite import Suite
from schedgap.instances.documents.json_files import write_whole
from schedgap.instances.errors import ReportError
from schedgap.instances.family import FAMILIES, find_family
from schedgap.instances.on_use import ModuleOnUse

if TYPE_CHECKING:
    import pandas as pd


# They bring pandas and matplotlib, which a suite is run without. The report stands above this module, and is asked for
# figures only by whoever wants one.
export_table = ModuleOnUse("schedgap.bench.statistics.export_table")
notebook = ModuleOnUse("schedgap.bench.report.figure_files")


# Of the input's core-hours: an answer without so many says so in capitals.
LOUD = 0.1


@dataclass(frozen=True, slots=True, repr=False)
class Drawing:
    """A figure. svg : the file. others : names of the further figures of the same runs."""

    name: str
    svg: str
    others: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"<Drawing {self.name}, {len(self.svg) / 1e3:.0f} kB of SVG; others are {', '.join(self.others) or 'none'}>"
        )

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> Path:
        """Write the figure to a file, of SVG whatever its name; one that is there is replaced.

        Raises
        ------
        ReportError
            if it cannot be written.
        """
        write_whole(Path(path), self.svg.encode(), ReportError)
        return Path(path)


class _Tabular:
    """What is shown of records: a line, a table, a frame.

    Frames have the columns of `schedgap/table/1`, documented in docs/journal.md, with their units: `wall_s` is seconds,
    `objective` whole units of the family, `objective_shown` the same in `unit`, `gap` a share.
    """

    __slots__ = ()
    records: tuple[Record, ...]

    def table(self) -> tuple[str, Sequence[Head], Sequence[Sequence[str]]]:
        """Return title, columns and cells of the table."""
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n".join([*table_lines(*self.table()), *failures(self.records)])

    def _repr_html_(self) -> str:
        return table_html(*self.table(), failures(self.records))

    def frame(self) -> pd.DataFrame:
        """Return one row a run, with the columns `schedgap.bench.statistics.export_table.RUN_COLUMNS`."""
        table: pd.DataFrame = export_table.frame(self)
        return table

    def points(self) -> pd.DataFrame:
        """Return one row a point of what methods told while they ran, with the columns `POINT_COLUMNS` beside those."""
        table: pd.DataFrame = export_table.points(self)
        return table

    def plot(self, name: str | None = None) -> Drawing:
        """Return a figure of the report, which a notebook shows, by default the first that these runs have.

        Raises
        ------
        ReportError
            naming the figures that there are.
        """
        drawn: Drawing = notebook.drawing(self, name)
        return drawn


@dataclass(frozen=True, slots=True, repr=False)
class SuiteResult(_Tabular):
    """What a suite gave.

    records : one for each run of the suite that is done, before or now. directory : of the journal.
    measured_now : runs done by this call. planned : runs of the suite, or of its shard, done or not. audit : what second
    opinions gave, None if nobody asked for them. notes : sentences about what the journal holds besides, such as rows of a
    plug-in that has changed. undone : a sentence for each run that the workers' queues kept from being done.
    """

    suite: Suite
    records: tuple[Record, ...]
    directory: Path
    measured_now: int
    planned: int
    audit: Audit | None = None
    notes: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()

    @property
    def failed(self) -> int:
        """Number of runs that failed."""
        return sum(record.status in FAILED for record in self.records)

    def __repr__(self) -> str:
        undone = self.planned - len(self.records)
        missing = f", {undone} of {self.planned} still to be done" if undone else ""
        return f"<SuiteResult {self.suite.name}: {len(self.records)} runs, {self.failed} failed{missing}, in {self.directory}>"

    def table(self) -> tuple[str, Sequence[Head], Sequence[Sequence[str]]]:
        """Return title, columns and cells of the suite's own table."""
        rows = headline_rows(self.suite, self.records)
        return self.suite.title, *find_headline(self.suite).cells(rows, FAMILIES.get(self.suite.family))

    def to_json(self) -> dict[str, Any]:
        """Return what `schedgap run --json` prints."""
        return {
            **suite_json(self.suite, self.records),
            "measured_now": self.measured_now,
            "planned": self.planned,
            "directory": str(self.directory),
            "audit": None if self.audit is None else self.audit.to_json(),
            "notes": list(self.notes),
            "undone": list(self.undone),
        }


@dataclass(frozen=True, slots=True, repr=False)
class GapResult(_Tabular):
    """What is known of one instance. best : over all runs. audit : what second opinions gave, None without any.

    unit : of objectives and bounds as they are shown; by default the family's. left_out : kinds of input that the instance
    does not hold, each with its share. assumptions : what it takes for granted.
    """

    instance: str
    digest: str
    family: str
    best: Best
    records: tuple[Record, ...]
    audit: Audit | None = None
    unit: str = ""
    left_out: tuple[tuple[str, float], ...] = ()
    assumptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit", self.unit or find_family(self.family).objective_unit)

    def __repr__(self) -> str:
        scale, unit = find_family(self.family).objective_scale, self.unit
        bound, objective = (number(in_unit(value, scale)) for value in (self.best.bound, self.best.objective))
        gap = percent(self.best.gap(self.best.objective))
        found = f"bound {bound}, best solution {objective} {unit}, gap {gap}"
        return f"<GapResult {self.instance:.80}: {found}, {len(self.records)} runs>"

    def table(self) -> tuple[str, Sequence[Head], Sequence[Sequence[str]]]:
        """Return title, columns and cells: a row a run."""
        unit, results = self.unit, self.to_json()["results"]
        names = list(dict.fromkeys(name for row in results for name in row["measures"]))
        heads = (
            Head("method", is_text=True),
            Head("status", len(names) + 1, is_text=True),
            Head(f"objective ({unit})", 1),
            *(Head(readable(name), rank) for rank, name in enumerate(names, 1)),
            Head(f"own bound ({unit})", len(names) + 3),
            Head("gap (%)"),
            Head("time (s)", len(names) + 2),
        )
        rows = [
            (
                *(row["method"], row["status"], number(row["objective"])),
                *(measured(row["measures"].get(name)) for name in names),
                *(number(row["bound"]), in_percent(row["gap"]), in_seconds(row["wall_s"])),
            )
            for row in results
        ]
        return f"{self.instance}{self._answered()}", heads, rows

    def _answered(self) -> str:
        """Return which part of the input is answered for, where that is not all."""
        left = fsum(share for _, share in self.left_out)
        kinds = ", ".join(f"{kind} ({share:.2%})" for kind, share in self.left_out)
        said = f"{1 - left:.2%} of the core-hours are in this answer"
        return f": {said.upper() if left > LOUD else said}; left out: {kinds}" if kinds else ""

    def to_json(self) -> dict[str, Any]:
        """Return what `schedgap gap --json` prints; objectives and bounds in the family's shown unit."""
        family = find_family(self.family)
        scale, results = family.objective_scale, []
        for record in self.records:
            measurement, failed = record.measurement, record.status in FAILED
            objective = None if failed else measurement.objective
            results.append(
                {
                    "method": record.run.label,
                    "status": str(record.status),
                    "objective": in_unit(objective, scale),
                    "measures": {
                        name: value
                        for each in family.headline
                        for name, value in measurement.measures.items()
                        if objective is not None and fnmatchcase(name, each)
                    },
                    "bound": None if failed else in_unit(measurement.bound, scale),
                    "gap": self.best.gap(objective),
                    "wall_s": measurement.wall_s,
                    "reason": measurement.reason,
                    "output": measurement.output,
                }
            )
        return {
            "instance": self.instance,
            "digest": self.digest,
            "bound": in_unit(self.best.bound, scale),
            "best_objective": in_unit(self.best.objective, scale),
            "left_out": [{"what": kind, "share": share} for kind, share in self.left_out],
            "assumptions": list(self.assumptions),
            "results": results,
            "audit": None if self.audit is None else self.audit.to_json(),
        }
