"""From what a run's process said, and how it ended, to what may be believed.

Judged in a process that never ran a plug-in's code, and within limits of its own.

What may be believed of a solution and a bound: of an answer, or told by a run that gave none in the end.
"""

from __future__ import annotations

import dataclasses
import json
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from msgspec.structs import replace

from schedgap.bench.isolation.answer import (
    UNDECLARED,
    AnswerError,
    Failure,
    Report,
    certificate_of,
    unpack,
    unpack_solution,
)
from schedgap.bench.isolation.confinement import LANDLOCK, MAY_WRITE
from schedgap.bench.isolation.messages import Answer, Cause, Ending, Request
from schedgap.bench.isolation.scratch import Scratch
from schedgap.bench.isolation.supervise import MIB
from schedgap.bench.programs.program import signal_name
from schedgap.bench.records.runs import ERRORS, FAILED, Limits, Measurement
from schedgap.formulations.gap_split import split
from schedgap.instances.errors import SchedgapError
from schedgap.instances.family import Family, find_family
from schedgap.instances.fields import fields_hash
from schedgap.instances.method import Status

# What the system says of a file that may not be written.
_REFUSED = ("permission denied", "read-only file system", "permissionerror")
MUTATED = "it changed the instance that it was given"
# By how much the times that a run's process tells may differ from its supervisor's, who may have to wait for a processor.
CLOCK_SLACK_S = 0.1
CLOCK_SLACK = 0.1
# What a run's process tells, and a measurement has as it is.
_TIMES = ("wall_s", "compile_s", "warm_s", "build_s", "solve_s", "extract_s")
_TOLD = (*_TIMES, "cpu_s", "solver", "details")
_FAILURES = (Status.MEMORY, Status.ERROR, Status.CRASHED, Status.INVALID, Status.TIMEOUT)
_CLAIMS = (Status.OPTIMAL, Status.FEASIBLE, Status.NO_SOLUTION, Status.INFEASIBLE, Status.UNSUPPORTED)


def judge(family: Family, instance: Any, ending: Ending, limits: Limits) -> tuple[Measurement, Any]:
    """Return the measurement and, if it is feasible, the verified solution (None otherwise).

    A solution counts when `family.verify` accepts it here, outside of the process that made it; `optimal` is said of a
    verified objective that equals the method's bound, whatever the method claims.
    """
    if ending.cause is not None or ending.answer is None:
        measurement, solution = _killed(ending, limits), None
    else:
        measurement, solution = _heard(family, instance, ending)
    if measurement.status in FAILED:
        measurement, solution = with_told(measurement, family, instance, ending)
    return _seen(measurement, ending), solution


def invalid(reason: str, ending: Ending) -> Measurement:
    """Return the measurement of a run whose answer cannot be judged."""
    return _seen(Measurement(Status.INVALID, reason=reason), ending)


def _seen(measurement: Measurement, ending: Ending) -> Measurement:
    """Add what the supervisor saw."""
    output = ending.output.decode(errors="replace") if measurement.status in FAILED else ""
    reference_s = None if measurement.wall_s is None else ending.reference_s
    peak_mib = round(ending.peak_bytes / MIB, 1)
    seen = replace(
        measurement, peak_memory_mib=peak_mib, output=output, reference_s=reference_s, confined=ending.confined
    )
    said = f"{output}{seen.reason}".lower()
    if LANDLOCK in ending.confined and seen.status in ERRORS and any(each in said for each in _REFUSED):
        return replace(seen, reason=f"{seen.reason} (it may write to $TMPDIR, and where {MAY_WRITE} says)")
    return seen


def _heard(family: Family, instance: Any, ending: Ending) -> tuple[Measurement, Any]:
    assert ending.answer is not None
    try:
        said, solution = read(unpack, ending.answer, family, "answer")
    except RefusedError as error:
        return Measurement(Status.INVALID, reason=str(error)), None
    if isinstance(said, Failure):
        if said.status not in _FAILURES:
            reason = f"it says that it failed as '{said.status:.60}'; a run fails as {' or '.join(_FAILURES)}"
            return Measurement(Status.INVALID, reason=reason), None
        return Measurement(Status(said.status), reason=said.reason), None
    measurement, solution = _weighed(family, instance, said, solution)
    if (impossible := _impossible(said, ending)) is not None:
        return replace(
            measurement, status=Status.INVALID, objective=None, bound=None, solution_hash=None, reason=impossible
        ), None
    wall_s, cpu_s = _likely(said.wall_s, ending.called_s), _likely(said.cpu_s, ending.called_cpu_s)
    return replace(measurement, wall_s=wall_s, cpu_s=cpu_s), solution


def _likely(said_s: float, seen_s: float | None) -> float:
    """Return what a call took: as its own process says, unless what the supervisor saw is more than that can be."""
    return said_s if seen_s is None or said_s >= (1 - CLOCK_SLACK) * seen_s - CLOCK_SLACK_S else seen_s


