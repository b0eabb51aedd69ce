"""Files that are memory, each page counted once."""

import mmap
import os

import psutil

from schedgap.bench.isolation.processes import exact_usage, mapped_of, open_files_in_memory, usage

MIB = 1 << 20


def test_written_mapped_and_closed():
    """8 MiB written; 4 of them mapped and read; nothing once it is closed. The same file twice is one."""
    process = psutil.Process()
    fd = os.memfd_create("test")
    os.write(fd, b"x" * 8 * MIB)
    other = os.dup(fd)
    identity = (os.fstat(fd).st_dev, os.fstat(fd).st_ino)
    files = open_files_in_memory([process])
    assert files[identity] == 8 * MIB
    assert mapped_of(process, [identity]) == 0
    with mmap.mmap(fd, 4 * MIB, prot=mmap.PROT_READ) as mapped:
        assert sum(mapped[::4096]) > 0
        assert mapped_of(process, [identity]) == 4 * MIB
        counted, _ = usage([process])
        assert counted - exact_usage([process]) > 3 * MIB
    os.close(fd)
    os.close(other)
    assert identity not in open_files_in_memory([process])
