"""From what solvers tell on the way to claims about the instance."""

from itertools import pairwise

import pytest

from schedgap.formulations.linear_model import ModelPoint, claims, delayed, improving
from schedgap.formulations.provisioning.arc_flow.arc_flow import arc_flow
from schedgap.formulations.provisioning.assignment import assignment, assignment_symmetry
from schedgap.formulations.provisioning.column_generation.column_generation import column_generation
from schedgap.formulations.provisioning.patterns.patterns import interference, patterns
from schedgap.instances.method import Incumbent
from schedgap.instances.provisioning import table7, verify
from schedgap.instances.provisioning.verify import price_step


def test_claims_are_rounded_by_the_method():
    points = [ModelPoint(1.0, 6.9999999, None), ModelPoint(2.0, None, 2.3)]
    found = claims(points, after_s=0.5, cost=lambda cost: round(cost) * 10, bound=lambda bound: int(bound) * 10)
    assert found == [Incumbent(1.5, 70, None), Incumbent(2.5, None, 20)]


def test_what_is_not_better_is_left_out():
    points = [
        Incumbent(3.0, 9, 2),
        Incumbent(1.0, None, 3),
        Incumbent(2.0, 10, None),
        Incumbent(4.0, 9, 3),
        Incumbent(5.0, 12, 5),
    ]
    kept = (Incumbent(1.0, None, 3), Incumbent(2.0, 10, 3), Incumbent(3.0, 9, 3), Incumbent(5.0, 9, 5))
    assert improving(points) == kept
    assert delayed(kept[:1], 0.5) == (Incumbent(1.5, None, 3),)
    assert improving([]) == ()


@pytest.mark.parametrize(
    ("method", "backend"),
    [
        (patterns, "highs"),
        (patterns, "cp-sat"),
        (arc_flow, "highs"),
        (assignment_symmetry, "highs"),
        (assignment_symmetry, "cp-sat"),
        (column_generation, "highs"),
    ],
)
def test_methods_tell_how_they_got_there(method, backend):
    """On the method's own clock, in whole prices, never better than the verified end; it is reached."""
    instance = table7(9, seed=1)
    outcome = method(instance, time_limit_s=20, backend=backend)
    objective, points = verify(instance, outcome.solution), outcome.trajectory
    assert outcome.bound == objective
    assert (points[-1].objective, points[-1].bound) == (objective, objective)
    assert improving(points) == points
    assert all(p.objective is None or p.objective % price_step(instance) == 0 for p in points)
    assert outcome.build_s <= points[0].elapsed_s
    assert points[-1].elapsed_s <= outcome.build_s + outcome.solve_s + outcome.extract_s


@pytest.mark.parametrize("backend", ["scip", "cbc"])
def test_back_ends_that_tell_nothing(backend):
    outcome = arc_flow(table7(9), backend=backend)
    assert outcome.trajectory == ()


def test_highs_tells_bounds_between_solutions():
    """The bound of the root comes with a line of the log, while the first solution is still the best."""
    points = assignment(table7(8)).trajectory
    assert any(one.objective == other.objective for one, other in pairwise(points))


@pytest.mark.parametrize("seconds", [0.05, 0.4])
@pytest.mark.parametrize(("method", "backend"), [(patterns, "highs"), (assignment, "highs"), (assignment, "cp-sat")])
def test_nothing_is_claimed_that_the_end_does_not_hold(method, backend, seconds):
    """Stopped on the way: no claim of a solution is cheaper than the one returned, none of a bound is higher."""
    instance = table7(20, seed=3)
    outcome = method(instance, time_limit_s=seconds, backend=backend)
    found = [point.objective for point in outcome.trajectory if point.objective is not None]
    bounds = [point.bound for point in outcome.trajectory if point.bound is not None]
    assert bool(found) == (outcome.solution is not None)
    # A model may rent a machine for nobody, which a solution does not.
    assert not found or min(found) >= verify(instance, outcome.solution)
    assert max(bounds, default=0) <= (outcome.bound or 0)


def test_costs_with_lost_value_are_whole_as_well():
    instance = table7(5, seed=3, interference=True)
    outcome = interference(instance)
    assert improving(outcome.trajectory) == outcome.trajectory
    assert outcome.trajectory[-1].objective == outcome.trajectory[-1].bound == verify(instance, outcome.solution)
