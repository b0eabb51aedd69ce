"""Tasks of which only so many should move at once, or none: their part of a file, and what a solution moves all the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NotRequired

from schedgap.instances.documents import Count, Custom, Index, list_of, record
from schedgap.instances.provisioning.moves import staying
from schedgap.instances.provisioning.running import Restraint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from schedgap.instances.documents import Given, Place
    from schedgap.instances.provisioning.model import ProvisioningInstance
    from schedgap.instances.provisioning.solution import Provisioning

MOST_NAMES = 5


def exceeded(instance: ProvisioningInstance, solution: Provisioning) -> Iterator[str]:
    """Yield what a solution moves that should stay, and of which restraints it moves more tasks than may go at once.

    Tasks of a class are interchangeable: of those on a machine the ones without it are taken to move first, so that
    no plan of these numbers moves fewer. O(N log N) for N entries.
    """
    running = instance.running
    if running is None or not running.restraints:
        return
    stay = staying(instance, solution)
    entries = zip(running.machine.tolist(), running.task_class.tolist(), stay.tolist(), strict=True)
    left = {(e, c): number for e, c, number in entries}
    over: list[str] = []
    for restraint in running.restraints:
        taken: dict[str, int] = {}
        for e, c, number in restraint.tasks:
            if (moved := number - left[e, c]) > 0:
                taken[instance.class_name(c)] = taken.get(instance.class_name(c), 0) + moved
        total = sum(taken.values())
        if total and restraint.at_once is None:
            names = [f"{name} ({number})" for name, number in sorted(taken.items())]
            yield f"The plan moves {total} task{'s' * (total != 1)} that say {restraint.name}: {_first(names)}."
        elif restraint.at_once is not None and total > restraint.at_once:
            over.append(f"{restraint.name} ({total}, {restraint.at_once} at once)")
    if over:
        yield f"The plan moves more tasks of {len(over)} budgets than may go at once, so these go in turns: {_first(over)}."


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


# Of tasks that run; without `at_once` they should not move at all.
RESTRAINED = record("Restrained", {"machine": str, "counts": dict[str, Count]})
RESTRAINT = record("Restraint", {"name": str, "at_once": NotRequired[Index], "tasks": list_of(RESTRAINED)})


def restrained_tasks(names: Callable[[Any], Sequence[str]]) -> Custom:
    """Return the field `restraints` of a document, which follows `running`. names : of the task classes."""

    def read(document: Given, place: Place) -> dict[str, Any]:
        if "restraints" not in document:
            return {}
        running = getattr(place.owner, "running", None)
        if running is None:
            raise place.error("restraints: no machine runs; give `running`, or leave them out.")
        name2machine = {name: e for e, name in enumerate(running.names)}
        name2class = {name: c for c, name in enumerate(names(place.owner))}
        entries = zip(running.machine.tolist(), running.task_class.tolist(), strict=True)
        held = dict(zip(entries, running.count.tolist(), strict=True))
        made = []
        for given in document["restraints"]:
            tasks = []
            for row in given["tasks"]:
                for name, number in row["counts"].items():
                    at = name2machine.get(row["machine"], -1), name2class.get(name, -1)
                    if number > (there := held.get(at, 0)):
                        raise place.error(
                            f"restraint {given['name']:.60} has {number} tasks of {name:.60} on running machine "
                            f"{row['machine']:.60}, which holds {there}; correct one of them."
                        )
                    tasks.append((*at, number))
            made.append(Restraint(given["name"], given.get("at_once"), tuple(tasks)))
        return {"running": replace(running, restraints=tuple(made))}

    def write(instance: Any, _: Place) -> dict[str, Any]:
        running, rows = instance.running, []
        for restraint in () if running is None else running.restraints:
            counts: dict[int, dict[str, int]] = {}
            for e, c, number in restraint.tasks:
                counts.setdefault(e, {})[names(instance)[c]] = number
            at_once = {} if restraint.at_once is None else {"at_once": restraint.at_once}
            tasks = [{"machine": running.names[e], "counts": held} for e, held in counts.items()]
            rows.append({"name": restraint.name} | at_once | {"tasks": tasks})
        return {"restraints": rows} if rows else {}

    return Custom({"restraints": NotRequired[list_of(RESTRAINT)]}, read, write)
