"""Runs on a Ray cluster, through a joblib back end of ours.

Ray's own one (`ray.util.joblib`) gives all results at once when the last run has ended, where a journal wants each; it
deals runs out in turn, so that a short one waits for a long one; and with one processor it works in this process.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import ray

from schedgap.bench.executors.cluster import (
    CONNECT_S,
    Backend,
    ClusterExecutor,
    lost,
    make_session,
    one_line,
    perform_there,
    problem_here,
    refuse,
    undone,
)
from schedgap.instances.errors import ExecutorError

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedgap.bench.executors.cluster import Session
    from schedgap.bench.executors.execute import Setting

# How often a run is given to another worker when its own is lost.
MAX_RETRIES = 3


def connect(setting: Setting, jobs: int | None, address: str | None) -> RayExecutor:
    """Return an executor on a running Ray cluster. address : HOST:PORT of its head; None for that in `RAY_ADDRESS`.

    Raises
    ------
    ExecutorError
        if nobody answers there within `CONNECT_S` seconds, or the workers have other versions.
    """
    address = address or os.environ.get("RAY_ADDRESS")
    if address is None:
        raise ExecutorError("executor ray needs the address of the head node; give --address HOST:6379.")
    session = make_session(setting)
    ours = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        # Ray itself tries for minutes, and then ends this process.
        place = urlsplit(address if "://" in address else f"ray://{address}")
        socket.create_connection((place.hostname or "", place.port or 0), CONNECT_S).close()
        ray.init(address, log_to_driver=False, logging_level=logging.CRITICAL)
    except (OSError, RuntimeError, ValueError) as error:
        raise ExecutorError(
            f"no Ray cluster answers at {address} ({one_line(error)}); start it, or mend --address."
        ) from None
    finally:
        # Ray would end this process by itself; only the main thread has a say in that.
        if threading.current_thread() is threading.main_thread():
            for number, handler in ours.items():
                signal.signal(number, handler)
    if (problem := ray.get(ray.remote(problem_here).remote(session.versions))) is not None:
        ray.shutdown()
        raise refuse(f"of {address}", problem)
    return RayExecutor(session, jobs)


class RayExecutor(ClusterExecutor):
    """Runs on the workers of a Ray cluster. jobs : runs at a time; None for one a processor."""

    def __init__(self, session: Session, jobs: int | None) -> None:
        in_flight = 2 * max(1, int(ray.cluster_resources().get("CPU", 1))) if jobs is None else jobs
        super().__init__(_Backend(), session, in_flight)

    def close(self) -> None:
        """End this harness's runs: its workers are its own, and end with it."""
        ray.shutdown()

    def _share(self, name: str, value: Any) -> Any:
        return ray.put(value)


class _Backend(Backend):
    """What joblib needs to know of Ray: how a run is sent, and how its end is told."""

    def __init__(self) -> None:
        super().__init__()
        self._perform = ray.remote(perform_there).options(max_retries=MAX_RETRIES)

    def submit(self, func: Any, callback: Callable[[Any], None]) -> Any:
        """Send a run, and tell of its end whatever that is."""
        [(_, arguments, _)] = func.items
        sent = self._perform.remote(*arguments)

        def tell(end: Any) -> None:
            error = end.exception()
            if isinstance(error, ray.exceptions.WorkerCrashedError):
                callback(lost(arguments[1], one_line(error)))
            elif isinstance(error, ray.exceptions.NodeDiedError):
                # A run ends its worker; the whole node is ended by whoever started it.
                callback(undone(arguments[1], one_line(error)))
            else:
                callback(end.result() if error is None else error)

        sent.future().add_done_callback(tell)
        return sent

    def retrieve_result_callback(self, out: Any) -> Any:
        """Return the run that was done."""
        if isinstance(out, ray.exceptions.RayTaskError):
            raise out.cause
        return super().retrieve_result_callback(out)
