import numpy as np
import pytest

from schedgap.formulations.reconfiguration.contents import ContentPricer, largest_price, too_dear
from schedgap.formulations.reconfiguration.work_bound import bound_presence, bound_progress
from schedgap.formulations.reconfiguration.work_prices import bound_work
from schedgap.instances.errors import InstanceError
from schedgap.instances.method import Status, find_method

METHODS = ("bound-work", "bound-presence", "bound-progress")


def at_price(instance, price):
    return instance.replace(catalogue=instance.catalogue.replace(price=[price]))


@pytest.fixture
def pair(plain):
    """Two jobs that slow each other down to 0.6."""
    return plain((300, 300), throughput=[[600]], classes=(0, 0))


@pytest.fixture
def crowd(plain):
    """A million tasks that need nothing, which fit one machine together."""
    tasks = plain((300,), num_tasks=[2**20])
    return tasks.replace(catalogue=tasks.catalogue.replace(demand=np.zeros((1, 1, 1))))


def test_the_limit_is_that_of_a_price_times_a_rate(pair):
    nano = 1000 * largest_price(pair)
    assert nano * 10**6 + 10**6 - 1 < 2**62 <= (nano + 1000) * 10**6 + 10**6 - 1


def test_or_of_all_tasks_that_fit(crowd):
    # Each in three items, each worth at most twice the price; 2000 for rounding the price of 2000 milli-CPU.
    twice = 2000 * 3 * 2**20
    assert twice * largest_price(crowd) + 2000 <= 2**60 < twice * (largest_price(crowd) + 1) + 2000


def test_at_the_limit_bounds_are_what_they_are_below(pair, crowd):
    price = largest_price(pair)
    dear = at_price(pair, price)
    # 600 s of work take 500 s of a machine; without interference, 300 s.
    for bound, seconds in ((bound_work, 500), (bound_presence, 300), (bound_progress, 500)):
        assert 0.9999 * seconds * price <= bound(dear).bound * 3600 <= seconds * price + 3600
    price = largest_price(crowd)
    assert 0.9999 * 300 * price <= bound_progress(at_price(crowd, price)).bound * 3600 <= 300 * price + 3600


@pytest.mark.parametrize("name", METHODS)
def test_beyond_it_they_refuse(name, pair):
    price = largest_price(pair) + 1
    outcome = find_method("reconfiguration", name).run(at_price(pair, price))
    assert (outcome.claimed_status, outcome.bound) == (Status.UNSUPPORTED, None)
    assert outcome.details["reason"] == (
        f"its dearest machine costs {price} micro-dollars an hour, of which contents would overflow 62 bits; "
        f"give at most {price - 1}"
    )
    with pytest.raises(InstanceError, match=f"simple: its dearest machine costs {price} micro-dollars"):
        ContentPricer(at_price(pair, price))


def test_one_type_beyond_it_is_enough(pair, oddities):
    assert too_dear(at_price(pair, largest_price(pair))) is None
    instance = oddities(3)
    prices = instance.catalogue.price.copy()
    prices[-1] = largest_price(instance) + 1
    assert too_dear(instance.replace(catalogue=instance.catalogue.replace(price=prices))) is not None
