"""Batches of VMs: drawn as in Azure's data, cut to a size, and drawn from a trace."""

import numpy as np
import pytest

from schedgap.instances.harvest.generators.vms import (
    BATCH_SHARE,
    BATCH_VMS,
    CORES_SHARE,
    LIFETIME_MIN,
    LIFETIME_SHARE,
    VM_CORES,
    Batches,
    bootstrapped,
    drawn_batches,
)


def draws(seed=3):
    return np.random.Generator(np.random.PCG64(seed))


def test_tables_are_shares_of_all_batches_and_vms():
    assert sum(BATCH_SHARE) == 10_000
    assert len(BATCH_SHARE) == len(BATCH_VMS)
    for cores, lives in zip(CORES_SHARE, LIFETIME_SHARE, strict=True):
        assert sum(cores) == 1000
        # Each entry is rounded by itself.
        assert [len(row) for row in lives] == [len(LIFETIME_MIN) - 1] * len(VM_CORES)
        assert all(abs(sum(row) - 1000) <= 8 for row in lives)


def test_sizes_are_drawn_as_often_as_the_table_says():
    """Of 20,000 batches 57.92 % have one VM: 11,584, give or take 70 (one sigma)."""
    size = np.diff(drawn_batches(draws(), 20_000, 400).first_vm)
    assert abs((size == 1).sum() - 11_584) < 280
    assert abs((size > 50).sum() - 284) < 68
    assert 200 < size.max() <= 400


def test_large_batches_are_cut():
    whole, cut = (np.diff(drawn_batches(draws(), 5000, most).first_vm) for most in (400, 17))
    assert (cut == np.minimum(whole, 17)).all()


def test_vms_of_a_batch_are_alike():
    """Nine of ten VMs have the cores of the one before, six of ten its lifetime, as in the data (0.91 and 0.63 of lag 1)."""
    batches = drawn_batches(draws(), 20_000, 5)
    neighbours = np.ones(batches.cores.shape[0] - 1, np.bool_)
    neighbours[batches.first_vm[1:-1] - 1] = False
    same = (batches.cores[1:] == batches.cores[:-1])[neighbours].mean()
    together = (batches.longest_s[1:] == batches.longest_s[:-1])[neighbours].mean()
    assert 0.88 < same < 0.94
    assert 0.60 < together < 0.70
    assert set(np.unique(batches.cores)) == set(VM_CORES)
    assert (batches.shortest_s < batches.longest_s).all()


def test_whole_batches_of_a_trace_are_drawn():
    """Batches (1), (2, 3) and (4, 5, 6): each that is drawn is one of them, cut to two VMs."""
    cores = np.arange(1, 7)
    trace = Batches([0, 1, 3, 6], cores, 300 * cores, 600 * cores, cores % 2 == 0)
    found = bootstrapped(draws(), trace, 200, 2)
    parts = {tuple(part) for part in np.split(found.cores, found.first_vm[1:-1])}
    assert parts == {(1,), (2, 3), (4, 5)}
    assert (found.shortest_s == 300 * found.cores).all()
    assert (found.longest_s == 600 * found.cores).all()
    assert (found.is_censored == (found.cores % 2 == 0)).all()


def test_the_same_stream_gives_the_same_batches():
    one, two = drawn_batches(draws(), 100, 50), drawn_batches(draws(), 100, 50)
    assert (one.cores == two.cores).all()
    assert (one.longest_s == two.longest_s).all()
    with pytest.raises(ValueError, match="read-only"):
        one.cores[0] = 7
