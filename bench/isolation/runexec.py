"""Runs under BenchExec's `runexec`: limits of the kernel's control groups, in a container that cannot write elsewhere.

What happens inside is what happens in any run (`child.measured`), in an interpreter of its own, `python -m
schedgap.bench.isolation.runexec REQUEST ANSWERS OUTPUT`; its messages come through named pipes, so the same supervisor
reads them. Source of the options and of what is printed: BenchExec's `doc/runexec.md` and `doc/run-results.md`.
"""

from __future__ import annotations

import math
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from schedgap.bench.isolation.answer import pack
from schedgap.bench.isolation.child import answer, confine, measured
from schedgap.bench.isolation.messages import Cause, Ending, Message, Request, send
from schedgap.bench.isolation.supervise import supervise
from schedgap.bench.plugins.discover import load_methods
from schedgap.instances.errors import ExecutorError
from schedgap.instances.jit import own_cache

PROBE_S = 60.0
# A pipe that tells that the instance is there now, and its file.
GIVEN, INSTANCE = "given", "instance"
_KEEP_LOG = 8192
_CAUSES = {
    "walltime": Cause.WALL,
    "cputime": Cause.CPU,
    "cputime-soft": Cause.CPU,
    "memory": Cause.MEMORY,
}


def require_runexec() -> None:
    """Make sure that `runexec` is there and works: it needs control groups and user namespaces.

    Raises
    ------
    ExecutorError
        saying what is missing, in runexec's own words where it says so.
    """
    folder = Path("/")
    command = [*_command(folder, memory_mib=256), "--walltimelimit", "30", "--output", os.devnull, "--", "true"]
    try:
        end = subprocess.run(command, capture_output=True, text=True, timeout=PROBE_S, check=False, cwd=folder)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ExecutorError(f"runexec cannot be used here ({error}); leave --isolation out.") from None
    results = parse_results(end.stdout)
    if results.get("returnvalue") != "0":
        raise ExecutorError(_why(results, end.stderr))


def run_in_container(request: Request, instance: int, scratch: Path, harness: int) -> Ending:
    """Do a run and return how it ended.

    instance : descriptor of its pickle, which comes into the folder when the run asks for it. scratch : the run's folder, the
    only one that it may write to.

    Raises
    ------
    ExecutorError
        if `runexec` itself fails.
    """
    asked, answers, output = scratch / "request", scratch / "answers", scratch / "output"
    asked.write_bytes(pickle.dumps(replace(request, instance=None), pickle.HIGHEST_PROTOCOL))
    for pipe in (answers, output, scratch / GIVEN):
        os.mkfifo(pipe)
    given = os.open(scratch / GIVEN, os.O_RDWR)
    from_answers, from_output = (os.open(pipe, os.O_RDONLY | os.O_NONBLOCK) for pipe in (answers, output))
    # Beside the run's folder, where it can neither change them nor put a device in their place.
    printed, complaints, log = (scratch.parent / name for name in ("results", "complaints", "log"))
    command = _command_of(request, scratch, log, asked, answers, output)
    pid = os.posix_spawn(
        command[0],
        command,
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, number, str(path), os.O_WRONLY | os.O_CREAT, 0o600)
            for number, path in ((1, printed), (2, complaints))
        ],
    )

    def give() -> int:
        size = _copy(instance, scratch / INSTANCE)
        os.write(given, b"i")
        return size

    try:
        ending = supervise(
            pid,
            from_answers,
            from_output,
            harness,
            request.limits,
            request.allowance,
            give=give,
            is_foreign=request.is_foreign,
        )
    finally:
        os.close(given)
    results = parse_results(printed.read_text(errors="replace"))
    if not ending.killed:
        if results.get("terminationreason") == "failed" or not results.keys() & {"returnvalue", "exitsignal"}:
            raise ExecutorError(_why(results, complaints.read_text(errors="replace")))
        ending.cause = ending.cause or _CAUSES.get(results.get("terminationreason", ""))
        ending.killed = ending.cause in _CAUSES.values()
        ending.exit_code = -int(results["exitsignal"]) if "exitsignal" in results else int(results["returnvalue"])
    ending.peak_bytes = _bytes(results.get("memory", "0B"))
    if not ending.output and ending.answer is None:
        ending.output = log.read_bytes()[-_KEEP_LOG:] if log.exists() else b""
    return ending


