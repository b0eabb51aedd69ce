"""Programs for the tests: words that Python executes, and what a run tells them."""

import sys

import pytest

from schedgap.bench.programs.program import Program, Terms


@pytest.fixture(scope="session")
def python():
    """Return a program whose text is Python's: `python("print(1)")`; more words are its arguments."""

    def make(text, *words, kind="method", **more):
        return Program.make("mine", [sys.executable, "-IS", "-c", text, *words], kind=kind, **more)

    return make


@pytest.fixture
def terms():
    """What a run tells a program."""
    return Terms(seed=7, time_limit_s=5.0, threads=2, memory_mib=512)
