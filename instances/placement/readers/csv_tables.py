"""Nodes and pods as tables of one's own: CSV files with a column for each resource; see docs/capacity.md."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from schedgap.instances.csv_table import exact_units, read_rows, whole_number
from schedgap.instances.errors import InstanceError, one_of
from schedgap.instances.placement.model import MAX_AMOUNT, MAX_GPUS, NO_GANG, NOWHERE, ONE, UNITS, PlacementInstance
from schedgap.instances.placement.readers.gpus import Held, assigned
from schedgap.instances.provisioning.readers.catalogues.plain import row_amounts, row_name
from schedgap.instances.provisioning.readers.quantities import in_units, unique_names

NODE_COLUMNS = ("name", "type", "gpus", "model", "count")
POD_COLUMNS = ("name", "count", "gpus", "models", "node", "gang", "movable")
MOST_ROWS = 10**6
YES, NO = ("", "yes", "true", "1"), ("no", "false", "0")


def csv_tables(path: Path | str, *, pods: str = "", unit: str = "") -> PlacementInstance:
    """Read nodes and pods; pods without a node arrive, in the order of the table.

    path : a folder with `nodes.csv` and `pods.csv`, or the table of nodes: `name`, a column for each resource, and optional
        `type`, `gpus`, `model` of these, `count` of alike nodes, which are NAME-0, NAME-1 and so on.
    pods : the other table, by default `pods.csv` beside it: `name`, the resources, and optional `count`, `gpus` (0.5 for half
        of one), `models` that will do (space between), `node` that it runs on, `gang` (a name), `movable` (yes or no).
    unit : of values; by default GPUs where pods take some, else pods.

    Raises
    ------
    InstanceError
        naming file, line and column of what is malformed.
    """
    if unit:
        one_of("unit", unit, UNITS, InstanceError)
    given = Path(path)
    nodes = given / "nodes.csv" if given.is_dir() else given
    tables = _Tables(nodes)
    tables.read_pods(Path(pods) if pods else nodes.with_name("pods.csv"))
    name = given.resolve().stem if given.is_dir() else nodes.stem
    return tables.instance(name[:100] or "tables", unit)


class _Tables:
    """What was read. types : capacity, GPUs and model of each kind of node, by these and its name."""

    def __init__(self, path: Path) -> None:
        self.types: dict[tuple[Any, ...], int] = {}
        self.sizes: list[dict[str, int]] = []
        self.nodes: dict[str, int] = {}
        self.resources: list[str] = []
        self.notes: list[str] = []
        for line, row in read_rows(path, ("name",), "table of nodes"):
            name = row_name(path, line, row)
            size, _ = row_amounts(path, line, row, NODE_COLUMNS, math.floor)
            self.resources = list(size)
            gpus = _number(path, line, row, "gpus", 0)
            if gpus > MAX_GPUS:
                raise InstanceError(f"{path.name} line {line}: gpus is {gpus}; a node has at most {MAX_GPUS}.")
            key = (row.get("type", "").strip(), gpus, row.get("model", "").strip() if gpus else "", *size.items())
            if key not in self.types:
                self.types[key] = len(self.types)
                self.sizes.append(size)
            count = _number(path, line, row, "count", 1)
            if count + len(self.nodes) > MOST_ROWS:
                raise InstanceError(f"{path.name} line {line}: more than {MOST_ROWS} nodes; give fewer.")
            names = [name] if count == 1 else [f"{name}-{number}" for number in range(count)]
            for each in names:
                if each in self.nodes:
                    raise InstanceError(f"{path.name} line {line}: node {each:.60} is there twice; remove one.")
                self.nodes[each] = self.types[key]
        if not self.nodes or not self.resources:
            raise InstanceError(f"{path.name}: no nodes with a column for a resource, such as cpu; add them.")

    def read_pods(self, path: Path) -> None:
        """Read the table of pods."""
        index = {name: n for n, name in enumerate(self.nodes)}
        self.classes: dict[tuple[Any, ...], int] = {}
        self.rows: list[tuple[str, int, int, str, bool]] = []
        for line, row in read_rows(path, ("name",), "table of pods"):
            name = row_name(path, line, row)
            unknown = [key for key in row if key not in POD_COLUMNS and key not in self.columns(row)]
            if unknown:
                known = ", ".join(self.resources)
                raise InstanceError(
                    f"{path.name} line 1: column '{unknown[0]:.60}' is no resource of the nodes; they have {known:.200}."
                )
            demand, _ = row_amounts(path, line, row, POD_COLUMNS, math.ceil)
            milli = exact_units(path, line, "gpus", row.get("gpus", "").strip() or "0", ONE)
            if (milli > ONE and milli % ONE) or milli > MAX_GPUS * ONE:
                raise InstanceError(
                    f"{path.name} line {line}: gpus is {row['gpus']}; give whole GPUs, or a share of one."
                )
            key = (milli, tuple(sorted(row.get("models", "").split())), *sorted(demand.items()))
            c = self.classes.setdefault(key, len(self.classes))
            node, gang = row.get("node", "").strip(), row.get("gang", "").strip()
            if node and node not in index:
                raise InstanceError(
                    f"{path.name} line {line}: node is '{node:.60}', which is not among the nodes; add it."
                )
            if node and gang:
                raise InstanceError(f"{path.name} line {line}: pod {name:.60} runs and is in a gang; leave one out.")
            movable = row.get("movable", "").strip().lower()
            if movable not in (*YES, *NO):
                raise InstanceError(f"{path.name} line {line}: movable is '{movable:.60}'; write yes or no.")
            count = _number(path, line, row, "count", 1)
            if count + len(self.rows) > 10 * MOST_ROWS:
                raise InstanceError(f"{path.name} line {line}: more than {10 * MOST_ROWS} pods; give fewer.")
            names = [name] if count == 1 else [f"{name}-{number}" for number in range(count)]
            self.rows += [(each, c, index[node] if node else NOWHERE, gang, movable in YES) for each in names]
        if not self.rows:
            raise InstanceError(f"{path.name}: no pods after the header; the table is empty.")

    def columns(self, row: Mapping[str, str]) -> set[str]:
        """Return the columns that are resources of the nodes."""
        amounts, _ = row_amounts(Path(), 0, dict.fromkeys(row, "0"), POD_COLUMNS, math.ceil)
        columns = [key for key in row if key not in POD_COLUMNS]
        return {column for column, resource in zip(columns, amounts, strict=True) if resource in self.resources}

    def instance(self, name: str, unit: str) -> PlacementInstance:
        """Return the instance; pods that run first, then the others, those of a gang together."""
        keys = list(self.classes)
        milli = np.array([key[0] for key in keys], np.int64)
        place = {gang: n for n, gang in enumerate(dict.fromkeys(row[3] for row in self.rows if row[3]))}
        first = {gang: p for p, row in reversed(list(enumerate(self.rows))) if (gang := row[3])}
        order = sorted(
            range(len(self.rows)), key=lambda p: (self.rows[p][2] == NOWHERE, first.get(self.rows[p][3], p), p)
        )
        rows = [self.rows[p] for p in order]
        names, demand, capacity = in_units(self.resources, [dict(key[2:]) for key in keys], self.sizes)
        size, node2type = np.minimum(np.array(capacity), MAX_AMOUNT), np.array(list(self.nodes.values()))
        kinds = list(self.types)
        gpus, each = -(-milli // ONE), np.minimum(milli, ONE)
        unit = unit or ("GPUs" if milli.any() else "pods")
        node = np.array([row[2] for row in rows], np.int64)
        return PlacementInstance(
            name=name,
            unit=unit,
            resources=names,
            type_names=tuple(
                unique_names(key[0] or (f"{key[1]} x {key[2] or 'gpu'}" if key[1] else "node") for key in kinds)
            ),
            capacity=size,
            num_gpus=np.array([key[1] for key in kinds]),
            gpu_model=tuple(key[2] for key in kinds),
            node2type=node2type,
            class_names=tuple(unique_names(_first_names(rows, len(keys)))),
            demand=np.array(demand),
            gpus=gpus,
            gpu_milli=each,
            value={"GPUs": milli, "pods": np.full(milli.size, ONE)}.get(unit, np.zeros(milli.size, np.int64)),
            admits=np.array([[not key[1] or not key[0] or kind[2] in key[1] for kind in kinds] for key in keys]),
            expected=np.zeros(milli.size, np.int64),
            pod2class=np.array([row[1] for row in rows]),
            gang=np.array([place[row[3]] if row[3] else NO_GANG for row in rows]),
            running_node=node,
            running_gpus=self._bits(node, gpus, each, [row[1] for row in rows], [key[1] for key in kinds]),
            movable=np.array([row[4] for row in rows]),
            node_names=tuple(self.nodes),
            pod_names=tuple(unique_names(row[0] for row in rows)),
            notes=tuple(self.notes),
        )

    def _bits(self, node: Any, gpus: Any, milli: Any, classes: list[int], counts: list[int]) -> Any:
        """Give GPUs to the pods that run, where the least is left that is enough, the largest first."""
        bits, guessed, names = np.zeros(node.size, np.int64), 0, list(self.nodes)
        order = np.argsort(node, kind="stable")
        for ps in np.split(order, np.flatnonzero(np.diff(node[order])) + 1):
            if (n := int(node[ps[0]])) == NOWHERE:
                continue
            count = counts[self.nodes[names[n]]]
            held = [Held(int(gpus[classes[p]]), int(milli[classes[p]])) for p in ps.tolist()]
            bits[ps], needed, guesses = assigned(held, count)
            guessed += guesses
            if needed > count:
                raise InstanceError(
                    f"node {names[n]:.60} has {count} GPUs, and its pods need {needed}; correct the tables."
                )
        if guessed:
            self.notes.append(
                f"Assumed: {guessed} pods that share a GPU are put where the least is left that is enough."
            )
        return bits


def _number(path: Path, line: int, row: Mapping[str, str], column: str, default: int) -> int:
    text = row.get(column, "").strip()
    return whole_number(path, line, column, text) if text else default


def _first_names(rows: list[tuple[str, int, int, str, bool]], number: int) -> list[str]:
    names = [""] * number
    for name, c, *_ in reversed(rows):
        names[c] = name
    return names
