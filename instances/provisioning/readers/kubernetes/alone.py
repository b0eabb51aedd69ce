"""Pods of which at most one shares a machine, as classes; and those that stand beside their like today."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.provisioning.readers.kubernetes.state import PodGroup

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from schedgap.instances.arrays import BoolArray
    from schedgap.instances.provisioning.readers.kubernetes.report import Report

CROWDED = "run on a node with others of their own that may not share one, and may stay or go anywhere"
BETWEEN = "exclude pods of their own, but not those of them that may run on other machines"


def kept_apart(
    group: PodGroup, marks: tuple[int, ...], used: set[tuple[int, str]], report: Report
) -> Iterator[tuple[PodGroup, tuple[int, ...]]]:
    """Yield the parts of a group with their marks: of a node one pod, and what it has beyond without any.

    Nobody is evicted, so what stands beside its like today may do so; then no machine forbids it. marks : as in
    `Exclusions.alone`. used : marks and nodes that have a pod of them already; changed.
    """
    if not marks:
        yield group, ()
        return
    kept, beyond = {}, {}
    for node, number in group.on.items():
        is_first = all((mark, node) not in used for mark in marks)
        used.update((mark, node) for mark in marks)
        if is_first:
            kept[node] = 1
        if number > is_first:
            beyond[node] = number - is_first
    if beyond:
        report.relaxed[CROWDED][group.name] += sum(beyond.values())
        yield PodGroup(group.key, beyond), ()
    if kept or group.pending:
        yield PodGroup(group.key, kept, group.pending), marks


def say_between(
    alone: Sequence[tuple[int, ...]], allowed: BoolArray, members: Sequence[Sequence[PodGroup]], report: Report
) -> None:
    """List the pods of classes that share a mark and a machine family: each excludes its own, but not the other's.

    alone : of each class its marks. allowed : (C, F).
    """
    first: dict[int, list[int]] = {}
    for c, marks in enumerate(alone):
        others = {other for mark in marks for other in first.setdefault(mark, [])}
        if any((allowed[c] & allowed[other]).any() for other in others):
            for group in members[c]:
                report.relaxed[BETWEEN][group.name] += group.count
        for mark in marks:
            first[mark].append(c)
