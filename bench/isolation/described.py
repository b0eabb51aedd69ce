"""What plug-ins register, as text: their code runs in the processes of runs only, and the harness knows it by this."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import msgspec

from schedgap.bench.discover import import_plugins
from schedgap.instances.errors import MethodError, SchedgapError
from schedgap.instances.method import REGISTRY, Method, runs_elsewhere

if TYPE_CHECKING:
    from collections.abc import Sequence

Name = Annotated[str, msgspec.Meta(max_length=200)]
Text = Annotated[str, msgspec.Meta(max_length=5000)]
Scalar = bool | int | float | Name


class _Method(msgspec.Struct, forbid_unknown_fields=True):
    name: Annotated[str, msgspec.Meta(max_length=200, pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    family: Name
    version: int
    parameters: dict[Name, Scalar]
    stochastic: bool
    bounds: bool
    exact: bool
    summary: Annotated[str, msgspec.Meta(max_length=2000)]
    choices: dict[Name, list[Name]]
    wants: list[Name]
    module: Text
    file: Text | None


class _Said(msgspec.Struct, forbid_unknown_fields=True):
    methods: list[_Method] = []
    problem: str | None = None


def described(families: Sequence[str], plugins: Sequence[str]) -> bytes:
    """Import the plug-ins here and return what they register for the families, or what is wrong with them."""
    known = set(REGISTRY)
    try:
        import_plugins(plugins)
    except SchedgapError as error:
        return msgspec.json.encode(_Said(problem=str(error)))
    methods = [
        _Method(
            method.name,
            method.family,
            method.version,
            dict(method.parameters),
            method.stochastic,
            method.bounds,
            method.exact,
            method.summary[:2000],
            {key: list(values) for key, values in method.choices.items()},
            list(method.wants),
            method.module,
            getattr(sys.modules.get(method.module), "__file__", None),
        )
        for key, method in REGISTRY.items()
        if key not in known and method.family in families
    ]
    return msgspec.json.encode(_Said(methods))


def methods_of(content: bytes) -> list[Method]:
    """Return the described methods, which only the processes of their runs can call.

    Raises
    ------
    MethodError
        if the plug-ins cannot be imported, or describe what is no method.
    """
    try:
        said = msgspec.json.decode(content, type=_Said)
    except msgspec.MsgspecError as error:
        raise MethodError(
            f"a plug-in registers what is no method ({error}); see `schedgap.instances.method`."
        ) from None
    if said.problem is not None:
        raise MethodError(said.problem)
    return [
        Method(
            name=each.name,
            family=each.family,
            version=each.version,
            func=runs_elsewhere,
            parameters=each.parameters,
            supports=_unknown,
            stochastic=each.stochastic,
            bounds=each.bounds,
            exact=each.exact,
            summary=each.summary,
            choices={key: tuple(values) for key, values in each.choices.items()},
            wants=tuple(each.wants),
            module=each.module,
            file=each.file,
        )
        for each in said.methods
    ]


def _unknown(_: object) -> str | None:
    """Only a run tells whether a plug-in's method takes an instance."""
    return None
