"""Sizes of jobs add up. What is drawn is held against the paper with the generators that use it."""

import numpy as np
import pytest

from schedgap.instances.fairness.generators import job_sizes


@pytest.mark.parametrize(("jobs", "tasks"), [(2888, 63_976), (10, 40), (100, 5000), (7, 3000), (5, 5)])
def test_sizes_add_up(jobs, tasks):
    sizes = job_sizes(jobs, tasks)
    assert (sizes.shape[0], sizes.sum()) == (jobs, tasks)
    assert (sizes.min(), np.all(np.diff(sizes) >= 0)) == (1, True)
    assert sizes.max() <= 3623
