"""What pods and PodDisruptionBudgets ask not to be moved: no rule of a plan, and said where one breaks it."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.kubernetes.constraints import Machine, holds
from schedgap.instances.provisioning.readers.kubernetes.documents import decode
from schedgap.instances.provisioning.running import Restraint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from schedgap.instances.provisioning.readers.kubernetes.objects import PodDisruptionBudget
    from schedgap.instances.provisioning.readers.kubernetes.state import PodGroup, State

Places = Counter[tuple[int, int]]


def restraints(state: State, members: Sequence[Sequence[PodGroup]], index: Mapping[str, int]) -> tuple[Restraint, ...]:
    """Return what restrains moves of pods that run. members : the groups of each class. index : of each node.

    Raises
    ------
    InstanceError
        for a PodDisruptionBudget whose selector or numbers are none.
    """
    marked: defaultdict[str, Places] = defaultdict(Counter)
    covered: defaultdict[str, Places] = defaultdict(Counter)
    pending: Counter[str] = Counter()
    spaces = {name.partition("/")[0] for name in state.budgets}
    for c, groups in enumerate(members):
        for group in groups:
            for (node, mark), number in group.held.items():
                if node in group.on:
                    marked[mark][index[node], c] += number
            if group.key.namespace in spaces:
                for name in _budgets_of(state, group):
                    covered[name].update({(index[node], c): number for node, number in group.on.items()})
                    pending[name] += group.pending
    return (
        *(_made(mark, None, places) for mark, places in sorted(marked.items())),
        *(_made(n, _at_once(n, state.budgets[n], covered[n].total(), pending[n]), covered[n]) for n in sorted(covered)),
    )


def _made(name: str, at_once: int | None, places: Places) -> Restraint:
    return Restraint(name, at_once, tuple((e, c, number) for (e, c), number in sorted(places.items())))


def _budgets_of(state: State, group: PodGroup) -> list[str]:
    labels: dict[str, str] = decode(group.key.labels, dict[str, str] | None) or {}
    has = Machine({key: frozenset((value,)) for key, value in labels.items()})
    return [
        name
        for name, budget in state.budgets.items()
        if name.partition("/")[0] == group.key.namespace and _selects(budget, has)
    ]


def _selects(budget: PodDisruptionBudget, labels: Machine) -> bool:
    selector = budget.spec.selector
    return selector is not None and all(holds(expression, labels) for expression in selector.expressions())


def _at_once(name: str, budget: PodDisruptionBudget, running: int, pending: int) -> int:
    """Return how many pods of a budget may go now: as its status says, else if all that run are well."""
    if (allowed := budget.status.disruptions_allowed) is not None:
        return max(0, allowed)
    spec, pods = budget.spec, running + pending
    if spec.max_unavailable is not None:
        return max(0, _number(name, spec.max_unavailable, pods) - pending)
    return max(0, running - _number(name, 0 if spec.min_available is None else spec.min_available, pods))


def _number(name: str, given: int | str, pods: int) -> int:
    """Return a number, or a share of the pods, rounded up."""
    text = str(given)
    if not text.removesuffix("%").isdecimal() or len(text) > 10:
        raise InstanceError(
            f"PodDisruptionBudget {name}: '{text:.60}' is neither a number nor a percentage; correct it."
        )
    return -(-pods * int(text[:-1]) // 100) if text.endswith("%") else int(text)
