"""Trees and bitsets of free machines against lists."""

import numpy as np
import pytest


@pytest.mark.parametrize("fit", ["first", "best"])
@pytest.mark.parametrize("number", [1, 3, 70])
def test_the_machine_that_a_job_goes_to(make_instance, compiled, fit, number):
    rng = np.random.default_rng(number)
    # Many jobs, so that machines' cores keep their unit.
    state = compiled(make_instance([(0, 1, 1, 0)] * 9, 6, 8), number, fit)
    free = [[6, 8] for _ in range(number)]

    def wanted(cores, memory, but):
        roomy = [k for k in range(number) if k != but and free[k][0] >= cores and free[k][1] >= memory]
        if fit == "best":
            return min(roomy, key=lambda k: (free[k][0], k), default=-1)
        return min((k for k in roomy if k > but), default=-1)

    found = 0
    for _ in range(400):
        k, cores, memory = int(rng.integers(number)), int(rng.integers(-3, 4)), int(rng.integers(-4, 5))
        if 0 <= free[k][0] + cores <= 6 and 0 <= free[k][1] + memory <= 8:
            free[k] = [free[k][0] + cores, free[k][1] + memory]
            state.change(state.machines, k, cores, memory)
        assert state.free() == free
        cores, memory, but = int(rng.integers(1, 7)), int(rng.integers(9)), int(rng.integers(-1, number))
        assert state.find(state.machines, cores, memory, but) == wanted(cores, memory, but)
        if fit == "first":
            assert state.after(state.machines.free, cores, memory, but) == wanted(cores, memory, but)
        found += wanted(cores, memory, but) >= 0
    assert found > 20
