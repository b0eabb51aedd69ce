"""What plug-ins register, as text: their code runs in the processes of runs only, and the harness knows it by this."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import msgspec

from schedgap.bench.plugins.discover import forgotten_after, import_plugins
from schedgap.instances.errors import MethodError, SchedgapError
from schedgap.instances.family import find_family
from schedgap.instances.method import NAME, REGISTRY, Method, registered_twice, runs_elsewhere

if TYPE_CHECKING:
    from collections.abc import Sequence

Name = Annotated[str, msgspec.Meta(max_length=200)]
Text = Annotated[str, msgspec.Meta(max_length=5000)]
Scalar = bool | int | float | Name
# Fields of a method that are described as they are.
_SAME = ("name", "family", "version", "stochastic", "bounds", "exact", "module")


class _Method(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    name: Annotated[str, msgspec.Meta(max_length=200, pattern=NAME)]
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
    plugin: Text | None


class _Said(msgspec.Struct, forbid_unknown_fields=True):
    methods: list[_Method] = []
    problem: str | None = None


def described(plugins: Sequence[str]) -> bytes:
    """Import the plug-ins here and return what they register, of whatever family, or what is wrong with them."""
    shipped, found = set(REGISTRY), dict[tuple[str, str], _Method]()
    try:
        for plugin in (None, *dict.fromkeys(plugins)):
            known = dict(REGISTRY)
            with nullcontext() if plugin is None else forgotten_after(plugin):
                import_plugins(() if plugin is None else (plugin,))
                new = {key: method for key, method in REGISTRY.items() if known.get(key) is not method}
                for key, method in new.items():
                    each = _described(method, plugin)
                    if key in shipped or (key in found and found[key].file != each.file):
                        raise registered_twice(*key)
                    found[key] = each
            if plugin is not None and not new:
                raise MethodError(f"plug-in {plugin} registers no method; put @method(NAME, family=FAMILY) before one.")
    except SchedgapError as error:
        return _packed(_Said(problem=str(error)))
    return _packed(_Said(list(found.values())))


def _packed(said: _Said) -> bytes:
    """Return it as JSON, in which paths may have halves of surrogates, as a locale that knows ASCII alone makes them."""
    return json.dumps(msgspec.to_builtins(said)).encode()


def _described(method: Method, plugin: str | None) -> _Method:
    try:
        find_family(method.family)
    except SchedgapError as error:
        raise MethodError(
            f"{plugin or 'a plug-in'} registers method {method.name} of another family: {error}"
        ) from None
    return _Method(
        **{name: getattr(method, name) for name in _SAME},
        parameters=dict(method.parameters),
        summary=method.summary[:2000],
        choices={key: list(values) for key, values in method.choices.items()},
        wants=list(method.wants),
        file=getattr(sys.modules.get(method.module), "__file__", None),
        plugin=plugin,
    )


def methods_of(content: bytes) -> list[Method]:
    """Return the described methods, which only the processes of their runs can call.

    Raises
    ------
    MethodError
        if the plug-ins cannot be imported, or describe what is no method.
    """
    try:
        said = msgspec.convert(json.loads(content), _Said)
    except (ValueError, RecursionError) as error:
        raise MethodError(
            f"a plug-in registers what is no method ({error}); see `schedgap.instances.method`."
        ) from None
    if said.problem is not None:
        raise MethodError(said.problem)
    return [
        Method(
            **{name: getattr(each, name) for name in (*_SAME, "parameters", "summary", "file", "plugin")},
            func=runs_elsewhere,
            supports=_unknown,
            choices={key: tuple(values) for key, values in each.choices.items()},
            wants=tuple(each.wants),
        )
        for each in said.methods
    ]


def _unknown(_: object) -> str | None:
    """Only a run tells whether a plug-in's method takes an instance."""
    return None
