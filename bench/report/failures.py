"""Failures with their reasons, and what methods did not support."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedgap.bench.records.measurement import FAILED
from schedgap.bench.report.figures.budget import Budget, clipped
from schedgap.bench.statistics.summary import by_ending, reason_of
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.bench.records.record import Record

# Reasons often name the instance's own figures; so many of one kind say enough.
MAX_REASONS = 4
MAX_OUTPUT = 2000


@dataclass(frozen=True, slots=True)
class Reason:
    """How often a reason was given, on which instance first, and what that run printed."""

    text: str
    runs: int
    instance: str
    output: str


@dataclass(frozen=True, slots=True)
class Failure:
    """All runs of a method that ended in one status. more : how many of them have other reasons than those shown."""

    method: str
    status: str
    runs: int
    reasons: tuple[Reason, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Failures:
    """left_out : kinds of failure that there was no room for."""

    failed: tuple[Failure, ...]
    unsupported: tuple[Failure, ...]
    left_out: int


def build_failures(records: Sequence[Record], budget: Budget) -> Failures:
    """Return what failed and what was not supported, by method and status in the order of the records."""
    failed = by_ending(record for record in records if record.status in FAILED)
    unsupported = by_ending(record for record in records if record.status is Status.UNSUPPORTED)
    room = max(1, budget.rows // 4)
    left_out = max(0, len(failed) - room) + max(0, len(unsupported) - room)
    return Failures(
        tuple(_failure(own, budget) for own in failed[:room]),
        tuple(_failure(own, budget) for own in unsupported[:room]),
        left_out,
    )


def _failure(records: Sequence[Record], budget: Budget) -> Failure:
    reasons: dict[str, list[Record]] = {}
    for record in records:
        reasons.setdefault(reason_of(record), []).append(record)
    shown = sorted(reasons.items(), key=lambda item: -len(item[1]))[:MAX_REASONS]
    return Failure(
        clipped(records[0].run.label, budget.text),
        str(records[0].status),
        len(records),
        tuple(
            Reason(
                clipped(text, budget.text),
                len(own),
                clipped(own[0].run.instance, budget.text),
                clipped(own[0].measurement.output.strip(), min(MAX_OUTPUT, 5 * budget.text)),
            )
            for text, own in shown
        ),
        len(records) - sum(len(own) for _, own in shown),
    )
