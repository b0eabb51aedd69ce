"""What the fields of a row may hold, by name: of another kind, a value would be computed with as what it is not.

Rows as this version writes them always fit. Figures that leave a file are floats, so that no number may be beyond them.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from schedgap.bench.records.measurement import Measurement
from schedgap.bench.records.runs import Run
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from collections.abc import Mapping

# Of numbers that are no times or objectives we know nothing, save that sums of squares of floats must be floats.
MOST = 10.0**100
WHOLE = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
REAL = Annotated[float, msgspec.Meta(ge=-MOST, le=MOST)]
SECONDS = Annotated[float, msgspec.Meta(ge=0.0, le=MOST)]
# Seconds and MiB.
_USED = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] | SECONDS
_BY_ANNOTATION: Mapping[object, Any] = {
    "str": str,
    "str | None": str | None,
    "bool": bool,
    "bool | None": bool | None,
    "int": WHOLE,
    # Objectives and bounds, which may have more than 64 bits: see `is_small`.
    "int | None": int | None,
    "float | None": _USED | None,
    "Status": Status,
    "Limits": dict[str, _USED | None],
    "Mapping[str, Scalar]": dict[str, bool | int | float | str],
    "Mapping[str, float]": dict[str, WHOLE | REAL],
    "tuple[str, ...]": tuple[str, ...],
    "tuple[tuple[float, int | None, int | None], ...]": tuple[tuple[_USED, WHOLE | None, WHOLE | None], ...],
}
KINDS: Mapping[str, Any] = {
    **{field.name: _BY_ANNOTATION[field.type] for field in (*fields(Run), *fields(Measurement))},
    **dict.fromkeys(("key", "host", "ended_at", "isolation"), str),
    # Methods of older versions could say there what they liked.
    "details": dict[str, bool | WHOLE | REAL | str | list[Any] | dict[str, Any] | None],
}


def checked(row: Mapping[str, Any]) -> None:
    """Raise `KeyError` or `ValueError`, which names the field, unless all fields hold what they may."""
    for name, kind in KINDS.items():
        try:
            msgspec.convert(row[name], kind)
        except msgspec.ValidationError as error:
            raise ValueError(f"{name} is {row[name]!r:.60}; {str(error).lower()}") from None
        if not is_small(row[name]):
            raise ValueError(f"{name} is {row[name]!r:.60}, a number beyond {MOST:g}")


def is_small(value: Any) -> bool:
    """Whether all numbers in a value are finite and at most `MOST`, whatever it is made of."""
    if isinstance(value, int | float):
        return -MOST <= value <= MOST
    if isinstance(value, dict):
        return all(map(is_small, value.values()))
    return not isinstance(value, list | tuple) or all(map(is_small, value))
