"""The harness's side of the servers, where these do not answer."""

import os
import resource
import signal
import threading
import time
from contextlib import suppress

import psutil
import pytest

from schedgap.bench.isolation import handle
from schedgap.bench.isolation import pool as pools
from schedgap.bench.isolation.handle import take_spawner
from schedgap.bench.isolation.messages import Request, pickled
from schedgap.bench.isolation.pool import Pool, PoolClosedError
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


HAMPERS = """
import os
from schedgap.instances.method import Outcome, method

@method("{name}", family="provisioning")
def hampers(instance):
    found = {{"server": os.getppid(), "nice": os.getpriority(os.PRIO_PROCESS, 0), "processors": len(os.sched_getaffinity(0))}}
    os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)
    os.sched_setaffinity(os.getppid(), {{min(os.sched_getaffinity(0))}})
    return Outcome(details=found)
"""


def test_plug_in_files_share_no_server_and_runs_no_priority(tmp_path):
    instance, found = table7(6), {}
    pool = Pool(["provisioning"])
    try:
        for name in ("x-one", "x-two", "x-one"):
            plugin = tmp_path / f"{name}.py"
            plugin.write_text(HAMPERS.format(name=name))
            request = Request(
                "provisioning",
                name,
                {},
                0,
                Limits(),
                instance.digest,
                pickled(instance),
                is_plugin=True,
                plugins=(str(plugin),),
            )
            found.setdefault(name, []).append(pool.run(request, "").measurement.details)
    finally:
        pool.close()
    (one, again), (two,) = found["x-one"], found["x-two"]
    assert one["server"] == again["server"] != two["server"]
    assert {each["processors"] for each in (one, again, two)} == {len(os.sched_getaffinity(0))}
    # Who may not raise a priority cannot have this one back.
    others = (one, again, two) if os.geteuid() == 0 else (two,)
    assert {each["nice"] for each in others} == {os.getpriority(os.PRIO_PROCESS, 0)}


@pytest.mark.parametrize("how", ["killed", "hampered"])
def test_a_spawner_that_a_run_ended_or_hampered_is_replaced(how):
    pool = Pool(["provisioning"])
    try:
        pool._wait_until_ready()
        first = pool._spawner
        if how == "killed":
            os.kill(first.pid, signal.SIGKILL)
            first._process.wait()
        else:
            resource.prlimit(first.pid, resource.RLIMIT_CORE, (0, 0))
            os.setpriority(os.PRIO_PROCESS, first.pid, 19)
        assert run(pool).measurement.status == "feasible"
        assert pool._spawner is not first
        assert not first.is_running
    finally:
        pool.close()


def test_a_server_that_somebody_ended_costs_no_row():
    pool = Pool(["provisioning"])
    try:
        assert run(pool).measurement.status == "feasible"
        for servers in pool._idle.values():
            for server in servers:
                os.kill(server.pid, signal.SIGKILL)
        assert run(pool).measurement.status == "feasible"
    finally:
        pool.close()


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


def test_a_spawner_that_is_replaced_while_its_pool_closes(monkeypatch):
    """The pool gives back whichever there is."""
    spoilt = Pool(["provisioning"])
    spoilt._wait_until_ready()
    spoilt._spawner.is_fit = False
    closing = threading.Thread(target=spoilt.close, daemon=True)
    taken = []

    def take(*asked):
        closing.start()
        closing.join(0.5)
        taken.append(take_spawner(*asked))
        return taken[0]

    monkeypatch.setattr(pools, "take_spawner", take)
    with suppress(PoolClosedError):
        spoilt._wait_until_ready()
    closing.join(60)
    (found,) = taken
    assert found in handle._IDLE or not found.is_running
