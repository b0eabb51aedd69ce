"""Machines and tasks as tables of one's own: CSV files with a column for each resource; see docs/kubernetes.md."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from schedgap.instances.csv_table import read_rows, whole_number
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.model import NOT_ALLOWED, ProvisioningInstance
from schedgap.instances.provisioning.readers.catalogues import Catalogue, MachineType, read_catalogue
from schedgap.instances.provisioning.readers.catalogues.catalogue import ON_DEMAND, SPOT, least, spot_note
from schedgap.instances.provisioning.readers.catalogues.plain import row_amounts, row_name
from schedgap.instances.provisioning.readers.quantities import (
    CPU,
    MEMORY_UNITS,
    PODS,
    RAM,
    UNLIMITED,
    column_resource,
    in_units,
    listed,
    micro_dollars,
    rounding_note,
    unique_names,
)
from schedgap.instances.provisioning.running import Running

TASK_COLUMNS = ("name", "count", "families", "machine")
ALL = "all"


def csv_tables(
    *paths: Path | str, machines: str = "", tasks: str = "", running: str = "", prices: str = "", region: str = ""
) -> ProvisioningInstance:
    """Read machine types, tasks, and machines that run already.

    machines : a price list that `read_catalogue` knows, with prices and region as it takes them; or the only path. A machine
        costs its least on-demand price, or spot price where it has no other.
    tasks : `name`, a column for each resource, and optional `count`, `families` (those that it may run on, space between),
        `machine` (the running one that it is on); rows of one name are one class.
    running : `name,type` of machines that run already.

    Raises
    ------
    InstanceError
        naming file, line and column of what is malformed.
    """
    given = [*paths, *[machines] * bool(machines)]
    if len(given) != 1 or not tasks:
        raise InstanceError("give one table of machines, in the parameter `machines`, and one of tasks, in `tasks`.")
    catalogue = read_catalogue(given[0], prices=prices, region=region)
    types = catalogue.types
    families = tuple(dict.fromkeys(kind.family or ALL for kind in types))
    nodes = _running(Path(running), types) if running else {}
    table = _Tasks(Path(tasks), types, families, nodes)
    capacities = [{PODS: UNLIMITED} | kind.usable() for kind in types]
    own = table.overfull(nodes, capacities)
    names, demands, sizes = in_units(table.resources, table.demands, [*capacities, *own.values()], table.shown)
    exact, counts = zip(*map(_price, types), strict=True)
    # What has nothing that tasks ask for is no machine, save where it runs.
    kept = [k for k, size in enumerate(sizes[: len(types)]) if any(size) or k in nodes.values()] or [0]
    idle = [kind.name for k, kind in enumerate(types) if k not in set(kept)]
    used = list(dict.fromkeys(families.index(types[k].family or ALL) for k in kept))
    families = tuple(families[f] for f in used)
    # Overfull machines are types of their own behind the list's, each one of those that its line has.
    line = [*kept, *(nodes[name] for name in own)]
    overfull = Counter(line[len(kept) :])
    stock = [counts[k] if counts[k] < 0 else max(0, counts[k] - overfull[k]) for k in kept] + [1] * len(own)
    type_names = [types[k].name for k in kept] + [f"{types[nodes[name]].name} ({name})" for name in own]
    place = {k: number for number, k in enumerate(kept)}
    nodes = {name: place[k] for name, k in nodes.items()} | {name: k for k, name in enumerate(own, len(kept))}
    fees = [micro_dollars(types[k].fee or Fraction(0)) for k in line]
    return ProvisioningInstance(
        name=Path(tasks).stem[:100] or "tasks",
        resources=names,
        families=families,
        type_names=tuple(unique_names(type_names)),
        type2family=np.array([families.index(types[k].family or ALL) for k in line]),
        capacity=np.array([*(sizes[k] for k in kept), *sizes[len(types) :]]),
        price=np.array([micro_dollars(exact[k]) for k in line]),
        demand=np.where(np.array(table.allowed).T[used][:, :, None], np.array(demands)[None], NOT_ALLOWED),
        counts=np.array(table.counts),
        class_names=tuple(table.names),
        stock=np.array(stock) if max(stock) >= 0 else None,
        fee=np.array(fees) if any(fees) else None,
        running=table.running(nodes) if running else None,
        notes=(*catalogue.notes, *_said(types, catalogue, idle), *table.notes, *rounding_note(exact)),
    )


def _said(types: tuple[MachineType, ...], catalogue: Catalogue, idle: Sequence[str]) -> tuple[str, ...]:
    """Return what there is to say of types: prices that are of spare capacity, and sizes that are not there."""
    stated = {name for name in (CPU, RAM) if catalogue.states(name)}
    bare = [kind.name for kind in types if not stated <= kind.capacity.keys()]
    nothing = (f"The price list has no cpu or no memory of these, which count as having none: {listed(bare)}.",)
    left_out = (f"Left out, as they have nothing that tasks ask for: {listed(idle)}.",) if idle else ()
    return (
        *left_out,
        *spot_note([kind.name for kind in types if not kind.offers(ON_DEMAND)]),
        *(nothing if bare else ()),
    )


def _price(kind: MachineType) -> tuple[Fraction, int]:
    """Return the price of a type, with the fee, and how many there are."""
    places = list(kind.places(ON_DEMAND, ())) or list(kind.places(SPOT, ()))
    if not places:
        raise InstanceError(f"machine type {kind.name:.60} has neither an on-demand nor a spot price; give one.")
    if len(places) > 1:
        raise InstanceError(
            f"machine type {kind.name:.60} has only so many machines for one of several prices; make a type of each."
        )
    price, count = least(places[0][1])
    return price + (kind.fee or 0), count


def _running(path: Path, types: tuple[MachineType, ...]) -> dict[str, int]:
    """Return the type of each running machine, by its name."""
    index = {kind.name: k for k, kind in enumerate(types)}
    nodes: dict[str, int] = {}
    for line, row in read_rows(path, ("name", "type"), "table of running machines"):
        name, kind = row_name(path, line, row), row["type"].strip()
        if kind not in index:
            raise InstanceError(f"{path.name} line {line}: type is '{kind:.60}', which no machine has; add it there.")
        if name in nodes:
            raise InstanceError(f"{path.name} line {line}: machine {name:.60} is there twice; remove one.")
        nodes[name] = index[kind]
    return nodes


class _Tasks:
    """Task classes in the order of their first rows; `content` is how many of each are on which running machine."""

    def __init__(
        self, path: Path, types: tuple[MachineType, ...], families: tuple[str, ...], nodes: dict[str, int]
    ) -> None:
        self.names: list[str] = []
        self.counts: list[int] = []
        self.demands: list[dict[str, int]] = []
        self.allowed: list[list[bool]] = []
        self.content: dict[str, dict[int, int]] = {name: {} for name in nodes}
        self.resources: list[str] = []
        self.shown: dict[str, str] = {}
        self.notes: tuple[str, ...] = ()
        known = {resource for kind in types for resource in kind.capacity}
        index: dict[str, int] = {}
        rounded = 0
        for line, row in read_rows(path, ("name",), "table of tasks"):
            if not self.resources:
                self._take_columns(path, row, known)
            name = row_name(path, line, row)
            demand, inexact = row_amounts(path, line, row, TASK_COLUMNS, math.ceil)
            rounded += inexact
            allowed = self._families(path, line, row, families)
            c = index.setdefault(name, len(index))
            if c == len(self.names):
                self.names.append(name)
                self.counts.append(0)
                self.demands.append(demand)
                self.allowed.append(allowed)
            elif (self.demands[c], self.allowed[c]) != (demand, allowed):
                raise InstanceError(f"{path.name} line {line}: task {name:.60} was another one above; rename it.")
            count = whole_number(path, line, "count", row["count"]) if row.get("count", "").strip() else 1
            self.counts[c] += count
            machine = row.get("machine", "").strip()
            if machine:
                if machine not in nodes:
                    raise InstanceError(
                        f"{path.name} line {line}: machine is '{machine:.60}', which is not among the running ones; "
                        "give them in `running`."
                    )
                self.content[machine][c] = self.content[machine].get(c, 0) + count
        if not self.names:
            raise InstanceError(f"{path.name}: no tasks after the header; the table is empty.")
        if rounded:
            self.notes += (f"{path.name}: {rounded} demands are no whole bytes or thousandths and were rounded up.",)

    def _take_columns(self, path: Path, row: dict[str, str], known: set[str]) -> None:
        columns = {column_resource(column)[0]: column for column in row if column not in TASK_COLUMNS}
        unknown = [column for resource, column in columns.items() if resource not in known | {PODS}]
        if unknown or not columns:
            found = (
                f"column '{unknown[0]:.60}' is no resource of the machines" if unknown else "no column is a resource"
            )
            raise InstanceError(f"{path.name} line 1: {found}; they have {listed(sorted(known | {PODS}), 20)}.")
        self.resources = list(columns)
        self.shown = {
            resource: column for resource, column in columns.items() if column.endswith(tuple(MEMORY_UNITS)[:2])
        }
        dropped = sorted(known - columns.keys())
        if dropped:
            self.notes = (f"{path.name}: no task asks for {listed(dropped)}, which are left out.",)

    @staticmethod
    def _families(path: Path, line: int, row: dict[str, str], families: tuple[str, ...]) -> list[bool]:
        asked = row.get("families", "").split()
        unknown = [family for family in asked if family not in families]
        if unknown:
            raise InstanceError(
                f"{path.name} line {line}: family '{unknown[0]:.60}' has no machine; they have {listed(families, 20)}."
            )
        return [not asked or family in asked for family in families]

    def overfull(self, nodes: dict[str, int], capacities: list[dict[str, int]]) -> dict[str, dict[str, int]]:
        """Return the sizes of running machines that hold more than their type has: nobody is evicted, and they have room."""
        sizes = {}
        for name, content in self.content.items():
            held: Counter[str] = Counter()
            for c, count in content.items():
                for resource, amount in self.demands[c].items():
                    held[resource] += amount * count
            size = capacities[nodes[name]]
            if over := {resource: amount for resource, amount in held.items() if amount > size.get(resource, 0)}:
                sizes[name] = size | over
        if sizes:
            self.notes += (
                f"For information: on {len(sizes)} running machines tasks ask for more than there is; they have room for what "
                f"runs on them: {listed(list(sizes))}.",
            )
        return sizes

    def running(self, nodes: dict[str, int]) -> Running:
        content = np.zeros((len(nodes), len(self.names)), np.int64)
        for e, counts in enumerate(self.content.values()):
            for c, count in counts.items():
                content[e, c] = count
        return Running.from_contents(tuple(nodes), np.array(list(nodes.values()), np.int64), content)
