import numpy as np
import pytest

from schedgap.formulations.gap_split import split
from schedgap.formulations.provisioning.split import class_prices
from schedgap.heuristics.provisioning.full_reconfiguration.full_reconfiguration import full_reconfiguration
from schedgap.instances.provisioning import Provisioning, objective
from schedgap.instances.provisioning.generators import distinct, table7
from schedgap.instances.provisioning.pricing import NANO, dual_bound


def alone(instance):
    """Return every task on the cheapest machine that it fits."""
    tasks = np.eye(instance.num_classes, dtype=np.int64)
    return Provisioning.from_patterns(instance.reservation_type, instance.counts, tasks)


def test_the_papers_example_by_hand(paper_example):
    """Alone, tasks 1 to 4 cost 12 + 3 + 0.8 + 0.4 = $16.2; the best is $12.8, and prices prove no more."""
    found = split("provisioning", paper_example, alone(paper_example))
    assert sum(loss.price for loss in found.losses) == pytest.approx(16.2)
    assert found.bound <= 12.8
    assert {loss.name: loss.count for loss in found.losses} == dict.fromkeys(("it1", "it2", "it3", "it4"), 1)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("interference", [False, True])
def test_losses_are_not_negative_and_add_up_to_the_distance_to_the_bound(seed, interference):
    instance = table7(30, seed=seed, interference=interference)
    solution = full_reconfiguration(instance)
    found = split("provisioning", instance, solution)
    price = objective(instance, solution) / 1e6
    assert sum(loss.price - loss.worth for loss in found.losses) == pytest.approx(price - found.bound)
    assert all(loss.price >= loss.worth - 1e-12 for loss in found.losses)
    assert any(loss.name == "interference" for loss in found.losses) == interference
    assert sum(loss.count for loss in found.losses) == solution.num_machines
    worth = [loss.price - loss.worth for loss in found.losses if loss.name != "interference"]
    assert worth == sorted(worth, reverse=True)


def test_prices_prove_what_they_add_up_to():
    instance = distinct(20, seed=1)
    worth = class_prices(instance)
    total = sum(int(n) * w for n, w in zip(instance.counts, worth, strict=True))
    assert 0 <= dual_bound(instance, worth) - total / NANO <= 100_000


def test_too_many_classes_have_no_split():
    instance = distinct(401, seed=0)
    assert split("provisioning", instance, alone(instance)) is None


def test_other_families_have_none():
    assert split("waiting", None, None) is None
