"""Imports this package once and forks servers, for one pool after another; `python -m ...isolation.spawner FD LEDGER`.

It starts fresh, not by forking the harness, which has threads; it stays single-threaded, so forking it is safe. It never
imports a plug-in: what it forks watches and judges runs.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys
import tempfile
import time
import traceback
from multiprocessing.connection import Connection

from schedgap.bench.isolation.messages import END_S, FORK, FREE
from schedgap.bench.isolation.processes import adopt_orphans, end_strangers
from schedgap.bench.isolation.scratch import sweep
from schedgap.bench.isolation.server import serve
from schedgap.bench.plugins.discover import installed_plugins, load_methods
from schedgap.instances import compiled_cache
from schedgap.instances.errors import SchedgapError
from schedgap.instances.jit import prepare


def main(fd: int, ledger: int) -> None:
    """Load methods as told, then fork a server for each socket that arrives, until nobody is there."""
    compiled_cache.follow(ledger)
    with Connection(os.dup(fd)) as connection:
        # Collecting garbage while modules are imported finds none and takes a tenth of the time.
        gc.disable()
        try:
            load_methods(connection.recv())
            prepare()
            installed_plugins()
        except SchedgapError as error:
            connection.send_bytes(str(error).encode())
            return
        except BaseException:
            connection.send_bytes(traceback.format_exc().encode())
            return
        # Collections in the servers then leave alone all that is here, and the pages stay shared.
        gc.freeze()
        gc.enable()
        connection.send_bytes(b"")
    sweep()
    # Servers are ended by the harness hanging up; what one that was killed leaves comes here.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    adopt_orphans()
    with socket.socket(fileno=fd) as requests:
        while _fork_servers(requests):
            requests.send(FREE)


def _fork_servers(requests: socket.socket) -> bool:
    """Fork servers for one pool, and see to the end of all; False if there will be no other pool."""
    # By the descriptor that tells of their end.
    servers: dict[int, int] = {}
    poller = select.poll()
    poller.register(requests, select.POLLIN)
    while True:
        events = [ready for ready, _ in poller.poll()]
        for ended in servers.keys() & events:
            poller.unregister(ended)
            os.close(ended)
            del servers[ended]
            end_strangers(servers.values())
        if requests.fileno() not in events:
            continue
        message, fds, _, _ = socket.recv_fds(requests, 1, 1)
        if message != FORK:
            _wait_for(servers)
            sweep()
            return message == FREE
        pid = os.fork()
        if pid == 0:
            requests.close()
            for each in servers:
                os.close(each)
            # The folder for temporary files that was found for an earlier pool may be gone.
            tempfile.tempdir = None
            try:
                serve(socket.socket(fileno=fds[0]))
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0)
        os.close(fds[0])
        watched = os.pidfd_open(pid)
        servers[watched] = pid
        poller.register(watched, select.POLLIN)


def _wait_for(servers: dict[int, int]) -> None:
    """Let the servers end what they run, which the harness has told them to; what is left then is killed."""
    deadline = time.monotonic() + END_S
    for server in servers:
        poller = select.poll()
        poller.register(server, select.POLLIN)
        poller.poll(max(0.0, deadline - time.monotonic()) * 1000)
        os.close(server)
    end_strangers(())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
