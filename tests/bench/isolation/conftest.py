"""What the tests of clocks, of the supervisor and of `runexec` share."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from schedgap.bench.isolation.runexec import require_runexec
from schedgap.instances.errors import ExecutorError

# DAC_OVERRIDE, KILL, SYS_PTRACE, SYS_ADMIN, SYS_NICE, SYS_TIME, MKNOD.
NEEDED = (1, 5, 19, 21, 23, 25, 27)


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


@pytest.fixture
def unconfined(hostile, tmp_path, monkeypatch):
    """What each try of a plug-in's attacks comes to where nothing confines it: `unconfined(plugin, content, table)`."""
    status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines())
    if any(not int(status["CapEff"], 16) >> right & 1 for right in NEEDED):
        pytest.skip("only root with rights over files, processes, mounts, devices and clocks can do all of this harm")
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    def found(plugin, content, table):
        command = [sys.executable, hostile.with_name("unconfined.py"), plugin, content, table]
        end = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, start_new_session=True)
        assert end.returncode == 0, end.stderr
        # What this kernel has not got cannot be had by anybody.
        return {name: said for name, said in json.loads(end.stdout).items() if said != "ENOSYS"}

    return found
