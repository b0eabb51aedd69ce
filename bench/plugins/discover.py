"""Finding families and methods: the modules of this package, installed plug-ins, and plug-in files."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from contextlib import contextmanager, redirect_stdout
from functools import cache
from hashlib import sha256
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from schedgap.instances.errors import MethodError, SchedgapError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

GROUP = "schedgap.methods"
_FLOORS = ("schedgap.formulations", "schedgap.heuristics")


def load_families() -> None:
    """Import every family of problems, so that `FAMILIES` holds them all."""
    package = importlib.import_module("schedgap.instances")
    for module in pkgutil.iter_modules(package.__path__):
        if module.ispkg:
            importlib.import_module(f"schedgap.instances.{module.name}")


def load_methods(families: Iterable[str]) -> None:
    """Import every module of this package that may register a method of the families."""
    load_families()
    for family in families:
        for floor in _FLOORS:
            _import_all(f"{floor}.{family}")


def has_plugins(plugins: Iterable[str] = ()) -> bool:
    """Whether there are plug-ins: those installed, or these files."""
    return bool(tuple(plugins)) or bool(installed_plugins())


@cache
def installed_plugins() -> tuple[EntryPoint, ...]:
    """Return the entry points of installed plug-ins; looking through all packages takes as long as the quickest runs."""
    return tuple(entry_points(group=GROUP))


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
        line = error.lineno if isinstance(error, SyntaxError) else _line(error, path)
        raise MethodError(f"plug-in {path} line {line}: {type(error).__name__}: {error}.") from error


def _line(error: BaseException, path: Path) -> int | None:
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
