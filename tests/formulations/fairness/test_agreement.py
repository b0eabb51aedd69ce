"""All exact methods find the same shares, and their certificates prove them.

`SCHEDGAP_AGREEMENTS=5000` compares on more instances than a test run has time for, `SCHEDGAP_AGREEMENT_SEED=2` on others.
"""

import os

import numpy as np
import pytest

from schedgap.formulations.fairness import fair_point as water_filling
from schedgap.formulations.fairness import parametric_flow, progressive_filling
from schedgap.instances.fairness import FAIR, FAMILY, random_users, shares_of, verify
from schedgap.instances.method import REGISTRY, Status

AGREEMENTS = int(os.environ.get("SCHEDGAP_AGREEMENTS", "100"))
SEED = int(os.environ.get("SCHEDGAP_AGREEMENT_SEED", "1"))
MODULES = (parametric_flow, progressive_filling, water_filling)
# The largest difference between two methods, as a part of the share.
AGREE = 1e-9


def exact_shares(instance):
    """Return the proven shares of every exact method that takes the instance, by name."""
    shares = {}
    for (family, name), method in REGISTRY.items():
        if family == FAMILY and method.exact and method.func.__module__ in {module.__name__ for module in MODULES}:
            outcome = method.run(instance)
            if outcome.status is Status.UNSUPPORTED:
                continue
            assert outcome.status is Status.OPTIMAL, (name, instance.name)
            assert outcome.solution.certificate is not None
            assert verify(instance, outcome.solution) == outcome.bound == FAIR
            shares[name] = shares_of(instance, outcome.solution)
    return shares


def compare(instances):
    """Return how often each method took part, and the largest difference between any two."""
    took_part, largest = {}, 0.0
    for instance in instances:
        shares = exact_shares(instance)
        reference = shares["progressive-filling"]
        for name, found in shares.items():
            took_part[name] = took_part.get(name, 0) + 1
            worst = float(np.abs(found / reference - 1).max())
            assert worst < AGREE, (name, instance.name, found, reference)
            largest = max(largest, worst)
    return took_part, largest


def test_small_instances(small_instance):
    took_part, largest = compare(small_instance(SEED * 10**6 + k) for k in range(AGREEMENTS))
    assert took_part["progressive-filling"] == took_part["water-filling"] == AGREEMENTS
    assert took_part["parametric-flow"] > AGREEMENTS // 4
    print(f"{AGREEMENTS} instances: {took_part}, largest relative difference {largest:.2e}")


@pytest.mark.parametrize("kind", ["mixed", "interval"])
@pytest.mark.parametrize("speeds", ["machine", "user"])
@pytest.mark.parametrize("limited", [False, True])
def test_larger_instances(kind, speeds, limited):
    """Twelve users, where there are several levels."""
    instance = random_users(
        12, classes=6, machines=40, resources=1, kind=kind, speeds=speeds, limited=limited, seed=SEED
    )
    took_part, _ = compare([instance])
    assert "parametric-flow" in took_part or speeds == "user" or limited


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
