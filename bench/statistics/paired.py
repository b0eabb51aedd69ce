"""Runs on equal terms: what every method did on the same instance with the same seed, and who was better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedgap.bench.records.measurement import FAILED
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schedgap.bench.records.record import Record


@dataclass(slots=True)
class Contest:
    """How often one method was better than all others, as good as the best of them, or worse.

    A pair of instance and seed counts where the method and at least one other took part: neither was unsupported, and
    neither gives bounds alone. A win is a verified objective below every other one, or the only one; a tie one equal to
    the best of the others; a loss a higher one, or none where another method has one. Where nobody found a solution,
    nothing counts.
    """

    wins: int = 0
    ties: int = 0
    losses: int = 0


def problems(records: Iterable[Record]) -> Iterator[dict[str, Record]]:
    """Yield, for each pair of instance and seed, what each method did there, by label.

    A method that draws nothing has one run on an instance, which stands for each of its seeds. Of several runs with one
    label (a journal may hold other limits and versions), the last counts.
    """
    instances: dict[str, tuple[dict[str, Record], dict[int, dict[str, Record]]]] = {}
    for record in records:
        run = record.run
        fixed, drawn = instances.setdefault(run.digest, ({}, {}))
        if run.stochastic:
            drawn.setdefault(run.seed, {})[run.label] = record
        else:
            fixed[run.label] = record
    for fixed, drawn in instances.values():
        if not drawn:
            yield fixed
        for own in drawn.values():
            yield {**fixed, **own}


def contests(records: Iterable[Record], bounding: frozenset[str]) -> dict[str, Contest]:
    """Return how each method fared against the others, by label.

    bounding : labels of the methods that give bounds alone; they take no part.
    """
    found: dict[str, Contest] = {}
    for problem in problems(records):
        values = {
            label: None if record.status in FAILED else record.measurement.objective
            for label, record in problem.items()
            if record.status is not Status.UNSUPPORTED and label not in bounding
        }
        solved = sorted(value for value in values.values() if value is not None)
        if len(values) < 2 or not solved:
            continue
        for label, value in values.items():
            own = found.setdefault(label, Contest())
            if value is None or value > solved[0]:
                own.losses += 1
            elif len(solved) > 1 and solved[1] == value:
                own.ties += 1
            else:
                own.wins += 1
    return found
