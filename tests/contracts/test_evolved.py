"""What every method of a family outside of the package promises: those in `examples/evolved`, as our own."""

import sys
from pathlib import Path

import pytest
from outside import Outside
from promises import Promises

EVOLVED = Path(__file__).resolve().parents[2] / "examples" / "evolved"


class Evolved(Promises):
    """The promises of a family that is known while its tests run, and to no other test."""

    file: str

    @classmethod
    def outside(cls):
        if "_outside" not in vars(cls):
            cls._outside = Outside(EVOLVED / cls.file)
        return cls._outside

    @classmethod
    def methods(cls):
        return cls.outside().methods

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _known(cls):
        with cls.outside().known():
            yield


def known(module):
    """The module of a family that is known now."""
    return sys.modules[module]


PRISM = {
    "published": lambda: known("prism").shrink(known("prism").published(seed=3)),
    "one-gpu": lambda: known("prism").random_models(1, seed=1),
    "random": lambda: known("prism").random_models(3, seed=2),
}


class TestPrism(Evolved):
    family, file, makers = "prism", "prism.py", PRISM


TRANSACTIONS = {
    "one": lambda: known("transactions").random_transactions(1, 2, 3),
    "random": lambda: known("transactions").random_transactions(7, 3, 6, seed=1),
    "apart": lambda: known("transactions").random_transactions(9, 1, 8, 0.5, seed=2),
}


class TestTransactions(Evolved):
    family, file, makers = "transactions", "transactions.py", TRANSACTIONS


CLOUDCAST = {
    "one": lambda: known("cloudcast").random_regions(2, 1, 1),
    "random": lambda: known("cloudcast").random_regions(seed=1),
    "all": lambda: known("cloudcast").random_regions(6, 5, 2, seed=2),
}


class TestCloudcast(Evolved):
    family, file, makers = "cloudcast", "cloudcast.py", CLOUDCAST
