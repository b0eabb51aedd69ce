import numpy as np
import pytest

from schedgap.bench.plugins.discover import load_methods
from schedgap.formulations.export import find_model_builder
from schedgap.formulations.provisioning.limits import (
    MAX_NANO,
    class_values,
    limit_values,
    limits_worth,
    too_expensive,
)
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Status, find_method
from schedgap.instances.provisioning import ProvisioningInstance, table7

load_methods(["provisioning"])


def priced(*prices, count=5):
    size = len(prices)
    return ProvisioningInstance(
        name="priced",
        resources=("cpu",),
        families=("f",),
        type_names=tuple(f"t{k}" for k in range(size)),
        type2family=[0] * size,
        capacity=[[1000 * (k + 1)] for k in range(size)],
        price=list(prices),
        demand=[[[400]]],
        counts=[count],
    )


def test_prices_stay_within_64_bits_in_nano_dollars():
    assert too_expensive(priced(MAX_NANO // 1000)) is None
    assert "a price of $576,460,752.30 an hour is over" in too_expensive(priced(MAX_NANO // 1000 + 1))


def test_prices_of_a_family_stay_within_what_a_row_tells_apart():
    assert too_expensive(priced(1, 2**31)) is None
    assert too_expensive(priced(2, 2**32)) is None
    assert "2147483649 times their greatest common divisor" in too_expensive(priced(1, 2**31 + 1))
    assert too_expensive(priced(1, 2**31, count=2**21)) is None
    assert too_expensive(priced(1, 2**31, count=2**21 + 1)) is not None


@pytest.mark.parametrize("method", ["column-generation", "branch-cut-and-price"])
@pytest.mark.parametrize("prices", [(10**15,), (10**15 - 1, 1, 7), (2**53 - 1, 2**53 - 2)])
def test_dearer_ones_are_refused_with_the_reason(method, prices):
    outcome = find_method("provisioning", method).run(priced(*prices))
    assert outcome.status is Status.UNSUPPORTED
    assert "64 bits" in outcome.details["reason"]


@pytest.mark.parametrize("method", ["column-generation", "branch-cut-and-price"])
def test_the_dearest_that_are_taken_are_solved(method):
    # Two tasks fit the small type, five the large one: three machines or one of twice the price.
    small = 2**58 // 1000
    outcome = find_method("provisioning", method).run(priced(small, 2 * small), time_limit_s=20.0)
    assert (outcome.status, outcome.bound) == (Status.OPTIMAL, 2 * small)


def test_class_prices_are_cut():
    instance = priced(7, count=4)
    assert class_values(instance, np.array([1e30])).tolist() == [MAX_NANO // 4]
    assert class_values(instance, np.array([-1.0])).tolist() == [0]
    assert class_values(instance, np.array([0.5])).tolist() == [500_000_000]
    most = np.array([5, MAX_NANO])
    low, high = np.array([-np.inf, 0.0]), np.array([7.0, 7.0])
    assert limit_values(np.array([-1.0, -1e30]), most, low, high).tolist() == [-5, -MAX_NANO]


def test_a_side_without_a_limit_has_no_price():
    low, high = np.array([-np.inf, 2.0, 2.0]), np.array([7.0, np.inf, 9.0])
    values = limit_values(np.array([1e-9, -1e-9, -3e-9]), MAX_NANO, low, high)
    assert values.tolist() == [0, 0, -3]
    assert limits_worth(values, low, high) == -27
    assert limits_worth(np.array([-2, 5, 1]), low, high) == -14 + 10 + 2


@pytest.mark.parametrize("formulation", ["arc-flow", "interference"])
def test_no_model_without_the_limits_of_an_instance(formulation):
    """What would be written has contents that no machine may hold."""
    instance = table7(5, interference=formulation == "interference")
    instance = instance.replace(per_machine=[1] * instance.num_classes)
    with pytest.raises(MethodError, match="it has no limit on how many tasks of a class share a machine"):
        find_model_builder("provisioning", formulation)(instance)
