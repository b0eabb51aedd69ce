"""What the tests of clocks and of the supervisor share."""

import time

import pytest


@pytest.fixture
def now(monkeypatch):
    """A clock that moves when told: `now[0] += 5`."""
    moment = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: moment[0])
    return moment