def _impossible(said: Report, ending: Ending) -> str | None:
    """Return which of the times cannot be, by the supervisor's clock; None if all can."""
    if ending.elapsed_s is None:
        return None
    if ending.called_s is None:
        return "its answer came before its call was over"
    most = (1 + CLOCK_SLACK) * ending.elapsed_s + CLOCK_SLACK_S
    for name in _TIMES:
        value = getattr(said, name)
        if value is not None and value > most:
            return f"it says {name} = {value:g}, and its process was there for {ending.elapsed_s:.3g} s"
    if said.cpu_s > (1 + CLOCK_SLACK) * ending.cpu_s + CLOCK_SLACK_S:
        return f"it says cpu_s = {said.cpu_s:g}, and its processes used {ending.cpu_s:.3g} s"
    return None


def _constructor(kind: type) -> str:
    """Return how messages call a class of solutions, with what makes one."""
    makers = [name for name in vars(kind) if name.startswith("from_")]
    return kind.__name__ + (f", made by its {' or '.join(makers)}" if makers else "")


def _killed(ending: Ending, limits: Limits) -> Measurement:
    shown = {
        Cause.WALL: (Status.TIMEOUT, f"killed after {limits.wall_s:g} s of wall-clock time"),
        Cause.CPU: (Status.TIMEOUT, f"killed after {limits.cpu_s} s of processor time"),
        Cause.MEMORY: (Status.MEMORY, f"killed over {limits.memory_mib} MiB of memory"),
        Cause.FILES: (Status.MEMORY, f"killed over {limits.memory_mib} MiB of files in its folder"),
        Cause.PROCESSES: (Status.CRASHED, "killed for starting processes without end"),
        Cause.MESSAGES: (Status.INVALID, "what it wrote into the pipe of its answer is no answer"),
    }
    if ending.cause is not None:
        status, reason = shown[ending.cause]
        if not ending.killed and ending.cause is Cause.MEMORY:
            reason = f"used {ending.peak_bytes / MIB:.0f} MiB of memory for a moment, over {limits.memory_mib} MiB"
        elif not ending.killed and ending.cause is Cause.CPU:
            reason = f"used more than {limits.cpu_s} s of processor time"
        return Measurement(status, reason=reason)
    code = ending.exit_code
    # Without a limit of ours, somebody else sent it.
    if code == -signal.SIGXCPU and limits.cpu_s is not None:
        return Measurement(*shown[Cause.CPU][:1], reason=shown[Cause.CPU][1])
    if code >= 0:
        return Measurement(Status.CRASHED, reason=f"its process exited with code {code} and without an answer")
    name = signal_name(-code)
    if b"bad_alloc" in ending.output or b"MemoryError" in ending.output:
        return Measurement(Status.MEMORY, reason=f"an allocation failed ({name})")
    hint = "; the system may have been out of memory" if code == -signal.SIGKILL else ""
    return Measurement(Status.CRASHED, reason=f"its process was ended by {name}{hint}")


def _weighed(family: Family, instance: Any, said: Report, solution: Any) -> tuple[Measurement, Any]:
    claimed, bound = said.status, said.bound
    measurement = Measurement(
        Status.NO_SOLUTION,
        claimed_status=claimed,
        warm=said.warm or "none",
        trajectory=tuple(said.trajectory),
        **{name: getattr(said, name) for name in _TOLD},
    )

    def refused(reason: str) -> tuple[Measurement, Any]:
        return replace(measurement, status=Status.INVALID, reason=reason), None

    if said.mutated:
        return refused(MUTATED)
    if claimed not in _CLAIMS:
        return refused(f"it claims to be '{claimed:.60}'; a method claims {', '.join(_CLAIMS)}")
    if isinstance(bound, str):
        scale = f"{family.objective_scale:,} in 1 {family.objective_unit}"
        return refused(
            f"its bound is {bound:.60}; a bound is a whole number in the family's smallest unit ({scale}), of at most 63 bits"
        )
    if said.foreign is not None:
        return refused(
            f"it returned a {said.foreign:.60}, and a solution is a {_constructor(family.solution)}; return one"
        )
    if solution is None:
        if claimed in (Status.OPTIMAL, Status.FEASIBLE):
            return refused(f"it claims to be '{claimed}' and returns no solution")
        reason = said.details.get("reason")
        shown = None if reason is None else str(reason)
        return replace(measurement, status=Status(claimed), bound=bound, reason=shown), None
    try:
        objective = objective_of(family, instance, solution)
    except RefusedError as error:
        return refused(str(error))
    if claimed in (Status.INFEASIBLE, Status.NO_SOLUTION, Status.UNSUPPORTED):
        return refused(f"it claims '{claimed}' and returns a feasible solution of {objective}")
    if (contradiction := above(bound, objective)) is not None:
        return refused(contradiction)
    status = Status.OPTIMAL if bound == objective else Status.FEASIBLE
    reason = None
    if claimed == Status.OPTIMAL and status is not Status.OPTIMAL:
        reason = f"it claims to be optimal, its bound {bound} does not prove that"
    judged = replace(measurement, status=status, objective=objective, bound=bound, reason=reason)
    return replace(judged, solution_hash=fields_hash(solution)), solution


