"""Runs as jobs of Slurm, one each, through submitit.

What a job needs, and what it gives back, are files in a folder that this machine and the workers share; nothing listens, and
nothing is started but what `sbatch` starts. submitit asks `sacct` alone how jobs ended, and knows nothing without accounting;
`squeue` tells here, which also knows of a job that was requeued. Nothing that a run gave counts before its job has ended by
itself: what Slurm ends looks like a crash, or a failed solver, to those within.
"""

from __future__ import annotations

import math
import os
import platform
import subprocess
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cloudpickle

# Else importing submitit closes all handlers of logging that there are, absl's with the stream below it.
os.environ.setdefault("SUBMITIT_LOG_LEVEL", "NOCONFIG")
import submitit
from submitit.core.utils import FailedJobError, FailedSubmissionError, UncompletedJobError

from schedgap.bench.executors import execute
from schedgap.bench.executors.execute import Performed, Setting, Task, Undone
from schedgap.bench.isolation.scratch import Scratch, sweep
from schedgap.instances.errors import ExecutorError, SchedgapError, about_file

# Jobs that Slurm has at a time, unless `--jobs` says otherwise; it starts them when it likes.
IN_FLIGHT = 64
# Seconds between two looks for files, between two questions to Slurm after the end of a run and else, and for a file to come
# over a shared disk.
POLL_S, ASK_S, ASK_SELDOM_S, PATIENCE_S = 0.2, 1, 10, 15
# Beyond what a run may take, for Python, imports and the judge: of time (twice `wall_s` is for warming up), and of memory.
SPARE_S, SPARE_MIB = 900, 2048
# How jobs end: by themselves; by Slurm or people, so that another job of the same size would end alike, or need not. Slurm
# does not know what is gone.
BY_ITSELF, GONE = ("COMPLETED", "FAILED", "OUT_OF_MEMORY"), "GONE"
FINAL = ("TIMEOUT", "CANCELLED", "DEADLINE")
ENDED = (*FINAL, "PREEMPTED", "NODE_FAIL", "BOOT_FAIL", "REVOKED", "LAUNCH_FAILED", "RECONFIG_FAIL")
PREFIX = ".schedgap-slurm-"


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


@dataclass(slots=True, eq=False)
class _Sent:
    """A run that was submitted. ended_s : when its job was first seen to have ended."""

    arguments: tuple[Path, Task, Path]
    job: submitit.Job[Any]
    tries: int
    ended_s: float | None = None

    @property
    def has_result(self) -> bool:
        """Whether the job has given back something."""
        return self.job.paths.result_pickle.exists()


