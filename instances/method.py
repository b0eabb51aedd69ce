"""The method contract: anything that maps an instance to an outcome, registered under a name.

    @method("my-scheduler", family="provisioning")
    def my_scheduler(instance):
        ...
        return solution

A method takes the instance and, by keyword and only if it names them, what the harness offers: `rng` (a seeded
`numpy.random.Generator`), `time_limit_s`, `threads`, and `found`: `found(solution, bound)`, or one of both by keyword,
tells what is best so far, which then outlives an end by force. Every other keyword is a parameter of the method and
needs a default. It returns a solution, an `Outcome`, or None for "found none".

Methods and parameters as text: `NAME[parameter=value,...]`.

Groups of options: dataclasses that functions take, and whose fields are the parameters that users see.

    @flattened()
    def method(instance, steps: int = 3, pool: PoolOptions = POOL): ...

has the parameters `steps`, `acquirer`, `scaling` and so on, with the values of `POOL` as defaults.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from importlib import import_module
from typing import Any, Protocol, TypeAlias

from schedgap.instances.errors import MethodError, SchedgapError, did_you_mean
from schedgap.instances.family import FAMILIES, is_own

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
        if name in choices and not _is_among(str(chosen[name]), choices[name]):
            near = did_you_mean(str(value), choices[name])
            said = f"method {method}: parameter '{name}' is one of {', '.join(choices[name])}, not '{value!s:.60}'"
            raise MethodError(f"{said}; {near.strip()}" if near else f"{said}.")
    return chosen


def _is_among(value: str, choices: tuple[str, ...]) -> bool:
    """Return whether a value is one of the choices; of one with a colon, such as `pulp:SOLVER`, the part before it counts."""
    return value in choices or any(":" in each and value.startswith(each[: each.index(":") + 1]) for each in choices)


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


NAME = r"^[a-z0-9]+(-[a-z0-9]+)*$"
OFFERED = ("rng", "time_limit_s", "threads", "found")


class Status(StrEnum):
    """How a run ended. The first five are a method's own word; the rest are the harness's."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    NO_SOLUTION = "no_solution"
    INFEASIBLE = "infeasible"
    UNSUPPORTED = "unsupported"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    CRASHED = "crashed"
    INVALID = "invalid"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Incumbent:
    """A point of a run's trajectory: what was known after `elapsed_s`, in the family's integer objective units."""

    elapsed_s: float
    objective: int | None
    bound: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a method found. Absence is None, never 0 and never "optimal" by default.

    bound : proven lower bound on the objective, in the family's integer units (micro-dollars per hour).
    status : the method's own claim; None lets `claimed_status` say FEASIBLE or NO_SOLUTION.
    build_s, solve_s, extract_s : seconds for building the model, solving it, reading the solution.
    details : facts worth a look (columns, iterations, nodes), JSON scalars only.
    certificate : `bound` and `proof` of a schedgap/certificate/1, as JSON has them; None for no proof to show.
    """

    solution: Any = None
    bound: int | None = None
    status: Status | None = None
    build_s: float | None = None
    solve_s: float | None = None
    extract_s: float | None = None
    trajectory: tuple[Incumbent, ...] = ()
    backend: str | None = None
    details: Mapping[str, Scalar] = field(default_factory=dict)
    certificate: Mapping[str, Any] | None = None

    @property
    def claimed_status(self) -> Status:
        """Return the status that the method claims, before anybody verified it."""
        if self.status is not None:
            return self.status
        return Status.NO_SOLUTION if self.solution is None else Status.FEASIBLE


class Found(Protocol):
    """What a method tells of before it is done, as often as it likes: the last solution and the highest bound count."""

    def __call__(self, solution: Any = None, bound: int | None = None) -> None:
        """Tell. solution : not to be changed any more. bound : proven, as in `Outcome`, by a method with `bounds`."""


def untold(solution: Any = None, bound: int | None = None) -> None:
    """Tell nobody, as outside of the harness."""


@dataclass(frozen=True, slots=True)
class Method:
    """A registered method.

    supports : returns None, or the reason why the method cannot take this instance (recorded, never silent).
    handles : features of instances (`Family.features`) that it takes into account, or it is not asked; bounds may do without.
    stochastic : the answer depends on `rng`.
    bounds : it returns proven bounds.
    exact : given time enough it proves optimality, so its bounds are proven too.
    choices : what text parameters may be; one that is not named here may be any text. Those of `backend` all solve the
    same model.
    twin : another method of the family, with the same parameters, that states the same model by other code; or None.
    later : parameters that it got when rows of it were kept already: where they have their defaults, rows and their keys do
    without them, and so stay what they were.
    wants : which of `OFFERED` the function takes.
    module, file : where it is defined; the file only of a plug-in's, whose module is not imported here.
    plugin : the plug-in file that registers it, itself or by a module beside it; None of all others.
    """

    name: str
    family: str
    version: int
    func: Callable[..., Any]
    parameters: Parameters
    supports: Callable[[Any], str | None]
    stochastic: bool
    bounds: bool
    exact: bool
    summary: str
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    handles: frozenset[str] = frozenset()
    twin: str | None = None
    later: frozenset[str] = frozenset()
    wants: tuple[str, ...] = ()
    module: str = ""
    file: str | None = None
    plugin: str | None = None

    @property
    def is_shipped(self) -> bool:
        """Whether the method is one of this package, or comes with its family's own code, and not of a plug-in."""
        return self.func is not runs_elsewhere and is_own(self.family, self.module)

    @property
    def takes_limit(self) -> bool:
        """Whether the method has a time limit to keep to."""
        return "time_limit_s" in self.wants

    def run(
        self,
        instance: Any,
        *,
        seed: int = 0,
        time_limit_s: float | None = None,
        threads: int = 1,
        parameters: Parameters | None = None,
        found: Found = untold,
    ) -> Outcome:
        """Call the method with what it asks for and return its outcome, unverified.

        Raises
        ------
        MethodError
            for a parameter that the method does not have, or a value that it does not take.
        """
        chosen = self.checked(parameters or {})
        if (reason := self.supports(instance)) is not None:
            return Outcome(status=Status.UNSUPPORTED, details={"reason": reason})
        offered: dict[str, Any] = {"time_limit_s": time_limit_s, "threads": threads, "found": found}
        keywords = {name: value for name, value in offered.items() if name in self.wants}
        if "rng" in self.wants:
            # NumPy takes as long to import as all else that `schedgap --help` needs.
            keywords["rng"] = import_module("numpy").random.default_rng(seed)
        answer = self.func(instance, **keywords, **chosen)
        return answer if isinstance(answer, Outcome) else Outcome(solution=answer)

    def checked(self, parameters: Parameters) -> dict[str, Scalar]:
        """Return `parameters`, converted to the types of their defaults, as `read_parameters` does."""
        return read_parameters(self.name, parameters, self.parameters, self.choices)

    def recorded(self, chosen: Parameters) -> dict[str, Scalar]:
        """Return the parameters that a row of a run says: those chosen and all defaults, but those of `later`."""
        full = {**self.parameters, **chosen}
        return {key: value for key, value in full.items() if key not in self.later or value != self.parameters[key]}