# An answer of a few bytes may stand for machines without end; honest ones of a million tasks need less than half.
JUDGE_S = 300.0
JUDGE_MIB = 4096


def judged(request: Request, instance: Any, ending: Ending) -> Answer:
    """Return what a run gave, from how its process ended."""
    memory_mib = max(JUDGE_MIB, request.limits.memory_mib)
    try:
        with _address_space(memory_mib):
            return _answer(request, instance, ending)
    except MemoryError:
        return unjudged(f"within {memory_mib} MiB of memory", ending)


def unjudged(limit: str, ending: Ending) -> Answer:
    """Return the end of a run whose answer is too much to judge."""
    return Answer(invalid(f"its answer could not be judged {limit}", ending))


@contextmanager
def _address_space(memory_mib: int) -> Iterator[None]:
    """Let this process map no more than so much beside what it has."""
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = mapped + memory_mib * MIB
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _answer(request: Request, instance: Any, ending: Ending) -> Answer:
    family = find_family(request.family)
    measurement, solution = judge(family, instance, ending, request.limits)
    if not request.proves:
        if ending.bound is not None or measurement.bound is not None:
            return Answer(invalid(UNDECLARED, ending))
        measurement = replace(measurement, trajectory=tuple((s, found, None) for s, found, _ in measurement.trajectory))
    if request.shrunk:
        return Answer(measurement)
    certificate = None
    if request.keep and ending.answer is not None and measurement.status not in FAILED:
        try:
            given = certificate_of(ending.answer, instance.name, instance.digest)
        except AnswerError as error:
            return Answer(invalid(str(error), ending))
        certificate = None if given is None else json.dumps(given, indent=1).encode()
    if solution is None:
        return Answer(measurement, certificate=certificate)
    try:
        if family.measures is not None:
            measurement = replace(measurement, measures=family.measures(instance, solution))
        draw = None if measurement.status in FAILED else family.picture
        picture = None if draw is None else draw(instance, solution)
        if picture is not None:
            picture = dataclasses.replace(picture, split=split(family.name, instance, solution))
        content = _file_content(family, instance, solution) if request.keep else None
    except MemoryError:
        raise
    except Exception as error:
        return Answer(Measurement(Status.ERROR, reason=f"its verified solution cannot be measured: {error!r:.300}"))
    return Answer(measurement, picture, content, certificate)


def _file_content(family: Family, instance: Any, solution: Any) -> bytes:
    with Scratch() as scratch:
        path = scratch.path / "solution.json"
        family.write_solution(instance, solution, path)
        return path.read_bytes()


T = TypeVar("T")


class RefusedError(Exception):
    """What a run said does not count; the text says why."""


def read(unpack: Callable[[bytes, type[Any]], T], data: bytes, family: Family, what: str) -> T:
    """Return what bytes hold. what : how messages call them.

    Raises
    ------
    RefusedError
        if they hold nothing of the kind.
    """
    try:
        return unpack(data, family.solution)
    except AnswerError as error:
        raise RefusedError(f"its {what} cannot be read: {error}") from None
    except SchedgapError as error:
        raise RefusedError(str(error)) from None
    except MemoryError:
        raise
    except Exception as error:
        raise RefusedError(f"its solution cannot be read: {error!r:.300}") from None


def objective_of(family: Family, instance: Any, solution: Any) -> int:
    """Return the verified objective of a solution.

    Raises
    ------
    RefusedError
        if it is not feasible.
    """
    try:
        return int(family.verify(instance, solution))
    except SchedgapError as error:
        raise RefusedError(str(error)) from None
    except MemoryError:
        raise
    except Exception as error:
        raise RefusedError(f"its solution cannot be verified: {error!r:.300}") from None


def above(bound: int | None, objective: int) -> str | None:
    """Return what is wrong with a bound above a verified objective, None of any other."""
    if bound is None or bound <= objective:
        return None
    return f"its bound {bound} is above the objective {objective} of its own verified solution"


def with_told(failed: Measurement, family: Family, instance: Any, ending: Ending) -> tuple[Measurement, Any]:
    """Add to the measurement of a run that failed what it had told of before, and return the verified solution, too.

    A run that is invalid keeps nothing, and one that told what is not so is invalid.
    """
    if failed.status is Status.INVALID or (ending.solution is None and ending.bound is None):
        return failed, None
    if ending.solution is None:
        return replace(failed, bound=ending.bound), None
    try:
        solution = read(unpack_solution, ending.solution, family, "solution")
        objective = objective_of(family, instance, solution)
        wrong = above(ending.bound, objective)
    except RefusedError as error:
        wrong = str(error)
    if wrong is not None:
        return Measurement(
            Status.INVALID, reason=f"what it told before it failed ({failed.reason}) is false: {wrong}"
        ), None
    found = replace(failed, objective=objective, bound=ending.bound, solution_hash=fields_hash(solution))
    return found, solution
