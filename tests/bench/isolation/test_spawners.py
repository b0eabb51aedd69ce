"""Spawners that are kept: who takes which, and that nothing goes on in one that is idle."""

import os
import resource
import shutil
import signal
from contextlib import ExitStack

import psutil
import pytest

from schedgap.bench.isolation import handle
from schedgap.bench.isolation.handle import MOST_KEPT, end_spawners, give_back, prepare_spawner, take_spawner
from schedgap.bench.isolation.pool import Pool
from schedgap.bench.isolation.scratch import PREFIX


@pytest.fixture(autouse=True)
def _nothing_kept(request):
    if "kept" not in request.fixturenames:
        end_spawners()
    yield
    if "kept" not in request.fixturenames:
        end_spawners()


@pytest.fixture
def kept():
    """An idle spawner, and no other: that of the test before, if it is idle still."""
    pool = Pool(["provisioning"])
    pool._wait_until_ready()
    pool.close()
    while [pool._spawner] != handle._IDLE:
        handle._IDLE.pop(handle._IDLE[0] is pool._spawner).end()
    return pool._spawner


def servers_of(spawner):
    return [child for child in psutil.Process(spawner.pid).children() if child.status() != psutil.STATUS_ZOMBIE]


def test_the_next_pool_takes_it(kept):
    pool = Pool(["provisioning"])
    assert pool._spawner is kept
    server = pool._clone()
    assert [child.pid for child in servers_of(kept)] == [server.pid]
    pool.close()
    assert servers_of(kept) == []
    server.close()


def test_two_pools_share_none(kept):
    first, second = (take_spawner(["provisioning"], 1) for _ in range(2))
    assert first is kept
    assert second.pid != kept.pid
    for each in (first, second):
        each.end()


@pytest.mark.parametrize("change", ["families", "threads", "environment", "folder", "umask", "limits", "processors"])
def test_under_other_conditions_nobody_does(kept, change, monkeypatch, tmp_path):
    families, threads = ["provisioning"], 1
    with ExitStack() as undo, monkeypatch.context() as patch:
        match change:
            case "families":
                families = ["sharing"]
            case "threads":
                threads = 2
            case "environment":
                patch.setenv("TMPDIR", str(tmp_path))
            case "folder":
                patch.chdir(tmp_path)
            case "umask":
                undo.callback(os.umask, os.umask(0o077))
            case "limits":
                limits = resource.getrlimit(resource.RLIMIT_NOFILE)
                undo.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
                resource.setrlimit(resource.RLIMIT_NOFILE, (limits[0] - 1, limits[1]))
            case "processors":
                processors = os.sched_getaffinity(0)
                if len(processors) == 1:
                    pytest.skip("there is one processor")
                undo.callback(os.sched_setaffinity, 0, processors)
                os.sched_setaffinity(0, {min(processors)})
        other = take_spawner(families, threads)
        assert other.pid != kept.pid
        other.end()
    assert take_spawner(["provisioning"], 1) is kept
    give_back(kept)


def test_one_that_is_prepared_is_taken():
    prepare_spawner(["provisioning"], 1)
    prepare_spawner(["provisioning"], 1)
    [prepared] = handle._IDLE
    pool = Pool(["provisioning"])
    assert (pool._spawner, handle._IDLE) == (prepared, [])
    pool._wait_until_ready()
    pool.close()


def test_one_that_died_is_replaced(kept):
    os.kill(kept.pid, signal.SIGKILL)
    psutil.Process(kept.pid).wait(20)
    pool = Pool(["provisioning"])
    assert pool._spawner is not kept
    pool._wait_until_ready()
    pool.close()


def test_one_that_was_stopped_goes_on(kept):
    assert take_spawner(["provisioning"], 1) is kept
    os.kill(kept.pid, signal.SIGSTOP)
    give_back(kept)
    assert take_spawner(["provisioning"], 1) is kept
    give_back(kept)


def test_one_that_is_not_ready_is_ended():
    spawner = take_spawner(["provisioning"], 1)
    give_back(spawner)
    assert not spawner.is_running


def test_a_stopped_one_ends_at_once(kept):
    os.kill(kept.pid, signal.SIGSTOP)
    end_spawners()
    assert not kept.is_running


def test_a_pool_gives_back_once(kept):
    pool = Pool(["provisioning"])
    pool.close()
    pool.close()
    assert [kept] == handle._IDLE


def test_a_folder_for_temporary_files_that_is_gone(monkeypatch, tmp_path):
    (tmp_path / "a").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "a"))
    for _ in range(2):
        pool = Pool(["provisioning"])
        pool._wait_until_ready()
        pool._clone().close()
        pool.close()
        shutil.rmtree(tmp_path / "a", ignore_errors=True)
    assert pool._spawner.is_running


def test_a_harness_with_many_files():
    """More than select(2) can name."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as undo:
        undo.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2048)), hard))
        for _ in range(1050):
            undo.enter_context(open(os.devnull, "rb"))
        pool = Pool(["provisioning"])
        pool._wait_until_ready()
        pool.close()
        assert [pool._spawner] == handle._IDLE


def test_only_so_many_are_kept():
    pools = [Pool([family]) for family in ("provisioning", "sharing", "waiting")]
    assert len(pools) > MOST_KEPT
    for pool in pools:
        pool._wait_until_ready()
    for pool in pools:
        pool.close()
    assert [pool._spawner.is_running for pool in pools] == [False, True, True]


def test_an_idle_one_has_no_folder(monkeypatch, tmp_path):
    """Nor does what a run whose server was killed left there stay."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    pool = Pool(["provisioning"])
    server = pool._clone()
    (tmp_path / f"{PREFIX}left" / "run").mkdir(parents=True)
    pool.close()
    assert pool._spawner.is_running
    assert list(tmp_path.iterdir()) == []
    server.close()


def test_a_process_that_is_forked_from_the_harness_leaves_it_alone(kept):
    child = os.fork()
    if child == 0:
        end_spawners()
        os._exit(len(handle._IDLE))
    assert os.waitpid(child, 0)[1] == 0
    assert kept.is_running
    assert take_spawner(["provisioning"], 1) is kept
    give_back(kept)
