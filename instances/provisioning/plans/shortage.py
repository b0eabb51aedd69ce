"""Proof that tasks do not fit in all machines that can be had: by sums, by counting large tasks, and by counting one class.

Let S be a set of machine families. Tasks that may run on no other family must find their place there: no more of a resource
can be had than all machines of S have; a machine of capacity V holds at most floor(V / d) tasks that ask for d or more; and
of one class at most what may share a machine. Running machines count as part of the stock; limits on moves are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from schedgap.instances.family import Shortage
from schedgap.instances.provisioning.running import ANY_NUMBER
from schedgap.instances.units import resource_scale, shown_amount

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schedgap.instances.arrays import BoolArray, IntArray
    from schedgap.instances.provisioning.model import ProvisioningInstance

# Names that a sentence gives.
MOST_NAMES = 3


def shortage(instance: ProvisioningInstance) -> Shortage | None:
    """Return what is proven to be missing, whatever else is chosen; None where no sum proves anything.

    O(S R D (C + K)) for S distinct sets of families that classes may run on and D distinct demands. Exact.
    """
    if instance.stock is None:
        return None
    lacks = [lack for scope in _scopes(instance) for lack in scope.lacks()]
    if not lacks:
        return None
    placed = 0 if instance.running is None else int(instance.running.count.sum())
    pending, tasks = instance.num_tasks - placed, max(lack["tasks"] for lack in lacks)
    who = "pending tasks" if placed and pending else "tasks"
    first = (
        f"The {who} do not fit in what there is: {pending} are on no machine, at least {tasks} find no place wherever all "
        "others go, proven."
    )
    # The largest set comes first, and says all; a part of it only where that is worse.
    told: dict[str, dict[str, Any]] = {}
    for lack in lacks:
        if lack["tasks"] > told.get(lack["what"], {"tasks": 0})["tasks"]:
            told[lack["what"]] = lack
    return Shortage(tasks, tuple(lacks), (first, *(lack["sentence"] for lack in told.values())))


def _scopes(instance: ProvisioningInstance) -> Iterator[_Scope]:
    """Yield the sets of families that all classes, and some class, may run on; large ones first."""
    assert instance.stock is not None
    fits = instance.fits() & (instance.stock != 0)[:, None]
    on = np.zeros((len(instance.families), instance.num_classes), np.bool_)
    np.logical_or.at(on, instance.type2family, fits)
    # Of each class on the families where it fits the least that it asks for.
    asked = np.where(on[:, :, None], instance.demand, np.iinfo(np.int64).max).min(axis=0)
    asked[~on.any(axis=0)] = 0
    sets = {tuple(column) for column in on.T.tolist()} | {tuple(bool(row.any()) for row in on)}
    for chosen in sorted(sets, key=lambda row: (-sum(row), row)):
        inside = np.array(chosen)
        yield _Scope(instance, inside, np.flatnonzero(~(on & ~inside[:, None]).any(axis=0)), asked)


@dataclass(slots=True)
class _Scope:
    """A set of families (F,), the classes that run on no other, and what each class asks for at least (C, R)."""

    instance: ProvisioningInstance
    inside: BoolArray
    classes: IntArray
    asked: IntArray

    def lacks(self) -> Iterator[dict[str, Any]]:
        """Yield what is missing, as JSON has it."""
        if not self.inside.any():
            for c in self.classes.tolist():
                yield self._counted(f"tasks of {self.instance.class_name(c)}", int(self.instance.counts[c]), 0)
            return
        counts = self.instance.counts[self.classes].tolist()
        types = np.flatnonzero(self.inside[self.instance.type2family] & (self._stock() != 0))
        for r, resource in enumerate(self.instance.resources):
            asked = self.asked[self.classes, r].tolist()
            machines = self._machines(types, self.instance.capacity[types, r])
            if machines is None:
                continue
            needed, there = sum(a * n for a, n in zip(asked, counts, strict=True)), sum(v * n for v, n in machines)
            if needed > there:
                yield self._summed(r, needed, there, _fewest(needed - there, asked, counts))
            for least in sorted(set(asked) - {0}):
                number = sum(n for a, n in zip(asked, counts, strict=True) if a >= least)
                if number > (room := sum(v // least * n for v, n in machines)):
                    amount = shown_amount(least, resource)
                    yield self._counted(f"tasks that ask for {amount} or more", number, room)
        yield from self._alone(types)

    def _alone(self, types: IntArray) -> Iterator[dict[str, Any]]:
        """Yield the classes of which only so many share a machine, and that are too many for the machines they fit on."""
        instance, fits = self.instance, self.instance.fits()
        most = instance.most_together
        if instance.per_machine is None:
            return
        for c in self.classes[instance.per_machine[self.classes] != ANY_NUMBER].tolist():
            able = types[fits[types, c]]
            machines = self._machines(able, np.ones_like(able))
            if machines is not None and instance.counts[c] > (room := int(most[c]) * sum(n for _, n in machines)):
                yield self._counted(f"tasks of {instance.class_name(c)}", int(instance.counts[c]), room)

    def _machines(self, types: IntArray, capacity: IntArray) -> list[tuple[int, int]] | None:
        """Return capacity and number of machines of each type; None where some that have any are without end."""
        stock = self._stock()[types]
        if ((stock == ANY_NUMBER) & (capacity > 0)).any():
            return None
        return [(v, n) for v, n in zip(capacity.tolist(), stock.tolist(), strict=True) if v > 0]

    def _stock(self) -> IntArray:
        assert self.instance.stock is not None
        return self.instance.stock

    def _where(self) -> str:
        families = [name for name, is_in in zip(self.instance.families, self.inside.tolist(), strict=True) if is_in]
        if len(families) == len(self.instance.families):
            return ""
        more = f" and {len(families) - MOST_NAMES} more" if len(families) > MOST_NAMES else ""
        return f" on {', '.join(families[:MOST_NAMES])}{more}"

    def _summed(self, r: int, needed: int, there: int, tasks: int) -> dict[str, Any]:
        resource, scale = self.instance.resources[r], resource_scale(self.instance.resources[r])
        asked, had, short = (_shown(value / scale) for value in (needed, there, needed - there))
        return {
            "what": resource,
            "needed": needed / scale,
            "available": there / scale,
            "short": (needed - there) / scale,
            "tasks": tasks,
            "sentence": f"{short} {resource} short{self._where()}: {asked} are asked for, at most {had} can be had.",
        }

    def _counted(self, what: str, number: int, room: int) -> dict[str, Any]:
        return {
            "what": what,
            "needed": number,
            "available": room,
            "short": number - room,
            "tasks": number - room,
            "sentence": f"{number} {what}{self._where()}: at most {room} fit.",
        }


def _shown(value: float) -> str:
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def _fewest(over: int, asked: list[int], counts: list[int]) -> int:
    """Return how many tasks must be left out at least to free so much: the largest first."""
    fewest = 0
    for size, number in sorted(zip(asked, counts, strict=True), reverse=True):
        taken = min(number, -(-over // size)) if size else 0
        fewest, over = fewest + taken, over - taken * size
        if over <= 0:
            break
    return fewest
