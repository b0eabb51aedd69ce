"""The headline `runtime`: median seconds by the size of instances, beside a paper's figures (Eva's Table 5)."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from schedgap.bench.records.measurement import FAILED
from schedgap.bench.statistics.headlines.headline import (
    GROUP,
    MEAN_GAP,
    METHOD,
    PAPER_TIME,
    RUNS,
    Column,
    Headline,
    by_group_and_label,
    figure_column,
    find_reference,
    published,
    times_of,
)
from schedgap.bench.statistics.summary import best_of, gaps, mean
from schedgap.bench.statistics.tables import NOTHING, seconds
from schedgap.instances.family import FAMILIES, SIZE, Family

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.bench.records.record import Record
    from schedgap.bench.statistics.headlines.headline import Given, Row
    from schedgap.bench.suites.suite import Suite


def _rows(suite: Suite, records: Sequence[Record]) -> list[Row]:
    """Return one row a group, size and method."""
    best, family = best_of(records), FAMILIES.get(suite.family)
    rows = []
    for row, own in by_group_and_label(records):
        sizes = [_size(record, family) for record in own]
        for size in sorted(set(sizes)):
            same = [record for record, its in zip(own, sizes, strict=True) if its == size]
            times = times_of(same)
            rows.append(
                {
                    **row,
                    size_of(family): size,
                    "runs": len(same),
                    "failed": sum(record.status in FAILED for record in same),
                    "time_median_s": median(times) if times else None,
                    **published(find_reference(suite, row, size), "time_s"),
                    "gap_mean": mean(gaps(same, best)),
                    "peak_memory_mib": max((r.measurement.peak_memory_mib or 0 for r in same), default=None),
                }
            )
    return rows


def size_of(family: Family | None) -> str:
    """Return the parameter that says how large an instance of the family is."""
    return SIZE if family is None else family.size


def _size(record: Record, family: Family | None) -> int:
    """Return the size of the run's instance, 0 where it is unknown or a range; a suite may write it as text."""
    text = str(record.run.source.get(size_of(family), 0))
    return int(text) if text.isdecimal() else 0


def _columns(rows: Sequence[Given], family: Family | None) -> tuple[Column, ...]:
    size = size_of(family)
    return (
        GROUP,
        METHOD,
        Column(size, "of an instance", lambda row: row[size], lambda row: f"{row[size]:,}" if row[size] else NOTHING),
        RUNS,
        figure_column("median time", "of the method call", "time_median_s", seconds),
        PAPER_TIME,
        replace(MEAN_GAP, rank=3),
        Column(
            "peak memory",
            "the most of one run, all its processes",
            lambda row: row["peak_memory_mib"],
            lambda row: NOTHING if row["peak_memory_mib"] is None else f"{row['peak_memory_mib']:,.0f} MiB",
            terminal_text=lambda row: NOTHING if row["peak_memory_mib"] is None else f"{row['peak_memory_mib']:.0f}",
            unit="MiB",
            rank=4,
        ),
    )


RUNTIME = Headline("runtime", _rows, _columns)
