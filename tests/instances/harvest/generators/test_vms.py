"""VMs drawn one by one change about as those of cluster C2, between no cores and the most."""

import numpy as np
import pytest

from schedgap.instances.harvest.generators.vms import draw_vms
from schedgap.instances.units import HOUR_MS

DAYS_MS = 4 * 24 * HOUR_MS


@pytest.fixture(scope="module")
def many():
    return draw_vms(np.ones(300), 0, until_ms=DAYS_MS, most_cores=40, min_sizes=(2, 4, 8))


def gaps_of(vms):
    gaps = np.diff(vms.event_ms)
    return np.delete(gaps, vms.first_event[1:-1] - 1)


def test_times_between_changes_are_those_of_c2(many):
    minutes = gaps_of(many) / 60_000
    found = [np.mean(minutes <= bound) for bound in (1, 10, 60)]
    # Section 2.1 gives 0.16, 0.40 and 0.84 for C2.
    assert found == pytest.approx([0.16, 0.40, 0.84], abs=0.05)


def test_sizes(many):
    first = many.first_event[:-1]
    vm = np.repeat(np.arange(300), np.diff(many.first_event))
    assert (many.event_ms[first] == 0).all()
    assert (many.event_cores[first] >= many.min_cores).all()
    assert (many.event_cores.min(), many.event_cores.max()) == (0, 40)
    assert ((many.event_cores == 0) | (many.event_cores >= many.min_cores[vm])).all()
    assert set(many.min_cores.tolist()) == {2, 4, 8}
    assert many.memory_mib.tolist() == (8192 * many.min_cores).tolist()


def test_vms_differ_in_stability(many):
    counts = np.diff(many.first_event)
    alike = draw_vms(np.ones(300), 0, until_ms=DAYS_MS, most_cores=40, min_sizes=(2, 4, 8), frailty=0.0)
    assert counts.std() / counts.mean() > 2 * np.diff(alike.first_event).std() / np.diff(alike.first_event).mean()
    half_quiet = draw_vms(np.repeat([1.0, 20.0], 150), 0, until_ms=DAYS_MS, most_cores=40, min_sizes=(2,), frailty=0.0)
    changes = np.diff(half_quiet.first_event)
    assert changes[:150].mean() > 5 * changes[150:].mean()


def test_first_vms_are_the_same_however_many_there_are(many):
    few = draw_vms(np.ones(3), 0, until_ms=DAYS_MS, most_cores=40, min_sizes=(2, 4, 8))
    kept = many.only(np.arange(300) < 3)
    assert all(a.tolist() == b.tolist() for a, b in zip(few, kept, strict=True))


def test_only_some():
    vms = draw_vms(np.ones(4), 0, until_ms=DAYS_MS, most_cores=8, min_sizes=(1, 2), grid_ms=1000)
    kept = vms.only(np.array([False, True, False, True]))
    assert (vms.event_ms % 1000 == 0).all()
    assert kept.min_cores.tolist() == vms.min_cores[[1, 3]].tolist()
    for new, old in ((0, 1), (1, 3)):
        there = slice(*kept.first_event[new : new + 2])
        before = slice(*vms.first_event[old : old + 2])
        assert kept.event_cores[there].tolist() == vms.event_cores[before].tolist()
