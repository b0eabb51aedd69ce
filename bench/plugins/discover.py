"""Finding families and methods: the modules of this package, installed plug-ins, and plug-in files.

What plug-ins register, as text: their code runs in the processes of runs only, and the harness knows it by this.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from functools import cache
from hashlib import sha256
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Annotated

import msgspec

from schedgap.bench.plugins.families import Home, load_homes, load_installed_families
from schedgap.bench.plugins.files import METHODS_GROUP, line_in
from schedgap.instances.errors import MethodError, SchedgapError
from schedgap.instances.family import find_family
from schedgap.instances.method import NAME, REGISTRY, Method, registered_twice, runs_elsewhere

_FLOORS = ("schedgap.formulations", "schedgap.heuristics")


def load_families() -> None:
    """Import every family of problems, so that `FAMILIES` holds them all: this package's, and those that are installed."""
    package = importlib.import_module("schedgap.instances")
    for module in pkgutil.iter_modules(package.__path__):
        if module.ispkg:
            importlib.import_module(f"schedgap.instances.{module.name}")
    load_installed_families()


def load_methods(families: Iterable[str | Home]) -> None:
    """Import every module of this package that may register a method of the families, and families of elsewhere."""
    load_families()
    families = tuple(families)
    load_homes(families)
    for family in families:
        if isinstance(family, str):
            for floor in _FLOORS:
                _import_all(f"{floor}.{family}")


def has_plugins(plugins: Iterable[str] = ()) -> bool:
    """Whether there are plug-ins: those installed, or these files."""
    return bool(tuple(plugins)) or bool(installed_plugins())


@cache
def installed_plugins() -> tuple[EntryPoint, ...]:
    """Return the entry points of installed plug-ins; looking through all packages takes as long as the quickest runs."""
    return tuple(entry_points(group=METHODS_GROUP))


def import_plugins(plugins: Iterable[str]) -> None:
    """Import the plug-ins that are installed and these files, for the process of a run only: their code is not ours.

    What they print on import goes to stderr.

    Raises
    ------
    MethodError
        if a plug-in cannot be imported.
    """
    with redirect_stdout(sys.stderr):
        for point in installed_plugins():
            try:
                point.load()
            except SchedgapError:
                raise
            except Exception as error:
                raise MethodError(
                    f"plug-in {point.name} ({point.value}) cannot be loaded: {error!r}; mend or uninstall it."
                ) from error
        for plugin in plugins:
            _load_file(Path(plugin))


@contextmanager
def forgotten_after(plugin: str) -> Iterator[None]:
    """Forget at the end what was imported from a plug-in's folder: a file beside another plug-in may have the same name.

    Modules from elsewhere stay, those of a virtual environment below the folder too: not all can be imported twice.
    """
    folder, loaded, path = Path(plugin).resolve().parent, set(sys.modules), list(sys.path)
    try:
        yield
    finally:
        new = {name: sys.modules.get(name.partition(".")[0]) for name in set(sys.modules) - loaded}
        for name, top in new.items():
            places = getattr(top, "__path__", None) or (getattr(top, "__file__", None),)
            if any(place is not None and Path(place).parent == folder for place in places):
                del sys.modules[name]
        sys.path[:] = path


def _import_all(name: str) -> None:
    if importlib.util.find_spec(name) is None:
        return
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, f"{name}."):
        importlib.import_module(module.name)


def _load_file(path: Path) -> None:
    path = path.resolve()
    if not path.is_file():
        raise MethodError(f"plug-in {path} is no file; give the path of a Python file.")
    # Where the locale knows ASCII alone, other letters of a path are halves of surrogates.
    spelt = str(path).encode("utf-8", "surrogateescape")
    stem = path.stem.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    name = f"schedgap_plugin_{stem}_{sha256(spelt).hexdigest()[:8]}"
    if name in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise MethodError(f"plug-in {path} is no Python file; its name must end in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    # A plug-in may import the files beside it.
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        # Ctrl-C is no fault of the plug-in.
        if isinstance(error, SchedgapError) or not isinstance(error, Exception | SystemExit):
            raise
        raise MethodError(f"plug-in {path} line {line_in(error, path)}: {type(error).__name__}: {error}.") from error


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
