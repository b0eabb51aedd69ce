"""What is said of a plan for a running cluster: in which order it is carried out, whom it disturbs, what is missing.

In which order the machines that a plan gives back are emptied, so that every task that leaves one finds room at once.

Tasks of which only so many should move at once, or none: their part of a file, and what a solution moves all the same.

Proof that tasks do not fit in all machines that can be had: by sums, by counting large tasks, and by counting one class.

Let S be a set of machine families. Tasks that may run on no other family must find their place there: no more of a resource
can be had than all machines of S have; a machine of capacity V holds at most floor(V / d) tasks that ask for d or more; and
of one class at most what may share a machine. Running machines count as part of the stock; limits on moves are left out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NotRequired

import numpy as np

from schedgap.instances.arrays import BoolArray, IntArray
from schedgap.instances.documents import Count, Custom, Given, Index, Place, list_of, record
from schedgap.instances.family import Shortage
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.moves import staying
from schedgap.instances.provisioning.running import ANY_NUMBER, Restraint
from schedgap.instances.provisioning.solution import NEW, Provisioning
from schedgap.instances.units import resource_scale, shown_amount

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


def drain_order(instance: ProvisioningInstance, solution: Provisioning) -> list[dict[str, Any]]:
    """Return the steps that lead from the running machines to a verified solution, as `plan.json` has them.

    A step is `machine`, a running one, and `moves`, each of `count` tasks of class `task` to a machine: a running one by
    its name, or `new m5.large #2`, the second new machine of that type in the order of the solution. With `stays` the machine
    is kept and only loses these tasks; else it is given back after the step. Pending tasks are in no step: they start on
    what is free after the last.

    After every step all machines hold what they may: kept ones beside what has not left yet, new ones from when the
    first task comes, and no more of a type than its stock. With `evicts_first` there is no such order: the step's tasks
    leave then, and start on their machines after the last step.

    First the kept machines that lose tasks, which makes room; then, those that save the most for each task first, the
    machines that go. Each round tries all that are left: O(n (N + M) R) for N entries of contents, M machines and n
    rounds, few unless machines wait for each other.
    """
    if instance.running is None:
        return []
    return _Draining(instance, solution).steps()


class _Draining:
    """What is on each machine at a moment. Machines are numbered: those that run, then the new ones of the solution."""

    def __init__(self, instance: ProvisioningInstance, solution: Provisioning) -> None:
        running = instance.running
        assert running is not None
        self.instance, self.most = instance, instance.most_together.tolist()
        self.names = list(running.names)
        self.types: list[int] = running.machine_type.tolist()
        # Of each machine by class: how many tasks have still to leave it; of each class by machine: how many may come.
        self.leaving: list[Counter[int]] = [Counter() for _ in self.names]
        self.wanted: defaultdict[int, dict[int, int]] = defaultdict(dict)
        self.content: list[Counter[int]] = [Counter() for _ in self.names]
        entries = zip(running.machine.tolist(), running.task_class.tolist(), running.count.tolist(), strict=True)
        for e, c, number in entries:
            self.content[e][c] = self.leaving[e][c] = number
        self.goes = [True] * len(self.names)
        self._ends(solution)
        self.is_there = [True] * running.size + [False] * (len(self.names) - running.size)
        self.number = Counter(self.types[: running.size])
        self.capacity = instance.capacity[self.types]
        self.used = np.zeros_like(self.capacity)
        for e, content in enumerate(self.content):
            for c, number in content.items():
                self.used[e] += number * self._demand(e, c)

    def _ends(self, solution: Provisioning) -> None:
        """Add the new machines, and what stays and comes; the kept machines first among those that a class may go to."""
        titles: Counter[int] = Counter()
        keeps = np.full(solution.repeat.shape[0], NEW) if solution.keeps is None else solution.keeps
        for p in np.argsort(keeps == NEW, kind="stable").tolist():
            span, k = slice(int(solution.indptr[p]), int(solution.indptr[p + 1])), int(solution.machine_type[p])
            held = dict(zip(solution.task_class[span].tolist(), solution.count[span].tolist(), strict=True))
            if (e := int(keeps[p])) != NEW:
                self.goes[e] = False
                for c, number in held.items():
                    came = number - self.leaving[e][c]
                    self.leaving[e][c] = max(0, -came)
                    if came > 0:
                        self.wanted[c][e] = came
                continue
            for _ in range(int(solution.repeat[p])):
                titles[k] += 1
                for c, number in held.items():
                    self.wanted[c][len(self.names)] = number
                self.names.append(f"new {self.instance.type_names[k]} #{titles[k]}")
                self.types.append(k)
                self.content.append(Counter())
        self.leaving = [+left for left in self.leaving]

    def steps(self) -> list[dict[str, Any]]:
        """Return the steps, and what is on the machines becomes what the solution has, but for pending tasks."""
        price, made, evicted = self.instance.price, [], []
        tasks = [left.total() for left in self.leaving]
        shedding = sorted((e for e, goes in enumerate(self.goes) if not goes and tasks[e]), key=lambda e: tasks[e])
        gone = [e for e, goes in enumerate(self.goes) if goes]
        gone.sort(key=lambda e: (tasks[e] / int(price[self.types[e]]), -int(price[self.types[e]])))
        while shedding or gone:
            found = list(self._round(shedding)) or list(self._round(shedding, in_part=True))
            # Only where a stock has ended do kept machines wait for those that go.
            if not found and (not shedding or self.instance.stock is not None):
                found = list(self._round(gone))
            if not found:
                e = (shedding or gone).pop(0)
                moved = self._leave(e, self.leaving[e])
                found = [self._step(e, evicts_first=True)]
                evicted.append((found[0], moved))
            made += found
        for step, moved in evicted:
            step["moves"] = [self._told(*move) for move in self._moved(moved) or ()]
        return made

    def _round(self, left: list[int], *, in_part: bool = False) -> Iterator[dict[str, Any]]:
        """Yield a step for each machine of `left` that can be emptied now, or in part; those that are done leave the list."""
        for e in list(left):
            moves = self._moved(self.leaving[e], is_whole=not in_part)
            if moves is None or (in_part and not moves):
                continue
            self._leave(e, self._sums(moves))
            if not self.leaving[e]:
                left.remove(e)
            yield self._step(e) | {"moves": [self._told(*move) for move in moves]}

    @staticmethod
    def _sums(moves: list[tuple[int, int, int]]) -> Counter[int]:
        sums: Counter[int] = Counter()
        for c, number, _ in moves:
            sums[c] += number
        return sums

    def _step(self, e: int, *, evicts_first: bool = False) -> dict[str, Any]:
        marks = {"stays": not self.goes[e], "evicts_first": evicts_first}
        return {"machine": self.names[e], "moves": []} | {key: True for key, value in marks.items() if value}

    def _told(self, c: int, number: int, s: int) -> dict[str, Any]:
        return {"task": self.instance.class_name(c), "count": number, "to": self.names[s]}

    def _leave(self, e: int, tasks: Counter[int]) -> Counter[int]:
        """Take tasks off a machine, which is gone if it is to go and holds none; return them."""
        tasks = +tasks
        for c, number in tasks.items():
            self.used[e] -= number * self._demand(e, c)
            self.content[e][c] -= number
        self.leaving[e] = self.leaving[e] - tasks
        if self.goes[e] and not self.leaving[e]:
            self.is_there[e] = False
            self.number[self.types[e]] -= 1
        return tasks

    def _moved(self, tasks: Counter[int], *, is_whole: bool = True) -> list[tuple[int, int, int]] | None:
        """Place tasks on machines that want them and have room: class, number and machine of each move.

        is_whole : undo all and return None where some task finds no room.
        """
        moves: list[tuple[int, int, int]] = []
        for c, number in tasks.items():
            left = number
            for s in list(self.wanted[c]):
                if (taken := min(left, self._room(s, c))) > 0:
                    self._put(s, c, taken)
                    moves.append((c, taken, s))
                    left -= taken
                    if not left:
                        break
            if left and is_whole:
                for placed in reversed(moves):
                    self._take_back(*placed)
                return None
        return moves

    def _room(self, s: int, c: int) -> int:
        """Return how many tasks of a class a machine wants and can take now."""
        k = self.types[s]
        stock = ANY_NUMBER if self.instance.stock is None else int(self.instance.stock[k])
        if not self.is_there[s] and stock != ANY_NUMBER and self.number[k] >= stock:
            return 0
        demand, free = self._demand(s, c), self.capacity[s] - self.used[s]
        asked = demand > 0
        room = int((free[asked] // demand[asked]).min(initial=self.wanted[c][s]))
        return min(room, int(self.most[c]) - self.content[s][c])

    def _put(self, s: int, c: int, number: int) -> None:
        if not self.is_there[s]:
            self.is_there[s] = True
            self.number[self.types[s]] += 1
        self.used[s] += number * self._demand(s, c)
        self.content[s][c] += number
        self.wanted[c][s] -= number
        if not self.wanted[c][s]:
            del self.wanted[c][s]

    def _take_back(self, c: int, number: int, s: int) -> None:
        self.used[s] -= number * self._demand(s, c)
        self.content[s][c] -= number
        self.wanted[c][s] = self.wanted[c].get(s, 0) + number
        if s >= len(self.leaving) and not self.content[s].total():
            self.is_there[s] = False
            self.number[self.types[s]] -= 1

    def _demand(self, e: int, c: int) -> Any:
        """(R,) int64; nothing where a class may not run: it is there as a fact, until it leaves."""
        return np.maximum(self.instance.demand[self.instance.type2family[self.types[e]], c], 0)


# Names that a sentence gives.
MOST_FAMILIES = 3


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
        more = f" and {len(families) - MOST_FAMILIES} more" if len(families) > MOST_FAMILIES else ""
        return f" on {', '.join(families[:MOST_FAMILIES])}{more}"

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
