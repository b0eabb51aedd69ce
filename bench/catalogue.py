"""The methods that a harness can ask for: this package's by import, those of plug-ins by what they say of themselves.

A plug-in's code never runs in the harness, nor in any process that judges or records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.bench.executors.execute import Setting, start_pool
from schedgap.bench.plugins.discover import has_plugins, load_methods
from schedgap.instances.method import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Sequence


def load_catalogue(families: Sequence[str], plugins: Sequence[str] = ()) -> None:
    """Have `REGISTRY` hold the methods of the families: this package's and the plug-ins'.

    plugins : paths of Python files.

    Raises
    ------
    MethodError
        if a plug-in cannot be imported, or registers a method of this package's name.
    """
    if has_plugins(plugins):
        # Its process starts while the methods of this package are imported here.
        pool = start_pool(Setting(tuple(families), tuple(plugins), threads=1))
        load_methods(families)
        for method in pool.describe(tuple(plugins)):
            REGISTRY[method.family, method.name] = method
    else:
        load_methods(families)
