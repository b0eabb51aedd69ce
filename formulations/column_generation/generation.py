"""The loop of column generation: solve the restricted master, price at smoothed duals, add columns, until none is left."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from typing import Protocol

import numpy as np

from schedgap.formulations.backends.highs_lp import LpSolution
from schedgap.instances.arrays import FloatArray


class Program(Protocol):
    """A linear program that grows: a `Master`, or a plain `GrowingLp`."""

    def solve(self, time_limit_s: float) -> LpSolution | None:
        """Return an optimum, None if the limit was hit."""


class Generation(ABC):
    """Column generation for one restricted master, continued at will.

    Attributes
    ----------
    master : the restricted master.
    found : its last solution, or None.
    centre : (m,) float64, duals of the best bound so far.
    share : of the centre in the duals that are priced, from 0, no smoothing, to below 1. The loop lowers it where pricing leads
        to nothing; problems raise it again.
    iterations : solutions of the master so far.
    is_solved_anew : whether the master is solved before every try. With the same columns HiGHS may end at another optimum then,
        on which dives depend.
    is_converged : whether the last `generate` ended since no column improves the master, or since the bound tells all.
    """

    master: Program
    is_solved_anew = True

    def __init__(self, master: Program) -> None:
        self.master = master
        self.found: LpSolution | None = None
        self.centre: FloatArray = np.zeros(1)
        self.share = 0.0
        self.iterations = 0
        self.is_converged = False

    @property
    def is_open(self) -> bool:
        """Whether there is something left to prove."""
        return True

    def ended(self, found: LpSolution) -> bool | None:
        """Return None to go on after a solution of the master, or to end whether the relaxation is solved."""
        return None

    def extend(self, found: LpSolution) -> bool:
        """Add columns in a hurry; whether these are so many that the master is solved again before `price` is asked."""
        return False

    @abstractmethod
    def price(self, trial: FloatArray, found: LpSolution) -> tuple[bool, bool]:
        """Price at given duals, prove what they prove, and add the columns that improve the master.

        Parameters
        ----------
        trial : (m,) float64, duals to price at: those of `found`, smoothed.
        found : the last solution of the master.

        Returns
        -------
        Whether the master is worth solving again, and whether the search for columns went to its end.
        """

    def longer(self) -> bool:
        """Search longer from now on; False if that is not possible. Asked for where a search that was cut short found nothing."""
        return False

    def generate(self, deadline: float) -> None:
        """Generate columns until nothing is open, none improves the master, or the deadline, of `perf_counter`, has passed."""
        while self.is_open:
            left_s = deadline - time.perf_counter()
            found = self.master.solve(left_s) if left_s > 0 else None
            if found is None:
                return
            self.found, self.iterations = found, self.iterations + 1
            ended = self.ended(found)
            if ended is not None:
                self.is_converged = ended
                return
            if self.extend(found):
                continue
            while time.perf_counter() < deadline:
                trial = self.share * self.centre + (1 - self.share) * found.row_duals
                is_again, is_complete = self.price(trial, found)
                if is_again:
                    break
                if self.share > 0:
                    self.share = self.share - 0.3 if self.share > 0.5 else 0.0
                elif is_complete or not self.longer():
                    self.is_converged = is_complete
                    return
                if self.is_solved_anew:
                    break
