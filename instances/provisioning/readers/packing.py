"""Public bin packing sets as instances: equal bins of price 1, so that the objective is the number of bins.

`vbp`, vector bin packing, after Brandao and Pedroso (VPSolver): the number of dimensions; the capacity of a bin in each; the
number of lines that follow; in each of them the sizes of an item and how many such items there are. `bpplib`, one dimension,
after Delorme, Iori and Martello (BPPLIB): the number of items, the capacity, and each item's weight. `bpplib-csp`, their
cutting-stock problems: the number of kinds of items, the capacity, and of each kind its weight and how many there are.
`mvp` (VPSolver), bins of several types: the number of dimensions; of types, and of each its capacities, price and number, -1
for any; of items, and of each in how many ways it may be packed, how many there are, and its sizes. `orlib`, the OR-Library's
binpackN.txt (Beasley, 1990): the number of problems; of each its name, the capacity, the number of items, the best known
number of bins, and each item's size.

Instances from rows in the units that people write: dollars an hour, cores, GiB; exactly, or not at all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

import numpy as np

from schedgap.instances.csv_table import LARGEST, whole_number
from schedgap.instances.errors import InstanceError, did_you_mean, first_of
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.readers.quantities import decimal
from schedgap.instances.provisioning.running import ANY_NUMBER
from schedgap.instances.units import DOLLAR, resource_scale
from schedgap.instances.unpacked import member_bytes

Amount: TypeAlias = int | float | str | Decimal | Fraction
Row: TypeAlias = Mapping[str, Any]

_DECIMAL = re.compile(r"\d{1,12}(?:\.\d{0,6})?", re.ASCII)
# How keys of a row are called in an instance; an instance in which nothing has or wants a GPU has no such resource.
RESOURCES = {"gpus": "gpu", "cores": "cpu", "gib": "ram_gib"}
_TYPE_KEYS = ("name", "price", "cores", "gib", "gpus", "count", "family")
_TASK_KEYS = ("cores", "gib", "gpus", "count", "name")
# What so many units are one of, for messages.
_MEANT = {"price": "dollars an hour", "cores": "cores", "gib": "GiB", "gpus": "GPUs", "count": "machines or tasks"}


def build_provisioning(types: Sequence[Row], tasks: Sequence[Row], *, name: str = "built") -> ProvisioningInstance:
    """Return an instance of machine types and tasks in dollars an hour, cores and GiB.

        build_provisioning(
            types=[
                {"name": "small", "price": 0.17, "cores": 4, "gib": 8},
                {"name": "large", "price": 0.68, "cores": 16, "gib": 32, "count": 3},
            ],
            tasks=[{"cores": 2.5, "gib": 4, "count": 10}, {"name": "db", "cores": 6, "gib": 24}],
        )

    types : `name`, `price`, `cores`, `gib`, and may have `gpus` (0), `count`, how many there are (any number), and `family`
    (all one). tasks : `cores`, `gib`, and may have `gpus` (0), `count`, how many tasks are alike (1), and `name`. Numbers are
    whole ones, decimals as text, `Decimal` or `Fraction`; a float is the decimal that Python prints of it. They are exact
    in micro-dollars, thousandths of a core or GPU, and MiB: nothing is rounded.

    Raises
    ------
    InstanceError
        naming the row and the field that is missing, not known, no number, or not exact, and for what
        `ProvisioningInstance` refuses.
    """
    offers = [
        _checked(f"{name}: types[{i}]", row, _TYPE_KEYS, ("name", "price", "cores", "gib"))
        for i, row in enumerate(types)
    ]
    wishes = [_checked(f"{name}: tasks[{i}]", row, _TASK_KEYS, ("cores", "gib")) for i, row in enumerate(tasks)]
    used = [key for key in RESOURCES if key != "gpus" or any(row["gpus"] for row in (*offers, *wishes))]
    of_types = [str(row["family"] or "any") for row in offers]
    families = tuple(dict.fromkeys(of_types))
    names = [row["name"] for row in wishes]
    demand = [[row[key] for key in used] for row in wishes]
    return ProvisioningInstance(
        name=name,
        resources=tuple(RESOURCES[key] for key in used),
        families=families,
        type_names=tuple(str(row["name"]) for row in offers),
        type2family=np.array([families.index(family) for family in of_types], np.int64),
        capacity=np.array([[row[key] for key in used] for row in offers], np.int64).reshape(len(offers), len(used)),
        price=np.array([row["price"] for row in offers], np.int64),
        demand=np.array([demand] * len(families), np.int64).reshape(len(families), len(wishes), len(used)),
        counts=np.array([1 if row["count"] is None else row["count"] for row in wishes], np.int64),
        class_names=None if not any(names) else tuple(str(own or f"task-{i}") for i, own in enumerate(names)),
        stock=np.array([ANY_NUMBER if row["count"] is None else row["count"] for row in offers], np.int64),
    )


def _checked(where: str, row: Row, keys: tuple[str, ...], needed: tuple[str, ...]) -> dict[str, Any]:
    """Return a row with every key, numbers in the integer units of an instance, None for what is not given."""
    if not isinstance(row, Mapping):
        raise InstanceError(f"{where} is {row!r:.60}; give a mapping with {', '.join(needed)}.")
    where += f" ({row['name']!s:.60})" if row.get("name") else ""
    for key in row:
        if key not in keys:
            near = did_you_mean(str(key), keys)
            raise InstanceError(f"{where} has '{key!s:.60}', which is not known; {near}known are {', '.join(keys)}.")
    for key in needed:
        if row.get(key) in (None, ""):
            raise InstanceError(f"{where} has no {key}; give it one.")
    scales = {"price": DOLLAR, **{key: resource_scale(resource) for key, resource in RESOURCES.items()}}
    made: dict[str, Any] = {key: row.get(key) for key in keys}
    for key in keys:
        if key in scales:
            made[key] = _units(where, key, row.get(key) or 0, scales[key])
        elif key == "count" and made[key] is not None:
            made[key] = _units(where, key, row[key], 1)
    return made


def _units(where: str, key: str, given: Amount, scale: int) -> int:
    """Return an amount as a whole number of units, of which `scale` are one."""
    value = _exact(given)
    if value is None or value > LARGEST // scale:
        raise InstanceError(
            f"{where}: {key} is {given!r:.60}; give a number of {_MEANT[key]} from 0 to {LARGEST // scale}."
        )
    units = value * scale
    if units.denominator > 1:
        below = math.floor(units)
        near = " or ".join(f"{Decimal(each) / scale:f}" for each in (below, below + 1))
        fine = f" of 1/{scale} {_MEANT[key]}" if scale > 1 else ""
        raise InstanceError(f"{where}: {key} is {given!s:.60}, no whole number{fine}; give {near}.")
    return int(units)


def _exact(given: Amount) -> Fraction | None:
    """Return a number that is not negative, exactly as it is written; None for anything else."""
    if isinstance(given, bool | np.bool_):
        return None
    if isinstance(given, float | np.floating):
        # 0.1 is meant, not the nearest binary fraction; NumPy prints its own with their type.
        given = repr(float(given))
    if isinstance(given, str | Decimal):
        return decimal(str(given))
    if isinstance(given, int | np.integer | Fraction):
        return Fraction(given) if given >= 0 else None
    return None


def vbp(path: Path | str, *, member: str = "", name: str = "") -> ProvisioningInstance:
    """Read a vector bin packing instance.

    member : the file's path below the directory, or in the archive, that `path` is. name : of the instance; by default
        after the file. Equal items are one task class, in the order of their first.

    Raises
    ------
    InstanceError
        naming the line and the value: no whole number, a negative one, an item larger than a bin, a missing or further number.
    """
    numbers = _Numbers(path, member)
    dimensions = numbers.next("the number of dimensions", least=1)
    capacity = numbers.several("a capacity", dimensions)
    return _instance(
        numbers,
        capacity,
        [
            (numbers.item(capacity), numbers.next("the number of such items", least=1))
            for _ in range(numbers.next("the number of items", least=1))
        ],
        name,
    )


def bpplib(path: Path | str, *, member: str = "", name: str = "") -> ProvisioningInstance:
    """Read a bin packing instance of one dimension; parameters and errors as in `vbp`."""
    numbers = _Numbers(path, member)
    count = numbers.next("the number of items", least=1)
    capacity = numbers.several("the capacity", 1)
    return _instance(numbers, capacity, [(numbers.item(capacity), 1) for _ in range(count)], name)


def bpplib_csp(path: Path | str, *, member: str = "", name: str = "") -> ProvisioningInstance:
    """Read a cutting-stock problem of one dimension; parameters and errors as in `vbp`."""
    numbers = _Numbers(path, member)
    kinds = numbers.next("the number of kinds of items", least=1)
    capacity = numbers.several("the capacity", 1)
    items = [(numbers.item(capacity), numbers.next("the number of such items", least=1)) for _ in range(kinds)]
    return _instance(numbers, capacity, items, name)


def mvp(path: Path | str, *, member: str = "", name: str = "") -> ProvisioningInstance:
    """Read a problem of bins of several types, each item of which is packed in one way; otherwise as `vbp`."""
    numbers = _Numbers(path, member)
    dimensions = numbers.next("the number of dimensions", least=1)
    kinds = numbers.next("the number of types of bins", least=1)
    bins = [
        (
            numbers.several("a capacity", dimensions),
            numbers.next("the price of a bin"),
            numbers.next("the number of bins", least=ANY_NUMBER),
        )
        for _ in range(kinds)
    ]
    largest = [max(sizes) for sizes in zip(*(capacity for capacity, _, _ in bins), strict=True)]
    items = []
    for item in range(numbers.next("the number of items", least=1)):
        if (ways := numbers.next("in how many ways an item is packed", least=1)) > 1:
            raise InstanceError(f"{numbers.where()}: item {item} is packed in {ways} ways; only items of one are read.")
        count = numbers.next("the number of such items", least=1)
        items.append((numbers.item(largest), count))
    return _instance(numbers, largest, items, name, bins)


def orlib(path: Path | str, *, member: str = "", name: str = "", problem: str = "") -> ProvisioningInstance:
    """Read a problem of an OR-Library's file, by its name, such as u120_00; the first by default. Otherwise as `vbp`.

    Sizes with decimals are whole numbers of the last decimal that any of the file has.
    """
    numbers = _Numbers(path, member)
    numbers.make_whole()
    names: list[str] = []
    for _ in range(numbers.next("the number of problems", least=1)):
        names.append(numbers.word("the name of a problem"))
        capacity = numbers.several("the capacity", 1, scaled=True)
        count = numbers.next("the number of items", least=1)
        numbers.next("the best known number of bins")
        items = [(numbers.item(capacity, scaled=True), 1) for _ in range(count)]
        if problem in ("", names[-1]):
            return _instance(numbers, capacity, items, name or names[-1], ends=False)
    near = did_you_mean(problem, names)
    raise InstanceError(f"{numbers.path.name} has no problem '{problem:.60}'; {near}it has {first_of(names)}.")


class _Numbers:
    """The whole numbers of a file, one after another, each with its line."""

    def __init__(self, path: Path | str, member: str) -> None:
        content = member_bytes(Path(path), member)
        self.path = Path(member or path)
        try:
            lines = content.decode("utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise InstanceError(
                f"{self.path.name}: no text ({error.reason} at byte {error.start}); unpack it."
            ) from None
        self._tokens = [(line, text) for line, row in enumerate(lines, 1) for text in row.split()]
        self._at, self.line = 0, 0
        self._scale = 1

    def where(self) -> str:
        """Return the file and the line of the last number."""
        return f"{self.path.name} line {self.line}"

    def make_whole(self) -> None:
        """Let scaled numbers be whole ones of the last decimal that any number has."""
        self._scale = 10 ** max(
            (len(text.partition(".")[2]) for _, text in self._tokens if _DECIMAL.fullmatch(text)), default=0
        )

    def word(self, what: str) -> str:
        """Return the next entry, whatever it is."""
        if self._at == len(self._tokens):
            raise InstanceError(f"{self.path.name}: ends after line {self.line}, where {what} is missing; add it.")
        self.line, text = self._tokens[self._at]
        self._at += 1
        return text

    def next(self, what: str, least: int = 0, *, scaled: bool = False) -> int:
        """Return the next number. what : it is. scaled : it may have decimals, see `make_whole`."""
        text = self.word(what)
        if scaled and _DECIMAL.fullmatch(text):
            text = str(Decimal(text) * self._scale).partition(".")[0]
        value = ANY_NUMBER if text == str(least) == str(ANY_NUMBER) else whole_number(self.path, self.line, what, text)
        if value < least:
            raise InstanceError(f"{self.path.name} line {self.line}: {what} is {value}; it must be at least {least}.")
        return value

    def several(self, what: str, number: int, *, scaled: bool = False) -> list[int]:
        """Return so many numbers."""
        return [self.next(what, scaled=scaled) for _ in range(number)]

    def item(self, capacity: Sequence[int], *, scaled: bool = False) -> tuple[int, ...]:
        """Return the sizes of an item, which fits into a bin."""
        sizes = tuple(self.several("a size", len(capacity), scaled=scaled))
        for dimension, (size, most) in enumerate(zip(sizes, capacity, strict=True), 1):
            if size > most:
                raise InstanceError(
                    f"{self.path.name} line {self.line}: size {size} in dimension {dimension} is above the capacity {most} of "
                    "a bin; mend or remove the item."
                )
        return sizes

    def end(self) -> None:
        """Refuse further numbers."""
        if self._at < len(self._tokens):
            line, text = self._tokens[self._at]
            raise InstanceError(
                f"{self.path.name} line {line}: '{text:.60}' follows the last of the items; mend their number or remove it."
            )


def _instance(
    numbers: _Numbers,
    capacity: Sequence[int],
    items: Sequence[tuple[tuple[int, ...], int]],
    name: str,
    bins: Sequence[tuple[Sequence[int], int, int]] = (),
    *,
    ends: bool = True,
) -> ProvisioningInstance:
    """Return the instance of items. bins : capacities, price and number of each type; by default one, of price 1."""
    if ends:
        numbers.end()
    one_price = not bins
    bins = bins or [(capacity, 1, ANY_NUMBER)]
    counts: dict[tuple[int, ...], int] = {}
    for sizes, count in items:
        counts[sizes] = counts.get(sizes, 0) + count
    resources = tuple(f"size_{r}" for r in range(len(capacity))) if len(capacity) > 1 else ("size",)
    scale = np.array([resource_scale(resource) for resource in resources])
    return ProvisioningInstance(
        name=name or "-".join(PurePosixPath(numbers.path).with_suffix("").parts[-2:]).strip("/-")[-100:],
        resources=resources,
        families=("bin",),
        type_names=("bin",) if one_price else tuple(f"bin-{k}" for k in range(len(bins))),
        type2family=np.zeros(len(bins), np.int64),
        capacity=np.array([sizes for sizes, _, _ in bins]) * scale,
        price=np.array([price for _, price, _ in bins]) * DOLLAR,
        demand=np.array([list(counts)]) * scale,
        counts=np.array(list(counts.values())),
        class_names=tuple(f"item-{c}" for c in range(len(counts))),
        unit="bins" if one_price else "price of bins",
        stock=None if one_price else np.array([number for _, _, number in bins], np.int64),
    )
