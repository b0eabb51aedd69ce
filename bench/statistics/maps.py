"""Maps: which method is the best where, over two parameters of the instances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from schedgap.bench.records.runs import Record, Scalar
from schedgap.bench.statistics.measure_rows import figure
from schedgap.bench.statistics.profiles import with_ratios
from schedgap.bench.suites.collection import Map


@dataclass(frozen=True, slots=True)
class Cell:
    """The method with the lowest mean, its mean, and on how many of the instances it is the best or as good as that."""

    method: str
    mean: float
    won: int
    instances: int


@dataclass(frozen=True, slots=True)
class MethodMap:
    """One map, of the instances of a group.

    x, y, measure : names. xs, ys : values, ascending if they are numbers, else as they come. cells : (len(ys), len(xs)), None
    where no method has a figure of each instance.
    """

    title: str
    group: str
    x: str
    y: str
    measure: str
    xs: tuple[Scalar, ...]
    ys: tuple[Scalar, ...]
    cells: tuple[tuple[Cell | None, ...], ...]

    @property
    def name(self) -> str:
        """What tells the map from the others of its suite."""
        return f"{self.title}: {self.group}" if self.group else self.title

    def to_json(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        cells = [
            {
                self.x: x,
                self.y: y,
                "method": cell.method,
                "mean": cell.mean,
                "won": cell.won,
                "instances": cell.instances,
            }
            for y, row in zip(self.ys, self.cells, strict=True)
            for x, cell in zip(self.xs, row, strict=True)
            if cell is not None
        ]
        return {"title": self.title, "group": self.group, "measure": self.measure, "cells": cells}


# By (x, y), then method, then instance: what was measured.
Figures = dict[tuple["Scalar", "Scalar"], dict[str, dict[str, list[float]]]]


def build_maps(maps: Sequence[Map], records: Iterable[Record]) -> tuple[MethodMap, ...]:
    """Return a suite's maps, one for each group of instances that has both parameters."""
    records = with_ratios(list(records), [chosen.measure for chosen in maps])
    found = []
    for chosen in maps:
        groups: dict[str, Figures] = {}
        for record in records:
            run, value = record.run, figure(record, chosen.measure)
            if not {chosen.x, chosen.y} <= run.source.keys() or (chosen.methods and run.label not in chosen.methods):
                continue
            cell = groups.setdefault(run.group, {}).setdefault((run.source[chosen.x], run.source[chosen.y]), {})
            # A run without a figure leaves its method out of the cell.
            own = cell.setdefault(run.label, {}).setdefault(run.digest, [])
            own.append(float("inf") if value is None else value)
        found += [_map(chosen, group, figures) for group, figures in groups.items()]
    return tuple(found)


def _map(chosen: Map, group: str, figures: Figures) -> MethodMap:
    xs, ys = _sorted(x for x, _ in figures), _sorted(y for _, y in figures)
    cells = tuple(tuple(_cell(figures.get((x, y), {})) for x in xs) for y in ys)
    return MethodMap(chosen.title, group, chosen.x, chosen.y, chosen.measure, xs, ys, cells)


def _sorted(values: Iterable[Scalar]) -> tuple[Scalar, ...]:
    different = list(dict.fromkeys(values))
    if all(isinstance(value, int | float) for value in different):
        different.sort(key=lambda value: float(value))
    return tuple(different)


def _cell(figures: Mapping[str, Mapping[str, Sequence[float]]]) -> Cell | None:
    """Return the best of the methods; the first of equals."""
    instances = {digest for own in figures.values() for digest in own}
    means = {
        method: {digest: fsum(values) / len(values) for digest, values in own.items()}
        for method, own in figures.items()
        if own.keys() == instances and float("inf") not in (value for values in own.values() for value in values)
    }
    if not means:
        return None
    overall = {method: fsum(own.values()) / len(own) for method, own in means.items()}
    best = min(overall, key=overall.__getitem__)
    won = sum(value <= min(own[digest] for own in means.values()) for digest, value in means[best].items())
    return Cell(best, overall[best], won, len(instances))
