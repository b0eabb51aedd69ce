"""A callable on its way to the processes of the runs, which start from a fresh interpreter and load plug-in files only.

It goes by value where that interpreter could not import it: lambdas, closures, functions of test modules. What it uses
from modules that can be imported goes by name, with the sys.path of here.
"""

from __future__ import annotations

import inspect
import os
import pickle
import re
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cloudpickle

from schedgap.bench.plan import chosen_method
from schedgap.instances.errors import MethodError
from schedgap.instances.method import REGISTRY, Method, method, runs_elsewhere
from schedgap.instances.method_text import method_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType

_PLUGIN = "from schedgap.bench.transport import unpack\n\nunpack({path!r})\n"


@contextmanager
def transported(
    given: str | Callable[..., Any], family: str, folder: Path, by_value: Iterable[ModuleType] = ()
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Have a method registered here, and yield its label and the plug-in files that register it elsewhere.

    given : `NAME` or `NAME[parameter=value,...]` of a registered method, or a callable, registered or not: an
    unregistered one gets a name made of its own for as long as the context lasts. folder : for the files, and must live
    as long as runs are started. by_value : modules that processes of runs cannot or should not import.

    Raises
    ------
    MethodError
        if the method is unknown, takes other arguments than a method, or cannot be pickled.
    """
    if isinstance(given, str):
        chosen, parameters = chosen_method(family, given)
        yield method_label(chosen.name, parameters), _packed(chosen, folder, by_value)
        return
    known = [each for each in REGISTRY.values() if each.func is given and each.family == family]
    if known:
        if len(known) > 1:
            names = " and ".join(f"'{each.name}'" for each in known)
            raise MethodError(f"{given!r:.60} is registered as {names}; give one of the names.")
        yield known[0].name, _packed(known[0], folder, by_value)
        return
    chosen = _registered(given, family)
    try:
        yield chosen.name, _packed(chosen, folder, by_value)
    finally:
        del REGISTRY[family, chosen.name]


def unpack(path: str) -> None:
    """Register the method that a file holds, with the sys.path that it was written under.

    Raises
    ------
    MethodError
        if it cannot be rebuilt in this process.
    """
    content = pickle.loads(Path(path).read_bytes())
    sys.path[:] = [*content["sys_path"], *(entry for entry in sys.path if entry not in content["sys_path"])]
    try:
        chosen: Method = pickle.loads(content["method"])
    except Exception as error:
        raise MethodError(
            f"{content['name']} cannot be rebuilt in a process of its own ({type(error).__name__}: {error}); "
            "what it uses must be importable there, from an installed package or a folder on sys.path."
        ) from error
    REGISTRY[chosen.family, chosen.name] = chosen


def _registered(given: Callable[..., Any], family: str) -> Method:
    if not callable(given):
        raise MethodError(f"{given!r:.60} is no method; give a function from instance to solution, or a method's name.")
    try:
        wanted = inspect.signature(given).parameters
    except (TypeError, ValueError):
        raise MethodError(
            f"{given!r:.60} does not tell its arguments; wrap it in a function of one instance."
        ) from None
    base = _kebab(given)
    name, number = base, 1
    while (family, name) in REGISTRY:
        number += 1
        name = f"{base}-{number}"
    method(name, family=family, stochastic="rng" in wanted)(given)
    return REGISTRY[family, name]


def _kebab(given: Callable[..., Any]) -> str:
    """Return `best-fit` of `best_fit`, `BestFit` or a partial of either."""
    while isinstance(given, partial):
        given = given.func
    name = getattr(given, "__name__", type(given).__name__)
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()
    return re.sub(r"[^a-z0-9]+", "-", name).strip("-") or "method"


def _packed(chosen: Method, folder: Path, by_value: Iterable[ModuleType]) -> tuple[str, ...]:
    if chosen.is_shipped or chosen.func is runs_elsewhere:
        # The processes of runs have it anyway.
        return ()
    content = {
        "name": chosen.name,
        "sys_path": [os.path.abspath(entry) for entry in sys.path],
        "method": _pickled(chosen, by_value),
    }
    path = folder / f"{chosen.name}.pickle"
    path.write_bytes(pickle.dumps(content))
    plugin = folder / f"{chosen.name}.py"
    plugin.write_text(_PLUGIN.format(path=str(path)), encoding="utf-8")
    return (str(plugin),)


def _pickled(chosen: Method, by_value: Iterable[ModuleType]) -> bytes:
    known = cloudpickle.list_registry_pickle_by_value()
    added = [m for m in by_value if sys.modules.get(m.__name__) is m and m.__name__ not in known]
    for module in added:
        cloudpickle.register_pickle_by_value(module)
    try:
        content: bytes = cloudpickle.dumps(chosen)
        return content
    except Exception as error:
        raise MethodError(
            f"{chosen.name} cannot be sent to a process of its own ({type(error).__name__}: {error}); "
            "what it uses from around it must be picklable: build files, locks and the like inside of it."
        ) from error
    finally:
        for module in added:
            cloudpickle.unregister_pickle_by_value(module)
