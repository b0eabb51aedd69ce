"""Bins of one type and items of different sizes."""

import numpy as np
import pytest

from schedgap.instances.provisioning import ProvisioningInstance


def bins(capacity, sizes, counts=None, prices=(1_000_000,)):
    """Return an instance of one machine type with the capacity, and a class for each size.

    prices : of the type, and of more types of capacity 1, so that prices have a smaller step.
    """
    sizes = np.asarray(sizes, np.int64).reshape(len(sizes), -1)
    counts = np.ones(sizes.shape[0], np.int64) if counts is None else np.asarray(counts)
    return ProvisioningInstance(
        name="bins",
        resources=tuple(f"size_{r}" for r in range(sizes.shape[1])),
        families=("bin",),
        type_names=tuple(f"bin-{k}" for k in range(len(prices))),
        capacity=np.array([np.full(sizes.shape[1], 1) if k else capacity for k in range(len(prices))], np.int64),
        price=np.array(prices),
        type2family=np.zeros(len(prices), np.int64),
        counts=counts,
        demand=sizes[None],
    )


@pytest.fixture(name="bins")
def _bins():
    return bins


@pytest.fixture
def random_bins():
    """Draw bins for `number` items in `dimensions` dimensions, a few of which are equal."""

    def draw(seed, number=9, dimensions=2):
        rng = np.random.default_rng(seed)
        return bins([20] * dimensions, rng.integers(1, 13, (number, dimensions)), rng.integers(1, 3, number))

    return draw
