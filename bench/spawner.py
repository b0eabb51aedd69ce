"""A process that imports everything once and forks warm servers from itself; `python -m schedgap.bench.spawner FD`.

It starts fresh, not by forking the harness, which has threads; it stays single-threaded, so forking it is safe.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import traceback
from multiprocessing.connection import Connection

from schedgap.bench.discover import load_methods
from schedgap.bench.server import serve
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
    # Servers are ended by the harness hanging up; nobody waits for them.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(fileno=fd) as requests:
        while True:
            message, fds, _, _ = socket.recv_fds(requests, 1, 1)
            if not message:
                return
            if os.fork() == 0:
                requests.close()
                try:
                    serve(Connection(fds[0]))
                except BaseException:
                    traceback.print_exc()
                finally:
                    os._exit(0)
            os.close(fds[0])


if __name__ == "__main__":
    main(int(sys.argv[1]))
