"""Files that are memory, each page counted once."""

import mmap
import os
import signal
import threading
import time

import psutil
import pytest

from schedgap.bench.isolation.processes import c_library, exact_usage, files_in_memory, mapped_of, usage

MIB, PR_SET_DUMPABLE, MAP_NORESERVE = 1 << 20, 4, 0x4000


def test_written_mapped_and_closed():
    """8 MiB written; 4 of them mapped and read; nothing once it is closed. The same file twice is one."""
    process = psutil.Process()
    fd = os.memfd_create("test")
    os.write(fd, b"x" * 8 * MIB)
    other = os.dup(fd)
    identity = (os.fstat(fd).st_dev, os.fstat(fd).st_ino)
    files = files_in_memory([process])
    assert files[identity] == 8 * MIB
    assert mapped_of(process, [identity]) == 0
    with mmap.mmap(fd, 4 * MIB, prot=mmap.PROT_READ) as mapped:
        assert sum(mapped[::4096]) > 0
        assert mapped_of(process, [identity]) == 4 * MIB
        counted, *_ = usage([process])
        assert counted - exact_usage([process]) > 3 * MIB
    os.close(fd)
    os.close(other)
    assert identity not in files_in_memory([process])


@pytest.mark.parametrize("is_root", [True, False])
def test_shared_memory_that_nobody_touches_any_more(monkeypatch, is_root):
    """32 MiB of 64, filled by a child that is gone. Who may not look counts them all; mapped twice they are one."""
    process, look = psutil.Process(), os.stat

    def stat(path, **how):
        if "map_files" in str(path):
            raise PermissionError
        return look(path, **how)

    if is_root and os.geteuid() != 0:
        pytest.skip("only root sees how much of shared memory is there")
    if not is_root:
        monkeypatch.setattr(os, "stat", stat)
    before = sum(files_in_memory([process]).values())
    with mmap.mmap(-1, 64 * MIB) as shared:
        if os.fork() == 0:
            shared[: 32 * MIB : 4096] = b"x" * (32 * MIB // 4096)
            os._exit(0)
        os.wait()
        more = sum(files_in_memory([process]).values()) - before
        assert (64 if not is_root else 32) * MIB - MIB < more < (64 if not is_root else 32) * MIB + 4 * MIB
        assert usage([process])[0] >= exact_usage([process])


def test_tables_of_pages():
    """One page of zeros, 8,000 times: each is told of by a page of its own."""
    process = psutil.Process()
    before, size = exact_usage([process]), 16_000 * MIB
    with mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE, mmap.PROT_READ) as mapped:
        assert sum(mapped[:: 2 * MIB]) == 0
        assert exact_usage([process]) - before > 30 * MIB


def test_closed_books_are_no_way_out():
    """A process that lets no other of its user look at its pages counts with all that are resident."""
    told, tells = os.pipe()
    watcher = os.fork()
    if watcher == 0:
        if os.geteuid() == 0:
            os.setuid(65534)
        ready, is_ready = os.pipe()
        watched = os.fork()
        if watched == 0:
            c_library().prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
            held = b"x" * 64 * MIB
            os.write(is_ready, b"!")
            time.sleep(60 + len(held) // 10**9)
            os._exit(0)
        os.read(ready, 1)
        os.write(tells, str(exact_usage([psutil.Process(watched)])).encode())
        os.kill(watched, signal.SIGKILL)
        os._exit(0)
    os.close(tells)
    with open(told) as said:
        assert int(said.read()) > 64 * MIB
    os.waitpid(watcher, 0)


def test_threads_are_counted():
    before, over = usage([psutil.Process()])[2], threading.Event()
    more = [threading.Thread(target=over.wait) for _ in range(3)]
    for thread in more:
        thread.start()
    assert usage([psutil.Process()])[2] == before + 3
    over.set()
    for thread in more:
        thread.join()
