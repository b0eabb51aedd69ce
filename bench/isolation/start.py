"""Starting the process that servers are forked from: a fresh interpreter, with the threads that a run may use."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from multiprocessing.connection import Connection

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def start_spawner(families: tuple[str, ...], threads: int) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Return the process, which loads the methods of the families, and the socket on which it takes and answers."""
    ours, theirs = socket.socketpair()
    # A fixed hash seed: the order of sets of strings must not differ between two runs of one seed.
    environment = {**os.environ, "PYTHONHASHSEED": "0", **dict.fromkeys(THREAD_VARIABLES, str(threads))}
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "schedgap.bench.isolation.spawner", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            env=environment,
            start_new_session=True,
        )
    with Connection(os.dup(ours.fileno())) as connection:
        connection.send(families)
    return process, ours
