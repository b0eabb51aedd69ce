"""From what a run's process said, and how it ended, to what may be believed."""

from __future__ import annotations

import dataclasses
import math
import signal
from typing import TYPE_CHECKING, Any

from schedgap.bench.isolation.supervise import MIB, Cause
from schedgap.bench.isolation.unpickle import ForeignClassError, loads
from schedgap.bench.records.measurement import FAILED, Measurement
from schedgap.instances.errors import SchedgapError
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schedgap.bench.isolation.supervise import Ending
    from schedgap.bench.records.runs import Limits
    from schedgap.instances.family import Family

MUTATED = "it changed the instance that it was given"
# What `child` says instead of an answer, or None.
_UNANSWERED = (None, Status.MEMORY, Status.ERROR)
_CLAIMS = (Status.OPTIMAL, Status.FEASIBLE, Status.NO_SOLUTION, Status.INFEASIBLE, Status.UNSUPPORTED)


def judge(family: Family, instance: Any, ending: Ending, limits: Limits) -> tuple[Measurement, Any]:
    """Return the measurement and, if it is feasible, the verified solution (None otherwise).

    A solution counts when `family.verify` accepts it here, outside of the process that made it; `optimal` is said of a
    verified objective that equals the method's bound, whatever the method claims.
    """
    facts: dict[str, Any] = {}
    solution = None
    if ending.cause is not None or ending.answer is None:
        measurement = _killed(ending, limits)
    else:
        try:
            facts = loads(ending.answer)
        except ForeignClassError as error:
            reason = f"its answer holds a {error}; return the classes of schedgap.instances, numbers and strings"
            measurement = Measurement(Status.INVALID, reason=reason)
        except Exception as error:
            measurement = Measurement(Status.INVALID, reason=f"its answer cannot be read: {error!r}")
        else:
            if not isinstance(facts, dict) or facts.get("failed") not in _UNANSWERED:
                measurement, facts = _killed(dataclasses.replace(ending, cause=Cause.MESSAGES), limits), {}
            elif "failed" in facts:
                measurement = Measurement(Status(facts["failed"]), reason=facts["reason"])
                facts = {}
            else:
                measurement, solution = _weighed(family, instance, facts)
    measurement = dataclasses.replace(
        measurement,
        wall_s=facts.get("wall_s"),
        cpu_s=facts.get("cpu_s"),
        reference_s=facts.get("reference_s"),
        compile_s=facts.get("compile_s"),
        warm_s=facts.get("warm_s"),
        warm=facts.get("warm") or "none",
        peak_memory_mib=round(ending.peak_bytes / MIB, 1),
        output=ending.output.decode(errors="replace") if measurement.status in FAILED else "",
    )
    return measurement, solution


def _killed(ending: Ending, limits: Limits) -> Measurement:
    shown = {
        Cause.WALL: (Status.TIMEOUT, f"killed after {limits.wall_s:g} s of wall-clock time"),
        Cause.CPU: (Status.TIMEOUT, f"killed after {limits.cpu_s} s of processor time"),
        Cause.MEMORY: (Status.MEMORY, f"killed over {limits.memory_mib} MiB of memory"),
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
    if code == -signal.SIGXCPU:
        return Measurement(*shown[Cause.CPU][:1], reason=shown[Cause.CPU][1])
    if code >= 0:
        return Measurement(Status.CRASHED, reason=f"its process exited with code {code} and without an answer")
    name = signal.Signals(-code).name
    if b"bad_alloc" in ending.output or b"MemoryError" in ending.output:
        return Measurement(Status.MEMORY, reason=f"an allocation failed ({name})")
    hint = "; the system may have been out of memory" if code == -signal.SIGKILL else ""
    return Measurement(Status.CRASHED, reason=f"its process was ended by {name}{hint}")


def _weighed(family: Family, instance: Any, facts: dict[str, Any]) -> tuple[Measurement, Any]:
    claimed, bound, solution = facts["status"], facts["bound"], facts["solution"]
    measurement = Measurement(
        Status.NO_SOLUTION,
        claimed_status=claimed,
        build_s=_seconds(facts["build_s"]),
        solve_s=_seconds(facts["solve_s"]),
        extract_s=_seconds(facts["extract_s"]),
        solver=facts["solver"],
        trajectory=_points(facts["trajectory"]),
        details={key: _recordable(value) for key, value in facts["details"].items()},
    )

    def invalid(reason: str, **known: Any) -> tuple[Measurement, Any]:
        return dataclasses.replace(measurement, status=Status.INVALID, reason=reason, **known), None

    if facts["mutated"]:
        return invalid(MUTATED)
    if claimed not in _CLAIMS:
        return invalid(f"it claims to be '{claimed:.60}'; a method claims {', '.join(_CLAIMS)}")
    if bound is not None and (isinstance(bound, bool) or not isinstance(bound, int)):
        return invalid(f"its bound is {bound!r:.60}; a bound is a whole number of the family's units")
    if bound is not None and not _fits(bound):
        return invalid(f"its bound is a number of {bound.bit_length()} bits; the family's units need at most 63")
    if solution is None:
        if claimed in (Status.OPTIMAL, Status.FEASIBLE):
            return invalid(f"it claims to be '{claimed}' and returns no solution")
        reason = facts["details"].get("reason") if claimed == Status.UNSUPPORTED else None
        return dataclasses.replace(measurement, status=Status(claimed), bound=bound, reason=reason), None
    try:
        # A new object: nothing that its constructor refuses may have been smuggled in.
        solution = dataclasses.replace(solution)
        objective = int(family.verify(instance, solution))
    except SchedgapError as error:
        return invalid(str(error))
    except Exception as error:
        return invalid(f"its solution, of type {type(solution).__name__}, cannot be verified: {error!r}")
    if claimed in (Status.INFEASIBLE, Status.NO_SOLUTION, Status.UNSUPPORTED):
        return invalid(f"it claims '{claimed}' and returns a feasible solution of {objective}")
    if bound is not None and bound > objective:
        return invalid(f"its bound {bound} is above the objective {objective} of its own verified solution")
    status = Status.OPTIMAL if bound == objective else Status.FEASIBLE
    reason = None
    if claimed == Status.OPTIMAL and status is not Status.OPTIMAL:
        reason = f"it claims to be optimal, its bound {bound} does not prove that"
    return dataclasses.replace(measurement, status=status, objective=objective, bound=bound, reason=reason), solution


def _seconds(value: Any) -> float | None:
    """Return a time as the method reports it, None if it is none: the record holds finite numbers only."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _points(trajectory: Iterable[tuple[Any, Any, Any]]) -> tuple[tuple[float, int | None, int | None], ...]:
    """Return the points of a trajectory that a record can hold, and leave out the others."""
    return tuple(
        (elapsed_s, objective, bound)
        for elapsed_s, objective, bound in trajectory
        if math.isfinite(elapsed_s)
        and all(value is None or (isinstance(value, int) and _fits(value)) for value in (objective, bound))
    )


def _fits(value: int) -> bool:
    """Whether a whole number has at most 63 bits; Python refuses to print those of thousands of digits."""
    return value.bit_length() <= 63


def _recordable(value: Any) -> Any:
    too_long = isinstance(value, int) and not _fits(value)
    return f"a number of {value.bit_length()} bits" if too_long else value
