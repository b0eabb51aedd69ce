"""The exact method on a grid against brute force, other methods, and what it refuses."""

import numpy as np
import pytest

from schedgap.formulations.harvest.clairvoyant import clairvoyant_search
from schedgap.formulations.harvest.time_indexed import bracket
from schedgap.formulations.harvest.time_indexed.time_indexed import build, time_indexed
from schedgap.instances.errors import BackendError, MethodError
from schedgap.instances.harvest.generators.datacentre import quick
from schedgap.instances.harvest.model import OBJECTIVES
from schedgap.instances.harvest.verify import verify
from schedgap.instances.method import Status, find_method

STRETCH = 7


def stretched(instance):
    """Return the instance with all times STRETCH times as long, from a day later on."""
    times = ("event_ms", "arrival_ms", "runtime_ms", "estimate_ms")
    changes = {key: getattr(instance, key) * STRETCH for key in times}
    for key in ("event_ms", "arrival_ms"):
        changes[key] = changes[key] + 86_400_000
    return instance.replace(**changes)


def exact(optima):
    """Return the instances whose optimum is over whole runs on given VMs."""
    return [(each, best) for each, best in optima if each.is_fixed and (each.checkpoint_ms < 0).all()]


def test_is_the_optimum_of_brute_force(optima):
    cases = exact(optima)[:30]
    assert len(cases) == 30
    for instance, best in cases:
        found = time_indexed(instance)
        assert (found.status, found.bound, verify(instance, found.solution)) == (Status.OPTIMAL, best, best)


def test_is_the_optimum_on_a_coarser_grid(optima):
    for instance, best in exact(optima)[60:75]:
        coarse = stretched(instance)
        found = time_indexed(coarse)
        assert found.bound == verify(coarse, found.solution) == STRETCH * best


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", [0, 1, 2, 4])
def test_no_schedule_is_below_and_no_bound_above(seed, objective):
    cores = "2,4" if seed % 2 else "2"
    instance = quick(
        2, 3, "1-3", seed=seed, grid_s=600, objective=objective, most_cores=6, min_sizes="2", cores=cores, stability=0.5
    )
    found, other = time_indexed(instance), clairvoyant_search(instance, rng=np.random.default_rng(1), moves=20_000)
    assert found.status is Status.OPTIMAL
    assert other.bound <= found.bound == verify(instance, found.solution) <= verify(instance, other.solution)


@pytest.mark.parametrize("backend", ["cp-sat", "scip"])
def test_other_back_ends(optima, backend):
    for instance, best in exact(optima)[:15]:
        found = time_indexed(instance, backend=backend)
        assert found.bound == verify(instance, found.solution) == best


def test_gaps_close_on_queues(make):
    """Two tasks of 2 and one of 3 on a core that goes away from 3 to 5: 0-3, 5-7 and 7-9, or 0-2, 5-7 and 7-10."""
    instance = make([[(0, 1), (3, 0), (5, 1)]], [[2, 2, 3]], objective="tasks")
    found = time_indexed(instance)
    assert found.bound == verify(instance, found.solution) == 2 + 7 + 10


def test_memory_counts(make):
    """Two cores, and memory for one task at a time."""
    instance = make([[(0, 2)]], [[2, 2]], memory_mib=[3], task_memory_mib=[2], objective="makespan")
    found = time_indexed(instance)
    assert found.bound == verify(instance, found.solution) == 4


def test_what_is_not_exact_is_refused(make):
    chosen = find_method("harvest", "time-indexed")
    able = make([[(0, 1)]], [[2]], checkpoint_ms=[0])
    assert "can take checkpoints (job job-0, in 0 ms)" in chosen.run(able).details["reason"]
    pool = {"allocation": "random", "max_leases": 1, "leased": np.array([True, False])}
    dynamic = make([[(0, 1)], [(0, 1)]], [[2]], **pool)
    assert "leases its VMs (random, 1 at most)" in chosen.run(dynamic).details["reason"]
    fine = make([[(0, 1)]], [[86_400_001], [86_400_000]])
    assert "is only 1 ms; round all times" in chosen.run(fine).details["reason"]
    with pytest.raises(MethodError, match="can take checkpoints"):
        build(able)


def test_the_model_can_be_exported(make):
    """Tasks of 2 and 1 on one core, which end within 3 slots: starts 0-1 and 0-2, two late; two counts and three slots."""
    model = build(make([[(0, 1)]], [[2, 1]], objective="tasks"))
    assert model.matrix.shape == (2 + 3, 2 + 3 + 2)


def test_no_time(make):
    assert time_indexed(make([[(0, 1)]], [[2]]), time_limit_s=0.0).status is Status.NO_SOLUTION


def test_a_limit_leaves_a_schedule_and_a_bound():
    instance = quick(8, 6, "10-20", seed=1, grid_s=300, objective="jobs", most_cores=8, min_sizes="2,4", load=0.6)
    found = time_indexed(instance, time_limit_s=1.0)
    assert found.bound <= verify(instance, found.solution)
    assert [point.bound for point in found.trajectory] == sorted(point.bound for point in found.trajectory)
    assert found.trajectory[-1].bound == found.bound


def test_a_linear_program_without_an_answer_costs_its_bound_only(optima, monkeypatch):
    """HiGHS ends without a status where a row has numbers far apart; what is known otherwise stands."""

    def no_answer(*_, **__):
        raise BackendError("HiGHS ended with 'Unknown'.")

    monkeypatch.setattr(bracket, "solve", no_answer)
    reasons = set()
    for instance, best in exact(optima)[:20]:
        found = time_indexed(instance)
        assert found.bound == verify(instance, found.solution) == best
        reasons.add(found.details.get("reason"))
    assert reasons == {None, "HiGHS ended with 'Unknown'."}