class SlurmExecutor(execute.ClusterExecutor):
    """Runs as jobs of the Slurm cluster of this machine. jobs : at a time; None for `IN_FLIGHT`. address : see `_options`.

    Raises
    ------
    ExecutorError
        if this machine cannot submit jobs, or for an option that submitit does not have.
    """

    _sent: dict[_Sent, Task]

    def __init__(self, setting: Setting, jobs: int | None, address: str | None) -> None:
        options = self._options = _options(address or "")
        super().__init__(setting, address or "")
        self._in_flight = IN_FLIGHT if jobs is None else jobs
        self._states: dict[str, str] = {}
        self._asked_s = 0.0
        kind, shared = options.pop("cluster", "slurm"), options.pop("folder", ".")
        with about_file(shared, "written", ExecutorError, "give --address folder=DIR"):
            # Locks tell whose folder it is on one machine only.
            place = Path(shared).resolve(), f"{PREFIX}{platform.node()}-"
            swept = sweep(*place)
            self._folder = Scratch(*place)
        # What the jobs of this harness are called, and no others.
        self._name = self._folder.path.name[1:]
        try:
            self._executor = submitit.AutoExecutor(folder=self._folder.path / "jobs", cluster=kind)
            for name, value in options.items():
                # The time is known to all of submitit's clusters; all else is as sbatch has it.
                given = {"timeout_min": int(value)} if name == "time" else {f"slurm_{name}": value}
                self._executor.update_parameters(**given)
            self._executor.update_parameters(name=self._name)
        except (RuntimeError, ValueError, NameError, TypeError) as error:
            # All that submitit raises where it is no Slurm, or has no such option.
            self._folder.remove()
            raise ExecutorError(f"no job can be submitted here ({execute.one_line(error)}); mend --address.") from None
        for left in swept:
            _ask("scancel", f"--name={left[1:]}")

    def close(self) -> None:
        """Cancel the jobs that are left, and remove all files."""
        if self._executor.cluster == "slurm":
            _ask("scancel", f"--name={self._name}")
        else:
            for sent in self._sent:
                sent.job.cancel(check=False)
        self._folder.remove()

    def _share(self, name: str, value: Any) -> Path:
        path = self._folder.path / name
        path.write_bytes(cloudpickle.dumps(value))
        return path

    def _submit(self, session: Path, task: Task, instance: Path) -> _Sent:
        return self._started((session, task, instance), 1)

    def _started(self, arguments: tuple[Path, Task, Path], tries: int) -> _Sent:
        task = arguments[1]
        limits = task.run.limits
        needs: dict[str, Any] = {}
        if "cpus_per_task" not in self._options:
            needs["cpus_per_task"] = task.setting.threads
        if "time" not in self._options:
            needs["timeout_min"] = math.ceil((2 * limits.wall_s + SPARE_S) / 60)
        if not any(name.startswith("mem") for name in self._options):
            needs["mem_gb"] = math.ceil((limits.memory_mib + SPARE_MIB) / 1024)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._executor.update_parameters(**needs)
                return _Sent(arguments, self._executor.submit(_perform, *arguments), tries)
        except (FailedJobError, FailedSubmissionError, OSError, ValueError) as error:
            raise ExecutorError(f"Slurm takes no job ({execute.one_line(error)}); mend --address.") from None

    def _receive(self) -> Performed | Undone:
        while True:
            self._look()
            for sent in list(self._sent):
                if (end := self._end(sent)) is not None:
                    return end
            time.sleep(POLL_S)

    def _look(self) -> None:
        """Find out in which states the jobs are; of all at once, and not often, since one Slurm serves many users."""
        if self._executor.cluster != "slurm":
            done = [sent for sent in self._sent if sent.job.done()]
            self._states = {sent.job.job_id: "COMPLETED" if sent.has_result else "FAILED" for sent in done}
            return
        waited_s = time.monotonic() - self._asked_s
        if waited_s < ASK_S or (waited_s < ASK_SELDOM_S and not any(sent.has_result for sent in self._sent)):
            return
        known = _ask("squeue", f"--name={self._name}", "--states=all", "--noheader", "--format=%i %T")
        self._asked_s = time.monotonic()
        if known is None:
            return
        ids = {sent.job.job_id for sent in self._sent}
        if missing := ids - known.keys():
            forgotten = _ask(
                "sacct", "--allocations", "--noheader", "--format=JobID,State", f"--jobs={','.join(missing)}"
            )
            known |= dict.fromkeys(missing, GONE) | (forgotten or {})
        self._states = known

    def _end(self, sent: _Sent) -> Performed | Undone | None:
        """Return how a run ended, None while Slurm has its job, or has another one."""
        state = self._states.get(sent.job.job_id, "")
        if state not in (*BY_ITSELF, *ENDED, GONE):
            sent.ended_s = None
            return None
        sent.ended_s = sent.ended_s or time.monotonic()
        if not sent.has_result and state == "COMPLETED" and time.monotonic() - sent.ended_s < PATIENCE_S:
            return None
        task = self._sent.pop(sent)
        if sent.has_result and state not in ENDED:
            failure = sent.job.exception()
            if failure is None:
                end: Performed | SchedgapError = sent.job.result()
                if isinstance(end, SchedgapError):
                    raise end
                return end
            # So submitit's handler says shortly before the end of the job's time.
            if UncompletedJobError.__name__ not in str(failure):
                raise ExecutorError(f"a job could not do its run ({_cause(failure)}); is the same schedgap there?")
            state = "TIMEOUT"
        if state not in FINAL and sent.tries <= execute.MAX_RETRIES:
            # It may be in the queue again.
            sent.job.cancel(check=False)
            self._sent[self._started(sent.arguments, sent.tries + 1)] = task
            return None
        return (execute.lost if state in BY_ITSELF else execute.undone)(task, f"job {sent.job.job_id}: {state}")


def _perform(session: Path, task: Task, instance: Path) -> Performed | SchedgapError:
    """Measure one run in a job; what the user can mend comes back as a value, all else as submitit's own error."""
    try:
        return execute.perform_there(_shared(session), task, _shared(instance))
    except SchedgapError as error:
        return error


def _cause(failure: UncompletedJobError) -> str:
    """Return the last line of the traceback that submitit's error carries between two rules."""
    _, *parts = str(failure).split("\n----------------------\n")
    lines = parts[0].strip().splitlines() if parts else []
    return lines[-1][:200] if lines else execute.one_line(failure)


def _shared(path: Path) -> Any:
    return cloudpickle.loads(path.read_bytes())


def _ask(*command: str) -> dict[str, str] | None:
    """Return the first two words of each line that a command of Slurm prints; None where it does not answer."""
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=execute.CONNECT_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return {words[0]: words[1].rstrip("+") for words in map(str.split, answer.stdout.splitlines()) if len(words) > 1}
