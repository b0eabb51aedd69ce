"""Proofs of lower bounds on the price of machines that hold all tasks: a tree of decisions, with prices at its leaves.

At a leaf, task t has price p_t, of any sign, and cut j numerators a_jt >= 0, a denominator q_j and a price s_j >= 0. Let

    worth(X) = sum of p_t over X  -  sum over j of s_j floor(a_j(X) / q_j),   a_j(X) = sum of a_jt over X.

If worth(X) <= S c_k for every content X that fits a machine of type k (price c_k) and keeps to the decisions above the
leaf, then every solution that keeps to them costs at least worth(all) / S: its contents X_i part the tasks, and

    S cost >= sum of worth(X_i) = sum of p_t - sum over j of s_j (sum over i of floor(a_j(X_i) / q_j)) >= worth(all),

since floors of parts add up to no more than the floor of the sum. The cost is a multiple of the step of prices, so it is
rounded up. On a number of machines of some type, at most m adds a price r >= 0 of those machines, and -r m to worth(all);
at least m + 1 takes it from their price, and adds r (m + 1). A solution keeps to one of the two decisions of each branch, so
the least bound of the leaves is one of all solutions.

A solution that is cheaper than the bound has at most m machines where all are of one type. Together they leave m times the
capacity free, less all sizes: a content that leaves more than that is in no such solution, and is not asked for.

Since prices may be read at any scale S, a leaf is tried at the largest at which it proves the bound that is claimed: that
is the easiest to check, and a bound that holds at a smaller one holds at that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from schedgap.bench.certify.contents import Item, PricedCut, dearer_content, remaining
from schedgap.bench.certify.problem import DOLLAR, Problem, read_node
from schedgap.instances.errors import SolutionError


@dataclass(frozen=True, slots=True)
class Decisions:
    """The way from the root to a node. pairs : two tasks, and whether they are together.

    machines : (type or None for all, whether at most, that number) for each. listed : prices of tasks, for a list.
    """

    where: str = "proof"
    pairs: tuple[tuple[int, int, bool], ...] = ()
    machines: tuple[tuple[int | None, bool, int], ...] = ()
    listed: tuple[list[int], ...] = ()


@dataclass(frozen=True, slots=True)
class ProofFinding:
    """What a check found. reason : why the bound is not proven, None where it is. bound : micro-dollars."""

    bound: int
    nodes: int
    leaves: int
    contents: int
    reason: str | None = None


def check(problem: Problem, certificate: Mapping[str, Any]) -> ProofFinding:
    """Check the proof of a certificate, as `read_certificate` gives it.

    Raises
    ------
    SolutionError
        for a node that is malformed, or names a task, class or type that is not there.
    """
    bound = Fraction(certificate["bound"]) * DOLLAR
    if bound.denominator != 1:
        raise SolutionError(f"the bound {certificate['bound']} is no whole number of micro-dollars; round it down.")
    nodes = leaves = contents = 0
    for decisions, leaf in _nodes(problem, certificate["proof"]):
        nodes += 1
        if leaf is None:
            continue
        leaves += 1
        if "listed" in leaf:
            tried, reason = _check_listed(problem, decisions, int(bound))
        else:
            tried, reason = _Leaf(problem, decisions, leaf).check(int(bound))
        contents += tried
        if reason is not None:
            return ProofFinding(int(bound), nodes, leaves, contents, f"{decisions.where}: {reason}")
    return ProofFinding(int(bound), nodes, leaves, contents)


def _nodes(problem: Problem, root: dict[str, Any]) -> Iterator[tuple[Decisions, dict[str, Any] | None]]:
    """Yield each node's decisions, and the node if it is a leaf."""
    tasks, types = sum(problem.counts), len(problem.prices)
    to_do = [(Decisions(), root)]
    while to_do:
        at, given = to_do.pop()
        kind, node = read_node(given, at.where)
        at = replace(at, listed=(*at.listed, *node.get("listed", ())))
        yield at, node if kind in ("scale", "listed") else None
        if kind == "pair":
            s, t = node["pair"]
            if s == t or max(s, t) >= tasks:
                raise SolutionError(f"{at.where}.pair: {s} and {t} are not two of the {tasks} tasks; mend it.")
            for key in ("apart", "together"):
                pairs = (*at.pairs, (s, t, key == "together"))
                to_do.append((replace(at, where=f"{at.where}.{key}", pairs=pairs), node[key]))
        elif kind == "machines":
            k, most = node["machines"], node["at_most"]
            if k is not None and k >= types:
                raise SolutionError(f"{at.where}.machines: {k} is none of the {types} types; mend it.")
            for key, decision in (("above", (k, False, most + 1)), ("below", (k, True, most))):
                to_do.append((replace(at, where=f"{at.where}.{key}", machines=(*at.machines, decision)), node[key]))


