"""What the packing loops read and write: arrays by name, as compiled code takes them."""

from __future__ import annotations

from typing import Any, NamedTuple


class Query(NamedTuple):
    """Work arrays of a query and what is left of the machine being filled.

    left : (R,) like the points. scale : (2, R) float64, the capacity C, and left / C, 0 without capacity.
    weight : (2, R) float32, left / C**2; the second row is work. keys : (H, 16) int32, values : (H, 16) float32 on the same
    memory, path : (H,) int64: work.
    """

    left: Any
    scale: Any
    weight: Any
    keys: Any
    values: Any
    path: Any


class Types(NamedTuple):
    """Machine types. group : (K,) their families; equal ones are one. capacity : (K, R) like the points.

    price : (K,) int64, what a machine's tasks have to be worth. falling : (K,) types by hourly price, rising : by `price`,
    both in list order on ties.
    """

    group: Any
    capacity: Any
    price: Any
    falling: Any
    rising: Any


class Classes(NamedTuple):
    """Task classes. demand : (G, C, R) like the points, -1 where a class can run on no type of the group.

    kind : (C,) int32; value : (L,) int64, reservation price of each kind, falling. kind_start : (L + 1,) int64, kind_classes :
    (C,) int32, the classes by kind. counts : (C,) int64, tasks left. members : (T,) int32, tasks by class. cursor : (C,) int64,
    next task of each class in `members`. head : (C,) int64, that task. place : (G, C) int32, place among the leaves of its
    kind. rank : (G, C) int32, see `Tree.ranks`. most : (C,) int64, so many tasks may share a machine.
    """

    demand: Any
    kind: Any
    value: Any
    kind_start: Any
    kind_classes: Any
    counts: Any
    members: Any
    cursor: Any
    head: Any
    place: Any
    rank: Any
    most: Any


class Plan(NamedTuple):
    """What was decided, in groups of equal machines, as in `Provisioning`; room for one group and entry a task.

    size : (3,) int64, groups, entries and machines so far. entry : (C,) int64, where a class was last entered.
    """

    machine_type: Any
    repeat: Any
    indptr: Any
    task_class: Any
    count: Any
    task2machine: Any
    size: Any
    entry: Any