def _copy(instance: int, path: Path) -> int:
    """Copy a file to a new one, and return its bytes; what the run may have put there is neither written to nor followed."""
    size, sent = os.fstat(instance).st_size, 0
    to = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    while sent < size:
        sent += os.sendfile(to, instance, sent, size - sent)
    os.close(to)
    return size


def parse_results(text: str) -> dict[str, str]:
    """Return what `runexec` prints on stdout, lines of `key=value`."""
    pairs = (line.partition("=") for line in text.splitlines())
    return {key: value for key, separator, value in pairs if separator}


def _command(folder: Path, *, memory_mib: int) -> list[str]:
    found = shutil.which("runexec") or shutil.which("runexec", path=str(Path(sys.executable).parent))
    if found is None:
        raise ExecutorError(
            "runexec is not installed; `pip install schedgap[benchexec]` and allow it what BenchExec's guide says, "
            "or leave --isolation out."
        )
    command = [found, "--read-only-dir", "/", "--read-only-dir", "/tmp", "--dir", str(folder)]
    if folder != Path("/"):
        command += ["--full-access-dir", str(folder)]
    return [*command, "--memlimit", f"{memory_mib * 2**20}B"]


def _command_of(request: Request, scratch: Path, log: Path, *arguments: Path) -> list[str]:
    """Return the command of a run. log : what is printed beside the pipes. arguments : of `main`."""
    return [
        *_command(scratch, memory_mib=request.limits.memory_mib),
        *_time_limits(request),
        *("--output", str(log), "--"),
        *(sys.executable, "-P", "-m", "schedgap.bench.isolation.runexec"),
        *map(str, arguments),
    ]


def _time_limits(request: Request) -> list[str]:
    """Return the limits in whole seconds; that of wall-clock time is the supervisor's, this one only a net below it."""
    limits, allowance = request.limits, request.allowance
    wall_s = allowance.start_s + allowance.compile_s + (allowance.restarts + 1) * limits.wall_s
    options = ["--walltimelimit", str(math.ceil(wall_s))]
    if limits.cpu_s is not None:
        options += ["--timelimit", str(math.ceil(limits.cpu_s))]
    return options


def _bytes(text: str) -> int:
    return int(text.removesuffix("B") or 0)


def _why(results: Mapping[str, str], complaints: str) -> str:
    """Return one sentence with the last serious complaint of runexec."""
    lines = [line for line in complaints.splitlines() if line.strip()]
    serious = [line for line in lines if "CRITICAL" in line or "ERROR" in line] or lines
    last = serious[0].split(" - ")[-1].rstrip(". ") if serious else f"it printed {dict(results)}"
    return f"runexec cannot do runs here: {last}; see BenchExec's installation guide, or leave --isolation out."


def main(asked: Path, answers: Path, output: Path) -> None:
    """Do the run that the file `asked` holds, within the container; answers, output : named pipes to write to."""
    request = pickle.loads(asked.read_bytes())
    own_cache(asked.parent, request.code)
    load_methods(request.families)
    to_answers, to_output = (os.open(pipe, os.O_WRONLY) for pipe in (answers, output))
    send(to_answers, Message.READY)

    def given() -> Any:
        send(to_answers, Message.WANTED)
        with (asked.parent / GIVEN).open("rb", buffering=0) as pipe:
            pipe.read(1)
        return pickle.loads((asked.parent / INSTANCE).read_bytes())

    limits_addresses = request.program is None
    own = partial(confine, request.limits, to_answers, to_output, asked.parent, limits_addresses=limits_addresses)
    answer(own, lambda pipe: measured(request, given, pipe), pack, to_answers)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
