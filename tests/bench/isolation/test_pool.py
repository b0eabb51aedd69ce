"""The harness's side of the servers, where these do not answer."""

import os
import signal
import threading
import time

import psutil
import pytest

from schedgap.bench.isolation.messages import Request, pickled
from schedgap.bench.isolation.pool import Pool
from schedgap.bench.records.runs import Limits
from schedgap.instances.errors import MethodError
from schedgap.instances.provisioning import table7


def run(pool):
    instance = table7(6)
    request = Request("provisioning", "no-packing", {}, 0, Limits(), instance.digest, pickled(instance))
    return pool.run(request, "")


def ends_of(pool):
    """Ask for a run in another thread; returns the thread, and what comes of it."""
    ends = []

    def ask():
        try:
            ends.append(run(pool).measurement.status)
        except BaseException as error:
            ends.append(type(error))

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    return asking, ends


def test_a_pool_closes_while_a_plug_in_is_imported_without_end(tmp_path):
    plugin, begun = tmp_path / "endless.py", tmp_path / "begun"
    plugin.write_text(f"import pathlib, time\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(600)\n")
    pool = Pool(["provisioning"])
    ends = []

    def describe():
        with pytest.raises(MethodError) as caught:
            pool.describe((str(plugin),))
        ends.append(str(caught.value))

    asking = threading.Thread(target=describe, daemon=True)
    asking.start()
    while not begun.exists():
        time.sleep(0.01)
    started = psutil.Process(pool._spawner.pid).children(recursive=True)
    closing = threading.Thread(target=pool.close, daemon=True)
    closing.start()
    closing.join(40)
    asking.join(40)
    assert not closing.is_alive()
    assert len(ends) == 1
    assert len(started) == 2
    assert [process for process in started if process.is_running()] == []


def test_a_stopped_spawner_is_made_to_go_on():
    pool = Pool(["provisioning"])
    try:
        pool._wait_until_ready()
        os.kill(pool._spawner.pid, signal.SIGSTOP)
        asking, ends = ends_of(pool)
        asking.join(60)
        assert ends == ["feasible"]
    finally:
        pool.close()
