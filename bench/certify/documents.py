"""Certificates, `schedgap/certificate/1`: what stands in a file, and in each node of its proof."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from schedgap.instances.documents.openings import read_given
from schedgap.instances.errors import SolutionError

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = "schedgap/certificate/1"
# Dollars, whose micro-dollars 62 bits hold.
MOST_BOUND = 2**62 // 10**6
_STRICT = ConfigDict(extra="forbid", strict=True, arbitrary_types_allowed=True)
Index = Annotated[int, Field(ge=0)]
Natural = Annotated[int, Field(ge=0)]
Child = dict[str, Any]


@with_config(_STRICT)
class Pair(TypedDict):
    """A branch on two tasks: every machine has both or none, or none has both."""

    pair: Annotated[list[Index], Field(min_length=2, max_length=2)]
    together: Child
    apart: Child
    listed: NotRequired[list[list[int]]]


@with_config(_STRICT)
class Listed(TypedDict):
    """Prices of tasks at which, after those of the branches above, no content is left (`listing`)."""

    listed: list[list[int]]


@with_config(_STRICT)
class Machines(TypedDict):
    """A branch on the number of machines of a type, or of all."""

    machines: Index | None
    at_most: Natural
    below: Child
    above: Child


@with_config(_STRICT)
class Cut(TypedDict):
    """A rounded sum over tasks, or over the tasks of classes."""

    tasks: NotRequired[list[Index]]
    classes: NotRequired[list[Index]]
    numerators: list[Natural]
    denominator: Annotated[int, Field(ge=1)]
    price: Natural


@with_config(_STRICT)
class Leaf(TypedDict):
    """Prices at which no machine's content is worth more than the machine."""

    scale: Annotated[int, Field(ge=1)]
    prices: NotRequired[list[int]]
    task_prices: NotRequired[list[int]]
    cuts: NotRequired[list[Cut]]
    machine_prices: NotRequired[list[Natural]]
    multipliers: NotRequired[Annotated[list[list[Natural]], Field(max_length=1000)]]


@with_config(_STRICT)
class Certificate(TypedDict):
    """A file: which bound of which instance, and its proof."""

    schema: Literal["schedgap/certificate/1"]
    instance: str
    digest: NotRequired[str]
    # As many places as money has: of 1e-999999999 no fraction can be made.
    bound: Annotated[Decimal, Field(ge=0, decimal_places=6)] | Natural
    proof: Pair | Machines | Listed | Leaf


_KINDS: dict[str, TypeAdapter[Any]] = {
    "pair": TypeAdapter(Pair),
    "machines": TypeAdapter(Machines),
    "listed": TypeAdapter(Listed),
    "scale": TypeAdapter(Leaf),
}


@with_config(_STRICT)
class _File(Certificate):
    """As it is read: the nodes of the proof are read one by one, since trees may be deep."""

    proof: Child  # type: ignore[misc]


ADAPTER: TypeAdapter[Any] = TypeAdapter(Certificate)
_FILE: TypeAdapter[Any] = TypeAdapter(_File)


def read_certificate(path: Path) -> dict[str, Any]:
    """Read a certificate, whose proof is not read yet (see `read_node`).

    Raises
    ------
    SolutionError
        naming file, field and value of what is malformed.
    """
    try:
        given = json.loads(read_given(path), parse_float=Decimal, parse_constant=Decimal)
    except OSError as error:
        raise SolutionError(f"{path}: cannot be read ({error.strerror}); give the path of a certificate.") from None
    except (ValueError, RecursionError) as error:
        raise SolutionError(f"{path.name}: no JSON ({error!s:.100}); give a certificate.") from None
    checked = _checked(_FILE, given, path.name)
    if checked["bound"] >= MOST_BOUND:
        raise SolutionError(f"{path.name}: bound: {checked['bound']!s:.60} is more than any solution costs; mend it.")
    return checked


def read_node(given: dict[str, Any], where: str) -> tuple[str, dict[str, Any]]:
    """Return the kind of a node, `pair`, `machines`, `listed` or `scale` (leaves), and the node. where : its path.

    Raises
    ------
    SolutionError
        naming the node and the field.
    """
    kind = next((key for key in _KINDS if key in given), "scale")
    return kind, _checked(_KINDS[kind], given, where)


def _checked(adapter: TypeAdapter[Any], given: Any, where: str) -> dict[str, Any]:
    try:
        checked: dict[str, Any] = adapter.validate_python(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or "the document"
        found = "" if isinstance(first["input"], dict | list) else f" (found {first['input']!r:.60})"
        raise SolutionError(f"{where}: {field}: {first['msg'].lower()}{found}; mend it.") from None
    return checked
