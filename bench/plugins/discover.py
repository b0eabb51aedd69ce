"""Finding families and methods: the modules of this package, installed plug-ins, and plug-in files.

What plug-ins register, as text: their code runs in the processes of runs only, and the harness knows it by this.

Families of problems that are defined outside of this package: a Python file, or what an installed package offers.

Their code is trusted as this package's own: the harness, the servers of runs and the judge import it. Plug-ins with methods
stay outside of all these.
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
from typing import Annotated, NamedTuple

import msgspec

from schedgap.bench.plugins.files import FAMILIES_GROUP, METHODS_GROUP, family_hash, line_in
from schedgap.instances.errors import InstanceError, MethodError, SchedgapError
from schedgap.instances.family import FAMILIES, Family, find_family
from schedgap.instances.method import NAME, REGISTRY, Method, registered_twice, runs_elsewhere


class Home(NamedTuple):
    """Where other processes find a family that is of no installed package. hash : of its code, as it is here."""

    family: str
    module: str
    file: str
    hash: str


def home_of(family: str) -> str | Home:
    """Return how another process finds a family: by its name where every process has it, else by its file.

    Raises
    ------
    InstanceError
        if it is unknown, or defined in no file.
    """
    module = find_family(family).instance.__module__
    if module.startswith("schedgap.") or family in {point.name for point in installed_families()}:
        return family
    file = getattr(sys.modules.get(module), "__file__", None)
    if module == "__main__" or file is None:
        raise InstanceError(
            f"family {family} is defined in {module}, which other processes cannot import; put it into a file of its own, "
            "and import that, or name it by --family."
        )
    code = family_hash(family)
    assert code is not None
    return Home(family, module, str(Path(file).resolve()), code)


@cache
def installed_families() -> tuple[EntryPoint, ...]:
    """Return the entry points of installed packages that offer families; each is named as its family."""
    return tuple(entry_points(group=FAMILIES_GROUP))


def load_installed_families() -> None:
    """Import the families of installed packages.

    Raises
    ------
    InstanceError
        for one that cannot be imported, or is none of the name that it is offered by.
    """
    for point in installed_families():
        if point.name not in FAMILIES:
            with _about(f"family {point.name} ({point.value})"):
                point.load()
        if point.name not in FAMILIES:
            raise InstanceError(
                f"{point.value} registers no family '{point.name}'; name the entry point as the family."
            )


def load_family(path: str | Path) -> Family:
    """Import a file that registers a family, as the module of its stem, and return the family.

    Raises
    ------
    InstanceError
        if it is no Python file, cannot be imported, or registers none or several.
    """
    file = Path(path).resolve()
    if file.suffix != ".py" or not file.is_file():
        raise InstanceError(f"--family: {path} is no Python file; give the path of one that registers a family.")
    module = file.parent.name if file.stem == "__init__" else file.stem
    _import(module, file)
    found = [family for family in FAMILIES.values() if family.instance.__module__.split(".")[0] == module]
    if len(found) != 1:
        names = ", ".join(family.name for family in found) or "none"
        raise InstanceError(
            f"{path} registers {len(found)} families ({names}); register one by register_family(Family(...))."
        )
    # Of the file as it was imported, whatever becomes of it.
    family_hash(found[0].name)
    return found[0]


def load_homes(families: Iterable[str | Home]) -> None:
    """Import the families that another process has imported from files.

    Raises
    ------
    InstanceError
        if the code of one is another than there.
    """
    for home in families:
        if isinstance(home, Home):
            if home.family not in FAMILIES:
                _import(home.module, Path(home.file))
            if family_hash(home.family) != home.hash:
                raise InstanceError(f"{home.file} was changed meanwhile; run again. What was recorded before stays.")


def _import(module: str, file: Path) -> None:
    """Import a module that this file is; files beside it can be imported from then on."""
    root = file.parents[module.count(".") + (file.stem == "__init__")]
    if str(root) not in sys.path:
        sys.path.append(str(root))
    with _about(str(file), file):
        found = importlib.import_module(module)
    other = getattr(found, "__file__", None)
    if other is None or Path(other).resolve() != file:
        raise InstanceError(f"{file}: there is another module '{module}' ({other or 'built in'}); rename the file.")


@contextmanager
def _about(what: str, file: Path | None = None) -> Iterator[None]:
    """Say of whatever an import raises what was imported; what it prints goes to stderr."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except SchedgapError:
        raise
    except (Exception, SystemExit) as error:
        where = what if file is None else f"{what} line {line_in(error, file)}"
        raise InstanceError(f"{where} cannot be imported: {type(error).__name__}: {error}; mend it.") from error


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