def _check_listed(problem: Problem, decisions: Decisions, bound: int) -> tuple[int, str | None]:
    """Return how many contents were listed, and why that does not prove the bound. On numbers of machines nothing is used."""
    below = -(-bound // problem.price_step) - 1
    rows = problem.demands[problem.families[0]]
    spare = problem.spare(below * problem.price_step)
    if spare is None or len(spare) > 1 or None in rows:
        raise SolutionError(f"{decisions.where}.listed: lists are for one machine type and one resource; give prices.")
    sizes = [row[0] for c in problem.task_classes if (row := rows[c]) is not None]
    if below < 1:
        return 0, None
    listed, left = remaining(sizes, problem.capacities[0][0], spare[0], below, decisions.pairs, decisions.listed)
    return listed, f"{left} contents are left of {listed}." if left else None


class _Leaf:
    """A leaf with its decisions, all numbers by task."""

    def __init__(self, problem: Problem, decisions: Decisions, leaf: Mapping[str, Any]) -> None:
        self.problem, self.decisions, self.where = problem, decisions, decisions.where
        self.classes = problem.task_classes
        self.scale: int = leaf["scale"]
        self.prices = self._prices(leaf)
        self.cuts: list[PricedCut] = []
        self.numerators: list[list[tuple[int, int]]] = [[] for _ in self.classes]
        self.worth = sum(self.prices)
        for j, given in enumerate(leaf.get("cuts", ())):
            self._add_cut(j, given)
        self.hints = leaf.get("multipliers", [])
        if any(len(hint) != len(problem.capacities[0]) for hint in self.hints):
            raise SolutionError(f"{self.where}.multipliers: give one number a resource in each.")
        self.limits = self._machine_prices(leaf.get("machine_prices", [0] * len(decisions.machines)))

    def check(self, bound: int) -> tuple[int, str | None]:
        """Return how many contents were looked at, and why the leaf does not prove the bound (None: it does)."""
        step = self.problem.price_step
        # The cost is a multiple of the step, and no less than the bound if it is more than this.
        below = (-(-bound // step) - 1) * step
        if below < 0 or self._is_empty():
            return 0, None
        if self.worth <= below * self.scale:
            proven = Fraction(max(-(-self.worth // (self.scale * step)), 0) * step, DOLLAR)
            return 0, f"proves {_shown(proven)}, not the {_shown(Fraction(bound, DOLLAR))} that are claimed."
        if below == 0:
            # Any price of machines above 0 will do.
            return 0, None
        tried, spare = 0, self.problem.spare(below)
        for k, price in enumerate(self.problem.prices):
            limit = price * (self.worth - 1) // below + self.limits[k]
            items, most = self._apart(self._items(k))
            capacity, more = (*self.problem.capacities[k], *most), [0] * len(most)
            left = None if spare is None else (*spare, *most)
            hints = [[*hint, *more] for hint in self.hints]
            verdict = dearer_content(items, capacity, self.cuts, limit, hints, left)
            tried += verdict.nodes
            if verdict.content is not None:
                tasks = ", ".join(map(str, verdict.content)) or "none"
                return tried, f"a content of machine type {k} is worth more than the machine: tasks {tasks}."
        return tried, None

    def _prices(self, leaf: Mapping[str, Any]) -> list[int]:
        given = [(key, leaf[key]) for key in ("prices", "task_prices") if key in leaf]
        if len(given) != 1:
            raise SolutionError(f"{self.where}: {len(given)} of prices and task_prices are given; give one of them.")
        key, prices = given[0]
        number = len(self.problem.counts) if key == "prices" else len(self.classes)
        if len(prices) != number:
            raise SolutionError(f"{self.where}.{key}: {len(prices)} numbers for {number}; give one each.")
        return [prices[c] for c in self.classes] if key == "prices" else list(prices)

    def _add_cut(self, j: int, given: Mapping[str, Any]) -> None:
        """Note a cut's numerators with its tasks, and take its penalty off what all tasks are worth."""
        keys = [key for key in ("tasks", "classes") if key in given]
        if len(keys) != 1 or len(given[keys[0]]) != len(given["numerators"]):
            raise SolutionError(f"{self.where}.cuts.{j}: give tasks or classes, and as many numerators.")
        named = dict(zip(given[keys[0]], given["numerators"], strict=True))
        number = len(self.classes) if keys[0] == "tasks" else len(self.problem.counts)
        if len(named) != len(given["numerators"]) or any(each >= number for each in named):
            raise SolutionError(
                f"{self.where}.cuts.{j}.{keys[0]}: one is named twice, or is none of {number}; mend it."
            )
        total = 0
        for task, c in enumerate(self.classes):
            numerator = named.get(task if keys[0] == "tasks" else c, 0)
            if numerator:
                self.numerators[task].append((j, numerator))
                total += numerator
        self.cuts.append(PricedCut(given["denominator"], given["price"]))
        self.worth -= given["price"] * (total // given["denominator"])

    def _machine_prices(self, given: Sequence[int]) -> list[int]:
        """Return what each type's price is changed by, and add what decisions on numbers of machines are worth."""
        decided = self.decisions.machines
        if len(given) != len(decided):
            raise SolutionError(
                f"{self.where}.machine_prices: {len(given)} numbers for {len(decided)} decisions above; give one each."
            )
        changes = [0] * len(self.problem.prices)
        for (kind, is_at_most, number), price in zip(decided, given, strict=True):
            sign = 1 if is_at_most else -1
            self.worth -= sign * price * number
            for k in range(len(changes)) if kind is None else (kind,):
                changes[k] += sign * price
        return changes

    def _groups(self) -> dict[int, list[int]]:
        """Return the tasks that are together, by the first of each."""
        first = list(range(len(self.classes)))

        def root(task: int) -> int:
            while first[task] != task:
                task = first[task]
            return task

        for s, t, together in self.decisions.pairs:
            if together:
                low, high = sorted((root(s), root(t)))
                first[high] = low
        groups: dict[int, list[int]] = {}
        for task in range(len(self.classes)):
            groups.setdefault(root(task), []).append(task)
        return groups

    def _is_empty(self) -> bool:
        """Whether tasks are together and apart: no solution keeps to these decisions."""
        home = {task: first for first, tasks in self._groups().items() for task in tasks}
        return any(not together and home[s] == home[t] for s, t, together in self.decisions.pairs)

    def _items(self, kind: int) -> list[Item]:
        """Return what may be on a machine of a type."""
        groups = self._groups()
        home = {task: first for first, tasks in groups.items() for task in tasks}
        partners: dict[int, set[int]] = {}
        for s, t, together in self.decisions.pairs:
            if not together:
                partners.setdefault(home[s], set()).add(home[t])
                partners.setdefault(home[t], set()).add(home[s])
        demands = self.problem.demands[self.problem.families[kind]]
        items = []
        for first, tasks in groups.items():
            rows = [row for task in tasks if (row := demands[self.classes[task]]) is not None]
            if len(rows) < len(tasks):
                continue
            numerators: dict[int, int] = {}
            for task in tasks:
                for j, numerator in self.numerators[task]:
                    numerators[j] = numerators.get(j, 0) + numerator
            items.append(
                Item(
                    value=sum(self.prices[task] for task in tasks),
                    sizes=tuple(map(sum, zip(*rows, strict=True))),
                    numerators=tuple(sorted(numerators.items())),
                    tasks=tuple(tasks),
                    partners=frozenset(partners.get(first, ())),
                )
            )
        return items

    def _apart(self, items: list[Item]) -> tuple[list[Item], list[int]]:
        """Return the items with which no content breaks a limit on tasks of a class, and the room of resources for that.

        Of a class whose tasks may be exchanged for each other no more are needed than may share a machine. Any other counts
        as a resource.
        """
        room: list[int] = []
        for c, most in enumerate(self.problem.together):
            held = [sum(self.classes[task] == c for task in item.tasks) for item in items]
            if most is None or sum(held) <= most:
                continue
            kinds = {(item.kind, len(item.tasks)) for item, number in zip(items, held, strict=True) if number}
            if len(kinds) == 1 and max(held) == 1 and kinds.pop()[1] == 1:
                own = [i for i, number in enumerate(held) if number]
                dropped = set(own[most:])
                items = [item for i, item in enumerate(items) if i not in dropped]
                continue
            items = [replace(item, sizes=(*item.sizes, number)) for item, number in zip(items, held, strict=True)]
            room.append(most)
        return items, room


def _shown(amount: Fraction) -> str:
    """Return an amount without a rounding error."""
    return str(amount.numerator) if amount.denominator == 1 else f"{Decimal(amount.numerator) / amount.denominator}"
