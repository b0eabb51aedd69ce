"""What pods and PodDisruptionBudgets ask not to be moved: no rule of a plan, and said where one breaks it."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from schedgap.instances.provisioning.readers.kubernetes.constraints import Machine, holds
from schedgap.instances.provisioning.readers.kubernetes.documents import decode
from schedgap.instances.provisioning.running import Restraint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedgap.instances.provisioning.readers.kubernetes.objects import Expression, PodDisruptionBudget
    from schedgap.instances.provisioning.readers.kubernetes.state import PodGroup, State

Places = Counter[tuple[int, int]]


def restraints(state: State, members: Sequence[Sequence[PodGroup]], index: Mapping[str, int]) -> tuple[Restraint, ...]:
    """Return what restrains moves of pods that run. members : the groups of each class. index : of each node."""
    marked: defaultdict[str, Places] = defaultdict(Counter)
    covered: defaultdict[str, Places] = defaultdict(Counter)
    pending: Counter[str] = Counter()
    guards = Guards(state)
    for c, groups in enumerate(members):
        for group in groups:
            for (node, mark), number in group.held.items():
                if node in group.on:
                    marked[mark][index[node], c] += number
            for name in guards.of(group):
                covered[name].update({(index[node], c): number for node, number in group.on.items()})
                pending[name] += group.pending
    return (
        *(_made(mark, None, places) for mark, places in sorted(marked.items())),
        *(_made(n, _at_once(state.budgets[n], covered[n].total(), pending[n]), covered[n]) for n in sorted(covered)),
    )


def _made(name: str, at_once: int | None, places: Places) -> Restraint:
    return Restraint(name, at_once, tuple((e, c, number) for (e, c), number in sorted(places.items())))


class Guards:
    """Which PodDisruptionBudgets are over which pods."""

    def __init__(self, state: State) -> None:
        # By namespace and one of the labels that each asks for, or none.
        self._near: defaultdict[tuple[str, str, str], list[tuple[int, str, tuple[Expression, ...]]]] = defaultdict(list)
        for number, (name, budget) in enumerate(state.budgets.items()):
            # Operators of nodes select no pod.
            if (selector := budget.spec.selector) is None or any(e.operator[0] in "GL" for e in selector.expressions()):
                continue
            asked = selector.expressions()
            places = next(([(e.key, v) for v in e.values] for e in asked if e.operator == "In"), [("", "")])
            for place in dict.fromkeys(places):
                self._near[name.partition("/")[0], *place].append((number, name, asked))
        self._known: dict[tuple[str, bytes], list[str]] = {}

    def of(self, group: PodGroup) -> list[str]:
        """Return the names of the budgets of a group of pods, in the order in which they were read."""
        place = group.key.namespace, bytes(group.key.labels)
        if self._near and place not in self._known:
            labels: dict[str, str] = decode(group.key.labels, dict[str, str] | None) or {}
            has = Machine({key: frozenset((value,)) for key, value in labels.items()})
            near = [each for item in (*labels.items(), ("", "")) for each in self._near.get((place[0], *item), ())]
            near.sort(key=lambda each: each[0])
            self._known[place] = [name for _, name, asked in near if all(holds(each, has) for each in asked)]
        return self._known.get(place, [])


def _at_once(budget: PodDisruptionBudget, running: int, pending: int) -> int:
    """Return how many pods of a budget may go now: as its status says, else if all that run are well."""
    if (allowed := budget.status.disruptions_allowed) is not None:
        return max(0, allowed)
    spec, pods = budget.spec, running + pending
    if spec.max_unavailable is not None:
        return max(0, _number(spec.max_unavailable, pods) - pending)
    return max(0, running - _number(0 if spec.min_available is None else spec.min_available, pods))


def _number(given: int | str, pods: int) -> int:
    """Return a number, or a share of the pods, rounded up."""
    text = str(given)
    return -(-pods * int(text[:-1]) // 100) if text.endswith("%") else int(text)
