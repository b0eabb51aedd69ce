"""Covering tasks by enumerated contents of machines: one way for plain prices and for lost value.

`patterns` and `interference` say which contents there are, which of them an optimal solution needs, and what each
costs; the covering program over them (`covering`) is built, solved and read in the same way.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedgap.formulations.provisioning.limits import claimed
from schedgap.formulations.provisioning.patterns.covering import Cover, solve_cover
from schedgap.formulations.trajectory import delayed
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome, Status
from schedgap.instances.provisioning.classes import merge_equal_classes
from schedgap.instances.provisioning.solution import Provisioning

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedgap.formulations.linear_model import LinearModel
    from schedgap.instances.arrays import IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance


@dataclass(frozen=True, slots=True, eq=False)
class PatternSet:
    """Patterns of an instance. machine_type : (P,) int64. patterns : (P, C) int64."""

    machine_type: IntArray
    patterns: IntArray

    @property
    def size(self) -> int:
        """Number of patterns."""
        return int(self.machine_type.shape[0])

    def chosen(self, keep: IntArray) -> PatternSet:
        """Return a part of the patterns."""
        return PatternSet(self.machine_type[keep], self.patterns[keep])


@dataclass(frozen=True, slots=True)
class Enumeration:
    """A kind of contents.

    noun : what the contents are called in details. otherwise : what to do where there are too many.
    supports : returns None, or why an instance is not of the kind. every : returns the contents of an instance, or the
    reason why there are more than a given number. needed : returns those without which no optimum is lost.
    cover : returns the program over given contents. `every`, `needed` and `cover` take instances of merged classes.
    """

    noun: str
    otherwise: str
    supports: Callable[[ProvisioningInstance], str | None]
    every: Callable[[ProvisioningInstance, int], PatternSet | str]
    needed: Callable[[ProvisioningInstance, PatternSet], PatternSet]
    cover: Callable[[ProvisioningInstance, PatternSet], Cover]

    def model(self, instance: ProvisioningInstance, most: int) -> LinearModel:
        """Build the program over the needed ones of at most `most` contents; its rows are the merged classes.

        Raises
        ------
        MethodError
            if the instance is not of the kind, or has too many contents.
        """
        merged = merge_equal_classes(instance).instance
        every = self.supports(instance) or self.every(merged, most)
        if isinstance(every, str):
            raise MethodError(f"{instance.name}: {every}.")
        chosen = self.needed(merged, every)
        names = tuple(f"{merged.type_names[k]}_{p}" for p, k in enumerate(chosen.machine_type))
        return self.cover(merged, chosen).model(names, tuple(f"cover_{c}" for c in range(merged.num_classes)))

    def solve(
        self,
        instance: ProvisioningInstance,
        most: int,
        *,
        dominance: bool,
        backend: str,
        time_limit_s: float | None,
        threads: int,
    ) -> Outcome:
        """Cover the tasks by at most `most` contents at least cost. dominance : whether to drop what is not needed."""
        started = time.perf_counter()
        merged = merge_equal_classes(instance)
        every = self.every(merged.instance, most)
        if isinstance(every, str):
            return Outcome(status=Status.UNSUPPORTED, details={"reason": f"{every}; {self.otherwise}"})
        chosen = self.needed(merged.instance, every) if dominance else every
        cover = self.cover(merged.instance, chosen)
        build_s = time.perf_counter() - started
        left = None if time_limit_s is None else max(0.0, time_limit_s - build_s)
        found = solve_cover(cover, backend, left, threads)
        start = time.perf_counter()
        bound = None if found.bound is None else found.bound * cover.unit
        solution = None
        if found.repeat is not None:
            packed = Provisioning.from_cover(merged.instance, chosen.machine_type, found.repeat, chosen.patterns)
            solution = merged.restore(packed)
        return Outcome(
            solution,
            bound,
            claimed(instance, solution, bound),
            build_s,
            found.solve_s,
            time.perf_counter() - start,
            delayed(found.trajectory, build_s),
            backend,
            {self.noun: every.size, **found.details},
        )
