"""Where runs are done: on this machine, or on a cluster that somebody else started."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager

from schedgap.bench.executors.execute import Executor, ProcessExecutor, Setting
from schedgap.instances.errors import ExecutorError

EXECUTORS = ("process", "dask", "ray", "slurm")
# What importing an engine's module may miss, by the engine.
_PACKAGES = {"dask": ("dask", "distributed"), "ray": ("ray",), "slurm": ("submitit",)}


@contextmanager
def open_executor(
    name: str, setting: Setting, jobs: int | None = None, address: str | None = None
) -> Iterator[Executor]:
    """Yield the executor `process`, `dask`, `ray` or `slurm`; it is closed afterwards.

    jobs : runs at a time, None for as many as there are processors or the cluster takes. address : of the cluster.

    Raises
    ------
    ExecutorError
        for an unknown name, no runs at a time, a package that is not installed, or a cluster that does not answer or has
        other versions.
    """
    if name not in EXECUTORS:
        raise ExecutorError(f"there is no executor '{name:.60}'; there are {', '.join(EXECUTORS)}.")
    if jobs is not None and not (isinstance(jobs, int) and jobs >= 1):
        raise ExecutorError(f"jobs is {jobs!r:.60}; give how many runs at a time, 1 or more, or None.")
    executor: Executor
    if name == "process":
        if address is not None:
            raise ExecutorError(
                f"executor process takes no address, '{address}' was given; leave it out or name dask, ray or slurm."
            )
        executor = ProcessExecutor(setting, jobs)
    else:
        try:
            module = importlib.import_module(f"schedgap.bench.executors.cluster_{name}")
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] not in _PACKAGES[name]:
                raise
            raise ExecutorError(
                f"executor {name} needs the package '{error.name}', which is not installed; pip install 'schedgap[{name}]'."
            ) from None
        executor = module.connect(setting, jobs, address)
    try:
        yield executor
    finally:
        executor.close()
