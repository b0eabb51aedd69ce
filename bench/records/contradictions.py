"""Claims against solutions: a bound above a verified objective of the same instance is false, and so is its run.

The objective is not in question: it was recomputed exactly from a solution that is there to be looked at, while a bound
is a method's word.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from schedgap.bench.records.runs import Record
from schedgap.instances.family import FAMILIES
from schedgap.instances.method import Status

# Measures are floats: what two ways of summing may differ by.
SAME = 1e-6


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A claim that a verified solution refutes; or one solution that was verified twice, with two objectives.

    keys : of the run that made the claim, which is invalid; of all runs with that solution, since nobody knows which
    verification is right. Rows that older versions wrote also name those with the solutions.
    """

    keys: tuple[str, ...]
    reason: str


def contradictions(records: Iterable[Record]) -> list[Contradiction]:
    """Return the claims that cannot be true, in the order of the records; invalid runs claim nothing. O(rows).

    Where the harness contradicts itself, that is told first, and no objective of that solution refutes anything.
    """
    known = tuple(records)
    found = verified_twice(known)
    disputed = {key for contradiction in found for key in contradiction.keys}
    known = tuple(record for record in known if record.key not in disputed) if disputed else known
    found += told_above(known)
    suspects = suspicious(known)
    if not suspects:
        return found
    by_instance: dict[str, list[Record]] = defaultdict(list)
    for record in known:
        if record.run.digest in suspects and record.status is not Status.INVALID:
            by_instance[record.run.digest].append(record)
    for group in by_instance.values():
        best = min((record for record in group if record.measurement.objective is not None), key=_objective)
        for record in group:
            bound = record.measurement.bound
            if bound is not None and bound > _objective(best):
                what = f"on {record.run.instance} the bound {bound} of {record.run.label}"
                found.append(Contradiction((record.key,), f"{what} is above a verified solution: {_shown(best)}"))
            if record.status is Status.INFEASIBLE:
                reason = f"{record.run.label} says that {record.run.instance} is infeasible, {_shown(best)}"
                found.append(Contradiction((record.key,), reason))
    return found


def verified_twice(records: Iterable[Record]) -> list[Contradiction]:
    """Return where the harness itself is at fault: its verifier is exact, and of one solution says two things."""
    first: dict[tuple[str, str], Record] = {}
    wrong: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        solution = record.measurement.solution_hash
        if solution is None or record.status is Status.INVALID:
            continue
        where = record.run.digest, solution
        known = first.setdefault(where, record)
        if known.measurement.objective != record.measurement.objective:
            wrong.setdefault(where, [known]).append(record)
    return [
        Contradiction(
            tuple(record.key for record in group),
            f"one solution of {group[0].run.instance} was verified with the objectives "
            f"{' and '.join(str(o) for o in sorted({_objective(record) for record in group}))}: schedgap itself is at fault, "
            "please report it",
        )
        for group in wrong.values()
    ]


def told_above(records: Iterable[Record]) -> list[Contradiction]:
    """Return where the least that a measure can be, as a run without a solution tells it, is above a verified solution's.

    Of the measures that are `Family.told`. O(rows).
    """
    telling, solved = [], defaultdict(list)
    for record in records:
        measurement = record.measurement
        told = FAMILIES[record.run.family].told if record.run.family in FAMILIES else ()
        if not told or record.status is Status.INVALID:
            continue
        if measurement.objective is not None:
            solved[record.run.digest].append(record)
        elif measurement.bound is not None:
            given = ((name, measurement.details.get(name)) for name in told)
            telling += [(record, name, least) for name, least in given if isinstance(least, int | float)]
    found = []
    for record, name, least in telling:
        for other in solved[record.run.digest]:
            measure = other.measurement.measures.get(name)
            if measure is not None and not least <= measure + SAME:
                claim = f"{record.run.label} proves {name} of at least {least} on {record.run.instance}"
                found.append(Contradiction((record.key,), f"{claim}, {other.run.label} has {measure}"))
                break
    return found


def suspicious(records: Iterable[Record]) -> set[str]:
    """Return the digests of the instances with a wrong claim; there are few, mostly none."""
    lowest: dict[str, int] = {}
    highest: dict[str, int] = {}
    infeasible: set[str] = set()
    # Looking them up in their class for each record would take a third of the time.
    says_infeasible, invalid = Status.INFEASIBLE, Status.INVALID
    for record in records:
        measurement = record.measurement
        status, objective, bound = measurement.status, measurement.objective, measurement.bound
        if status is invalid:
            continue
        digest = record.run.digest
        if objective is not None and objective < lowest.setdefault(digest, objective):
            lowest[digest] = objective
        if bound is not None and bound > highest.setdefault(digest, bound):
            highest[digest] = bound
        if status is says_infeasible:
            infeasible.add(digest)
    return {digest for digest, least in lowest.items() if digest in infeasible or highest.get(digest, least) > least}


def judged(records: Mapping[str, Record], found: Iterable[Contradiction]) -> dict[str, Record]:
    """Return the records by key, with those whose claims are false marked `invalid`."""
    marked = dict(records)
    for contradiction in found:
        for key in contradiction.keys:
            marked[key] = marked[key].invalidated(contradiction.reason)
    return marked


def judged_together(records: Mapping[str, Record]) -> dict[str, Record]:
    """Return the records by key, with those whose claims the others refute marked `invalid`."""
    return judged(records, contradictions(records.values()))


def _objective(record: Record) -> int:
    objective = record.measurement.objective
    assert objective is not None
    return objective


def _shown(record: Record) -> str:
    return f"{record.run.label} found {_objective(record)}"
