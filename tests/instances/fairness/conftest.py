import numpy as np
import pytest

from schedgap.instances.fairness import ONE, UNLIMITED, Certificate, FairnessInstance


@pytest.fixture
def make():
    """Make an instance: `make(count=[1], capacity=[[4]], demand=[[1], [1]])`, in cores; all else equal or unlimited."""

    def make(count, capacity, demand, **changes):
        capacity, demand = np.array(capacity), np.array(demand)
        users, classes = demand.shape[0], capacity.shape[0]
        fields = {
            "notion": "tsf",
            "resources": tuple(f"r{r}" for r in range(demand.shape[1])),
            "machine_names": tuple(f"m{k}" for k in range(classes)),
            "weight": np.ones(users, int),
            "performance": np.ones((users, classes)),
            "allowed": np.ones((users, classes), bool),
            "tasks": np.full(users, UNLIMITED),
        } | changes
        for key in ("weight", "performance"):
            fields[key] = np.rint(np.array(fields[key]) * ONE).astype(int)
        return FairnessInstance(
            name="made", machine_count=np.array(count), capacity=capacity * ONE, demand=demand * ONE, **fields
        )

    return make


@pytest.fixture
def certificate():
    """Make a certificate of cuts: `certificate(({user: weight}, {(class, resource): price}), ...)`."""

    def certificate(*cuts):
        shares = [(c, *each) for c, (weights, _) in enumerate(cuts) for each in weights.items()]
        prices = [(c, k, r, price) for c, (_, of) in enumerate(cuts) for (k, r), price in of.items()]
        share_cut, share_user, share_weight = (list(column) for column in zip(*shares, strict=True))
        columns = [list(column) for column in zip(*prices, strict=True)] or [[], [], [], []]
        return Certificate(share_cut, share_user, share_weight, *columns)

    return certificate


@pytest.fixture
def fair_alice_and_bob(certificate):
    """Alice's share is at most what machines 1 and 2 are worth to her, an eighth a core; both shares together at most
    2/8 + 2/8 + 4/8, since machine 3 is worth two eighths a core to Bob."""
    return certificate(({0: 1.0, 1: 1.0}, {(0, 0): 1 / 8000, (1, 0): 1 / 8000, (2, 0): 2 / 8000}))
