"""What happens in a run's own process: limits, warm-up, the timed call, the answer; it never returns."""

from __future__ import annotations

import faulthandler
import hashlib
import math
import os
import pickle
import resource
import signal
import sys
import tempfile
import time
import traceback
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.bench.isolation.compilation import CompileClock
from schedgap.bench.isolation.reference import reference_s
from schedgap.bench.isolation.supervise import FRAME, MIB
from schedgap.bench.isolation.tree import die_with_parent
from schedgap.instances.family import find_family
from schedgap.instances.method import find_method

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from schedgap.bench.isolation.request import Request
    from schedgap.instances.method import Method, Outcome

# Address space beyond the resident limit: thread stacks and arenas that nobody touches.
ADDRESS_SLACK_MIB = 2048
# A timed call with more compilation in it than this share is timed again, if it was short.
COMPILE_SHARE = 0.01
REPEAT_BELOW_S = 10.0
MAX_TRAJECTORY = 1000


def run_child(request: Request, instance: Any, answers: int, output: int, scratch: Path) -> None:
    """Turn this freshly forked process into the run, answer on the pipe `answers` and exit."""
    try:
        _isolate(request, answers, output, scratch)
        body = measured(request, instance, answers)
    except MemoryError:
        body = pickle.dumps({"failed": "memory", "reason": "MemoryError"})
    except BaseException as error:
        traceback.print_exc()
        body = pickle.dumps({"failed": "error", "reason": _one_line(error)})
    try:
        for stream in (sys.stdout, sys.stderr):
            # The method may have closed or replaced it, which is no reason to lose its answer.
            with suppress(Exception):
                stream.flush()
        send(answers, b"D", body)
    finally:
        os._exit(0)


def warm_up(method: Method, instance: Any, request: Request) -> float:
    """Call the method on the small version of the instance, so that its kernels are compiled; returns the seconds."""
    shrink = find_family(request.family).shrink
    assert shrink is not None
    start = time.perf_counter()
    _call(method, shrink(instance), request)
    stop_timers()
    return time.perf_counter() - start


def stop_timers() -> None:
    """Stop what a method set to limit its own time: it would end a later call, or the process."""
    for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
        signal.setitimer(timer, 0)


def fingerprint(instance: Any) -> bytes:
    """Return a hash of everything that the instance holds, whatever its family.

    Arrays go through a checksum where they are: a cryptographic hash of copies took longer than the quickest methods.
    """
    arrays: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(instance, pickle.HIGHEST_PROTOCOL, buffer_callback=arrays.append)
    sums = [zlib.crc32(array.raw()) for array in arrays]
    return hashlib.sha256(rest + repr(sums).encode()).digest()


def _isolate(request: Request, answers: int, output: int, scratch: Path) -> None:
    with suppress(PermissionError):
        # It leads a session already, if it has an interpreter of its own.
        os.setsid()
    die_with_parent()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.closerange(3, answers)
    os.closerange(answers + 1, 1024)
    faulthandler.enable(file=2)
    os.environ["TMPDIR"] = str(scratch)
    tempfile.tempdir = None
    # By plain system calls: a text file object would copy pages that the process shares with its parent.
    statm = os.open("/proc/self/statm", os.O_RDONLY)
    mapped = int(os.read(statm, 64).split()[0]) * resource.getpagesize()
    os.close(statm)
    limits = request.limits
    _limit(resource.RLIMIT_AS, mapped + (limits.memory_mib + ADDRESS_SLACK_MIB) * MIB)
    _limit(resource.RLIMIT_CORE, 0)
    if limits.cpu_s is not None:
        _limit(resource.RLIMIT_CPU, math.ceil(limits.cpu_s) + 1)


def _limit(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))


def measured(request: Request, instance: Any, answers: int) -> bytes:
    """Call the method as asked and return what there is to say of it, pickled, for `judge`."""
    method = find_method(request.family, request.method)
    if request.shrunk:
        shrink = find_family(request.family).shrink
        assert shrink is not None
        instance = shrink(instance)
    facts: dict[str, Any] = {"warm": None, "warm_s": None}

    def tell(compiling: bool) -> None:
        send(answers, b"C" if compiling else b"c", b"")

    if request.warm:
        with CompileClock(tell):
            facts |= {"warm": "child", "warm_s": warm_up(method, instance, request)}
        send(answers, b"W", b"")
    if request.before:
        with CompileClock(tell):
            for path in request.before:
                _call(method, pickle.loads(path.read_bytes()), request)
                stop_timers()
        send(answers, b"W", b"")
    before = fingerprint(instance)
    facts["reference_s"] = reference_s()
    outcome, times = _timed(method, instance, request, tell)
    computing_s = times["wall_s"] - times["compile_s"]
    if times["compile_s"] > COMPILE_SHARE * times["wall_s"] and computing_s < REPEAT_BELOW_S:
        facts |= {"warm": "repeat", "warm_s": times["wall_s"]}
        send(answers, b"W", b"")
        outcome, times = _timed(method, instance, request, tell)
    facts |= times
    facts["mutated"] = fingerprint(instance) != before
    facts |= _plain(outcome)
    return pickle.dumps(facts, pickle.HIGHEST_PROTOCOL)


def _timed(
    method: Method, instance: Any, request: Request, tell: Callable[[bool], None]
) -> tuple[Outcome, dict[str, float]]:
    before_s = _processor_s()
    with CompileClock(tell) as clock:
        start = time.perf_counter()
        outcome = _call(method, instance, request)
        wall_s = time.perf_counter() - start
    return outcome, {"wall_s": wall_s, "cpu_s": _processor_s() - before_s, "compile_s": clock.seconds}


def _call(method: Method, instance: Any, request: Request) -> Outcome:
    return method.run(
        instance,
        seed=request.seed,
        time_limit_s=request.limits.time_limit_s,
        threads=request.limits.threads,
        parameters=request.given,
    )


def _processor_s() -> float:
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _plain(outcome: Outcome) -> dict[str, Any]:
    """Return the outcome as plain values; what has the wrong type is passed on as text for the judge to refuse."""
    step = max(1, -(-len(outcome.trajectory) // MAX_TRAJECTORY))
    kept = outcome.trajectory[::-1][::step][::-1]
    return {
        "status": str(outcome.claimed_status),
        "solution": outcome.solution,
        "bound": _number(outcome.bound),
        "build_s": _number(outcome.build_s),
        "solve_s": _number(outcome.solve_s),
        "extract_s": _number(outcome.extract_s),
        "solver": None if outcome.backend is None else str(outcome.backend),
        "trajectory": tuple((float(p.elapsed_s), _number(p.objective), _number(p.bound)) for p in kept),
        "details": _scalars(outcome.details),
    }


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, int | float) else str(value)


def _scalars(details: Mapping[str, Any]) -> dict[str, Any]:
    scalars = {str(key): _number(value) for key, value in details.items()}
    return {k: str(v) if isinstance(v, float) and not math.isfinite(v) else v for k, v in scalars.items()}


def _one_line(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = "its message cannot be printed"
    return f"{type(error).__name__}: {text}"[:500]


def send(answers: int, kind: bytes, body: bytes) -> None:
    """Write a message for the supervisor (see `supervise`)."""
    view = memoryview(FRAME.pack(kind, len(body)) + body)
    while view:
        view = view[os.write(answers, view) :]
