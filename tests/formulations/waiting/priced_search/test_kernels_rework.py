"""What the loops say a plan costs is what it costs, and all jobs stay in the lists."""

import numpy as np

from schedgap.formulations.waiting.fluid_bound import priced
from schedgap.formulations.waiting.models import scale
from schedgap.formulations.waiting.priced_search.search import best_draft, improved, schedule_of
from schedgap.instances.waiting import bursty, costs


def test_amounts_are_those_of_the_plan():
    instance = bursty(600, seed=3, machine_cores=16, wait_price=0.05)
    scaled = scale(instance)
    draft = best_draft(priced(scaled, 10, 200)[0], 3)
    for _ in range(3):
        assert draft.least <= draft.amount
        draft = improved(draft, 500, np.array([7], np.uint64), None)
        found = costs(instance, schedule_of(draft))
        others = (found.rented + found.waiting) // scaled.unit_us
        cap = int((draft.jobs.submit + draft.jobs.runtime + draft.jobs.slack).max())
        fixed = draft.machines * instance.fixed_price * cap
        assert abs(draft.least - fixed - others) <= 1e-9 * draft.least
        assert found.fixed <= fixed * scaled.unit_us
