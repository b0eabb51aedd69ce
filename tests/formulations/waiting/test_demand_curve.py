"""The demand curve: closed form against the linear program, the optimum, and itself."""

import numpy as np
import pytest

from schedgap.formulations.waiting.demand_curve import (
    bound_demand_curve,
    bound_of_duals,
    build,
    demand_curve,
    demand_curve_lp,
)
from schedgap.formulations.waiting.models import scale
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Status
from schedgap.instances.units import HOUR_US
from schedgap.instances.waiting import WaitingInstance, mms


def test_never_above_the_optimum(random_instance, optimum):
    for seed in range(150):
        instance = random_instance(seed)
        bound = bound_demand_curve(instance).bound
        if bound is None:
            assert instance.max_wait_us is None and instance.wait_price == 0
        else:
            assert bound <= optimum(instance)


def test_linear_program_meets_the_closed_form_on_whole_machines(random_instance):
    """One-core machines: the levels are whole, so the best number of machines is whole in the program too.

    The program's bound is rounded down, the other up.
    """
    for seed in range(60):
        instance = random_instance(seed, single_core=True, wait=0, jobs=8)
        assert bound_demand_curve(instance).bound - demand_curve_lp(instance).bound in (0, 1)


def test_a_linear_program_may_buy_parts_of_machines():
    instance = mms(300, seed=3).replace(machine_cores=7, fixed_price=7 * 38_400, max_wait_us=0)
    whole, parts = bound_demand_curve(instance).bound, demand_curve_lp(instance).bound
    assert 0.9 * whole < parts <= whole


def test_more_waiting_never_costs_more(random_instance):
    for seed in range(60):
        instance = random_instance(seed, jobs=8)
        bounds = [bound_demand_curve(instance.replace(max_wait_us=h * HOUR_US)).bound for h in (0, 1, 2, 5)]
        assert bounds == sorted(bounds, reverse=True)


def test_cost_is_convex(random_instance):
    for seed in range(40):
        curve = demand_curve(scale(random_instance(seed, jobs=12, wait=HOUR_US)))
        costs = [curve.cost(s) for s in range(8)]
        assert all(costs[s + 1] - costs[s] >= costs[s] - costs[s - 1] for s in range(1, 7))
        best = curve.best_machines()
        assert curve.cost(best) == min(costs)
        assert best == 0 or curve.cost(best - 1) > curve.cost(best)


def test_for_ever_leaves_no_curve(random_instance):
    instance = random_instance(1).replace(max_wait_us=None, wait_price=0)
    found = bound_demand_curve(instance)
    assert found.status is Status.UNSUPPORTED
    with pytest.raises(MethodError, match="for ever"):
        build(instance)


def test_duals_that_prove_nothing_prove_zero():
    """All run alone but three: where every core is worth its rent, three machines are worth far more than they cost."""
    hours = [HOUR_US * i for i in (*range(9), 9, 9, 9)]
    curve = demand_curve(scale(mms(12, seed=0).replace(submit_us=hours, runtime_us=[HOUR_US] * 12, max_wait_us=0)))
    levels = len(set(curve.cores.tolist()))
    assert bound_of_duals(curve, np.zeros(levels)) == 0 == bound_of_duals(curve, np.full(levels, 1e9))


def test_a_back_end_that_loses_small_costs_proves_nothing_and_says_so():
    """Machines at 5 micro-dollars an hour for 5 us cost 7e-15 dollars, beside 7e-16 for a core."""
    instance = WaitingInstance(
        "tiny",
        submit_us=[0, 1, 2, 3, 3],
        runtime_us=[1, 1, 6, 6, 2],
        cores=[2, 3, 3, 1, 2],
        memory_mib=[2, 1, 0, 1, 3],
        machine_cores=3,
        machine_memory_mib=2,
        fixed_price=5,
        rented_cores=[4, 1],
        rented_memory_mib=[2, 7],
        rented_price=[7, 15],
        horizon_us=5,
        wait_price=1,
        max_wait_us=0,
    )
    outcome = demand_curve_lp(instance, backend="glop")
    assert (outcome.status, outcome.bound, outcome.solution) == (Status.NO_SOLUTION, None, None)
    assert outcome.details["reason"] == "demand-curve-tiny: glop ended as 'imprecise'; use highs, or rounder numbers."
