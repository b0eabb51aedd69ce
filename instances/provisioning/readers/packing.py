"""Public bin packing sets as instances: equal bins of price 1, so that the objective is the number of bins.

`vbp`, vector bin packing, after Brandao and Pedroso (VPSolver): the number of dimensions; the capacity of a bin in each; the
number of lines that follow; in each of them the sizes of an item and how many such items there are. `bpplib`, one dimension,
after Delorme, Iori and Martello (BPPLIB): the number of items, the capacity, and each item's weight.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import numpy as np

from schedgap.instances.csv_table import whole_number
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.units import DOLLAR, resource_scale
from schedgap.instances.unpacked import member_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence


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

    def next(self, what: str, least: int = 0) -> int:
        """Return the next number. what : it is."""
        if self._at == len(self._tokens):
            raise InstanceError(f"{self.path.name}: ends after line {self.line}, where {what} is missing; add it.")
        self.line, text = self._tokens[self._at]
        self._at += 1
        value = whole_number(self.path, self.line, what, text)
        if value < least:
            raise InstanceError(f"{self.path.name} line {self.line}: {what} is {value}; it must be at least {least}.")
        return value

    def several(self, what: str, number: int) -> list[int]:
        """Return so many numbers."""
        return [self.next(what) for _ in range(number)]

    def item(self, capacity: Sequence[int]) -> tuple[int, ...]:
        """Return the sizes of an item, which fits into a bin."""
        sizes = tuple(self.several("a size", len(capacity)))
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
    numbers: _Numbers, capacity: Sequence[int], items: Sequence[tuple[tuple[int, ...], int]], name: str
) -> ProvisioningInstance:
    numbers.end()
    counts: dict[tuple[int, ...], int] = {}
    for sizes, count in items:
        counts[sizes] = counts.get(sizes, 0) + count
    resources = tuple(f"size_{r}" for r in range(len(capacity))) if len(capacity) > 1 else ("size",)
    scale = np.array([resource_scale(resource) for resource in resources])
    return ProvisioningInstance(
        name=name or "-".join(PurePosixPath(numbers.path).with_suffix("").parts[-2:]).strip("/-")[-100:],
        resources=resources,
        families=("bin",),
        type_names=("bin",),
        type2family=np.zeros(1, np.int64),
        capacity=np.array([capacity]) * scale,
        price=np.array([DOLLAR]),
        demand=np.array([list(counts)]) * scale,
        counts=np.array(list(counts.values())),
        class_names=tuple(f"item-{c}" for c in range(len(counts))),
        unit="bins",
    )
