"""The methods that a harness can ask for: this package's by import, those of plug-ins by what they say of themselves.

A plug-in's code never runs in the harness, nor in any process that judges or records. A callable goes to the processes of the
runs by value where a fresh interpreter could not import it: lambdas, closures, functions of test modules. What it uses from
modules that can be imported goes by name, with the sys.path of here.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle

from schedgap.bench.isolation.pool import Pool
from schedgap.bench.plugins.discover import has_plugins, home_of, load_families, load_methods
from schedgap.bench.programs.program import Kind, Program, files_among, programs_among
from schedgap.bench.programs.run import find_player
from schedgap.bench.records.host import package_version
from schedgap.bench.records.runs import Scalar
from schedgap.instances.errors import MethodError
from schedgap.instances.family import find_family
from schedgap.instances.method import REGISTRY, Method, find_method, method, method_label, parse_method, runs_elsewhere


def load_catalogue(families: Sequence[str], plugins: Sequence[str | Program] = ()) -> None:
    """Have `REGISTRY` hold the methods of the families: this package's and the plug-ins'.

    plugins : paths of Python files, and programs.

    Raises
    ------
    MethodError
        if a plug-in cannot be imported, or a method is registered by the name of one of this package.
    """
    load_families()
    files, described = files_among(plugins), set()
    if has_plugins(files):
        # Its process starts while the methods of this package are imported here.
        with closing(Pool(map(home_of, families))) as pool:
            load_methods(families)
            methods = pool.describe(files)
        # A file that is written anew may register other names.
        for key in [key for key, method in REGISTRY.items() if method.plugin in files]:
            del REGISTRY[key]
        for method in methods:
            REGISTRY[method.family, method.name] = method
            described.add((method.family, method.name))
    else:
        load_methods(families)
    for family in families:
        for program in programs_among(plugins):
            known = REGISTRY.get((family, program.name))
            if (known is not None and known.is_shipped) or (family, program.name) in described:
                raise MethodError(
                    f"family {family} has a method '{program.name}' already; give the {program.kind} another name, by "
                    f"NAME={program.command[0]}."
                )
            if program.kind is Kind.POLICY:
                find_player(family)
            REGISTRY[family, program.name] = program.as_method(family)


def chosen_method(family: str, text: str) -> tuple[Method, dict[str, Scalar]]:
    """Return the method that `NAME[parameter=value,...]` means, and its parameters, checked.

    Raises
    ------
    MethodError
        naming the nearest methods, or the parameters that it has.
    """
    name, parameters = parse_method(text)
    method = find_method(family, name)
    chosen = method.checked(parameters)
    if "backend" in chosen:
        backend_version(str(chosen["backend"]))
    return method, chosen


def default_bound(family: str, instance: Any) -> str:
    """Return the name of the method that proves a bound where none was chosen.

    Raises
    ------
    MethodError
        if none of those known takes the instance.
    """
    for name in find_family(family).bound_methods:
        method = REGISTRY.get((family, name))
        if method is not None and method.supports(instance) is None:
            return name
    raise MethodError(
        f"no method of family {family} is known to prove a bound on {instance.name}; name one with --bound."
    )


def backend_version(name: str) -> str | None:
    """Return the version of the package behind a back end, without importing a solver."""
    backends = importlib.import_module("schedgap.formulations.backends.dispatch")
    return package_version(backends.find_backend(name).package)


_PLUGIN = "from schedgap.bench.catalogue import unpack\n\nunpack({path!r})\n"


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
