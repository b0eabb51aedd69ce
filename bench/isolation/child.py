"""What happens in a run's own process: plug-ins, warm-up, the timed call, the answer.

Work in a forked process of its own: confined and limited, supervised, and answered for whatever happens in it.
"""

from __future__ import annotations

import faulthandler
import hashlib
import json
import math
import os
import pickle
import resource
import signal
import socket
import sys
import tempfile
import time
import traceback
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NoReturn, Self

from schedgap.bench.isolation.answer import (
    MAX_POINTS,
    UNDECLARED,
    Failure,
    Report,
    Telling,
    pack,
    plain_number,
    plain_text,
)
from schedgap.bench.isolation.clocks import Allowance, WallClock
from schedgap.bench.isolation.confinement import Confinement
from schedgap.bench.isolation.messages import Ending, Message, Request, loaded, send
from schedgap.bench.isolation.processes import ProcessorClock, die_with_parent
from schedgap.bench.isolation.supervise import MIB, supervise
from schedgap.bench.plugins.discover import import_plugins
from schedgap.bench.programs.program import ProgramFailure, Terms, files_among
from schedgap.bench.programs.run import ask, see_off
from schedgap.bench.records.runs import Limits
from schedgap.instances.family import Family, find_family
from schedgap.instances.method import Method, Outcome, Status, find_method


class CompileClock:
    """Context manager that adds up the seconds spent in Numba's `Dispatcher.compile`, outermost calls only.

    tell : called with True when compiling begins and with False when it ends.
    Numba's own compile events do not tell of code loaded from its cache, which takes milliseconds; hence the wrapper.
    """

    def __init__(self, tell: Callable[[bool], None] | None = None) -> None:
        self.seconds = 0.0
        self._tell = tell
        self._depth = 0
        self._original: Callable[..., Any] | None = None

    def __enter__(self) -> Self:
        if (dispatcher := self._dispatcher()) is not None:
            original = self._original = dispatcher.compile
            clock = self

            def compile(dispatcher: Any, signature: Any) -> Any:
                start = time.perf_counter()
                clock._enter_compiler()
                try:
                    return original(dispatcher, signature)
                finally:
                    clock._leave_compiler(start)

            dispatcher.compile = compile
        return self

    def __exit__(self, *raised: object) -> None:
        if self._original is not None:
            self._dispatcher().compile = self._original

    def _enter_compiler(self) -> None:
        self._depth += 1
        if self._depth == 1 and self._tell is not None:
            self._tell(True)

    def _leave_compiler(self, start: float) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - start
            if self._tell is not None:
                self._tell(False)

    def _dispatcher(self) -> Any:
        module = sys.modules.get("numba.core.dispatcher")
        return None if module is None else module.Dispatcher


# A timed call with more compilation in it than this share is timed again, if it was short; never one of foreign code, which
# could keep what it has found.
COMPILE_SHARE = 0.01
REPEAT_BELOW_S = 10.0


def warm_up(call: Callable[[Any], Outcome], instance: Any, wall_s: float | None = None) -> float:
    """Call a method on a small instance, so that its kernels are compiled; returns the seconds.

    wall_s : after so many seconds, compiling left out, SIGALRM ends this process; for one that no supervisor watches.
    """
    start = perf_counter()
    with nullcontext() if wall_s is None else _ended_after(wall_s):
        call(instance)
    see_off()
    stop_timers()
    return perf_counter() - start


@contextmanager
def _ended_after(wall_s: float) -> Iterator[None]:
    clock = WallClock(wall_s, Allowance())

    def tell(compiling: bool) -> None:
        if compiling:
            clock.pause()
        else:
            clock.resume()
        # Never 0, which would stop the timer.
        signal.setitimer(signal.ITIMER_REAL, max(clock.deadline - time.monotonic(), 0.001))

    with CompileClock(tell):
        tell(False)
        yield


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


