"""What a search for cheap solutions knows while it runs: the best solution, the bound, their history, and the clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from schedgap.formulations.provisioning.limits import claimed
from schedgap.instances.method import Found, Incumbent, Outcome, untold
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.solution import Provisioning


def restoring(found: Found, restore: Callable[[Provisioning], Provisioning]) -> Found:
    """Return what is told of another instance, whose solutions `restore` makes those of the one that `found` knows."""
    if found is untold:
        return untold

    def tell(solution: Provisioning | None = None, bound: int | None = None) -> None:
        found(None if solution is None else restore(solution), bound)

    return tell


class Search:
    """The best solution and its `objective`, the proven `bound`, micro-dollars, and the trajectory of both.

    start : of `time.perf_counter()`. limit_s : seconds from then on. found : told of all that is better than before.
    """

    def __init__(self, start: float, limit_s: float, found: Found = untold) -> None:
        self.start, self.limit_s, self._found = start, limit_s, found
        self.best: Provisioning | None = None
        self.objective: int | None = None
        self.bound = 0
        self.trajectory: list[Incumbent] = []

    @property
    def left_s(self) -> float:
        """Seconds that are left."""
        return self.start + self.limit_s - time.perf_counter()

    @property
    def is_proven(self) -> bool:
        """Whether nothing is cheaper than the best solution."""
        return self.objective is not None and self.bound >= self.objective

    @property
    def is_open(self) -> bool:
        """Whether there is time, and something left to find."""
        return self.left_s > 0 and not self.is_proven

    def keep(self, solution: Provisioning, paid: int) -> bool:
        """Take a solution that costs `paid` if it is the cheapest; returns whether it is."""
        if self.objective is not None and paid >= self.objective:
            return False
        self.best, self.objective = solution, paid
        self._note()
        self._found(solution)
        return True

    def raise_bound(self, bound: int) -> bool:
        """Take a proven bound if it is the best; returns whether it is."""
        if bound <= self.bound:
            return False
        self.bound = bound
        self._note()
        self._found(bound=bound)
        return True

    def outcome_for(
        self,
        instance: ProvisioningInstance,
        restore: Callable[[Provisioning], Provisioning],
        build_s: float,
        details: Mapping[str, int | float | str],
        backend: str = "highs",
    ) -> Outcome:
        """Return what was found, as solution of the instance as it was given, which `restore` makes of one in the search's.

        build_s : seconds from the start until the search began.
        """
        searched_s = time.perf_counter() - self.start
        solution = None if self.best is None else restore(self.best)
        return Outcome(
            solution,
            self.bound,
            claimed(instance, solution, self.bound),
            build_s,
            searched_s - build_s,
            time.perf_counter() - self.start - searched_s,
            tuple(self.trajectory),
            backend,
            details,
        )

    def _note(self) -> None:
        self.trajectory.append(Incumbent(time.perf_counter() - self.start, self.objective, self.bound))
