"""Packing problems as the checker of certificates sees them, from files that it reads by itself, in exact whole numbers.

Only what bounds rest on is read: what fits on which machine, how many tasks of a class, and its price. All else that an
instance may say (stocks, limits on moves, lost throughput) makes solutions fewer or dearer, and a bound without it holds all
the same.

Certificates, `schedgap/certificate/1`: what stands in a file, and in each node of its proof.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from schedgap.instances.documents.openings import read_given
from schedgap.instances.errors import InstanceError, SolutionError

SCHEMA = "schedgap/certificate/1"
# Dollars, whose micro-dollars 62 bits hold.
MOST_BOUND = 2**62 // 10**6
_STRICT = ConfigDict(extra="forbid", strict=True, arbitrary_types_allowed=True)
Index = Annotated[int, Field(ge=0)]
Natural = Annotated[int, Field(ge=0)]
Child = dict[str, Any]


@with_config(_STRICT)
class Pair(TypedDict):
    """A branch on two tasks: every machine has both or none, or none has both."""

    pair: Annotated[list[Index], Field(min_length=2, max_length=2)]
    together: Child
    apart: Child
    listed: NotRequired[list[list[int]]]


@with_config(_STRICT)
class Listed(TypedDict):
    """Prices of tasks at which, after those of the branches above, no content is left (`listing`)."""

    listed: list[list[int]]


@with_config(_STRICT)
class Machines(TypedDict):
    """A branch on the number of machines of a type, or of all."""

    machines: Index | None
    at_most: Natural
    below: Child
    above: Child


@with_config(_STRICT)
class Cut(TypedDict):
    """A rounded sum over tasks, or over the tasks of classes."""

    tasks: NotRequired[list[Index]]
    classes: NotRequired[list[Index]]
    numerators: list[Natural]
    denominator: Annotated[int, Field(ge=1)]
    price: Natural


@with_config(_STRICT)
class Leaf(TypedDict):
    """Prices at which no machine's content is worth more than the machine."""

    scale: Annotated[int, Field(ge=1)]
    prices: NotRequired[list[int]]
    task_prices: NotRequired[list[int]]
    cuts: NotRequired[list[Cut]]
    machine_prices: NotRequired[list[Natural]]
    multipliers: NotRequired[Annotated[list[list[Natural]], Field(max_length=1000)]]


@with_config(_STRICT)
class PodPrices(TypedDict):
    """Prices of pods, and of resources, at which contents of nodes are worth no more than the bound leaves (`nodes`)."""

    scale: Annotated[int, Field(ge=1)]
    pod_prices: list[Natural]
    running_prices: NotRequired[list[Natural]]
    accepted_prices: NotRequired[list[Natural]]
    weights: NotRequired[Annotated[list[list[Natural]], Field(max_length=1000)]]
    multipliers: Annotated[list[list[Natural]], Field(max_length=1000)]


@with_config(_STRICT)
class Spell(TypedDict):
    """Prices of tasks of classes that must be there from one second until another, nano-dollars an hour."""

    from_s: Natural
    until_s: Natural
    classes: list[Index]
    prices: list[Natural]


@with_config(_STRICT)
class Spells(TypedDict):
    """Prices of presence by spells, which count for so much of each period (`spells`)."""

    window_s: Natural
    spells: list[Spell]


@with_config(_STRICT)
class Certificate(TypedDict):
    """A file: which bound of which instance, and its proof."""

    schema: Literal["schedgap/certificate/1"]
    instance: str
    digest: NotRequired[str]
    # As many places as money has: of 1e-999999999 no fraction can be made.
    bound: Annotated[Decimal, Field(ge=0, decimal_places=6)] | Natural
    proof: Pair | Machines | Listed | PodPrices | Spells | Leaf


_KINDS: dict[str, TypeAdapter[Any]] = {
    "pair": TypeAdapter(Pair),
    "machines": TypeAdapter(Machines),
    "listed": TypeAdapter(Listed),
    "pod_prices": TypeAdapter(PodPrices),
    "spells": TypeAdapter(Spells),
    "scale": TypeAdapter(Leaf),
}


@with_config(_STRICT)
class _File(Certificate):
    """As it is read: the nodes of the proof are read one by one, since trees may be deep."""

    proof: Child  # type: ignore[misc]


ADAPTER: TypeAdapter[Any] = TypeAdapter(Certificate)
_FILE: TypeAdapter[Any] = TypeAdapter(_File)


