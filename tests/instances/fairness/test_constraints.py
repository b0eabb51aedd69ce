"""Attributes, predicates and how often they are drawn."""

import numpy as np
import pytest

from schedgap.instances.draws import generator
from schedgap.instances.errors import InstanceError
from schedgap.instances.fairness.generators import draw_constraints, fit_weights, predicates


def test_predicates_of_three_machines():
    """An instruction set is named, of disks at least so many are asked for; what all or none have is left out."""
    holds = predicates({"isa": np.array([0, 0, 1]), "disks": np.array([1, 2, 2]), "kernel": np.array([3, 3, 3])})
    assert holds.astype(int).tolist() == [
        [1, 1, 1],  # anywhere
        [1, 1, 0],  # isa 0
        [0, 0, 1],  # isa 1
        [0, 1, 1],  # disks >= 2
        [0, 1, 0],  # isa 0, disks >= 2
        [0, 0, 1],  # isa 1, disks >= 2
    ]


def test_weights_make_the_figure_hold():
    """0.18 anywhere and 0.35 on half: 0.17 for the two predicates in between, which share it, 0.65 for the last."""
    weights = fit_weights(np.array([1.0, 0.75, 0.75, 0.1]), 0.35)
    assert weights == pytest.approx([0.18, 0.085, 0.085, 0.65], abs=1e-5)


def test_weights_that_cannot_be():
    with pytest.raises(InstanceError, match="no constraints by which 18% of the jobs run anywhere and 65%"):
        fit_weights(np.array([1.0, 0.2]), 0.65)


def test_shares_hold_for_any_number_of_jobs():
    """Of 50 jobs 9 run anywhere and round(17.5) = 18 on half of the machines; of 1 job none does."""
    holds = np.array([[1, 1, 1, 1], [1, 1, 1, 0], [1, 0, 0, 0]], np.bool_)
    for jobs, anywhere, on_half in ((50, 9, 18), (1, 0, 0)):
        count = draw_constraints(generator("test", 1), holds, jobs, "upper").sum(axis=1)
        assert ((count == 4).sum(), (count >= 2).sum(), count.shape[0]) == (anywhere, on_half, jobs)
