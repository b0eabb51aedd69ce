"""Running machines in files: what is on each, and what controllers that give machines back look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, NotRequired

import numpy as np
from pydantic import Field as Constraint

from schedgap.instances.arrays import IntArray
from schedgap.instances.documents import Amount, Count, Custom, Given, Index, Place, list_of, record
from schedgap.instances.documents.json_files import from_units, to_units
from schedgap.instances.errors import SchedgapError
from schedgap.instances.provisioning.running import (
    MARKS,
    NEVER,
    ONE_TASK,
    REASONS,
    UNMANAGED,
    Budget,
    Disruption,
    Pool,
    Running,
)
from schedgap.instances.provisioning.windows import Window
from schedgap.instances.units import resource_scales

# Or a share in percent.
NUMBER = Annotated[str, Constraint(pattern=r"^[0-9]{1,9}%?$")]
BUDGET = record(
    "Budget",
    {
        "nodes": NUMBER,
        "reasons": NotRequired[list_of(Literal[REASONS])],
        # It holds from the times of this cron line on, in UTC, for so long; without it always.
        "schedule": NotRequired[record("Schedule", {"cron": str, "duration_s": Count})],
    },
)
POOL = record(
    "Pool",
    {
        "name": str,
        "budgets": NotRequired[list_of(BUDGET)],
        "only_empty": NotRequired[bool],
        "balanced": NotRequired[bool],
        "consolidate_after_s": NotRequired[Annotated[int, Constraint(ge=NEVER)]],
    },
)
# What is said of all machines. at_s : the present, in seconds since 1970.
ALL = {"pools": NotRequired[list_of(POOL)], "spot": NotRequired[list[str]], "at_s": NotRequired[int]}
# What is said of one: its pool, what keeps it, for how long no task came or went.
EACH = {
    "pool": NotRequired[str],
    "marks": NotRequired[list_of(Literal[tuple(MARKS)])],
    "quiet_s": NotRequired[Index],
}
DISRUPTION = record("Disruption", ALL)
PLAIN = {"name": str, "type": str, "counts": dict[str, Count]}
# What a machine has in all, what is taken of it beside tasks, and what it counts as disruption that it goes.
SIZES = {"whole": NotRequired[list[Amount]], "reserved": NotRequired[list[Amount]]}
MORE = SIZES | {"node_disruption": NotRequired[Amount]} | EACH


def from_tasks(
    values: Sequence[float], what: str, error: type[SchedgapError], names: Sequence[Sequence[str]]
) -> IntArray:
    """Convert amounts of disruption to 1 / `ONE_TASK`, to the nearest; those that are whole numbers of it exactly.

    Raises
    ------
    SchedgapError
        of the class `error` if one is no number, or too large to be exact.
    """
    numbers = np.array(values, np.float64)
    finite = np.where(np.isfinite(numbers), np.rint(np.clip(numbers, -1, 2**53) * ONE_TASK) / ONE_TASK, numbers)
    return to_units(finite, ONE_TASK, what, error, names)


def running_machines(what: str, names: Callable[[Any], Sequence[str]], *, disruption: bool = False) -> Custom:
    """Return the field `running` of a document: machines that run already, with how many tasks of each `what` are on them.

    names : of all that `Running.task_class` numbers, from an instance, or what of it has been read. disruption : whether
    machines may say what controllers look at, and the document has a field of that name.
    """

    def read(document: Given, place: Place) -> dict[str, Any]:
        if "running" not in document:
            if "disruption" in document:
                raise place.error("disruption is given, but no machine runs; give `running`.")
            return {}
        owner, machines = place.owner, document["running"]
        type2index = {name: k for k, name in enumerate(owner.type_names)}
        class2index = {name: c for c, name in enumerate(names(owner))}
        entries = []
        for e, machine in enumerate(machines):
            for kind, known, used in (("type", type2index, [machine["type"]]), (what, class2index, machine["counts"])):
                for name in used:
                    if name not in known:
                        raise place.error(
                            f"running machine {machine['name']:.60} names {kind} '{name:.60}', which the file has not; "
                            "add it."
                        )
            entries += [(e, class2index[name], count) for name, count in machine["counts"].items()]
        table = np.array(entries, np.int64).reshape(-1, 3)
        types = np.array([type2index[machine["type"]] for machine in machines], np.int64)
        indptr = np.searchsorted(table[:, 0], np.arange(len(machines) + 1))
        machine_names = tuple(machine["name"] for machine in machines)
        more = _read_more(document, place, type2index) if disruption else {}
        return {"running": Running(machine_names, types, indptr, table[:, 1], table[:, 2], **more)}

    def write(instance: Any, _: Place) -> dict[str, Any]:
        running = instance.running
        if running is None:
            return {}
        known, machines = names(instance), []
        for e, name in enumerate(running.names):
            span = slice(int(running.indptr[e]), int(running.indptr[e + 1]))
            content = zip(running.task_class[span].tolist(), running.count[span].tolist(), strict=True)
            counts = {known[c]: number for c, number in content}
            machines.append({"name": name, "type": instance.type_names[running.machine_type[e]], "counts": counts})
        return {"running": machines} | (_write_more(instance, machines) if disruption else {})

    machine = record("RunningMachine", PLAIN | (MORE if disruption else {}))
    keys = {"running": NotRequired[list_of(machine)]} | ({"disruption": NotRequired[DISRUPTION]} if disruption else {})
    return Custom(keys, read, write)


def _read_more(document: Given, place: Place, type2index: dict[str, int]) -> dict[str, Any]:
    machines, resources = document["running"], place.owner.resources
    more: dict[str, Any] = {}
    for key in ("whole", "reserved"):
        rows = [machine.get(key) for machine in machines]
        if all(row is None for row in rows):
            continue
        if (
            e := next((e for e, row in enumerate(rows) if row is None or len(row) != len(resources)), None)
        ) is not None:
            raise place.error(
                f"running machine {machines[e]['name']:.60} has {len(rows[e] or ())} amounts in '{key}' for "
                f"{len(resources)} resources; give one each, of every machine."
            )
        titles = [machine["name"] for machine in machines], resources
        more[key] = to_units(rows, resource_scales(resources), f"running.{key}", place.error, titles)
    costs = [machine.get("node_disruption", 0) for machine in machines]
    if any(costs):
        named = ([machine["name"] for machine in machines],)
        more["node_disruption"] = from_tasks(costs, "running.node_disruption", place.error, named)
    if "disruption" in document or any(key in machine for machine in machines for key in EACH):
        more["disruption"] = read_disruption(document.get("disruption", {}), machines, place, type2index)
    return more


def read_disruption(
    given: Given, machines: Sequence[Given], place: Place, type2index: dict[str, int], where: str = "disruption"
) -> Disruption:
    """Return what controllers look at. given : with the keys of `ALL`, and machines with those of `EACH`."""
    pools = tuple(_pool(pool) for pool in given.get("pools", ()))
    index = {pool.name: p for p, pool in enumerate(pools)}
    for known, used, place_of in (
        (index, [m["pool"] for m in machines if "pool" in m], f"{where}.pools"),
        (type2index, given.get("spot", ()), "machine_types"),
    ):
        if (name := next((name for name in used if name not in known), None)) is not None:
            raise place.error(f"'{name:.60}' is not in {place_of}; add it there.")
    pool = [index[m["pool"]] if "pool" in m else UNMANAGED for m in machines]
    marks = [sum(MARKS[mark] for mark in set(m.get("marks", ()))) for m in machines]
    spot = [type2index[name] for name in dict.fromkeys(given.get("spot", ()))]
    quiet = [machine.get("quiet_s") for machine in machines]
    if (e := next((e for e, value in enumerate(quiet) if value is None), None)) is not None and any(
        value is not None for value in quiet
    ):
        raise place.error(
            f"running machine {machines[e]['name']:.60} has no quiet_s, others have; give one each, or none."
        )
    quiet_s = np.array(quiet, np.int64) if quiet and quiet[0] is not None else None
    pool_of, marked, spare = (np.array(values, np.int64) for values in (pool, marks, spot))
    return Disruption(pools, pool_of, marked, spare, quiet_s, given.get("at_s"))


def _pool(given: Given) -> Pool:
    budgets = (
        Budget(
            int(b["nodes"].removesuffix("%")),
            b["nodes"].endswith("%"),
            tuple(b.get("reasons", REASONS)),
            Window(**b["schedule"]) if "schedule" in b else None,
        )
        for b in given.get("budgets", ())
    )
    more = {key: given[key] for key in ("only_empty", "balanced", "consolidate_after_s") if key in given}
    return Pool(given["name"], tuple(budgets), **more)


def _write_more(instance: Any, machines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Add what controllers look at to machines; return what is said of all."""
    running, scales = instance.running, resource_scales(instance.resources).tolist()
    for key in ("whole", "reserved"):
        values = getattr(running, key)
        for machine, row in zip(machines, [] if values is None else values.tolist(), strict=values is not None):
            machine[key] = [from_units(value, scale) for value, scale in zip(row, scales, strict=True)]
    costs = [] if running.node_disruption is None else running.node_disruption.tolist()
    for machine, cost in zip(machines, costs, strict=bool(costs)):
        machine |= {"node_disruption": from_units(cost, ONE_TASK)} if cost else {}
    if running.disruption is None:
        return {}
    rows, given = written_disruption(running.disruption, instance.type_names)
    for machine, row in zip(machines, rows, strict=True):
        machine |= row
    return {"disruption": given}


