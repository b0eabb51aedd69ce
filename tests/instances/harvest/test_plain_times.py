import sys

import numpy as np
import pytest

from schedgap.instances.harvest import job_times_ms, quick
from schedgap.instances.harvest.simulator.simulator import Simulator

# The package has a function of that name.
reference = sys.modules["schedgap.instances.harvest.measures"]


@pytest.fixture
def kept(monkeypatch):
    memory = {}
    monkeypatch.setattr(reference, "_kept", memory)
    return memory


def test_the_plain_rule_with_seed_0(kept):
    instance = quick(3, 3, "2-4", seed=1)
    simulator = Simulator(instance, seed=0)
    simulator.run_plain()
    expected = job_times_ms(instance, simulator.schedule()).tolist()
    assert reference.plain_times_ms(instance).tolist() == expected
    assert list(kept) == [instance.digest]
    # What is kept is given again.
    kept[instance.digest] = np.array([7])
    assert reference.plain_times_ms(instance).tolist() == [7]


def test_the_instances_asked_for_last_are_kept(kept, monkeypatch):
    monkeypatch.setattr(reference, "MOST_KEPT", 2)
    first, second, third = (quick(2, 1, "1-2", seed=seed, history_h=1.0) for seed in range(3))
    for instance in (first, second, first, third):
        reference.plain_times_ms(instance)
    assert list(kept) == [first.digest, third.digest]


def test_a_pool_that_runs_out_has_no_reference(kept, pool):
    """b, which stays, is on a buffer server, where nothing is leased; a is gone at 120 s and comes back too small."""
    out = pool.replace(buffer=np.array([False, True]), event_cores=[8, 4, 0, 2, 4], runtime_ms=[130_000] * 3)
    assert reference.plain_times_ms(out) is None
    assert kept == {out.digest: None}
