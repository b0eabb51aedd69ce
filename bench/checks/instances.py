"""Instances of a family to try a method on: small ones, and large ones for its time limit."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from schedgap.bench.source import Source
from schedgap.bench.suite import read_suite, shipped_suites
from schedgap.instances.errors import InstanceError
from schedgap.instances.family import find_family

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from schedgap.bench.records.runs import Scalar

# Generators and their parameters, ten and more times as large as by default; some seconds to make.
LARGE: Mapping[str, tuple[tuple[str, dict[str, Scalar]], ...]] = {
    "fairness": (
        ("random-users", {"users": 2_000, "machines": 2_000}),
        ("random-users", {"users": 2_000, "machines": 2_000, "resources": 1, "speeds": "machine"}),
    ),
    "harvest": (
        ("datacentre", {"vms": 200, "jobs": 1_000, "servers": 2_000}),
        ("quick", {"vms": 60, "jobs": 200, "grid_s": 300.0}),
    ),
    "provisioning": (
        ("alibaba-like", {"tasks": 60_000}),
        ("distinct", {"tasks": 3_000}),
        ("table7", {"tasks": 2_000, "interference": True}),
    ),
    "reconfiguration": (("alibaba-like", {"jobs": 60_000}),),
    "sharing": (("macro", {"jobs": 2_888}), ("random-jobs", {"jobs": 400})),
    "waiting": (
        ("bursty", {"jobs": 250_000, "wait_price": 0.001}),
        ("mms", {"jobs": 250_000, "max_wait_h": 0.0}),
        ("mms", {"jobs": 2_000, "arrival_rate": 0.01, "step_s": 60.0, "max_wait_h": 0.5}),
    ),
}


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
    if family not in LARGE:
        return default_instances(family)
    return [Source(family, "generator", name, parameters=given).build() for name, given in LARGE[family]]


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
