"""All exact methods find the shares of exact fractions, and their certificates prove them.

`SCHEDGAP_AGREEMENTS=5000` compares on more instances than a test run has time for, `SCHEDGAP_AGREEMENT_SEED=2` on others.
"""

import os

import numpy as np
import pytest

from schedgap.formulations.fairness import fair_point as water_filling
from schedgap.formulations.fairness import progressive_filling
from schedgap.formulations.fairness.exact_filling import exact_fair_point
from schedgap.instances.fairness import FAIR, FAMILY, random_users, shares_of, verify
from schedgap.instances.fairness.certificate import check_fair_point
from schedgap.instances.method import REGISTRY, Status

AGREEMENTS = int(os.environ.get("SCHEDGAP_AGREEMENTS", "100"))
SEED = int(os.environ.get("SCHEDGAP_AGREEMENT_SEED", "1"))
MODULES = (progressive_filling, water_filling)
# The largest difference between two methods, as a part of the share.
AGREE = 1e-9


def exact_shares(instance):
    """Return the proven shares by every exact method, by name, and in fractions."""
    shares = {"fractions": np.array([float(s) for s in check_fair_point(instance, exact_fair_point(instance))])}
    for (family, name), method in REGISTRY.items():
        if family == FAMILY and method.exact and method.func.__module__ in {module.__name__ for module in MODULES}:
            outcome = method.run(instance)
            assert outcome.status is Status.OPTIMAL, (name, instance.name)
            assert outcome.solution.certificate is not None
            assert verify(instance, outcome.solution) == outcome.bound == FAIR
            shares[name] = shares_of(instance, outcome.solution)
    return shares


def compare(instances):
    """Return the largest difference between a method and the fractions."""
    largest = 0.0
    for instance in instances:
        shares = exact_shares(instance)
        reference = shares["fractions"]
        assert shares.keys() == {"fractions", "progressive-filling", "water-filling"}
        for name, found in shares.items():
            worst = float(np.abs(found / reference - 1).max())
            assert worst < AGREE, (name, instance.name, found, reference)
            largest = max(largest, worst)
    return largest


def test_small_instances(small_instance):
    largest = compare(small_instance(SEED * 10**6 + k) for k in range(AGREEMENTS))
    print(f"{AGREEMENTS} instances, largest relative difference {largest:.2e}")


@pytest.mark.parametrize("kind", ["mixed", "interval"])
@pytest.mark.parametrize("speeds", ["machine", "user"])
@pytest.mark.parametrize("limited", [False, True])
def test_larger_instances(kind, speeds, limited):
    """Twelve users, where there are several levels."""
    instance = random_users(
        12, classes=6, machines=40, resources=1, kind=kind, speeds=speeds, limited=limited, seed=SEED
    )
    compare([instance])


def test_everybody_at_a_limit_at_once(small_instance):
    """Users 1 to 3 run all their tasks, 1 and 2 at the same share; user 0 has what is left: 33, 4, 4 and 15 of 64."""
    instance = small_instance(1, users=4, classes=4, resources=1, notion="cmmf").replace(
        name="limits",
        machine_count=[5, 4, 1, 3],
        capacity=[[6000], [3000], [4000], [6000]],
        demand=[[500], [2000], [1500], [1500]],
        weight=[1000, 1000, 3000, 1000],
        performance=np.full((4, 4), 1000),
        allowed=np.array([[1, 1, 1, 1], [0, 1, 0, 1], [0, 1, 0, 0], [0, 0, 1, 1]], bool),
        tasks=[-1, 2, 8, 10],
    )
    for found in exact_shares(instance).values():
        assert found == pytest.approx(np.array([33, 4, 4, 15]) / 64, rel=1e-9)
