"""Runs on a Ray cluster. Not through `ray.util.joblib`: it tells of all runs when the last of them has ended."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from typing import Any
from urllib.parse import urlsplit

import ray

from schedgap.bench.executors import execute
from schedgap.bench.executors.execute import Performed, Setting, Task, Undone
from schedgap.instances.errors import ExecutorError

# Seconds between two looks at whether the cluster is there.
LOOK_EVERY_S = 0.5


class RayExecutor(execute.ClusterExecutor):
    """Runs on the workers of a running Ray cluster. jobs : runs at a time; None for two a processor.

    address : HOST:PORT of its head; None for that in `RAY_ADDRESS`.

    Raises
    ------
    ExecutorError
        if nobody answers there within `CONNECT_S` seconds, or the workers have other versions.
    """

    def __init__(self, setting: Setting, jobs: int | None, address: str | None) -> None:
        address = address or os.environ.get("RAY_ADDRESS")
        if address is None:
            raise ExecutorError("executor ray needs the address of the head node; give --address HOST:6379.")
        super().__init__(setting, address)
        ours = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            # Ray itself tries for minutes, and then ends this process.
            place = urlsplit(address if "://" in address else f"ray://{address}")
            socket.create_connection((place.hostname or "", place.port or 0), execute.CONNECT_S).close()
            ray.init(address, log_to_driver=False, logging_level=logging.CRITICAL)
        except (OSError, RuntimeError, ValueError) as error:
            raise execute.no_answer("Ray cluster", address, error) from None
        finally:
            # Ray would end this process by itself; only the main thread has a say in that.
            if threading.current_thread() is threading.main_thread():
                for number, handler in ours.items():
                    signal.signal(number, handler)
        if (problem := ray.get(ray.remote(execute.problem_here).remote(self._session.versions))) is not None:
            ray.shutdown()
            raise execute.refuse(f"of {address}", problem)
        self._in_flight = 2 * max(1, int(ray.cluster_resources().get("CPU", 1))) if jobs is None else jobs
        self._perform = ray.remote(execute.perform_there).options(max_retries=execute.MAX_RETRIES)
        self._is_there = True
        here = ray.get_runtime_context().get_node_id()
        self._here = next((node for node in ray.nodes() if node["NodeID"] == here), None)

    def close(self) -> None:
        """End this harness's runs: its workers are its own, and end with it. A head that is gone is not asked to."""
        if self._is_there:
            ray.shutdown()

    def _share(self, name: str, value: Any) -> Any:
        return ray.put(value)

    def _submit(self, session: Any, task: Task, instance: Any) -> Any:
        return self._perform.remote(session, task, instance)

    def _receive(self) -> Performed | Undone:
        ended = self._wait()
        task = self._sent.pop(ended)
        try:
            return ray.get(ended)  # type: ignore[no-any-return]
        except ray.exceptions.WorkerCrashedError as error:
            return execute.lost(task, error)
        except ray.exceptions.NodeDiedError as error:
            # A run ends its worker; the whole node is ended by whoever started it.
            return execute.undone(task, error)
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except ray.exceptions.RayError as error:
            raise execute.gone(
                f"the Ray cluster at {self._address} does no runs any more ({execute.one_line(error)})"
            ) from None

    def _wait(self) -> Any:
        """Return the first of the runs that has ended. Without its node here, Ray waits for a while and ends this process."""
        while not (ended := ray.wait(list(self._sent), num_returns=1, timeout=LOOK_EVERY_S)[0]):
            try:
                if self._here is not None:
                    place = (self._here["NodeManagerAddress"], self._here["NodeManagerPort"])
                    socket.create_connection(place, execute.CONNECT_S).close()
            except OSError as error:
                self._is_there = False
                raise execute.gone(
                    f"the Ray cluster at {self._address} has ended here ({execute.one_line(error)})"
                ) from None
        return ended[0]
