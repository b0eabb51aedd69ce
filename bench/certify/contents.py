"""Whether some content of a machine is worth more than a limit: items, cuts and decisions as arrays for the search.

The contents that a machine of a solution with so many machines may have, dropped by prices until none is left.

At any prices of tasks let no content be worth more than M >= 0. The machines of a solution hold all tasks, m - 1 of them no
more than (m - 1) M: each of m machines holds something worth at least what all tasks are worth less (m - 1) M. The first prices
make a list, decisions and all prices drop contents from it. Without contents there is no solution. One type, one resource.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linprog

from schedgap.bench.certify.kernels_contents import DEARER, Items, Relaxations, fill, most, search
from schedgap.instances.errors import SolutionError

# Beyond it sums could leave 64 bits.
LARGEST = 2**62
# Entries of all relaxations' tables together, 8 bytes each; of how many parts a sum of capacities is made.
MOST_ENTRIES, PARTS = 2**26, 64
# Entries of a row of a table.
WIDEST = 2**22


@dataclass(frozen=True, slots=True)
class Item:
    """What is on a machine as a whole or not at all: a task, or tasks that are kept together.

    value : its price. sizes : its demand on this machine. numerators : (cut, numerator), in order of cuts. tasks : it is
    made of. partners : the first tasks of the items that are not beside it.
    """

    value: int
    sizes: tuple[int, ...]
    numerators: tuple[tuple[int, int], ...]
    tasks: tuple[int, ...]
    partners: frozenset[int] = field(default_factory=frozenset)

    @property
    def kind(self) -> tuple[object, ...]:
        """Items of one kind may be exchanged for each other."""
        own = self.tasks if self.partners else ()
        return -self.value, self.sizes, self.numerators, own


@dataclass(frozen=True, slots=True)
class PricedCut:
    """A cut's denominator and price."""

    denominator: int
    price: int


@dataclass(frozen=True, slots=True)
class SearchEnd:
    """What a search gave. content : tasks that are worth more than the limit, None if there are none such."""

    content: tuple[int, ...] | None
    nodes: int


@dataclass(frozen=True, slots=True, eq=False)
class Relaxation:
    """One capacity in place of all. weights : (n,) of the items. width : it and 1. spare : what is left of it at most."""

    weights: np.ndarray
    width: int
    spare: int


def dearer_content(
    items: Sequence[Item],
    capacity: Sequence[int],
    cuts: Sequence[PricedCut],
    limit: int,
    hints: Sequence[Sequence[int]] = (),
    spare: Sequence[int] | None = None,
) -> SearchEnd:
    """Look for a content that is worth more than `limit`.

    hints : multipliers of the capacities, whole ones each. spare : what a content leaves free of each resource at most.

    Items worth nothing or less, or too large, are left out: without one of the former a content is worth no less and fits
    all the same, and leaves no more free than `spare` with the sizes of all of those.

    Raises
    ------
    SolutionError
        if sums would leave 64 bits.
    """
    if limit < 0:
        return SearchEnd((), 0)
    useful = _useful(items, capacity)
    if sum(item.value for item in useful) <= limit:
        return SearchEnd(None, 0)
    _refuse_large(useful, len(capacity), cuts, limit)
    value = np.array([item.value for item in useful])
    spare = _with_worthless(capacity if spare is None else spare, items, capacity)
    # One row of a table at a time needs no room for all: with one resource it is exact where tables would be made coarse.
    is_single = len(capacity) == 1
    rows = _relaxations(useful, capacity, hints, spare, WIDEST * (len(useful) + 1) if is_single else MOST_ENTRIES)
    if any(most(value, each.weights, each.width) <= limit for each in rows):
        return SearchEnd(None, 0)
    relaxed = _relaxations(useful, capacity, hints, spare, MOST_ENTRIES) if is_single else rows
    content, count = np.zeros(len(useful), np.int64), np.zeros(2, np.int64)
    found = search(_arrays(useful, capacity, spare, cuts), _tables(value, relaxed), limit, content, count)
    tasks = [task for i in content[: count[0]].tolist() for task in useful[i].tasks]
    return SearchEnd(tuple(sorted(tasks)) if found == DEARER else None, int(count[1]))


def _with_worthless(spare: Sequence[int], items: Sequence[Item], capacity: Sequence[int]) -> list[int]:
    """Return what is free at most once everything is taken off that is worth nothing or less."""
    more = [sum(item.sizes[d] for item in items if item.value <= 0) for d in range(len(capacity))]
    return [min(each + extra, room) for each, extra, room in zip(spare, more, capacity, strict=True)]


