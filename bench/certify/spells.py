"""Proofs of lower bounds on what machines cost over time: in each spell prices of the tasks that must be there.

A task must be in the plans from the first after its arrival until its start-up and its work have passed. Its machine is paid
for `window_s` of each period at least. So where no content of a machine is worth more than the machine, a schedule costs
no less than prices times tasks times plans, times the window. That is so where machines are paid from their order on.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog

from schedgap.bench.certify.contents import Item, dearer_content
from schedgap.bench.certify.problem import DOLLAR, MALFORMED, Problem, read_node, read_problem
from schedgap.bench.certify.proof import ProofFinding
from schedgap.instances.documents.openings import read_given
from schedgap.instances.errors import InstanceError, SolutionError

# Prices are nano-dollars an hour, bounds micro-dollars.
NANO, HOUR_S = 1000, 3600
# Prices of resources are whole multiples of 1 / `SCALE`, and a little above those of the linear program.
SCALE, UP = 2**80, 1 + Fraction(1, 10**12)


@dataclass(frozen=True, slots=True)
class OverTime:
    """A problem over time.

    problem : its machines and classes. window_s, period_s : seconds of each plan that count, and of a period. there : of each
    job its class, its number of tasks, the first plan that holds it and the first that need not.
    """

    problem: Problem
    window_s: int
    period_s: int
    there: tuple[tuple[int, int, int, int], ...]

    @property
    def name(self) -> str:
        """The instance's name."""
        return self.problem.name


def read_over_time(path: Path) -> OverTime:
    """Read a `schedgap/reconfiguration/1`.

    Raises
    ------
    InstanceError
        for a file that cannot be read as one, or whose machines are paid later than ordered.
    """
    problem = read_problem(path)
    try:
        return _of_document(json.loads(read_given(path).decode("utf-8-sig")), path, problem)
    except (*MALFORMED, OSError) as error:
        said = f"{type(error).__name__}: {error!s:.100}"
        raise InstanceError(f"{path}: no jobs over time that can be checked ({said}); give its .json.") from None


def column(
    given: dict[str, Any], path: Path, table: str, key: str, array: str, names: Sequence[str] | None
) -> list[Any]:
    """Return a column, from the document or the arrays beside it; names as their places. Empty where it is left out."""
    if table in given:
        values = given[table].get(key, [])
        places = {} if names is None else {name: place for place, name in enumerate(names)}
        return list(values) if names is None else [places[name] for name in values]
    with np.load(path.with_name(given[f"{table}_file"])) as arrays:
        return list(arrays[array].tolist()) if array in arrays else []


