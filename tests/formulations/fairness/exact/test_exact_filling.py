"""The fair point in whole numbers: where floating point has none, and the same where it has."""

import numpy as np
import pytest

from schedgap.bench.plugins.discover import load_methods
from schedgap.formulations.fairness import exact_filling
from schedgap.formulations.fairness.exact_filling import exact_fair_point, is_too_large
from schedgap.formulations.fairness.fair_point import search
from schedgap.instances.fairness import FAIR, FAMILY, shares_of, verify
from schedgap.instances.fairness.certificate import FairPoint, check_fair_point
from schedgap.instances.family import find_family
from schedgap.instances.method import REGISTRY, Status

load_methods([FAMILY])
METHODS = [
    method
    for (family, _), method in sorted(REGISTRY.items())
    if family == FAMILY and method.func.__module__.startswith("schedgap.")
]


def floats(shares):
    return np.array([float(share) for share in shares])


def test_agrees_with_certificates(small_instance):
    for seed in range(60):
        instance = small_instance(seed)
        searched = search(instance)
        assert not isinstance(searched.found, FairPoint)
        exact = floats(check_fair_point(instance, exact_fair_point(instance)))
        assert shares_of(instance, searched.found) == pytest.approx(exact, rel=1e-9)


def test_equal_users_and_classes_are_merged(small_instance):
    """Twice every user and every class: the same shares, half as large for each, from a tableau of the same size."""
    for seed in range(20):
        one = small_instance(seed, notion="eunomia", limited=False)
        two = one.replace(
            name="twice",
            machine_names=(*one.machine_names, *(f"{name}-again" for name in one.machine_names)),
            machine_count=np.tile(one.machine_count, 2),
            capacity=np.tile(one.capacity, (2, 1)),
            demand=np.tile(one.demand, (2, 1)),
            weight=np.tile(one.weight, 2),
            performance=np.tile(one.performance, (2, 2)) * np.repeat([1, 3], one.num_users)[:, None],
            allowed=np.tile(one.allowed, (2, 2)),
            tasks=np.tile(one.tasks, 2),
        )
        shares = check_fair_point(one, exact_fair_point(one))
        assert check_fair_point(two, exact_fair_point(two)) == [share / 2 for share in (*shares, *shares)]


@pytest.mark.parametrize("digits", [3, 6, 9, 12])
def test_right_shares_are_proven_at_any_spread(spread_instance, digits):
    """Certificates prove most of them at 3 digits, and hardly any from 9 on."""
    exact = 0
    for seed in range(6):
        instance = spread_instance(seed, 8, 4, 2, digits)
        for name in ("water-filling", "equal-split", "progressive-filling"):
            outcome = REGISTRY[FAMILY, name].run(instance)
            if outcome.solution is not None:
                verify(instance, outcome.solution)
            if name == "water-filling":
                assert (outcome.status, verify(instance, outcome.solution)) == (Status.OPTIMAL, FAIR)
                exact += "exact" in outcome.details
    assert exact >= {3: 0, 6: 1, 9: 3, 12: 3}[digits]


def test_what_is_too_large(small_instance, monkeypatch):
    instance = small_instance(2)
    assert is_too_large(instance) is None
    monkeypatch.setattr(exact_filling, "MOST_ENTRIES", 3)
    assert "its exact tableau has up to" in is_too_large(instance)


def test_all_methods_at_the_ends_of_the_format(nasty_instance):
    """No method raises or claims what is false; shares are those of exact fractions."""
    assert len(METHODS) >= 8
    for seed in range(16):
        instance = nasty_instance(seed)
        fair = floats(check_fair_point(instance, exact_fair_point(instance)))
        for method in METHODS:
            parameters = {"max_reports": 2} if method.name == "false-constraints" else {}
            outcome = method.run(instance, time_limit_s=0.5, parameters=parameters)
            if outcome.solution is None:
                assert outcome.claimed_status in (Status.NO_SOLUTION, Status.UNSUPPORTED), (instance.name, method.name)
                continue
            found = verify(instance, outcome.solution)
            least = float((shares_of(instance, outcome.solution) / fair).min())
            assert found == pytest.approx(min(max(FAIR, FAIR / max(least, 1e-12)), FAIR * FAIR), rel=2e-6)
            assert outcome.bound is None or outcome.bound <= found
            assert outcome.status is not Status.OPTIMAL or outcome.bound == found, (instance.name, method.name)
            assert all(np.isfinite(list(find_family(FAMILY).measures(instance, outcome.solution).values())))