def measured(request: Request, given: Callable[[], Any], answers: int) -> bytes:
    """Call the method as asked and return what there is to say of it, packed for the judge.

    given : returns the instance. It is asked for once foreign code has been imported and warmed up, which could else work on
    it before the clock starts.
    """
    if request.is_foreign:
        import_plugins(files_among(request.plugins))
        send(answers, Message.READY)
    family = find_family(request.family)
    call = _caller(request, family)
    warm, warm_s = None, None

    def tell(compiling: bool) -> None:
        send(answers, Message.COMPILING if compiling else Message.COMPILED)

    if request.warm:
        small = shrunk(family, given()) if request.small is None else pickle.loads(request.small)
        with CompileClock(tell):
            warm, warm_s = "child", warm_up(call, small)
        send(answers, Message.READY)
    if request.before:
        with CompileClock(tell):
            for other in request.before:
                call(pickle.loads(other))
                see_off()
                stop_timers()
        send(answers, Message.READY)
    known = None if request.program is not None else find_method(request.family, request.method)
    telling = known if known is not None and "found" in known.wants else None
    instance = given()
    before = fingerprint(instance)
    outcome, times = _timed(call, instance, answers, tell, telling)
    computing_s = times["wall_s"] - times["compile_s"]
    is_slowed = times["compile_s"] > COMPILE_SHARE * times["wall_s"] and computing_s < REPEAT_BELOW_S
    if is_slowed and not request.is_foreign:
        warm, warm_s = "repeat", times["wall_s"]
        send(answers, Message.READY)
        outcome, times = _timed(call, instance, answers, tell, telling)
    if outcome.bound is not None and known is not None and not known.bounds:
        raise ProgramFailure(Status.INVALID, UNDECLARED)
    facts = {"mutated": fingerprint(instance) != before, "warm": warm, "warm_s": warm_s}
    if request.keep and outcome.certificate is not None:
        facts["certificate"] = json.dumps(outcome.certificate)
    return _packed(family, outcome, **facts, **times)


def shrunk(family: Family, instance: Any) -> Any:
    """Return the family's small version of the instance."""
    assert family.shrink is not None
    return family.shrink(instance)


def _timed(
    call: Callable[..., Outcome], instance: Any, answers: int, tell: Callable[[bool], None], method: Method | None
) -> tuple[Outcome, dict[str, float]]:
    """Call, and return what the call returned and its times. method : if it tells what it finds."""
    telling = nullcontext() if method is None else Telling(answers, method)
    before_s = _processor_s()
    with CompileClock(tell) as clock:
        send(answers, Message.CALLED)
        with telling as found:
            start = perf_counter()
            outcome = call(instance) if found is None else call(instance, found=found)
            wall_s = perf_counter() - start
        send(answers, Message.RETURNED)
    see_off()
    return outcome, {"wall_s": wall_s, "cpu_s": _processor_s() - before_s, "compile_s": clock.seconds}


def _caller(request: Request, family: Family) -> Callable[[Any], Outcome]:
    """Return the method as it is called here, on an instance."""
    limits = request.limits
    if request.program is not None:
        terms = Terms(request.seed, limits.time_limit_s, limits.threads, limits.memory_mib)
        return partial(ask, request.program, family, terms=terms)
    return caller(find_method(request.family, request.method), request)


def caller(method: Method, request: Request) -> Callable[[Any], Outcome]:
    """Return a method with the seed, limits and parameters of a request."""
    limits = request.limits
    return partial(
        method.run,
        seed=request.seed,
        time_limit_s=limits.time_limit_s,
        threads=limits.threads,
        parameters=request.given,
    )


