"""Instances of a family to try a method on: small ones, and large ones for its time limit."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from schedgap.bench.suites.shipped import shipped_suites
from schedgap.bench.suites.source import Source
from schedgap.bench.suites.suite import read_suite
from schedgap.instances.errors import InstanceError
from schedgap.instances.family import find_family

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def small_instances(family: str) -> list[Any]:
    """Return the instances of the shipped smoke suites of the family, and small versions of what its generators make.

    Raises
    ------
    InstanceError
        if there are none.
    """
    shrink = find_family(family).shrink
    made = list(_of_smoke_suites(family))
    if shrink is not None:
        made += [shrink(instance) for instance in default_instances(family)]
    if not made:
        raise InstanceError(f"family {family} has no small instances to check a method on; give some.")
    return _different(made)


def large_instances(family: str) -> list[Any]:
    """Return instances that hardly any method solves in a second, those of every kind that some methods insist on.

    Where nothing is known of the family, what its generators make by default.
    """
    large = find_family(family).large
    if not large:
        return default_instances(family)
    return [Source(family, "generator", name, parameters=given).build() for name, given in large]


def default_instances(family: str) -> list[Any]:
    """Return what the family's generators make by default, and with each switch turned; those that need no more."""
    made = []
    for name, maker in find_family(family).generators.items():
        parameters = list(inspect.signature(maker).parameters.values())
        if any(p.default is p.empty for p in parameters):
            continue
        switches = [{p.name: not p.default} for p in parameters if isinstance(p.default, bool)]
        made += [Source(family, "generator", name, parameters=given).build() for given in ({}, *switches)]
    return _different(made)


def _of_smoke_suites(family: str) -> Iterator[Any]:
    for name in shipped_suites():
        if "smoke" not in name:
            continue
        suite, folder = read_suite(name)
        if suite.family == family:
            for block in suite.instances:
                yield from (source.build() for source in suite.sources(block, None, folder))


def _different(instances: Iterable[Any]) -> list[Any]:
    found: dict[str, Any] = {}
    for instance in instances:
        found.setdefault(instance.digest, instance)
    return list(found.values())
