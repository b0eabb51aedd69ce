"""The demand curve: below the optimum, and convex."""

from schedgap.formulations.waiting.models import scale
from schedgap.formulations.waiting.work_bound import bound_demand_curve, demand_curve
from schedgap.instances.method import Status
from schedgap.instances.units import HOUR_US


def test_never_above_the_optimum(random_instance, optimum):
    for seed in range(150):
        instance = random_instance(seed)
        bound = bound_demand_curve(instance).bound
        if bound is None:
            assert instance.max_wait_us is None and instance.wait_price == 0
        else:
            assert bound <= optimum(instance)


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
    assert "for ever" in found.details["reason"]
