"""Proofs of lower bounds on the value of refused pods: prices of pods, and what contents of nodes are worth at most.

Pods that arrive have prices of at most their values, pods that run and may move any. What is placed is worth no more than
contents of nodes are, what is refused no more than its value. So, where no content of a node of kind k is worth more than z_k,

    S (refused value) >= sum of all prices - sum over nodes of z_k.

z_k comes from prices r >= 0 of resources: it is what r makes of all that is free, and what pods are worth beyond r on single
GPUs and on whole ones, by dynamic programming. Where that is not enough, all contents are tried, in so far as they may be
worth more. Pods that run and may not move are taken off their nodes. Gangs, limits on moves and costs of moves are left out.

Where no pod is refused that fits as it arrives, the first pods without a GPU of a class have to be placed, at any price: those
before which weights of what has arrived are less than what all nodes that take one have in use where none has room for it.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from pathlib import Path
from typing import Any

from schedgap.bench.certify.problem import MALFORMED, PARTS, Problem, exact, read_node, read_problem
from schedgap.bench.certify.proof import ProofFinding, check
from schedgap.bench.certify.spells import OverTime, check_spells, column, read_over_time
from schedgap.instances.documents.openings import read_given
from schedgap.instances.errors import InstanceError, SolutionError

GPU = 1000
# Contents that are tried for one kind of node.
MOST_TRIED = 1_000_000


@dataclass(frozen=True, slots=True)
class Pod:
    """A class of pods. sizes : of resources. gpus : it takes, `milli` of each. value : of one. types : that admit it."""

    sizes: tuple[int, ...]
    gpus: int
    milli: int
    value: int
    types: frozenset[int]


@dataclass(frozen=True, slots=True)
class Kind:
    """Nodes that are alike. free : of each resource. left : thousandths of each GPU, the fullest first."""

    type: int
    free: tuple[int, ...]
    left: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Nodes:
    """A placement problem. arriving, running : pods of each class that arrive, or run and may move. kinds : how many of each.

    accepts : whether no pod is refused that fits as it arrives. order : the classes of those that arrive.
    """

    name: str
    pods: tuple[Pod, ...]
    arriving: tuple[int, ...]
    running: tuple[int, ...]
    kinds: Mapping[Kind, int]
    accepts: bool
    order: tuple[int, ...]


def check_file(path: Path, certificate: Mapping[str, Any]) -> tuple[Problem | Nodes | OverTime, ProofFinding]:
    """Check a certificate, as `read_certificate` gives it, against the instance in a file; return that, too.

    Raises
    ------
    InstanceError, SolutionError
        for a file that cannot be read as the instance of such a proof, and a proof that is malformed.
    """
    if "pod_prices" in certificate["proof"]:
        nodes = read_nodes(path)
        return nodes, check_nodes(nodes, certificate)
    if "spells" in certificate["proof"]:
        over_time = read_over_time(path)
        return over_time, check_spells(over_time, certificate)
    problem = read_problem(path)
    return problem, check(problem, certificate)


def read_nodes(path: Path) -> Nodes:
    """Read a `schedgap/placement/1`.

    Raises
    ------
    InstanceError
        for a file that cannot be read as one.
    """
    try:
        return _of_document(json.loads(read_given(path).decode("utf-8-sig")), path)
    except OSError as error:
        raise InstanceError(f"{path}: cannot be read ({error.strerror}); give the file of the instance.") from None
    except MALFORMED as error:
        said = f"{type(error).__name__}: {error!s:.100}"
        raise InstanceError(f"{path}: no placement that can be checked ({said}); give its .json.") from None


def _of_document(given: dict[str, Any], path: Path) -> Nodes:
    parts = [next((PARTS[e] for e in PARTS if resource.endswith(e)), 1000) for resource in given["resources"]]
    names = [each["name"] for each in given["node_types"]]
    slices = [each.get("gpu_slices", 0) for each in given["node_types"]]
    pods = tuple(_pod(each, given["unit"], parts, names, slices) for each in given["pod_classes"])
    node_types = column(given, path, "nodes", "type", "node2type", names)
    classes = column(given, path, "pods", "class", "pod2class", [each["name"] for each in given["pod_classes"]])
    where = column(given, path, "pods", "node", "running_node", None) or [-1] * len(classes)
    movable = column(given, path, "pods", "movable", "movable", None) or [True] * len(classes)
    held = column(given, path, "pods", "gpus", "running_gpus", None) or [[]] * len(classes)
    free = [list(_amounts(given["node_types"][t]["capacity"], parts)) for t in node_types]
    left = [[GPU] * int(given["node_types"][t].get("gpus", 0)) for t in node_types]
    arriving, running = [0] * len(pods), [0] * len(pods)
    for c, node, moves, gpus in zip(classes, where, movable, held, strict=True):
        if node is None or node < 0:
            arriving[c] += 1
        elif moves and given.get("max_moves", -1) != 0:
            running[c] += 1
        else:
            free[node] = [has - size for has, size in zip(free[node], pods[c].sizes, strict=True)]
            mask = gpus if isinstance(gpus, int) else sum(1 << g for g in gpus)
            left[node] = [has - pods[c].milli * (mask >> g & 1) for g, has in enumerate(left[node])]
    kinds = Counter(
        Kind(t, tuple(own), tuple(sorted(gpus, reverse=True)))
        for t, own, gpus in zip(node_types, free, left, strict=True)
    )
    if min((min(kind.free + kind.left, default=0) for kind in kinds), default=0) < 0:
        raise ValueError("a node does not hold what runs on it")
    order = tuple(c for c, node in zip(classes, where, strict=True) if node is None or node < 0)
    return Nodes(given["name"], pods, tuple(arriving), tuple(running), kinds, bool(given.get("accepts")), order)


def _pod(given: dict[str, Any], unit: str, parts: Sequence[int], types: Sequence[str], slices: Sequence[int]) -> Pod:
    milli = int(exact(given.get("gpus", 0), GPU) * GPU)
    if milli > GPU and milli % GPU:
        raise ValueError(f"{milli} thousandths of GPUs are no whole GPUs")
    counted = {"GPUs": milli, "pods": 1000}.get(unit, 0)
    value = int(exact(given["value"], 1000) * 1000) if "value" in given else counted
    admitted = frozenset(types.index(name) for name in given.get("types", types))
    if milli:
        # Slices are taken of GPUs that are divided into enough of them, all else of GPUs that are not divided.
        last = min(given.get("starts", [0])) + given["slices"] if given.get("slices", 0) else 0
        admitted &= {t for t, has in enumerate(slices) if (last <= has if last else not has)}
    return Pod(_amounts(given["demand"], parts), -(-milli // GPU), min(milli, GPU), value, admitted)


def _amounts(numbers: Sequence[float], parts: Sequence[int]) -> tuple[int, ...]:
    amounts = tuple(int(exact(number, part) * part) for number, part in zip(numbers, parts, strict=True))
    if min(amounts, default=0) < 0:
        raise ValueError(f"{min(amounts)} is an amount below 0")
    return amounts


def check_nodes(problem: Nodes, certificate: Mapping[str, Any]) -> ProofFinding:
    """Check the proof of a certificate, as `read_certificate` gives it; its bound counts as given.

    Raises
    ------
    SolutionError
        for a proof that is malformed.
    """
    _, proof = read_node(certificate["proof"], "proof")
    none = [0] * len(problem.pods)
    running, at_any = proof.get("running_prices", none), proof.get("accepted_prices", none)
    if not len(problem.pods) == len(proof["pod_prices"]) == len(running) == len(at_any):
        raise SolutionError(f"proof: give a price for each of {len(problem.pods)} classes of pods.")
    scale, bound = proof["scale"], Fraction(certificate["bound"]) * 1000
    for c, (pod, price) in enumerate(zip(problem.pods, proof["pod_prices"], strict=True)):
        if price > pod.value * scale:
            raise SolutionError(f"proof.pod_prices.{c}: {price} is more than the pod's value, {pod.value * scale}.")
    rows = [[0] * len(problem.pods[0].sizes), *proof["multipliers"]]
    weights = proof.get("weights", [])
    if len({len(row) for row in (*rows, *weights)}) > 1:
        raise SolutionError(f"proof.multipliers, proof.weights: give {len(rows[0])} numbers in each, one a resource.")
    must = _accepted(problem, weights) if any(at_any) else none
    others = [number - first for number, first in zip(problem.arriving, must, strict=True)]
    step = math.gcd(*(pod.value for pod, n in zip(problem.pods, problem.arriving, strict=True) if n)) or 1
    offered = [
        *zip(problem.pods, proof["pod_prices"], others, strict=True),
        *zip(problem.pods, running, problem.running, strict=True),
        *zip(problem.pods, at_any, must, strict=True),
    ]
    # The value is a multiple of the step, and no less than the bound if it is more than this.
    spare = sum(price * count for _, price, count in offered) - (math.ceil(bound / step) - 1) * step * scale - 1
    contents = [_Contents(kind, number, offered, rows) for kind, number in problem.kinds.items()]
    total = sum(each.number * each.most for each in contents)
    tried = 0
    for each in sorted(contents, key=lambda each: len(each.kind.left)):
        if total <= spare or bound <= 0:
            break
        before = each.most
        tried += each.search()
        total += each.number * (each.most - before)
    proven = bound <= 0 or total <= spare
    reason = None if proven else f"proof: nodes may hold {total} in prices, {spare} would prove the bound."
    return ProofFinding(int(bound), 1, 1, tried, reason)


def _accepted(problem: Nodes, rows: Sequence[Sequence[int]]) -> list[int]:
    """Return how many pods of each class without a GPU, the first to arrive, have to be placed."""
    if not problem.accepts or any(problem.running):
        raise SolutionError(
            "proof.accepted_prices: the instance lets pods be refused that fit, or move; leave them out."
        )
    found = [0] * len(problem.pods)
    for c, pod in enumerate(problem.pods):
        asks = [r for r, size in enumerate(pod.sizes) if size]
        holding = [
            (kind.free, number)
            for kind, number in problem.kinds.items()
            if kind.type in pod.types and all(size <= has for size, has in zip(pod.sizes, kind.free, strict=True))
        ]
        if pod.gpus or not holding:
            continue
        if not asks:
            found[c] = problem.arriving[c]
        for row in rows if asks else ():
            least = [(min(row[r] * (free[r] - pod.sizes[r] + 1) for r in asks), number) for free, number in holding]
            full = sum(map(math.prod, least))
            weigh = [sum(row[r] * each.sizes[r] for r in asks) for each in problem.pods]
            so_far = accumulate((weigh[other] for other in problem.order), initial=0)
            before = zip(problem.order, so_far, strict=False)
            found[c] = max(found[c], sum(other == c and weight < full for other, weight in before))
    return found


class _Contents:
    """The contents of one kind of node. most : none is worth more."""

    def __init__(
        self, kind: Kind, number: int, offered: Sequence[tuple[Pod, int, int]], rows: Sequence[Sequence[int]]
    ) -> None:
        self.kind, self.number = kind, number
        inside = [
            (pod, price, count)
            for pod, price, count in offered
            if min(price, count) > 0
            and kind.type in pod.types
            and sum(has >= max(pod.milli, 1) for has in kind.left) >= pod.gpus
            and all(size <= has for size, has in zip(pod.sizes, kind.free, strict=True))
        ]
        inside.sort(key=lambda item: (-item[0].gpus, -item[0].milli, -item[1]))
        self.pods, self.prices = [pod for pod, _, _ in inside], [price for _, price, _ in inside]
        self.counts = [count for _, _, count in inside]
        self.unit = math.gcd(GPU, *(pod.milli for pod in self.pods), *kind.left)
        self.row = min(rows, key=self._relaxed)
        self.most = self._relaxed(self.row)

    def _relaxed(self, row: Sequence[int]) -> int:
        """Return a bound at prices of resources."""
        self._tables(row)
        return self._beyond(0, self.kind.free, self.kind.left)

    def _tables(self, row: Sequence[int]) -> None:
        """Make what the pods from one on are worth beyond `row`: on so much of a GPU, on so many, and without one."""
        self.paid = row
        room, n = GPU // self.unit, len(self.pods)
        self.share = [[0] * (room + 1) for _ in range(n + 1)]
        self.whole = [[0] * (len(self.kind.left) + 1) for _ in range(n + 1)]
        self.none = [0] * (n + 1)
        for i in range(n - 1, -1, -1):
            pod = self.pods[i]
            gain = max(0, self.prices[i] - sum(map(math.prod, zip(row, pod.sizes, strict=True))))
            self.none[i] = self.none[i + 1]
            share, whole = list(self.share[i + 1]), list(self.whole[i + 1])
            if pod.gpus == 0:
                fits = [has // size for has, size in zip(self.kind.free, pod.sizes, strict=True) if size]
                self.none[i] += gain * min(self.counts[i], *fits, self.counts[i])
            elif pod.milli < GPU and gain:
                size = pod.milli // self.unit
                for _ in range(min(self.counts[i], room // size)):
                    for has in range(room, size - 1, -1):
                        share[has] = max(share[has], share[has - size] + gain)
            self.share[i] = share
            for gpus in range(1, len(whole)):
                whole[gpus] = max(whole[gpus], whole[gpus - 1] + share[-1])
                if pod.gpus and pod.milli == GPU and gpus >= pod.gpus:
                    whole[gpus] = max(whole[gpus], whole[gpus - pod.gpus] + gain)
            self.whole[i] = whole

    def _beyond(self, i: int, free: Sequence[int], left: Sequence[int]) -> int:
        """Return what the pods from one on may add where so much is free."""
        full = sum(has == GPU for has in left)
        parts = sum(self.share[i][has // self.unit] for has in left if has < GPU)
        paid = sum(map(math.prod, zip(self.paid, free, strict=True)))
        return paid + self.whole[i][full] + parts + self.none[i]

    def search(self) -> int:
        """Try all contents that may be worth more than the best, unless they are too many; return how many were tried."""
        self._tables(self.row)
        best, tried = 0, 0
        known: dict[tuple[int, int, tuple[int, ...], tuple[int, ...]], int] = {}
        to_do = [(0, 0, self.kind.free, self.kind.left, 0)]
        while to_do:
            i, used, free, left, worth = to_do.pop()
            best = max(best, worth)
            if i == len(self.pods) or worth + self._beyond(i, free, left) <= best:
                continue
            if known.get((i, used, free, left), -1) >= worth:
                continue
            known[i, used, free, left] = worth
            tried += 1
            if tried > MOST_TRIED:
                return tried
            to_do.append((i + 1, 0, free, left, worth))
            pod = self.pods[i]
            if used == self.counts[i]:
                continue
            used += 1
            after = tuple(has - size for has, size in zip(free, pod.sizes, strict=True))
            if min(after, default=0) < 0:
                continue
            if pod.milli in (0, GPU):
                if sum(has == GPU for has in left) >= pod.gpus:
                    to_do.append((i, used, after, (*left[pod.gpus :], *[0] * pod.gpus), worth + self.prices[i]))
                continue
            for has in sorted({has for has in left if has >= pod.milli}, reverse=True):
                g = left.index(has)
                rest = tuple(sorted((*left[:g], has - pod.milli, *left[g + 1 :]), reverse=True))
                to_do.append((i, used, after, rest, worth + self.prices[i]))
        self.most = min(self.most, best)
        return tried
