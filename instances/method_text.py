"""Methods and parameters as text: `NAME[parameter=value,...]`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from schedgap.instances.errors import MethodError, SchedgapError, did_you_mean

if TYPE_CHECKING:
    import inspect

Scalar: TypeAlias = bool | int | float | str
Parameters: TypeAlias = Mapping[str, Scalar]
# How messages call the types that a parameter may have.
VALUE_KINDS: Mapping[type, str] = {bool: "true or false", int: "a whole number", float: "a finite number", str: "text"}


def parse_method(text: str) -> tuple[str, dict[str, Scalar]]:
    """Split `name[key=value,key=value]` into the name and its parameters.

    Raises
    ------
    MethodError
        if the text has another form.
    """
    match = re.fullmatch(r"([a-z0-9-]+)(?:\[(.*)\])?", text.strip())
    if match is None:
        raise MethodError(f"'{text}' is not a method; write NAME or NAME[parameter=value,...].")
    parameters: dict[str, Scalar] = {}
    for item in filter(None, (match[2] or "").split(",")):
        key, separator, value = item.partition("=")
        if not separator:
            raise MethodError(f"'{item}' in '{text}' is not parameter=value.")
        parameters[key.strip()] = value.strip()
    return match[1], parameters


def declared(
    name: str, given: Sequence[inspect.Parameter], choices: Mapping[str, tuple[str, ...]]
) -> dict[str, Scalar]:
    """Return the parameters of a method's function with their defaults.

    Raises
    ------
    MethodError
        for `*args` and `**kwargs`, a parameter without a default, and choices that do not fit.
    """
    for each in given:
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            raise MethodError(f"method {name}: {each} names no parameter; name each one, with a default.")
        if each.default is each.empty:
            raise MethodError(f"method {name}: parameter '{each.name}' has no default; give it one.")
    parameters = {each.name: each.default for each in given}
    for key, values in choices.items():
        if key not in parameters:
            raise MethodError(f"method {name}: choices for '{key}', which is no parameter of it.")
        if parameters[key] not in values:
            raise MethodError(
                f"method {name}: the default '{parameters[key]}' of '{key}' is none of {', '.join(values)}."
            )
    return parameters


def read_parameters(
    method: str, given: Parameters, defaults: Parameters, choices: Mapping[str, tuple[str, ...]]
) -> dict[str, Scalar]:
    """Return the parameters that are given to a method, in the types of their defaults.

    Raises
    ------
    MethodError
        for an unknown name, a value of another type, or none of the choices.
    """
    chosen: dict[str, Scalar] = {}
    for name, value in given.items():
        if name not in defaults:
            near, known = did_you_mean(name, defaults), ", ".join(defaults) or "none"
            raise MethodError(f"method {method} has no parameter '{name}'; {near}it has: {known}.")
        chosen[name] = read_value(f"method {method}", name, value, defaults[name], MethodError)
        if name in choices and chosen[name] not in choices[name]:
            near = did_you_mean(str(value), choices[name])
            said = f"method {method}: parameter '{name}' is one of {', '.join(choices[name])}, not '{value!s:.60}'"
            raise MethodError(f"{said}; {near.strip()}" if near else f"{said}.")
    return chosen


def spelled(parameters: Parameters) -> dict[str, str]:
    """Return parameters in one spelling: `60`, `60.0` and the text of either are the same, and so are true and True."""
    texts = {}
    for key, value in parameters.items():
        try:
            texts[key] = str(value).lower() if isinstance(value, bool) else str(float(value))
        except ValueError:
            texts[key] = str(value).lower()
    return texts


def method_label(name: str, parameters: Parameters) -> str:
    """Return the name with its parameters in sorted order: the inverse of `parse_method`."""
    inner = ",".join(f"{key}={parameters[key]}" for key in sorted(parameters))
    return f"{name}[{inner}]" if inner else name


def read_value(what: str, name: str, value: object, default: object, error: type[SchedgapError]) -> Scalar:
    """Return the value of a parameter in the type of its default. what : whose parameter it is, for messages.

    Raises
    ------
    SchedgapError
        the one given, for a value of another type, or a number that is not finite.
    """
    try:
        if isinstance(default, bool):
            return {"true": True, "false": False}[str(value).lower()]
        given = type(default)(str(value)) if isinstance(default, int | float) else str(value)
        # A row of the journal is JSON, which has no other numbers.
        if isinstance(given, float) and not math.isfinite(given):
            raise ValueError
        return given
    except (KeyError, ValueError):
        kind = VALUE_KINDS[type(default)]
        raise error(f"{what}: parameter '{name}' takes {kind}, not '{value!s:.60}'.") from None