def _refuse_large(items: Sequence[Item], resources: int, cuts: Sequence[PricedCut], limit: int) -> None:
    held = [0] * len(cuts)
    for item in items:
        for j, numerator in item.numerators:
            held[j] += numerator
    totals = [
        limit + sum(item.value for item in items),
        sum(cut.price * (1 + total // cut.denominator) for cut, total in zip(cuts, held, strict=True)),
        max((total + cut.denominator for cut, total in zip(cuts, held, strict=True)), default=0),
        *(sum(item.sizes[d] for item in items) for d in range(resources)),
    ]
    if max(totals) >= LARGEST:
        raise SolutionError(f"numbers add up to {max(totals)}, more than 62 bits; give prices of a smaller scale.")


def _useful(items: Sequence[Item], capacity: Sequence[int]) -> list[Item]:
    """Return those items that a content may have for its worth, the dearest first; of a kind, as many as fit.

    Measured on 500 items in 10 dimensions: in order of size the search looks at five times as many contents.
    """
    useful: list[Item] = []
    alike, kind = 0, None
    for item in sorted(items, key=lambda item: item.kind):
        if item.value <= 0 or any(size > room for size, room in zip(item.sizes, capacity, strict=True)):
            continue
        alike, kind = (alike + 1 if item.kind == kind else 1), item.kind
        if all(alike * size <= room for size, room in zip(item.sizes, capacity, strict=True)):
            useful.append(item)
    return useful


def _relaxations(
    items: Sequence[Item],
    capacity: Sequence[int],
    hints: Sequence[Sequence[int]],
    spare: Sequence[int],
    most_entries: int,
) -> list[Relaxation]:
    """Return every resource, the given sums of them, and the best by linear programming."""
    binding = [d for d in range(len(capacity)) if sum(item.sizes[d] for item in items) > capacity[d]]
    if not binding:
        return [Relaxation(np.zeros(len(items), np.int64), 1, 1)]
    sums: list[Sequence[int]] = [[int(d == e) for e in range(len(capacity))] for d in binding]
    if len(binding) > 1:
        sums = [parts for parts in (_shadow_prices(items, capacity), *hints, *sums) if any(parts)]
    entries = max(1, min(most_entries // len(sums) // (len(items) + 1), WIDEST))
    return [_relaxation(items, capacity, parts, entries, spare) for parts in sums]


def _relaxation(
    items: Sequence[Item], capacity: Sequence[int], parts: Sequence[int], entries: int, spare: Sequence[int]
) -> Relaxation:
    """Return the sum of capacities of which resource d has `parts[d]`, in units that keep tables small.

    Weights are rounded down: what fits still does, and then nothing is said of what must be full.
    """
    used = [d for d, part in enumerate(parts) if part and capacity[d]]
    common = math.lcm(*(capacity[d] for d in used))
    whole = sum(parts[d] for d in used) * common
    weights = [sum(parts[d] * item.sizes[d] * (common // capacity[d]) for d in used) for item in items]
    divisor = math.gcd(*weights) or 1
    if whole // divisor >= entries:
        grid = entries - 1
        return Relaxation(np.array([weight * grid // whole for weight in weights]), grid + 1, grid)
    free = sum(parts[d] * spare[d] * (common // capacity[d]) for d in used)
    return Relaxation(np.array([weight // divisor for weight in weights]), whole // divisor + 1, free // divisor)


def _shadow_prices(items: Sequence[Item], capacity: Sequence[int]) -> list[int]:
    """Return the capacities' prices in the linear relaxation, in whole parts: any would be valid, these are good."""
    used = [d for d, room in enumerate(capacity) if room]
    top = max(item.value for item in items)
    values = [-item.value / top for item in items]
    shares = [[item.sizes[d] / capacity[d] for item in items] for d in used]
    solved = linprog(values, A_ub=shares, b_ub=[1.0] * len(used), bounds=(0, 1), method="highs")
    if solved.status != 0:
        return [0] * len(capacity)
    prices = dict(zip(used, -solved.ineqlin.marginals, strict=True))
    total = sum(prices.values())
    return [round(PARTS * max(prices.get(d, 0.0), 0.0) / total) if total > 0 else 0 for d in range(len(capacity))]


def _tables(value: np.ndarray, relaxed: Sequence[Relaxation]) -> Relaxations:
    widths = [each.width for each in relaxed]
    ends = np.cumsum([width * (len(value) + 1) for width in widths])
    worth = np.empty(ends[-1], np.int64)
    starts = np.array([0, *ends[:-1]])
    for each, start, end in zip(relaxed, starts, ends, strict=True):
        fill(value, each.weights, each.width, max(each.spare, -1), worth[start:end])
    weight = np.ascontiguousarray(np.stack([each.weights for each in relaxed], axis=1))
    return Relaxations(weight, np.array(widths), starts, worth)


def _arrays(items: Sequence[Item], capacity: Sequence[int], spare: Sequence[int], cuts: Sequence[PricedCut]) -> Items:
    next_kind = [len(items)] * len(items)
    for i in range(len(items) - 2, -1, -1):
        next_kind[i] = next_kind[i + 1] if items[i].kind == items[i + 1].kind else i + 1
    place = {task: i for i, item in enumerate(items) for task in item.tasks}
    conflicts = [sorted({place[task] for task in item.partners if task in place}) for item in items]
    entries = [entry for item in items for entry in item.numerators]
    return Items(
        value=np.array([item.value for item in items]),
        size=np.array([item.sizes for item in items], np.int64).reshape(len(items), len(capacity)),
        capacity=np.array(capacity, np.int64),
        spare=np.array([max(each, -1) for each in spare], np.int64),
        next_kind=np.array(next_kind),
        cut_start=np.cumsum([0, *(len(item.numerators) for item in items)]),
        cut=np.array([j for j, _ in entries], np.int64),
        numerator=np.array([numerator for _, numerator in entries], np.int64),
        conflict_start=np.cumsum([0, *map(len, conflicts)]),
        conflict=np.array([other for each in conflicts for other in each], np.int64),
        denominator=np.array([cut.denominator for cut in cuts], np.int64),
        penalty=np.array([cut.price for cut in cuts], np.int64),
    )


# Entries of the table, 8 bytes each; contents of a list; sums of prices stay within 64 bits. Less than any content is worth.
MOST_LISTING_ENTRIES, MOST_LISTED, LARGEST_VALUE, NEVER = 2**26, 200_000, 2**58, -(2**61)


def remaining(
    sizes: Sequence[int],
    capacity: int,
    spare: int,
    machines: int,
    pairs: Iterable[tuple[int, int, bool]],
    prices: Sequence[Sequence[int]],
) -> tuple[int, int]:
    """Return how many contents were listed, and how many are left.

    sizes : of the tasks. spare : what a machine leaves free at most. pairs : two tasks, and whether they are together.

    Raises
    ------
    SolutionError
        if prices are not one a task, sums would leave 64 bits, or the list is too long to be made.
    """
    if not prices or any(len(row) != len(sizes) or sum(map(abs, row)) > LARGEST_VALUE for row in prices):
        raise SolutionError(
            f"listed: give prices, one for each of {len(sizes)} tasks, that add up to {LARGEST} at most."
        )
    rows = np.array(prices, np.int64)
    contents = _listed(np.array(sizes, np.int64), rows[0], capacity, spare, machines)
    number = contents.shape[0]
    for s, t, together in pairs:
        contents = contents[contents[:, s] == contents[:, t] if together else ~(contents[:, s] & contents[:, t])]
    for row in rows:
        worth = contents @ row
        contents = contents[worth >= int(row.sum()) - (machines - 1) * int(worth.max(initial=0))]
    return number, contents.shape[0]


def _listed(sizes: np.ndarray, price: np.ndarray, capacity: int, spare: int, machines: int) -> np.ndarray:
    """(P, n) bool: the contents that are worth enough at the first prices. O(n C), and n for each content."""
    num = sizes.shape[0]
    if (num + 1) * (capacity + 1) > MOST_LISTING_ENTRIES:
        raise SolutionError(f"listed: {num} tasks on a capacity of {capacity} are too many to make a list.")
    # The most that the tasks from one on are worth on what is free.
    most = np.full((num + 1, capacity + 1), NEVER)
    most[num, : max(0, min(spare, capacity) + 1)] = 0
    for i in range(num - 1, -1, -1):
        most[i] = most[i + 1]
        if sizes[i] <= capacity:
            with_it = most[i + 1, : capacity + 1 - sizes[i]] + price[i]
            most[i, sizes[i] :] = np.maximum(most[i, sizes[i] :], with_it)
    least = int(price.sum()) - (machines - 1) * max(0, int(most[0, capacity]))
    contents, free, worth = np.zeros((1, num), np.bool_), np.array([capacity]), np.array([0])
    for i in range(num):
        both = np.concatenate((contents, contents))
        both[contents.shape[0] :, i] = True
        free, worth = np.concatenate((free, free - sizes[i])), np.concatenate((worth, worth + price[i]))
        rest = most[i + 1, free.clip(0)]
        good = (free >= 0) & (rest > NEVER // 2) & (worth + rest >= least)
        contents, free, worth = both[good], free[good], worth[good]
        if contents.shape[0] > MOST_LISTED:
            raise SolutionError(f"listed: more than {MOST_LISTED} contents are worth enough; give better prices.")
    return contents
