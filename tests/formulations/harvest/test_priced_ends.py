"""Due dates by prices."""

import math

import numpy as np
import pytest

from schedgap.formulations.harvest.clairvoyant import MOST, SLOTS, priced_ends
from schedgap.formulations.harvest.price_bound import Priced, priced


@pytest.fixture(name="crowd")
def crowd_fixture(make):
    """Return three jobs of 40 tasks of 10 s for 20 cores, which could end after 20, 40 and 60 s."""
    return make([[(0, 20)]], [[10_000] * 40] * 3, [0, 0, 0])


def test_one_job_after_the_other(crowd):
    """Whole ends, none alike, that add up to what the best prices prove, a slot more or less for each."""
    found = priced(crowd, 200, 3, math.inf)
    due = priced_ends(found, np.full(3, 60_000), math.inf)
    slot = 60_000 / SLOTS + found.problem.cell
    assert found.bound - 3 * slot <= due.sum() <= 120_000
    assert np.diff(np.sort(due)).min() > 5_000


def test_no_job_is_due_before_it_can_end(optima):
    tried = 0
    for instance, _ in optima:
        if instance.objective != "jobs" or not instance.is_fixed:
            continue
        found = priced(instance, 20, 2, math.inf)
        due = priced_ends(found, np.full(instance.num_jobs, 60), math.inf)
        if due is not None:
            assert (due >= found.problem.groups.earliest).all()
            tried += 1
    assert tried > 10


def test_nothing_without_prices_or_time_or_for_too_many_jobs(crowd):
    found = priced(crowd, 20, 1, math.inf)
    assert priced_ends(Priced(0, 0, None, []), np.full(3, 60_000), math.inf) is None
    assert priced_ends(found, np.full(3, 60_000), 0.0) is None
    assert priced_ends(found, np.full(MOST + 1, 60), math.inf) is None
