"""A shard: one of several equal parts of a suite's runs, done on its own and joined with the others by `merge`.

Runs are sorted by label of the method, then by key, and dealt out in turn: shard k of n has the k-th, the (k+n)-th, and so
on. So each method's runs, which take alike long, are spread evenly, no shard has more than one run above another, and who
splits the same plan gets the same shards. Runs of one instance do not stay together: the keys of a plan depend on what its
instances hold, so that each shard makes all of them anyway, and one with many methods would be a shard of its own size.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedgap.instances.errors import SuiteError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schedgap.bench.records.runs import Run


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard `number`, from 1, of `count`."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Return the shard that `3/40` names.

        Raises
        ------
        SuiteError
            if it names none.
        """
        match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise SuiteError(f"'{text:.60}' is no shard; give its number, from 1, and how many there are, as in 3/40.")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def keys(self, runs: Mapping[str, Run]) -> list[str]:
        """Return the keys of a plan's runs that are of this shard, in the order of the plan. O(runs log runs)."""
        dealt = sorted(runs, key=lambda key: (runs[key].label, key))
        own = set(dealt[self.number - 1 :: self.count])
        return [key for key in runs if key in own]
