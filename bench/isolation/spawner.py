"""A process that imports everything once and forks warm servers from itself; `python -m schedgap.bench.isolation.spawner FD`.

It starts fresh, not by forking the harness, which has threads; it stays single-threaded, so forking it is safe.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys
import traceback
from multiprocessing.connection import Connection

from schedgap.bench.discover import load_methods
from schedgap.bench.isolation.server import serve
from schedgap.bench.isolation.tree import adopt_orphans, end_strangers
from schedgap.instances.errors import SchedgapError
from schedgap.instances.jit import prepare


def main(fd: int) -> None:
    """Load methods and plug-ins as told, then fork a server for each socket that arrives, until nobody is there."""
    with Connection(os.dup(fd)) as connection:
        # Collecting garbage while modules are imported finds none and takes a tenth of the time.
        gc.disable()
        try:
            load_methods(*connection.recv())
            prepare()
        except SchedgapError as error:
            connection.send(str(error))
            return
        except BaseException:
            connection.send(traceback.format_exc())
            return
        # Collections in the servers then leave alone all that is here, and the pages stay shared.
        gc.freeze()
        gc.enable()
        connection.send(None)
    # Servers are ended by the harness hanging up, nobody waits for them; what one that was killed leaves comes here.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    adopt_orphans()
    # By the descriptor that tells of their end.
    servers: dict[int, int] = {}
    poller = select.poll()
    poller.register(fd, select.POLLIN)
    with socket.socket(fileno=fd) as requests:
        while True:
            events = [ready for ready, _ in poller.poll()]
            for ended in servers.keys() & events:
                poller.unregister(ended)
                os.close(ended)
                del servers[ended]
                end_strangers(servers.values())
            if fd not in events:
                continue
            message, fds, _, _ = socket.recv_fds(requests, 1, 1)
            if not message:
                return
            pid = os.fork()
            if pid == 0:
                requests.close()
                for each in servers:
                    os.close(each)
                try:
                    serve(Connection(fds[0]))
                except BaseException:
                    traceback.print_exc()
                finally:
                    os._exit(0)
            os.close(fds[0])
            watched = os.pidfd_open(pid)
            servers[watched] = pid
            poller.register(watched, select.POLLIN)


if __name__ == "__main__":
    main(int(sys.argv[1]))