REGISTRY: dict[tuple[str, str], Method] = {}
# What the module of each function was loaded by.
_SPECS: dict[tuple[str, str], Any] = {}


def runs_elsewhere(instance: Any) -> Any:
    """Stand for the function of a plug-in's method where the plug-in itself is not imported.

    Raises
    ------
    MethodError
        always: only the processes of its runs may call it.
    """
    raise MethodError(f"a plug-in's method was called on {instance.name} in a process that does not import plug-ins.")


def registered_twice(family: str, name: str) -> MethodError:
    """Return the error for two methods of one name."""
    return MethodError(f"method {name} of family {family} is registered twice; rename one of them.")


def _anything(_: Any) -> str | None:
    return None


def method(
    name: str,
    *,
    family: str,
    version: int = 1,
    supports: Callable[[Any], str | None] = _anything,
    stochastic: bool = False,
    bounds: bool = False,
    exact: bool = False,
    choices: Mapping[str, Sequence[str]] | None = None,
    handles: Sequence[str] = (),
    twin: str | None = None,
    later: Sequence[str] = (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as a method of a family; the function itself is returned unchanged.

    Raises
    ------
    MethodError
        if the family already has a method of that name, unless its module is loaded again; for a parameter without a
        default, or with one that is none of its choices; for `*args` and `**kwargs`.
    """

    def register(func: Callable[..., Any]) -> Callable[..., Any]:
        if not re.fullmatch(NAME, name):
            raise MethodError(f"method name '{name}' is not kebab-case; write it like 'best-fit-decreasing'.")
        names = list(inspect.signature(func).parameters.values())[1:]
        wants = tuple(p.name for p in names if p.name in OFFERED)
        offered = {key: tuple(values) for key, values in (choices or {}).items()}
        parameters = declared(name, [p for p in names if p.name not in OFFERED], offered)
        known = REGISTRY.get((family, name))
        # A module that is loaded again has another spec, or, as a notebook, none.
        spec = getattr(sys.modules.get(func.__module__), "__spec__", None)
        if known is not None and (
            (known.func.__module__, known.func.__qualname__) != (func.__module__, func.__qualname__)
            or (known.func is not func and spec is not None and _SPECS.get((family, name)) is spec)
        ):
            raise registered_twice(family, name)
        _SPECS[family, name] = spec
        REGISTRY[family, name] = Method(
            name=name,
            family=family,
            version=version,
            func=func,
            parameters=parameters,
            supports=_handling(family, name, frozenset(handles), supports),
            stochastic=stochastic,
            bounds=bounds or exact,
            exact=exact,
            summary=(inspect.getdoc(func) or "").strip().split("\n")[0],
            choices=offered,
            handles=frozenset(handles),
            twin=twin,
            later=frozenset(later),
            wants=wants,
            module=str(getattr(func, "__module__", "")),
        )
        return func

    return register


def _handling(
    family: str, name: str, handles: frozenset[str], supports: Callable[[Any], str | None]
) -> Callable[[Any], str | None]:
    """Return `supports`, which also refuses an instance with features that the method does not handle."""

    def supported(instance: Any) -> str | None:
        features = FAMILIES[family].features if family in FAMILIES else None
        missing = sorted((features(instance) if features is not None else frozenset()) - handles)
        if missing:
            return (
                f"{instance.name} has {' and '.join(missing)}, which {name} does not take into account; "
                f"a method that does says so with handles={tuple(missing)}"
            )
        return supports(instance)

    return supported


def find_method(family: str, name: str) -> Method:
    """Return a registered method.

    Raises
    ------
    MethodError
        naming the nearest known methods.
    """
    if (family, name) not in REGISTRY:
        others = [f"did you mean {name} of family {key[0]}? " for key in REGISTRY if key[1] == name]
        hint = others[0] if others else did_you_mean(name, (key[1] for key in REGISTRY if key[0] == family))
        raise MethodError(
            f"family {family} has no method '{name}'; {hint}`schedgap list methods` names ours, `--plugin FILE` brings others."
        )
    return REGISTRY[family, name]


def flattened(without: Sequence[str] = ()) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replace each parameter whose default is a dataclass by its fields, in order, with that default's values.

    without : fields that keep their values and are no parameters.
    """

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        given = inspect.signature(func)
        groups: dict[str, Any] = {name: p.default for name, p in given.parameters.items() if is_dataclass(p.default)}
        names = {group: [f.name for f in fields(default) if f.name not in without] for group, default in groups.items()}
        shown: list[inspect.Parameter] = []
        for name, parameter in given.parameters.items():
            if name not in groups:
                shown.append(parameter)
                continue
            kinds = {f.name: f.type for f in fields(groups[name])}
            shown += [
                parameter.replace(name=key, default=getattr(groups[name], key), annotation=kinds[key])
                for key in names[name]
            ]
        signature = given.replace(parameters=shown)

        @functools.wraps(func)
        def ungrouped(*args: Any, **keywords: Any) -> Any:
            bound = signature.bind(*args, **keywords)
            bound.apply_defaults()
            values = dict(bound.arguments)
            for group, default in groups.items():
                values[group] = replace(default, **{key: values.pop(key) for key in names[group]})
            return func(**values)

        ungrouped.__signature__ = signature  # type: ignore[attr-defined]
        return ungrouped

    return decorate


def derived_seed(*parts: object) -> int:
    """Return a seed in [0, 2**63) hashed from the parts, e.g. (base seed, instance digest, repetition).

    It depends on what is compared, never on who is: two methods always see the same randomness.
    """
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1
