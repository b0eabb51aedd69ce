"""What every method of a family outside of the package promises: those in `examples/evolved`, as our own."""

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


class TestPrism(Evolved):
    family, file = "prism", "prism.py"
    makers = {
        "published": lambda: known("prism").shrink(known("prism").published(seed=3)),
        "one-gpu": lambda: known("prism").random_models(1, seed=1),
        "random": lambda: known("prism").random_models(3, seed=2),
    }


def known(module):
    """The module of a family that is known now."""
    return __import__(module)
