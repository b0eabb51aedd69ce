"""Section 4.2, heterogeneous resources: one GPU on an old machine, $3 an hour, or on a new one, $4, twice as fast."""

import numpy as np
import pytest

from schedgap.heuristics.provisioning.full_reconfiguration.full_reconfiguration import (
    full_reconfiguration,
    iteration_prices,
)
from schedgap.instances.errors import MethodError
from schedgap.instances.provisioning.generators import table7
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.verify import verify

OLD, NEW, NEW_PAIR = 0, 1, 2


def cluster(tasks: int, *demands: list[int]) -> ProvisioningInstance:
    return ProvisioningInstance(
        name="generations",
        resources=("gpu", "cpu"),
        families=("old", "new"),
        type_names=("old", "new", "new-pair"),
        type2family=np.array([0, 1, 1]),
        capacity=np.array([[1, 4], [1, 4], [2, 8]]),
        price=np.array([3, 4, 7]) * 1_000_000,
        demand=np.array([[[1, 2], *demands]] * 2),
        counts=np.array([tasks, *[1] * len(demands)]),
    )


def rented(instance: ProvisioningInstance, speeds: str) -> list[int]:
    found = full_reconfiguration(instance, speeds=speeds)
    verify(instance, found)
    return np.repeat(found.machine_type, found.repeat).tolist()


def test_the_cheapest_iteration_is_taken_not_the_cheapest_hour() -> None:
    assert rented(cluster(1), "") == [OLD]
    # $4 for two iterations are $2 each; at 1.25 iterations an hour they are $3.20, more than $3.
    assert rented(cluster(1), "new:2") == [NEW]
    assert rented(cluster(1), "new:1.25") == [OLD]


def test_tasks_pay_their_iterations_price_times_the_speed_of_the_machine() -> None:
    # Reservation prices $2 an iteration; on the pair, $2 x 2 + $2 x 2 = $8 an hour against $7.
    assert rented(cluster(2), "new:2") == [NEW_PAIR]
    # $3 an iteration, on old; on the pair, $3 x 1 + $3 x 1 = $6 against $7; with 1.2 iterations an hour, $7.20.
    assert rented(cluster(2), "") == [OLD, OLD]
    assert rented(cluster(2), "new:1.2") == [NEW_PAIR]


def test_equal_speeds_change_nothing() -> None:
    instance = table7(200)
    found, same = full_reconfiguration(instance), full_reconfiguration(instance, speeds="p3:2 c7i:2 r7i:2")
    assert np.array_equal(found.task2machine, same.task2machine)
    assert iteration_prices(instance, "p3:0.5").tolist()[0] == 2 * instance.price[0]


@pytest.mark.parametrize(
    ("speeds", "message"),
    [
        ("newer:2", r"speeds names family 'newer'; the instance has old, new"),
        ("new", r"the speed of family new is ''; give a number above 0"),
        ("new:0", r"the speed of family new is '0'"),
        ("new:0.0001", r"to three decimals"),
    ],
)
def test_speeds_that_are_none(speeds: str, message: str) -> None:
    with pytest.raises(MethodError, match=message):
        full_reconfiguration(cluster(1), speeds=speeds)


def test_speeds_without_a_common_multiple_that_prices_bear() -> None:
    with pytest.raises(MethodError, match=r"have no common multiple that prices bear; give rounder ones"):
        iteration_prices(table7(10), "p3:999.999 c7i:999.998 r7i:999.997")
