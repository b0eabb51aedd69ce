"""What a program of kind `method` answers: a solution as the family's files have it, or an object that may say more.

    {"schema": "schedgap/answer/1", "solution": {...}, "bound": 12.5, "status": "feasible", "reason": ""}

Only `schema` must be there. The bound is in the family's shown unit.
"""

from __future__ import annotations

import decimal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from schedgap.bench.programs.failure import ProgramFailure
from schedgap.bench.programs.process import MIB, Terms
from schedgap.instances.errors import SchedgapError
from schedgap.instances.method import Outcome, Status

if TYPE_CHECKING:
    from schedgap.instances.family import Family

SCHEMA = "schedgap/answer/1"
_NONE = b"null"
# No objective of any family has so many digits before the point.
_MOST_DIGITS = 30
# Of what is no answer, so many bytes are told.
_SHOWN = 60
# Exact for every bound that is accepted, as far as it decides a whole number; what follows is cut off.
_DOWNWARDS = decimal.Context(prec=3 * _MOST_DIGITS, rounding=decimal.ROUND_FLOOR)


class _Known(msgspec.Struct):
    """What decides how the rest is read."""

    schema: str = ""


class Answer(msgspec.Struct, forbid_unknown_fields=True):
    """What a program answers that says more than a solution."""

    schema: Literal["schedgap/answer/1"]
    solution: msgspec.Raw = msgspec.Raw(_NONE)
    bound: msgspec.Raw = msgspec.Raw(_NONE)
    status: Literal["optimal", "feasible", "no_solution", "infeasible", "unsupported"] | None = None
    reason: str = ""


def outcome_of(content: bytes, family: Family, instance: Any, path: Path | None = None) -> Outcome:
    """Return what an answer says. path : of the file that holds it, if there is one: large arrays may be beside it.

    Raises
    ------
    ProgramFailure
        if it is none.
    """
    if not content.strip():
        raise no_answer("it is empty; print a solution, as docs/programs.md has it")
    try:
        if msgspec.json.decode(content, type=_Known).schema != SCHEMA:
            return Outcome(_kept(content, family, instance) if path is None else _solution(path, family, instance))
        said = msgspec.json.decode(content, type=Answer)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        if path is None and not content.lstrip().startswith((b"{", b"[")):
            begins = content.strip()[:_SHOWN].decode(errors="replace").splitlines()[0]
            way_out = "print nothing else on stdout but on stderr, or write the solution to the file {solution}"
            raise no_answer(f"what it printed begins with {begins!r:.80}; {way_out}") from None
        raise no_answer(f"{error!s:.200}") from None
    bound = None if bytes(said.bound) == _NONE else _bound(bytes(said.bound), family.objective_scale)
    solution = None
    if bytes(said.solution) != _NONE:
        solution = _kept(bytes(said.solution), family, instance)
    status = None if said.status is None else Status(said.status)
    return Outcome(solution, bound, status, details={"reason": said.reason} if said.reason else {})


def no_answer(why: str) -> ProgramFailure:
    """Return the failure of a program whose answer cannot be used."""
    return ProgramFailure(Status.INVALID, f"its answer is no solution: {why}")


def too_long(length: int, terms: Terms) -> ProgramFailure:
    """Return the failure of a program that answers with more than is read."""
    most_mib = terms.most_bytes / MIB
    return no_answer(
        f"it has {length / MIB:.4g} MiB or more; up to {most_mib:.4g} MiB are read, a sixteenth of the memory limit"
    )


def _bound(text: bytes, scale: int) -> int:
    """Return a bound in the family's whole units, rounded down: what is proven stays proven. text : JSON."""
    try:
        # Of all that JSON may hold, these are numbers; text would be taken for what it says.
        given = decimal.Decimal(text.decode())
    except (decimal.InvalidOperation, ValueError):
        raise no_answer(f"its bound is {text.decode()!s:.{_SHOWN}}; give a number") from None
    if not given:
        return 0
    if given.adjusted() > _MOST_DIGITS:
        raise no_answer(f"its bound is {given:.3g}; give one that an objective can reach")
    return int(_DOWNWARDS.multiply(given, decimal.Decimal(scale)).to_integral_value(decimal.ROUND_FLOOR))


def _kept(content: bytes, family: Family, instance: Any) -> Any:
    """Return the solution of a family's file. Readers take paths: the content goes through a file of its own."""
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            path = Path(folder) / "solution.json"
            path.write_bytes(content)
            return _solution(path, family, instance)
    except OSError as error:
        raise no_answer(f"it cannot be kept ({error.strerror}); leave the folder TMPDIR where it is") from None


def _solution(path: Path, family: Family, instance: Any) -> Any:
    try:
        return family.read_solution(instance, path)
    except SchedgapError as error:
        raise no_answer(str(error).replace(f"{path}: ", "").replace(f"{path.name}: ", "")) from None