def _of_document(given: dict[str, Any], path: Path, problem: Problem) -> OverTime:
    if any(each.get("acquire_s", 0) for each in given["machine_types"]):
        raise ValueError("a machine is paid later than it is ordered")
    period, delays = given.get("period_s", 300), {each["name"]: each for each in given["workloads"]}
    workload = [delays[each["workload"]] for each in given["tasks"]]
    start = [each["fetch_s"] + each["init_s"] for each in workload]
    kill = [each["kill_s"] for each in workload]
    early = min(min(kill), min(start), given.get("terminate_s", 1))
    names = [each["name"] for each in given["tasks"]]
    ran = {int(job) for machine in given.get("running", ()) for job in machine["counts"]}
    classes, arrivals, works, numbers = (
        column(given, path, "jobs", key, key, names if key == "task" else None)
        for key in ("task", "arrival_s", "work_s", "num_tasks")
    )
    there = []
    rows = zip(classes, numbers or [1] * len(classes), arrivals, works, strict=True)
    for j, (c, number, arrival, work) in enumerate(rows):
        first = -(-arrival // period)
        end = first * period + work + (0 if j in ran else start[c])
        there.append((c, number, first, -(-end // period)))
    return OverTime(problem, max(0, period + early - max(kill)), period, tuple(there))


def check_spells(given: OverTime, certificate: Mapping[str, Any]) -> ProofFinding:
    """Check a proof by spells; its prices are searched once for each distinct ones.

    Raises
    ------
    SolutionError
        for spells that overlap, or that are of other classes than there are.
    """
    _, proof = read_node(certificate["proof"], "proof")
    problem, period = given.problem, given.period_s
    bound = int(Fraction(certificate["bound"]) * DOLLAR)
    spells = proof["spells"]
    edges = [(spell["from_s"] // period, spell["until_s"] // period) for spell in spells]
    for g, (spell, (first, until)) in enumerate(zip(spells, edges, strict=True)):
        classes = set(spell["classes"])
        if (
            not (edges[g - 1][1] if g else 0) <= first <= until
            or not len(classes) == len(spell["classes"]) == len(spell["prices"])
            or any(c >= len(problem.counts) for c in classes)
        ):
            raise SolutionError(
                f"proof.spells.{g}: give spells in order, and one price for each class of the instance."
            )
    plans, most = _present(given, edges)
    worth, contents, known = 0, 0, set[tuple[tuple[int, int, int], ...]]()
    for g, spell in enumerate(spells):
        prices = sorted(zip(spell["classes"], spell["prices"], strict=True))
        worth += sum(price * int(plans[c, g]) for c, price in prices)
        key = tuple((c, price, int(most[c, g])) for c, price in prices)
        if key not in known:
            known.add(key)
            tried, dearer = _dearer(problem, key)
            contents += tried
            if dearer is not None:
                return ProofFinding(bound, g + 1, len(known), contents, f"proof.spells.{g}: {dearer}")
    proven = -(-worth * given.window_s // (HOUR_S * NANO))
    reason = None
    if proven < bound:
        reason = f"the spells prove {proven / DOLLAR}, not the {bound / DOLLAR} that are claimed."
    return ProofFinding(bound, len(spells), len(known), contents, reason)


def _present(given: OverTime, edges: Sequence[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """(C, G), (C, G): tasks of each class in each spell, summed over its plans, and at most at one of them. O(J log J + C G)."""
    size = len(given.problem.counts)
    plans, most = np.zeros((size, len(edges)), np.int64), np.zeros((size, len(edges)), np.int64)
    cut = np.array(edges, np.int64).reshape(-1, 2)
    jobs = np.array(given.there, np.int64).reshape(-1, 4)
    for c in range(size):
        _, number, begin, end = jobs[jobs[:, 0] == c].T
        times = np.unique(np.concatenate((begin, end, cut.ravel())))
        change = np.zeros(times.size, np.int64)
        np.add.at(change, np.searchsorted(times, begin), number)
        np.subtract.at(change, np.searchsorted(times, end), number)
        there = np.cumsum(change)
        summed = np.append(0, np.cumsum(there[:-1] * np.diff(times)))
        first, until = np.searchsorted(times, cut).T
        plans[c] = summed[until] - summed[first]
        most[c] = [there[a:b].max(initial=0) for a, b in zip(first.tolist(), until.tolist(), strict=True)]
    return plans, most


def _dearer(problem: Problem, priced: Iterable[tuple[int, int, int]]) -> tuple[int, str | None]:
    """Return how many contents were tried, and what is worth more than its machine. priced : class, price, tasks at most."""
    tried = 0
    for k, (price, capacity) in enumerate(zip(problem.prices, problem.capacities, strict=True)):
        rows = problem.demands[problem.families[k]]
        items: list[Item] = []
        for c, value, most in priced:
            if (sizes := rows[c]) is None:
                continue
            fits = min((room // size for room, size in zip(capacity, sizes, strict=True) if size), default=most)
            items += [Item(value, sizes, (), (len(items) + i,)) for i in range(min(fits, most))]
        if _is_covered(items, capacity, price * NANO):
            continue
        end = dearer_content(items, capacity, (), price * NANO)
        tried += end.nodes
        if end.content is not None:
            return tried, f"a content of machine type {k} is worth more than the machine."
    return tried, None


def _is_covered(items: Sequence[Item], capacity: Sequence[int], limit: int) -> bool:
    """Whether prices of resources show that no content is worth more: a task is worth no more than what it takes of them.

    A linear program in floats proposes the prices; that they do is counted in whole numbers. No search is needed then.
    """
    alike = {(item.value, item.sizes) for item in items}
    if not alike:
        return True
    sizes, values = np.array([size for _, size in alike], float), np.array([value for value, _ in alike], float)
    unit = np.maximum(np.array(capacity, float), 1)
    found = linprog(np.array(capacity, float) / unit, A_ub=-sizes / unit, b_ub=-values / limit)
    if found.x is None:
        return False
    with np.errstate(divide="ignore"):
        short = float((values / limit / (sizes / unit @ found.x)).max(initial=1.0))
    if not math.isfinite(short):
        return False
    prices = [
        math.ceil(Fraction(float(x)) * Fraction(short) * UP * limit * SCALE / int(u))
        for x, u in zip(found.x, unit, strict=True)
    ]
    paid = sum(price * room for price, room in zip(prices, capacity, strict=True))
    return paid <= limit * SCALE and all(
        value * SCALE <= sum(price * size for price, size in zip(prices, sizes_of, strict=True))
        for value, sizes_of in alike
    )
