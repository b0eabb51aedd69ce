"""Labels that a new node group may be given: every combination that some pods need and no other makes needless.

What pods ask of labels is a choice of terms, each a list of expressions that must all hold. Of two combinations the one under
which more terms of pods hold, and fewer of DaemonSets, admits all that the other does and has no less room.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from schedgap.instances.provisioning.readers.catalogues.labels import OTHER
from schedgap.instances.provisioning.readers.kubernetes.constraints import Machine, holds, limit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from schedgap.instances.provisioning.readers.kubernetes.constraints import Constraint
    from schedgap.instances.provisioning.readers.kubernetes.objects import Expression

# So many combinations are told apart, and terms of one constraint.
MOST, MOST_TERMS = 32, 64
_Term: TypeAlias = "frozenset[Expression]"


def combinations(
    asked: Sequence[Constraint], daemons: Sequence[Constraint], values: Mapping[str, Sequence[str | None]]
) -> list[dict[str, str | None]] | None:
    """Return the combinations of labels, None as a value where a label is not there; None where they are over `MOST`.

    asked : what pods ask for. daemons : what those ask for that come with a machine. values : by label, those it may have.
    """
    of_pods = list(dict.fromkeys(_terms(asked, values)))
    terms = [*of_pods, *dict.fromkeys(_terms(daemons, values))]
    pods, every = (1 << len(of_pods)) - 1, (1 << len(terms)) - 1
    found: dict[int, dict[str, str | None]] = {every: {}}
    for key, some in values.items():
        held = {value: sum(1 << t for t, term in enumerate(terms) if _holds(term, key, value)) for value in some}
        longer: dict[int, dict[str, str | None]] = {}
        for mask, labels in found.items():
            for value, more in held.items():
                longer.setdefault(mask & more, labels | {key: value})
        found = {mask ^ every ^ pods: longer[mask ^ every ^ pods] for mask in largest(m ^ every ^ pods for m in longer)}
        if len(found) > MOST:
            return None
    return list(found.values())


def values_of(key: str, constraints: Iterable[Constraint]) -> list[str | None]:
    """Return the values of a label that constraints tell apart, None first."""
    found: dict[str | None, None] = {None: None}
    for each in (each for one in constraints for each in one.expressions() if each.key == key):
        if each.operator[0] in "GL":
            found |= {str(limit(each) + step): None for step in (-1, 0, 1)}
        else:
            found |= dict.fromkeys(each.values)
    return [*found, OTHER]


def largest(masks: Iterable[int]) -> list[int]:
    """Return the sets of bits that no other contains."""
    found: list[int] = []
    for mask in sorted(set(masks), key=int.bit_count, reverse=True):
        if not any(mask & other == mask for other in found):
            found.append(mask)
    return found


def _terms(constraints: Iterable[Constraint], keys: Mapping[str, object]) -> Iterator[_Term]:
    """Yield what constraints ask of some labels: one of the terms of each must hold."""
    for one in dict.fromkeys(constraints):
        choices = [affinity.node_selector_terms for affinity in one.affinities]
        parts = [[term.match_expressions for term in terms] for terms in choices if terms]
        if prod(map(len, parts)) > MOST_TERMS:
            # More terms than there need be: none is made needless by another then.
            wholes: Iterable[tuple[tuple[Expression, ...], ...]] = ((each,) for terms in parts for each in terms)
        else:
            wholes = product(*parts)
        for whole in wholes:
            if term := frozenset(each for some in (one.selector, *whole) for each in some if each.key in keys):
                yield term


def _holds(term: _Term, key: str, value: str | None) -> bool:
    machine = Machine({key: frozenset((value,))})
    return all(holds(each, machine) for each in term if each.key == key)
