"""What pods and PodDisruptionBudgets ask not to be moved: no rule of a plan, and said where one breaks it."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from schedgap.instances.provisioning.readers.kubernetes.constraints import Machine, holds
from schedgap.instances.provisioning.readers.kubernetes.documents import decode
from schedgap.instances.provisioning.running import Restraint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedgap.instances.provisioning.readers.kubernetes.objects import PodDisruptionBudget
    from schedgap.instances.provisioning.readers.kubernetes.state import PodGroup, State

Places = Counter[tuple[int, int]]


def restraints(state: State, members: Sequence[Sequence[PodGroup]], index: Mapping[str, int]) -> tuple[Restraint, ...]:
    """Return what restrains moves of pods that run. members : the groups of each class. index : of each node."""
    marked: defaultdict[str, Places] = defaultdict(Counter)
    covered: defaultdict[str, Places] = defaultdict(Counter)
    pending: Counter[str] = Counter()
    for c, groups in enumerate(members):
        for group in groups:
            for (node, mark), number in group.held.items():
                if node in group.on:
                    marked[mark][index[node], c] += number
            for name in budgets_of(state, group):
                covered[name].update({(index[node], c): number for node, number in group.on.items()})
                pending[name] += group.pending
    return (
        *(_made(mark, None, places) for mark, places in sorted(marked.items())),
        *(_made(n, _at_once(state.budgets[n], covered[n].total(), pending[n]), covered[n]) for n in sorted(covered)),
    )


def _made(name: str, at_once: int | None, places: Places) -> Restraint:
    return Restraint(name, at_once, tuple((e, c, number) for (e, c), number in sorted(places.items())))


def budgets_of(state: State, group: PodGroup) -> list[str]:
    """Return the names of the PodDisruptionBudgets of a group of pods."""
    own = [name for name in state.budgets if name.partition("/")[0] == group.key.namespace]
    if not own:
        return []
    labels: dict[str, str] = decode(group.key.labels, dict[str, str] | None) or {}
    has = Machine({key: frozenset((value,)) for key, value in labels.items()})
    return [name for name in own if _selects(state.budgets[name], has)]


def _selects(budget: PodDisruptionBudget, labels: Machine) -> bool:
    selector = budget.spec.selector
    if selector is None:
        return False
    # Operators of nodes select no pod.
    return all(each.operator[0] not in "GL" and holds(each, labels) for each in selector.expressions())


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