def _processor_s() -> float:
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _packed(family: Family, outcome: Outcome, **facts: Any) -> bytes:
    """Return the outcome as bytes; what has the wrong type is passed on as text for the judge to refuse."""
    step = max(1, -(-len(outcome.trajectory) // MAX_POINTS))
    bound = plain_number(outcome.bound)
    kept = outcome.trajectory[::-1][::step][::-1]
    is_foreign = outcome.solution is not None and type(outcome.solution) is not family.solution
    report = Report(
        status=plain_text(outcome.claimed_status),
        bound=plain_text(bound) if isinstance(bound, float) else bound,
        foreign=plain_text(type(outcome.solution).__name__) if is_foreign else None,
        build_s=plain_number(outcome.build_s),
        solve_s=plain_number(outcome.solve_s),
        extract_s=plain_number(outcome.extract_s),
        solver=None if outcome.backend is None else plain_text(outcome.backend),
        trajectory=[tuple(map(plain_number, (p.elapsed_s, p.objective, p.bound))) for p in kept],
        details={plain_text(key): plain_number(value) for key, value in outcome.details.items() if value is not None},
        **facts,
    )
    return pack(report, None if is_foreign else outcome.solution)


# Address space beyond the resident limit: thread stacks and arenas that nobody touches.
ADDRESS_SLACK_MIB = 2048
# Descriptors of a process; most systems give four times fewer unless asked.
MAX_OPEN = 4096


def confine(
    limits: Limits,
    answers: int,
    output: int,
    scratch: Path,
    confinement: Confinement | None = None,
    *,
    limits_addresses: bool = True,
) -> None:
    """Give this process its own session, only the pipes `answers` and `output`, and limits that its children inherit.

    scratch : where temporary files go. confinement : what else the kernel forbids. limits_addresses : whether the address
    space is limited, too. Java, Go, Node and others map many times what they use, and do not start without: programs are
    held to their resident memory alone.
    """
    with suppress(PermissionError):
        # It leads a session already, if it has an interpreter of its own.
        os.setsid()
    die_with_parent()
    if confinement is not None:
        confinement.enter()
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
    if limits_addresses:
        # By plain system calls: a text file object would copy pages that the process shares with its parent.
        statm = os.open("/proc/self/statm", os.O_RDONLY)
        mapped = int(os.read(statm, 64).split()[0]) * resource.getpagesize()
        os.close(statm)
        _limit(resource.RLIMIT_AS, mapped + (limits.memory_mib + ADDRESS_SLACK_MIB) * MIB)
    _limit(resource.RLIMIT_CORE, 0)
    # Whoever watches the processes looks through what they have open.
    _limit(resource.RLIMIT_NOFILE, MAX_OPEN)
    if limits.cpu_s is not None:
        _limit(resource.RLIMIT_CPU, math.ceil(limits.cpu_s) + 1)


def _limit(kind: int, most: int) -> None:
    """Lower a limit of this process, and of those that it starts, to so much, unless it is lower already."""
    soft, hard = (most if now == resource.RLIM_INFINITY else min(most, now) for now in resource.getrlimit(kind))
    resource.setrlimit(kind, (soft, hard))


def supervised(
    work: Callable[[int], bytes],
    failed: Callable[[Failure], bytes],
    limits: Limits,
    harness: int,
    scratch: Path,
    allowance: Allowance,
    processors: ProcessorClock,
    confinement: Confinement | None = None,
    *,
    instance: int | None = None,
    is_foreign: bool = False,
    limits_addresses: bool = True,
) -> Ending:
    """Fork a process that does the work, and return how it ended.

    work : takes the descriptor for messages and returns the answer. failed : makes the answer where `work` raised.
    instance : descriptor of its pickle, which the process gets when it asks for it (see `instance_from`). harness, processors,
    is_foreign : see `supervise`. scratch, confinement, limits_addresses : see `confine`; beside `scratch` is nothing else,
    since what the process takes for shared memory is there.
    """
    ours, theirs = socket.socketpair()
    output, output_in = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            to = theirs.fileno()
            own = partial(confine, limits, to, output_in, scratch, confinement, limits_addresses=limits_addresses)
            answer(own, work, failed, to)
        finally:
            os._exit(1)
    theirs.close()
    os.close(output_in)

    def give() -> int:
        assert instance is not None
        socket.send_fds(ours, [Message.WANTED], [instance])
        return os.fstat(instance).st_size

    answers = os.dup(ours.fileno())
    with ours:
        ending = supervise(
            pid,
            answers,
            output,
            harness,
            limits,
            allowance,
            processors,
            scratch.parent,
            give=None if instance is None else give,
            is_foreign=is_foreign,
        )
    ending.confined = (*(() if confinement is None else confinement.held), *ending.confined)
    return ending


def instance_from(answers: int) -> Any:
    """Ask the supervisor for the instance and return it; for a process that has not got it."""
    send(answers, Message.WANTED)
    with socket.socket(fileno=os.dup(answers)) as asked:
        _, (fd, *_), _, _ = socket.recv_fds(asked, 1, 1)
    try:
        return loaded(fd)
    finally:
        os.close(fd)


def answer(
    confined: Callable[[], None], work: Callable[[int], bytes], failed: Callable[[Failure], bytes], answers: int
) -> NoReturn:
    """Confine this process, do the work, send the answer on the pipe `answers`, and exit."""
    try:
        confined()
        body = work(answers)
    except MemoryError:
        body = failed(Failure(status="memory", reason="MemoryError"))
    except ProgramFailure as failure:
        body = failed(Failure(status=failure.status, reason=plain_text(failure)))
    except BaseException as error:
        traceback.print_exc()
        body = failed(Failure(status="error", reason=_one_line(error)))
    try:
        for stream in (sys.stdout, sys.stderr):
            # The method may have closed or replaced it, which is no reason to lose its answer.
            with suppress(Exception):
                stream.flush()
        send(answers, Message.ANSWER, body)
    finally:
        os._exit(0)


def _one_line(error: BaseException) -> str:
    return f"{plain_text(type(error).__name__)}: {' '.join(plain_text(error).split())}"[:500]
