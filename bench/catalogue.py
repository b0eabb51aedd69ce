"""The methods that a harness can ask for: this package's by import, those of plug-ins by what they say of themselves.

A plug-in's code never runs in the harness, nor in any process that judges or records.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from schedgap.bench.isolation.pool import Pool
from schedgap.bench.plugins.discover import has_plugins, load_methods
from schedgap.bench.programs.policies import find_player
from schedgap.bench.programs.program import Kind, Program, files_among, programs_among
from schedgap.instances.errors import MethodError
from schedgap.instances.method import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Sequence


def load_catalogue(families: Sequence[str], plugins: Sequence[str | Program] = ()) -> None:
    """Have `REGISTRY` hold the methods of the families: this package's and the plug-ins'.

    plugins : paths of Python files, and programs.

    Raises
    ------
    MethodError
        if a plug-in cannot be imported, or a method is registered by the name of one of this package.
    """
    files, described = files_among(plugins), set()
    if has_plugins(files):
        # Its process starts while the methods of this package are imported here.
        with closing(Pool(families)) as pool:
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
