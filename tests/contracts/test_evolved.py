"""What every method of a family outside of the package promises: those in `examples/evolved`, as our own."""

import sys
from pathlib import Path
from types import MappingProxyType

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


def made(module, maker, *arguments, **options):
    """A function that makes an instance while the module of its family is known."""
    return lambda: getattr(sys.modules[module], maker)(*arguments, **options)


class TestPrism(Evolved):
    family, file = "prism", "prism.py"
    makers = MappingProxyType(
        {
            "two-gpus": made("prism", "random_models", 2, seed=3),
            "one-gpu": made("prism", "random_models", 1, seed=1),
            "three-gpus": made("prism", "random_models", 3, seed=2),
        }
    )


class TestCantBeLate(Evolved):
    family, file = "cant-be-late", "cant_be_late.py"
    makers = MappingProxyType(
        {
            "rule": made("cant_be_late", "random_spot", 4, 2, seed=1),
            "free": made("cant_be_late", "random_spot", 4, 3, rule=False, seed=2),
            "rare": made("cant_be_late", "random_spot", 5, 2, overhead_s=72, share=0.2, seed=3),
        }
    )


class TestTransactions(Evolved):
    family, file = "transactions", "transactions.py"
    makers = MappingProxyType(
        {
            "one": made("transactions", "random_transactions", 1, seed=1),
            "few": made("transactions", "random_transactions", 6, 3, 6, seed=2),
            "writes": made("transactions", "random_transactions", 6, 2, 4, writes=1.0, seed=3),
        }
    )


class TestCloudcast(Evolved):
    family, file = "cloudcast", "cloudcast.py"
    makers = MappingProxyType(
        {
            "one-destination": made("cloudcast", "random_regions", 4, 1, 1, seed=1),
            "several": made("cloudcast", "random_regions", 7, 3, 2, seed=2),
        }
    )
