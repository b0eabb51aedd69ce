"""What the tests of clocks, of the supervisor and of `runexec` share."""

import shutil
import sys
import time
from pathlib import Path

import pytest

from schedgap.bench.isolation.runexec import require_runexec
from schedgap.instances.errors import ExecutorError


@pytest.fixture
def now(monkeypatch):
    """A clock that moves when told: `now[0] += 5`."""
    moment = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: moment[0])
    return moment


@pytest.fixture
def real_runexec():
    """Skip where the real one is not there, or may not do what it needs."""
    found = shutil.which("runexec") or shutil.which("runexec", path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip("runexec is not installed")
    try:
        require_runexec()
    except ExecutorError as error:
        pytest.skip(str(error))
