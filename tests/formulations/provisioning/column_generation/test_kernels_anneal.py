import numpy as np
import pytest

from schedgap.formulations.provisioning.column_generation.kernels_fill import Fleet, anneal


def state(seed=1):
    return np.array([seed], np.uint64)


def fleet_of(capacity, size, family=None):
    """Return machines (M, R) for tasks (T, R), or (F, T, R) with the machines' families."""
    capacity, size = np.array(capacity, np.int64), np.array(size, np.int64)
    family = np.zeros(capacity.shape[0], np.int64) if family is None else np.array(family, np.int64)
    return Fleet(size.reshape(-1, *size.shape[-2:]), family, capacity, 1.0 / capacity.mean(axis=0))


def loads(fleet, machine):
    load = np.zeros_like(fleet.capacity)
    for t, m in enumerate(machine):
        assert fleet.size[fleet.family[m], t, 0] >= 0
        load[m] += fleet.size[fleet.family[m], t]
    return load


@pytest.mark.parametrize("seed", range(10))
def test_machines_that_a_packing_fills_are_filled(seed):
    # Three machines, cut at random into six tasks each, of two resources: nothing is left free.
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.integers(1, 100, (3, 5, 2)), axis=1)
    size = np.diff(cuts, axis=1, prepend=0, append=100).reshape(-1, 2)
    fleet = fleet_of([[100, 100]] * 3, size)
    machine = rng.integers(0, 3, 18)
    before = machine.copy()
    is_filled = any(anneal(fleet, machine, 0.1, 0.001, 200_000, state(turn)) for turn in range(1, 20))
    assert is_filled
    assert (loads(fleet, machine) == 100).all()
    assert (machine != before).any()


@pytest.mark.parametrize("seed", range(10))
def test_what_is_said_to_fit_fits_and_nothing_else(seed):
    rng = np.random.default_rng(seed)
    size = rng.integers(0, 30, (2, 12, 3))
    size[rng.random((2, 12)) < 0.2] = -1
    size[0, (size[:, :, 0] < 0).all(axis=0)] = 1
    family = [0, 0, 1, 1]
    fleet = fleet_of(rng.integers(20, 90, (4, 3)), size, family)
    machine = np.array([rng.choice(np.flatnonzero(size[family, t, 0] >= 0)) for t in range(12)])
    said = anneal(fleet, machine, 0.1, 0.001, 5_000, state(seed + 1))
    assert said == (loads(fleet, machine) <= fleet.capacity).all()


def test_what_cannot_fit_is_not_said_to():
    fleet = fleet_of([[10], [10]], [[7], [7], [7]])
    assert not anneal(fleet, np.array([0, 0, 1]), 0.1, 0.001, 2_000, state())


def test_what_fits_at_first_stays():
    fleet = fleet_of([[10], [10]], [[7], [7]])
    machine = np.array([1, 0])
    assert anneal(fleet, machine, 0.1, 0.001, 100, state())
    assert machine.tolist() == [1, 0]