def written_disruption(
    disruption: Disruption, type_names: Sequence[str]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return what is said of each machine, with keys of `EACH`, and of all, with keys of `ALL`."""
    rows: list[dict[str, Any]] = []
    for p, marks in zip(disruption.pool.tolist(), disruption.marks.tolist(), strict=True):
        row: dict[str, Any] = {"pool": disruption.pools[p].name} if p != UNMANAGED else {}
        rows.append(row | ({"marks": [mark for mark, value in MARKS.items() if marks & value]} if marks else {}))
    if disruption.quiet_s is not None:
        for row, quiet_s in zip(rows, disruption.quiet_s.tolist(), strict=True):
            row["quiet_s"] = quiet_s
    spot = [type_names[k] for k in disruption.spot.tolist()]
    given: dict[str, Any] = {"pools": [_written(pool) for pool in disruption.pools]} if disruption.pools else {}
    given |= {"spot": spot} if spot else {}
    return rows, given | ({"at_s": disruption.at_s} if disruption.at_s is not None else {})


def _written(pool: Pool) -> dict[str, Any]:
    budgets = []
    for b in pool.budgets:
        row: dict[str, Any] = {"nodes": f"{b.nodes}{'%' * b.is_percent}"}
        row |= {} if b.reasons == REASONS else {"reasons": list(b.reasons)}
        row |= {} if b.window is None else {"schedule": {"cron": b.window.cron, "duration_s": b.window.duration_s}}
        budgets.append(row)
    more: dict[str, Any] = {"budgets": budgets} if budgets else {}
    for key in ("only_empty", "balanced", "consolidate_after_s"):
        more |= {key: value} if (value := getattr(pool, key)) else {}
    return {"name": pool.name} | more
