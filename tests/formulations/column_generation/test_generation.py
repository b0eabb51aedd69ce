"""The loop on a cutting-stock problem small enough for its rounds to be counted: widths of 2 and 3 in rolls of 6."""

import math
import time

import numpy as np
import pytest

from schedgap.formulations.backends.highs_lp import GrowingLp
from schedgap.formulations.column_generation.master import Generation

PATTERNS = np.array([[3, 0], [0, 2], [1, 1]])


class Rolls(Generation):
    """10 pieces of each width; proves the worth of all pieces, divided by that of the dearest roll."""

    def __init__(self, share=0.0, *, cut_short=0):
        super().__init__(GrowingLp([10, 10], [np.inf, np.inf]))
        self.master.add_columns([1, 1], np.eye(2))
        self.centre, self.share = np.array([1.0, 0.0]), share
        self.bound, self.trials, self.cut_short = 0.0, [], cut_short

    def price(self, trial, found):
        self.trials.append(trial.tolist())
        if self.cut_short:
            return False, False
        worth = PATTERNS @ trial
        self.bound = max(self.bound, 10 * trial.sum() / max(1.0, worth.max()))
        new = PATTERNS[(PATTERNS @ found.row_duals > 1 + 1e-9) & (worth >= worth.max() - 1e-9)]
        self.master.add_columns(np.ones(len(new)), new)
        return len(new) > 0, True

    def longer(self):
        self.cut_short -= 1
        return self.cut_short >= 0


@pytest.mark.parametrize("share", [0.0, 0.8])
def test_it_ends_at_the_value_of_the_program(share):
    """10 of 2 and 10 of 3 are 50 of 6: eight rolls and a third."""
    rolls = Rolls(share)
    rolls.generate(math.inf)
    assert rolls.is_converged
    assert rolls.found.objective == pytest.approx(10 / 3 + 5)
    assert rolls.bound == pytest.approx(10 / 3 + 5)


def test_the_centre_counts_until_it_leads_to_nothing():
    rolls = Rolls(0.8)
    rolls.generate(math.inf)
    assert rolls.trials[0] == pytest.approx([1.0, 0.2])
    assert rolls.trials[-1] == pytest.approx(rolls.found.row_duals.tolist())
    assert rolls.share == 0.0


@pytest.mark.parametrize("is_anew", [False, True])
def test_a_search_that_was_cut_short_is_done_for_longer_before_it_is_given_up(is_anew):
    rolls = Rolls(cut_short=2)
    rolls.is_solved_anew = is_anew
    rolls.generate(math.inf)
    assert (rolls.cut_short, rolls.is_converged) == (0, True)
    assert len(rolls.trials) == rolls.iterations + (0 if is_anew else 2)


def test_what_cannot_be_searched_for_longer_is_not_converged():
    rolls = Rolls(cut_short=1)
    rolls.longer = lambda: False
    rolls.generate(math.inf)
    assert (rolls.iterations, rolls.is_converged) == (1, False)


def test_nothing_is_done_after_the_deadline():
    rolls = Rolls()
    rolls.generate(time.perf_counter())
    assert (rolls.iterations, rolls.found, rolls.trials) == (0, None, [])


def test_an_end_by_the_problem():
    rolls = Rolls()
    rolls.ended = lambda found: found.objective < 15
    rolls.generate(math.inf)
    assert (rolls.iterations, rolls.is_converged, rolls.trials) == (1, False, [])
