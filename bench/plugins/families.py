"""Families of problems that are defined outside of this package: a Python file, or what an installed package offers.

Their code is trusted as this package's own: the harness, the servers of runs and the judge import it. Plug-ins with methods
stay outside of all these.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import NamedTuple

from schedgap.bench.plugins.files import FAMILIES_GROUP, family_hash, line_in
from schedgap.instances.errors import InstanceError, SchedgapError
from schedgap.instances.family import FAMILIES, Family, find_family


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
