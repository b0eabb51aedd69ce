"""Runs on a Dask cluster.

Not through joblib's own back end: it waits for ever for a run that is given up because its workers die, and does the runs
in this process where the cluster has one thread.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

import dask
from distributed import Client, KilledWorker, as_completed

from schedgap.bench.executors import execute
from schedgap.bench.executors.execute import Performed, Setting, Task, Undone
from schedgap.instances.errors import ExecutorError

# Seconds for a nanny to start its worker again, and between two looks.
RESTART_S = 30
LOOK_EVERY_S = 0.2


class DaskExecutor(execute.ClusterExecutor):
    """Runs on the workers of a Dask cluster. jobs : runs at a time; None for two a thread of the workers.

    Raises
    ------
    ExecutorError
        if no scheduler answers at the address within `CONNECT_S` seconds, it has no worker, or one has other versions.
    """

    def __init__(self, setting: Setting, jobs: int | None, address: str | None) -> None:
        if address is None:
            raise ExecutorError("executor dask needs the address of a scheduler; give --address tcp://HOST:8786.")
        super().__init__(setting, address)
        # Instances are sent as what a task holds, so that a lost worker's can be sent again.
        dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"})
        # They tell in many words of what is done again, and of what is said below in one sentence.
        for name in ("distributed", "distributed.client", "tornado.application", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            client = self._client = Client(address, timeout=execute.CONNECT_S, set_as_default=False)
        except (OSError, ValueError, RuntimeError) as error:
            raise execute.no_answer("Dask scheduler", address, error) from None
        try:
            client.wait_for_workers(1, timeout=execute.CONNECT_S)
            problems = client.run(execute.problem_here, self._session.versions, on_error="return")
        except TimeoutError:
            client.close()
            raise ExecutorError(f"the Dask scheduler at {address} has no workers; start some.") from None
        for worker, problem in problems.items():
            if problem is not None:
                client.close()
                said = problem if isinstance(problem, str) else f"no working schedgap ({execute.one_line(problem)})"
                raise execute.refuse(worker, said)
        self._in_flight = 2 * sum(client.ncores().values()) if jobs is None else jobs
        self._ends = as_completed(loop=client.loop, with_results=True, raise_errors=False)

    def close(self) -> None:
        """End this harness's runs on all workers; a cluster that does not answer any more is left alone."""
        if self._client.status == "running":
            end = self._client.run
            told = (execute.end_session, self._session.identity)
            ending = threading.Thread(target=end, args=told, kwargs={"on_error": "ignore"}, daemon=True)
            ending.start()
            ending.join(execute.CONNECT_S)
        self._client.close(execute.CONNECT_S)

    def _share(self, name: str, value: Any) -> Any:
        # A task that holds the value, which `scatter` would not be: it is done again where a worker is lost.
        return self._client.submit(_same, value, key=f"schedgap-{self._session.identity}-{name}")

    def _submit(self, session: Any, task: Task, instance: Any) -> Any:
        sent = self._client.submit(execute.perform_there, session, task, instance, pure=False)
        self._ends.add(sent)
        return sent.key

    def _receive(self) -> Performed | Undone:
        sent, end = next(self._ends)
        task = self._sent.pop(sent.key)
        if sent.status == "finished":
            return end  # type: ignore[no-any-return]
        if sent.status != "error":
            raise execute.gone(f"the Dask scheduler at {self._address} has ended, or dropped the runs")
        _, error, _ = end
        if not isinstance(error, KilledWorker):
            raise error
        # What a run ends is its worker alone, which its nanny starts again. A queue ends both, at its wall time or to make
        # room; a worker without a nanny tells nothing.
        nanny, until = error.last_worker.nanny, time.monotonic() + RESTART_S
        while nanny is not None and time.monotonic() < until:
            workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
            if any(worker["nanny"] == nanny for worker in workers):
                return execute.lost(task, error)
            time.sleep(LOOK_EVERY_S)
        return execute.undone(task, error)


def _same(value: Any) -> Any:
    return value