def read_certificate(path: Path) -> dict[str, Any]:
    """Read a certificate, whose proof is not read yet (see `read_node`).

    Raises
    ------
    SolutionError
        naming file, field and value of what is malformed.
    """
    try:
        given = json.loads(read_given(path), parse_float=Decimal, parse_constant=Decimal)
    except OSError as error:
        raise SolutionError(f"{path}: cannot be read ({error.strerror}); give the path of a certificate.") from None
    except (ValueError, RecursionError) as error:
        raise SolutionError(f"{path.name}: no JSON ({error!s:.100}); give a certificate.") from None
    checked = _checked(_FILE, given, path.name)
    if checked["bound"] >= MOST_BOUND:
        raise SolutionError(f"{path.name}: bound: {checked['bound']!s:.60} is more than any solution costs; mend it.")
    return checked


def read_node(given: dict[str, Any], where: str) -> tuple[str, dict[str, Any]]:
    """Return the kind of a node, one of `_KINDS` (`scale` are leaves), and the node. where : its path.

    Raises
    ------
    SolutionError
        naming the node and the field.
    """
    kind = next((key for key in _KINDS if key in given), "scale")
    return kind, _checked(_KINDS[kind], given, where)


def _checked(adapter: TypeAdapter[Any], given: Any, where: str) -> dict[str, Any]:
    try:
        checked: dict[str, Any] = adapter.validate_python(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "the document"
        found = "" if isinstance(first["input"], dict | list) else f" (found {first['input']!r:.60})"
        raise SolutionError(f"{where}: {field}: {first['msg'].lower()}{found}; mend it.") from None
    return checked


# Prices are whole micro-dollars per hour; a bin of a packing set costs one dollar.
DOLLAR = 1_000_000
# In how many parts amounts of a resource are whole, by the ending of its name; all others in thousandths.
PARTS = {"_gib": 1024, "_mib": 1, "_kib": 1, "_bytes": 1}
# Parts that floats tell apart, whose products with numbers of tasks and machines are far from the end of 64 bits.
MOST = 2**50
# Each is a number in memory.
MOST_TASKS = 10**7
Sizes = tuple[int, ...]
# What is raised where a document is not what an instance is.
MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, StopIteration, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Problem:
    """Which machines there are, and what each task asks of them.

    prices : of each type, micro-dollars. capacities : of each type, one number a resource. families : the index of each
    type in `demands`, which has, for each family and class, the sizes of a task, None where it may not run.
    counts : tasks of each class. together : how many of each class share a machine at most, None for any number; empty
    where no class has such a limit.
    """

    name: str
    prices: tuple[int, ...]
    capacities: tuple[Sizes, ...]
    families: tuple[int, ...]
    demands: tuple[tuple[Sizes | None, ...], ...]
    counts: tuple[int, ...]
    together: tuple[int | None, ...] = ()

    @property
    def task_classes(self) -> list[int]:
        """The class of each task: tasks are numbered class by class."""
        return [c for c, count in enumerate(self.counts) for _ in range(count)]

    @property
    def price_step(self) -> int:
        """Every sum of machines' prices is a multiple of it."""
        return math.gcd(*self.prices)

    def spare(self, most: int) -> Sizes | None:
        """Return what a machine of a solution that costs `most` at most leaves free of each resource; None for no limit.

        Sizes are multiples of their greatest common divisor, and what is beyond the last multiple is always free.
        """
        if len(self.prices) > 1:
            return None
        machines, sizes = most // self.prices[0], []
        for d, capacity in enumerate(self.capacities[0]):
            asked = [
                (row[d], count) for row, count in zip(self.demands[0], self.counts, strict=True) if row is not None
            ]
            unit = math.gcd(*(size for size, _ in asked)) or 1
            total = sum(size * count for size, count in asked)
            sizes.append(machines * (capacity - capacity % unit) - total + capacity % unit)
        return tuple(sizes)


def read_problem(path: Path) -> Problem:
    """Read a JSON instance, or a packing set's `.vbp` or `.txt`, by the ending of its name.

    Raises
    ------
    InstanceError
        for a file that cannot be read as one.
    """
    try:
        text = read_given(path).decode("utf-8-sig")
        if path.suffix == ".json":
            problem = _of_document(json.loads(text))
        else:
            numbers = iter([exact(int(word), 1).numerator for word in text.split()])
            problem = (_of_vectors if path.suffix == ".vbp" else _of_weights)(path.stem, numbers)
        if not (problem.prices and problem.counts):
            raise ValueError("a machine type and a task must be in it")
        if sum(problem.counts) > MOST_TASKS:
            raise ValueError(f"it has {sum(problem.counts)} tasks, more than {MOST_TASKS}")
        return problem
    except OSError as error:
        raise InstanceError(f"{path}: cannot be read ({error.strerror}); give the file of the instance.") from None
    except MALFORMED as error:
        said = f"{type(error).__name__}: {error!s:.100}"
        raise InstanceError(f"{path}: no instance that can be checked ({said}); give .json, .vbp or .txt.") from None


def _of_document(given: dict[str, Any]) -> Problem:
    if "tasks" not in given:
        raise ValueError("its tasks are in another file; write them into this one")
    types = given["machine_types"]
    families = list(dict.fromkeys(each["family"] for each in types))
    parts = [next((PARTS[e] for e in PARTS if resource.endswith(e)), 1000) for resource in given["resources"]]
    rows = [[_demand(task["demand"], family, parts) for task in given["tasks"]] for family in families]
    rooms = [_vector(each["capacity"], parts) for each in types]
    vectors = [*rooms, *(row for rows_of_family in rows for row in rows_of_family if row is not None)]
    scale = [math.lcm(*(vector[r].denominator for vector in vectors)) for r in range(len(given["resources"]))]
    return Problem(
        name=given["name"],
        prices=tuple(
            _micro_dollars(exact(each["price"], DOLLAR) + exact(each.get("fee", 0), DOLLAR)) for each in types
        ),
        capacities=tuple(_whole(vector, scale) for vector in rooms),
        families=tuple(families.index(each["family"]) for each in types),
        demands=tuple(
            tuple(None if row is None else _whole(row, scale) for row in rows_of_family) for rows_of_family in rows
        ),
        counts=tuple(_positive(task.get("count", 1)) for task in given["tasks"]),
        together=_together(given["tasks"]),
    )


def _together(tasks: Sequence[dict[str, Any]]) -> tuple[int | None, ...]:
    limits = [_positive(task["per_machine"]) if "per_machine" in task else None for task in tasks]
    return tuple(limits) if any(limit is not None for limit in limits) else ()


def _demand(given: dict[str, Any], family: str, parts: Sequence[int]) -> list[Fraction] | None:
    row = given.get(family, given.get("any"))
    return None if row is None else _vector(row, parts)


def _vector(numbers: Sequence[float], parts: Sequence[int]) -> list[Fraction]:
    return [exact(number, part) for number, part in zip(numbers, parts, strict=True)]


def exact(number: float, parts: int) -> Fraction:
    """Return a number as all other commands read it: in whole parts, from which a float may differ in its last digit."""
    given = Fraction.from_float(number) * parts
    whole = round(given)
    if abs(given - whole) > max(abs(given), Fraction(1)) / 2**52 or abs(whole) > MOST:
        raise ValueError(f"{number!r:.60} is no whole number of 1/{parts}, or above {MOST // parts}")
    return Fraction(whole, parts)


def _whole(vector: Sequence[Fraction], scale: Sequence[int]) -> Sizes:
    sizes = tuple(int(value * factor) for value, factor in zip(vector, scale, strict=True))
    if min(sizes) < 0:
        raise ValueError(f"{min(sizes)} is a size or capacity below 0")
    return sizes


def _micro_dollars(price: Fraction) -> int:
    if price <= 0:
        raise ValueError(f"a price of {price} is not positive")
    return int(price * DOLLAR)


def _positive(count: int) -> int:
    if not isinstance(count, int) or count < 1:
        raise ValueError(f"{count} tasks of a class")
    return count


def _of_vectors(name: str, numbers: Iterable[int]) -> Problem:
    given = iter(numbers)
    dimensions = next(given)
    # In a generator, the end of the numbers would be an error of its own.
    capacity = tuple([next(given) for _ in range(dimensions)])
    lines = [[next(given) for _ in range(dimensions + 1)] for _ in range(next(given))]
    return _bins(name, capacity, [(tuple(line[:-1]), line[-1]) for line in lines], given)


def _of_weights(name: str, numbers: Iterable[int]) -> Problem:
    given = iter(numbers)
    count, capacity = next(given), (next(given),)
    return _bins(name, capacity, [((next(given),), 1) for _ in range(count)], given)


def _bins(name: str, capacity: Sizes, items: Iterable[tuple[Sizes, int]], rest: Iterable[int]) -> Problem:
    if list(rest):
        raise ValueError("numbers follow the last item")
    counts: dict[Sizes, int] = {}
    for sizes, count in items:
        counts[sizes] = counts.get(sizes, 0) + _positive(count)
    if min(min(sizes) for sizes in (capacity, *counts)) < 0:
        raise ValueError("a size is negative")
    return Problem(name, (DOLLAR,), (capacity,), (0,), (tuple(counts),), tuple(counts.values()))
