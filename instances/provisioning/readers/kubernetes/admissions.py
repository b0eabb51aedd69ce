"""Which machines admit which pods, and for lack of what knowledge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedgap.instances.provisioning.readers.kubernetes.constraints import CAPACITY_TYPE, HOSTNAME, ZONE, may_run
from schedgap.instances.provisioning.readers.kubernetes.nodes import SPOT_LABELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedgap.instances.provisioning.readers.kubernetes.constraints import Constraint
    from schedgap.instances.provisioning.readers.kubernetes.offers import Offer


def admissions(
    distinct: Sequence[Constraint], offers: Sequence[Offer], unknown: Sequence[set[str]]
) -> list[tuple[bool, ...]]:
    """Return for each offer whether it admits the pods of each constraint; machines that are alike are asked once.

    unknown : gets, for each constraint, the kinds of labels for whose lack of knowledge alone a machine admits its pods.
    """
    known: dict[object, tuple[bool, ...]] = {}
    looked = [{expression.key for expression in constraint.expressions()} for constraint in distinct]
    keys = set().union(*looked)
    columns = []
    for offer in offers:
        machine = offer.machine
        seen = frozenset((key, machine.labels[key]) for key in keys & machine.labels.keys())
        place = (seen, machine.taints, machine.unknown & keys)
        if place not in known:
            found = [may_run(constraint, machine) for constraint in distinct]
            known[place] = tuple(admits is not False for admits in found)
            for q in (q for q, admits in enumerate(found) if admits is None):
                unsure = machine.unknown.union(key for key, values in machine.labels.items() if len(values) > 1)
                unknown[q].update(map(_unknown, looked[q] & unsure or {HOSTNAME}))
        columns.append(known[place])
    return columns


def _unknown(key: str) -> str:
    if key == HOSTNAME:
        return "bound to a node by name"
    if key == ZONE:
        return "bound to a zone"
    if key == CAPACITY_TYPE or key in SPOT_LABELS:
        return "bound to spot or on-demand machines"
    return f"bound to label {key:.80}, which is not known of every machine"
