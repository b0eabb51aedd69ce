"""Bounds of losses exclude no VM that the search without them would choose."""

import numpy as np
import pytest

from schedgap.heuristics.harvest.slacksched import state
from schedgap.heuristics.harvest.slacksched.slacksched import slacksched
from schedgap.instances.harvest import quick


@pytest.mark.parametrize("options", [{}, {"rule": "literal"}, {"span": "shrink"}], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_bounds_change_nothing(monkeypatch, options, seed):
    instance = quick(
        24, 6, "20-40", seed=seed, cores="1,2,4", load=(0.3, 0.5, 0.9)[seed], stability=(1.0, 8.0, 0.3)[seed]
    )
    plain = slacksched(instance, **options).solution
    monkeypatch.setattr(state, "BOUNDED_VMS", 1)
    bounded = slacksched(instance, **options).solution
    for field in ("task", "vm", "start_ms", "end_ms"):
        assert np.array_equal(getattr(bounded, field), getattr(plain, field))


def test_bounds_exclude_no_equal(monkeypatch):
    # On VMs that are as old as others, bounds are off by less than the sum of what they bound is.
    instance = quick(24, 5, "3-30", seed=54, cores="1,2,4", load=0.9)
    instance = instance.replace(task_memory_mib=[16, 170, 115, 152, 18])
    monkeypatch.setattr(state, "LEAST_PLANNED", 2)
    plain = slacksched(instance).solution
    monkeypatch.setattr(state, "BOUNDED_VMS", 1)
    assert np.array_equal(slacksched(instance).solution.vm, plain.vm)
