"""Runs as jobs of Slurm, one each, through submitit and a joblib back end of ours.

What a job needs, and what it gives back, are files in a folder that this machine and the workers share; nothing listens, and
nothing is started but what `sbatch` starts.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cloudpickle

# Else importing submitit closes all handlers of logging that there are, absl's with the stream below it.
os.environ.setdefault("SUBMITIT_LOG_LEVEL", "NOCONFIG")
import submitit
from submitit.core.utils import FailedJobError, FailedSubmissionError, UncompletedJobError

from schedgap.bench.executors.cluster import (
    CONNECT_S,
    Backend,
    ClusterExecutor,
    lost,
    make_session,
    one_line,
    perform_there,
    undone,
)
from schedgap.instances.errors import ExecutorError, SchedgapError, about_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from schedgap.bench.executors.cluster import Session
    from schedgap.bench.executors.execute import Performed, Setting, Task

# Jobs that Slurm has at a time, unless `--jobs` says otherwise; it starts them when it likes.
IN_FLIGHT = 64
# How often a run is given to another job when its own is lost.
MAX_RETRIES = 3
POLL_S = 0.5
# Beyond what a run may take, for Python, imports and the judge: of time (twice `wall_s` is for warming up), and of memory.
SPARE_S, SPARE_MIB = 900, 2048
# States of jobs that were ended by Slurm or by people, not by what ran in them: with one of the first, another job of the
# same size would end alike.
FINAL = ("TIMEOUT", "CANCELLED", "DEADLINE")
ENDED = (*FINAL, "PREEMPTED", "NODE_FAIL", "BOOT_FAIL", "REVOKED", "SUSPENDED")
PREFIX = ".schedgap-slurm-"


def connect(setting: Setting, jobs: int | None, address: str | None) -> SlurmExecutor:
    """Return an executor that submits to the Slurm cluster of this machine. address : options, as in `_options`.

    Raises
    ------
    ExecutorError
        if this machine cannot submit jobs, or for an option that submitit does not have.
    """
    options = _options(address or "")
    session = make_session(setting)
    cluster, shared = options.pop("cluster", "slurm"), options.pop("folder", ".")
    with about_file(shared, "written", ExecutorError, "give --address folder=DIR"):
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=shared)).resolve()
    try:
        executor = submitit.AutoExecutor(folder=folder / "jobs", cluster=cluster)
        executor.update_parameters(name="schedgap")
        for name, value in options.items():
            # The time is known to all of submitit's clusters; all else is as sbatch has it.
            given = {"timeout_min": int(value)} if name == "time" else {f"slurm_{name}": value}
            executor.update_parameters(**given)
    except (RuntimeError, ValueError, NameError, TypeError) as error:
        # All that submitit raises where it is no Slurm, or has no such option.
        shutil.rmtree(folder, ignore_errors=True)
        raise ExecutorError(f"no job can be submitted here ({one_line(error)}); mend --address.") from None
    return SlurmExecutor(executor, folder, session, jobs, options)


def _options(text: str) -> dict[str, str]:
    """Return the options of `partition=short,time=60,folder=/scratch/me`, in minutes and in sbatch's own words.

    cluster : `slurm`, or `local` for jobs on this machine. folder : where jobs and harness exchange files.
    """
    pairs = [part.partition("=") for part in text.split(",") if part]
    for name, equals, value in pairs:
        if not (name.isidentifier() and equals and value and (name != "time" or value.isdecimal())):
            raise ExecutorError(
                f"'{text:.60}' is no list of options for Slurm; give --address as in partition=short,time=60."
            )
    return {name: value for name, _, value in pairs}


class SlurmExecutor(ClusterExecutor):
    """Runs as jobs of Slurm. jobs : at a time; None for `IN_FLIGHT`. options : of sbatch, beside those made for each run."""

    _backend: _Backend

    def __init__(
        self,
        executor: submitit.AutoExecutor,
        folder: Path,
        session: Session,
        jobs: int | None,
        options: dict[str, str],
    ) -> None:
        super().__init__(_Backend(executor, options), session, IN_FLIGHT if jobs is None else jobs)
        self._folder = folder

    def close(self) -> None:
        """Cancel the jobs that are left, and remove all files."""
        self._backend.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _share(self, name: str, value: Any) -> Path:
        """Write a value down once; its path stands for it."""
        path = self._folder / name
        path.write_bytes(cloudpickle.dumps(value))
        return path


@dataclass(slots=True, eq=False)
class _Sent:
    """A run that was submitted. job : None where sbatch refused it, for the reason `refusal`."""

    arguments: tuple[Path, Task, Path]
    callback: Callable[[Any], None]
    job: submitit.Job[Any] | None = None
    refusal: str = ""
    tries: int = 0


class _Backend(Backend):
    """What joblib needs to know of Slurm: how a run is sent, and how its end is told, by a daemon thread of ours."""

    def __init__(self, executor: submitit.AutoExecutor, options: dict[str, str]) -> None:
        super().__init__()
        self._executor, self._options = executor, options
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._sent: list[_Sent] = []
        self._teller = threading.Thread(target=self._tell_all, daemon=True)
        self._teller.start()

    def close(self) -> None:
        """Cancel what has not ended."""
        self._stop.set()
        self._teller.join(CONNECT_S)
        for sent in self._sent:
            if sent.job is not None:
                sent.job.cancel(check=False)

    def submit(self, func: Any, callback: Callable[[Any], None]) -> Any:
        """Send a run, and tell of its end whatever that is."""
        [(_, arguments, _)] = func.items
        sent = _Sent(arguments, callback)
        self._start(sent)
        with self._lock:
            self._sent.append(sent)
        return sent

    def _start(self, sent: _Sent) -> None:
        task = sent.arguments[1]
        limits = task.run.limits
        needs: dict[str, Any] = {}
        if "cpus_per_task" not in self._options:
            needs["cpus_per_task"] = task.setting.threads
        if "time" not in self._options:
            needs["timeout_min"] = math.ceil((2 * limits.wall_s + SPARE_S) / 60)
        if not any(name.startswith("mem") for name in self._options):
            needs["mem_gb"] = math.ceil((limits.memory_mib + SPARE_MIB) / 1024)
        sent.tries += 1
        try:
            with self._lock, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._executor.update_parameters(**needs)
                sent.job = self._executor.submit(_perform, *sent.arguments)
        except (FailedJobError, FailedSubmissionError, OSError, ValueError) as error:
            sent.job, sent.refusal = None, one_line(error)

    def _tell_all(self) -> None:
        while not self._stop.wait(POLL_S):
            with self._lock:
                ended = [sent for sent in self._sent if sent.job is None or sent.job.done()]
                self._sent = [sent for sent in self._sent if sent not in ended]
            for sent in ended:
                try:
                    end = self._end(sent)
                except BaseException as error:
                    end = error
                if end is not None:
                    sent.callback(end)

    def _end(self, sent: _Sent) -> Any:
        """Return how a run ended, None where it was sent again."""
        task = sent.arguments[1]
        if sent.job is None:
            return ExecutorError(f"Slurm takes no job ({sent.refusal}); mend --address.")
        failure = sent.job.exception()
        if failure is None:
            return sent.job.result()
        state = sent.job.state.split(" ")[0].rstrip("+").upper()
        # So submitit's handler says shortly before the end of the job's time.
        has_raised = isinstance(failure, FailedJobError)
        timed_out = has_raised and UncompletedJobError.__name__ in str(failure)
        reason = f"job {sent.job.job_id}: {'TIMEOUT' if timed_out else state}"
        if timed_out or state in FINAL:
            return undone(task, reason)
        if has_raised:
            return ExecutorError(f"a job could not do its run ({_cause(failure)}); is the same schedgap there?")
        if sent.tries > MAX_RETRIES:
            return (undone if state in ENDED else lost)(task, reason)
        self._start(sent)
        with self._lock:
            self._sent.append(sent)
        return None


def _perform(session: Path, task: Task, instance: Path) -> Performed | SchedgapError:
    """Measure one run in a job; what the user can mend comes back as a value, all else as submitit's own error."""
    try:
        return perform_there(_shared(session), task, _shared(instance))
    except SchedgapError as error:
        return error


def _cause(failure: UncompletedJobError) -> str:
    """Return the last line of the traceback that submitit's error carries between two rules."""
    _, *parts = str(failure).split("\n----------------------\n")
    lines = parts[0].strip().splitlines() if parts else []
    return lines[-1][:200] if lines else one_line(failure)


def _shared(path: Path) -> Any:
    return cloudpickle.loads(path.read_bytes())
