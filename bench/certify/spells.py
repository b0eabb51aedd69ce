"""Proofs of lower bounds on what machines cost over time: in each spell prices of the tasks that must be there.

A task must be in the plans from the first after its arrival until its start-up and its work have passed. Its machine is paid
for `window_s` of each period at least. So where no content of a machine is worth more than the machine, a schedule costs
no less than prices times tasks times plans, times the window. That is so where machines are paid from their order on.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import Any

from schedgap.bench.certify.contents import Item, dearer_content
from schedgap.bench.certify.problem import DOLLAR, MALFORMED, Problem, read_node, read_problem
from schedgap.bench.certify.proof import ProofFinding
from schedgap.instances.documents.openings import read_given
from schedgap.instances.errors import InstanceError, SolutionError

# Prices are nano-dollars an hour, bounds micro-dollars.
NANO, HOUR_S = 1000, 3600


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
        for a file that cannot be read as one, whose jobs are in another file, or whose machines are paid later than ordered.
    """
    problem = read_problem(path)
    try:
        return _of_document(json.loads(read_given(path).decode("utf-8-sig")), problem)
    except MALFORMED as error:
        said = f"{type(error).__name__}: {error!s:.100}"
        raise InstanceError(f"{path}: no jobs over time that can be checked ({said}); give its .json.") from None


def _of_document(given: dict[str, Any], problem: Problem) -> OverTime:
    if "jobs" not in given:
        raise ValueError("its jobs are in another file; write them into this one")
    if any(each.get("acquire_s", 0) for each in given["machine_types"]):
        raise ValueError("a machine is paid later than it is ordered")
    period, delays = given.get("period_s", 300), {each["name"]: each for each in given["workloads"]}
    workload = [delays[each["workload"]] for each in given["tasks"]]
    start = [each["fetch_s"] + each["init_s"] for each in workload]
    kill = [each["kill_s"] for each in workload]
    early = min(min(kill), min(start), given.get("terminate_s", 1))
    names = {each["name"]: c for c, each in enumerate(given["tasks"])}
    ran = {int(job) for machine in given.get("running", ()) for job in machine["tasks"]}
    jobs, there = given["jobs"], []
    numbers = jobs.get("num_tasks", [1] * len(jobs["task"]))
    rows = zip(jobs["task"], numbers, jobs["arrival_s"], jobs["work_s"], strict=True)
    for j, (task, number, arrival, work) in enumerate(rows):
        c, first = names[task], -(-arrival // period)
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
    worth, contents, before, known = 0, 0, 0, set()
    for g, spell in enumerate(proof["spells"]):
        first, until = spell["from_s"] // period, spell["until_s"] // period
        prices = dict(zip(spell["classes"], spell["prices"], strict=False))
        if (
            not before <= first <= until
            or len(prices) != len(spell["prices"])
            or len(prices) != len(spell["classes"])
            or any(c >= len(problem.counts) for c in prices)
        ):
            raise SolutionError(
                f"proof.spells.{g}: give spells in order, and one price for each class of the instance."
            )
        before = until
        plans, most = _present(given, first, until)
        worth += sum(price * plans[c] for c, price in prices.items())
        key = tuple((c, price, most[c]) for c, price in sorted(prices.items()))
        if key not in known:
            known.add(key)
            tried, dearer = _dearer(problem, key)
            contents += tried
            if dearer is not None:
                return ProofFinding(bound, g + 1, len(known), contents, f"proof.spells.{g}: {dearer}")
    proven = -(-worth * given.window_s // (HOUR_S * NANO))
    if proven < bound:
        reason = f"the spells prove {proven / DOLLAR}, not the {bound / DOLLAR} that are claimed."
        return ProofFinding(bound, len(proof["spells"]), len(known), contents, reason)
    return ProofFinding(bound, len(proof["spells"]), len(known), contents, None)


def _present(given: OverTime, first: int, until: int) -> tuple[Counter[int], Counter[int]]:
    """Return how many tasks of each class there are from one plan until another: summed over plans, and at most at once."""
    plans: Counter[int] = Counter()
    changes: dict[int, Counter[int]] = {}
    for c, number, begin, end in given.there:
        begin, end = max(first, begin), min(until, end)
        if begin < end:
            plans[c] += number * (end - begin)
            changes.setdefault(c, Counter()).update({begin: number})
            changes[c].subtract({end: number})
    return plans, Counter({c: max(accumulate(n for _, n in sorted(each.items()))) for c, each in changes.items()})


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
        end = dearer_content(items, capacity, (), price * NANO)
        tried += end.nodes
        if end.content is not None:
            return tried, f"a content of machine type {k} is worth more than the machine."
    return tried, None
