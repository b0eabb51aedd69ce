"""Jobs that are taken off together make room for large ones."""

import numpy as np

from schedgap.formulations.waiting.fluid_bound import priced
from schedgap.formulations.waiting.models import scale
from schedgap.formulations.waiting.priced_search import search as drafts
from schedgap.formulations.waiting.priced_search.kernels_plan import Plan, empty, take
from schedgap.formulations.waiting.priced_search.search import improved
from schedgap.instances.units import HOUR_US
from schedgap.instances.waiting import WaitingInstance


def test_a_large_job_gets_a_machine():
    """160 small jobs keep half of two machines busy: all 80 of one must go to the other before the large one has room."""
    submit = np.concatenate(([0], np.repeat(np.arange(20) * 5, 8)))
    cores = np.concatenate(([8], np.ones(160, np.int64)))
    instance = WaitingInstance(
        name="spread",
        submit_us=submit * HOUR_US,
        runtime_us=np.concatenate(([100], np.full(160, 5))) * HOUR_US,
        cores=cores,
        memory_mib=cores.copy(),
        machine_cores=8,
        machine_memory_mib=8,
        fixed_price=400,
        rented_cores=np.array([1, 8]),
        rented_memory_mib=np.array([1, 8]),
        rented_price=np.array([100, 800]),
        horizon_us=100 * HOUR_US,
        wait_price=100,
    )
    scaled = scale(instance)
    ends = priced(scaled, 10)[0]
    jobs = drafts._given(scaled, scaled.horizon, ends.ascent.problem.shares, drafts._at_prices(ends, 2))
    plan = Plan(np.concatenate(([-1], np.tile([0, 1], 80))), scaled.submit.copy())
    line = empty(2, scaled.horizon, scaled.num_jobs, 8, 8)
    for j in range(1, 161):
        take(line, plan.machine[j], plan.start[j], jobs.runtime[j], jobs.cores[j], jobs.memory[j])
    amount = float(jobs.rent[0])
    draft = drafts.Draft(scaled, 2, jobs, line, plan, amount, plan, amount)
    assert improved(draft, 200, np.array([3], np.uint64), None).least == 0.0
