"""Runs on a Dask cluster, through a joblib back end of ours.

joblib's own one waits for ever for a run that is given up because its workers die, and does the runs in this process
where the cluster has one thread.
"""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import CancelledError
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import dask
from distributed import Client, Future, KilledWorker

from schedgap.bench.executors.cluster import (
    CONNECT_S,
    Backend,
    ClusterExecutor,
    end_session,
    lost,
    make_session,
    one_line,
    problem_here,
    refuse,
    undone,
)
from schedgap.instances.errors import ExecutorError

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedgap.bench.executors.cluster import Session
    from schedgap.bench.executors.execute import Setting, Task

# Seconds for a nanny to start its worker again, and between two looks.
RESTART_S = 30
LOOK_EVERY_S = 0.2


def connect(setting: Setting, jobs: int | None, address: str | None) -> DaskExecutor:
    """Return an executor on the cluster of a scheduler.

    Raises
    ------
    ExecutorError
        if no scheduler answers there within `CONNECT_S` seconds, it has no worker, or one has other versions.
    """
    if address is None:
        raise ExecutorError("executor dask needs the address of a scheduler; give --address tcp://HOST:8786.")
    session = make_session(setting)
    # Instances are sent as what a task holds, so that a lost worker's can be sent again.
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"})
    # It warns of an answer that was lost with its worker, though the run is done again.
    logging.getLogger("distributed.client").setLevel(logging.ERROR)
    try:
        client = Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise ExecutorError(
            f"no Dask scheduler answers at {address} ({one_line(error)}); start it, or mend --address."
        ) from None
    try:
        client.wait_for_workers(1, timeout=CONNECT_S)
        problems = client.run(problem_here, session.versions, on_error="return")
    except TimeoutError:
        client.close()
        raise ExecutorError(f"the Dask scheduler at {address} has no workers; start some.") from None
    for worker, problem in problems.items():
        if problem is not None:
            client.close()
            raise refuse(worker, problem if isinstance(problem, str) else f"no working schedgap ({one_line(problem)})")
    return DaskExecutor(client, session, jobs, address)


class DaskExecutor(ClusterExecutor):
    """Runs on the workers of a Dask cluster. jobs : runs at a time; None for one a thread of the workers."""

    _backend: _Backend

    def __init__(self, client: Client, session: Session, jobs: int | None, address: str) -> None:
        in_flight = 2 * sum(client.ncores().values()) if jobs is None else jobs
        super().__init__(_Backend(client, address), session, in_flight)
        self._client = client

    def close(self) -> None:
        """End this harness's runs on all workers; a cluster that does not answer any more is left alone."""
        # What was cut off says so in many words.
        for name in ("distributed", "tornado.application"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        if self._client.status == "running":
            ending = threading.Thread(target=self._end, daemon=True)
            ending.start()
            ending.join(CONNECT_S)
        # Before the client, whose answers it may wait for.
        self._backend.close()
        self._client.close(CONNECT_S)

    def _end(self) -> None:
        self._client.run(end_session, self._session.identity, on_error="ignore")

    def _share(self, name: str, value: Any) -> Any:
        # A task that holds the value, which `scatter` would not be: it is done again where a worker is lost.
        return self._client.submit(_same, value, key=f"schedgap-{self._session.identity}-{name}")


class _Backend(Backend):
    """What joblib needs to know of Dask: how a run is sent, and how its end is told.

    Ends are told by a daemon thread of ours. Python waits for Dask's own one when it exits, and what a client is asked
    while it closes may never be answered: its event loop drops what comes after its end.
    """

    def __init__(self, client: Client, address: str) -> None:
        super().__init__()
        self._client = client
        self._address = address
        self._ended: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._teller = threading.Thread(target=self._tell_all, daemon=True)
        self._teller.start()

    def close(self) -> None:
        """Tell of no more ends."""
        self._ended.put(None)
        self._teller.join(CONNECT_S)

    def _tell_all(self) -> None:
        for tell in iter(self._ended.get, None):
            tell()

    def submit(self, func: Any, callback: Callable[[Any], None]) -> Any:
        """Send a run, and tell of its end whatever that is."""
        [(call, arguments, _)] = func.items
        sent: Future[Any] = self._client.submit(call, *arguments, pure=False)

        def tell() -> None:
            # Asked for here, in a thread apart: what it raises must reach the thread that waits.
            try:
                callback(sent.result())
            except KilledWorker as error:
                # Who ended the workers takes a while to find out, in which others end.
                asked = (arguments[1], error, callback)
                threading.Thread(target=self._tell_lost, args=asked, daemon=True).start()
            except CancelledError:
                callback(
                    ExecutorError(
                        f"the Dask scheduler at {self._address} has ended, or dropped the runs; what was recorded "
                        "stays, the same command finishes the rest."
                    )
                )
            except BaseException as error:
                callback(error)

        sent.add_done_callback(lambda _: self._ended.put(tell))
        return sent

    def _tell_lost(self, task: Task, error: KilledWorker, callback: Callable[[Any], None]) -> None:
        """Tell how a run ended that was given up: what a run ends is its worker alone, which its nanny starts again.

        A queue ends both, at its wall time or to make room; a worker without a nanny tells nothing.
        """
        nanny, until = error.last_worker.nanny, time.monotonic() + RESTART_S
        is_there = False
        try:
            while nanny is not None and not is_there and time.monotonic() < until:
                workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
                is_there = any(worker["nanny"] == nanny for worker in workers)
                time.sleep(LOOK_EVERY_S)
            callback((lost if is_there else undone)(task, one_line(error)))
        except BaseException as failure:
            callback(failure)


def _same(value: Any) -> Any:
    return value
