"""Jobs that are alike run in slots; what comes of it is held against the plain reference in `test_kernels_fcfs`."""

import pytest

from schedgap.heuristics.waiting.compiled.simulator import CompiledSimulator, Policy


@pytest.mark.parametrize(("kind", "slots"), [("single", 1), ("alike", 2)])
def test_a_machine_has_as_many_slots_as_jobs_that_it_holds(make_trace, kind, slots):
    for seed in range(40):
        instance = make_trace(seed, kind)
        assert CompiledSimulator(instance, Policy()).slots_a_machine == min(slots, instance.num_jobs)
