"""What the compiled rules read and change: types, nodes (machines that there are), tasks, and Karpenter's claims.

Letters used for shapes: K machine types, F machine families, R resources, C task classes, T tasks, M rows of nodes, L classes
of which only so many tasks may share a machine.

Which resources of an instance are what the rules know by name: CPU, memory, GPUs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

GONE = -1


class Catalogue(NamedTuple):
    """What can be rented, all int64.

    demand : (F, C, R), -1 where a class may not run. type2family : (K,). capacity : (K, R). price : (K,).
    rising : (K,) types by price. stock : (K,) machines of each that can still be had; kernels change it.
    pool : (F,) the NodePool of each family, ascending from 0 in the order in which pools are tried.
    widest : types that can be had and that no other of their family contains, family after family; those of f are
    widest[widest_start[f]:widest_start[f + 1]]. What fits some type that can be had fits one of them.
    slot : (C,) the place in `held` of each class of which only so many tasks may share a machine, -1 for the others.
    most : (C,) so many.
    spot : (K,) bool, whether machines of a type are spare capacity.
    """

    demand: Any
    type2family: Any
    capacity: Any
    price: Any
    rising: Any
    stock: Any
    pool: Any
    widest: Any
    widest_start: Any
    slot: Any
    most: Any
    spot: Any


class Nodes(NamedTuple):
    """Nodes in the order in which they are tried, int64.

    machine_type : (M,) `GONE` for none. left : (M, R). low : (C,) no node before has room for one more task of a class:
    nodes only fill up, and new ones come last. held : (M, L) int32, tasks of each class that has a slot. starting : (M,) bool,
    whether a node has not started yet. disruption : (M,) what it counts as disruption that a node goes, 0 of new ones.
    """

    machine_type: Any
    left: Any
    low: Any
    held: Any
    starting: Any
    disruption: Any


class Tasks(NamedTuple):
    """Tasks and where they are, all int64.

    task2class : (T,). queue : (T,) tasks in the order in which they are placed. rank : (T,) its inverse.
    place : (T,) node of each task, -1 while it waits. home : (T,) node that it ran on at first, -1 for none.
    weight : (C,) what it counts as disruption that a task of the class leaves its home.
    """

    task2class: Any
    queue: Any
    rank: Any
    place: Any
    home: Any
    weight: Any


class Claims(NamedTuple):
    """Machines that Karpenter is about to launch: of each, the types that still hold its tasks are what the sums admit.

    used : (N, F, R) int64, summed demand on each family. is_open : (N, F) bool, whether some type of the family holds it.
    count : (N,) int64 tasks. order : (N,) int64, claims by rising count; those with n tasks are order[start[n]:start[n + 1]].
    start : (N + 2,) int64. held : (N, L) int32, as of nodes.
    """

    used: Any
    is_open: Any
    count: Any
    order: Any
    start: Any
    held: Any


_MIB = 2**20


def role(resources: Sequence[str], what: str) -> int:
    """Return the index of the `cpu`, of the `memory` (the first name that begins so, or with `ram`), or of the `gpu`; or -1."""
    tests = {
        "cpu": lambda name: name == "cpu",
        "memory": lambda name: name.startswith(("ram", "memory")),
        "gpu": lambda name: name == "gpu" or name.endswith("/gpu"),
    }
    return next((r for r, name in enumerate(resources) if tests[what](name)), -1)


def mebibytes(resource: str, number: int) -> int:
    """Return so many MiB in the unit of a resource of memory, 0 where its name does not say the unit."""
    units = {"_gib": _MIB, "_mib": _MIB, "_kib": 1024, "_bytes": 1}
    return next((number * _MIB // unit for ending, unit in units.items() if resource.endswith(ending)), 0)
