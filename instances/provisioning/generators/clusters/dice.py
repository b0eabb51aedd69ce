"""Draws of one cluster, all from one seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from schedgap.instances.draws import generator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.instances.arrays import FloatArray

T = TypeVar("T")
# Of Kubernetes' own names: no vowels.
LETTERS = "bcdfghjklmnpqrstvwxz2456789"


class Dice:
    """Draws what names and choices need."""

    def __init__(self, kind: str, nodes: int, seed: int) -> None:
        self._rng = generator("provisioning", "cluster", kind, nodes, seed)
        self._given: set[int] = set()

    def below(self, number: int) -> int:
        """Return one of 0, ..., number - 1."""
        return int(self._rng.random() * number)

    def pick(self, values: Sequence[T]) -> T:
        """Return one of the values."""
        return values[self.below(len(values))]

    def shares(self, number: int) -> FloatArray:
        """Return so many numbers from 0 to 1."""
        return self._rng.random(number)

    def digits(self) -> str:
        """Return twelve hexadecimal digits."""
        return f"{self.below(2**48):012x}"

    def suffix(self, length: int = 5) -> str:
        """Return the end of a generated name, another one each time."""
        while (drawn := self.below(len(LETTERS) ** length)) in self._given:
            pass
        self._given.add(drawn)
        return "".join(LETTERS[drawn // len(LETTERS) ** place % len(LETTERS)] for place in range(length))
