"""What may be believed of a solution and a bound: of an answer, or told by a run that gave none in the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec.structs import replace

from schedgap.bench.isolation.answer import AnswerError, unpack_solution
from schedgap.bench.isolation.messages import Ending
from schedgap.bench.records.runs import Measurement
from schedgap.instances.errors import SchedgapError
from schedgap.instances.family import Family
from schedgap.instances.fields import fields_hash
from schedgap.instances.method import Status

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
