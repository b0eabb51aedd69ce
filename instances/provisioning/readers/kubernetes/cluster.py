"""A Kubernetes cluster as an instance: what `kubectl get pods,nodes -A -o json` prints, and a price list."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from schedgap.instances.errors import InstanceError, one_of
from schedgap.instances.provisioning.readers.catalogues import read_catalogue
from schedgap.instances.provisioning.readers.catalogues.catalogue import ON_DEMAND
from schedgap.instances.provisioning.readers.kubernetes.assembly import Assembly
from schedgap.instances.provisioning.readers.kubernetes.at_most_one import exclusions
from schedgap.instances.provisioning.readers.kubernetes.constraints import ZONE, Constraint
from schedgap.instances.provisioning.readers.kubernetes.nodes import running_nodes, types_of_nodes
from schedgap.instances.provisioning.readers.kubernetes.offers import Market
from schedgap.instances.provisioning.readers.kubernetes.pod_parts import label_name
from schedgap.instances.provisioning.readers.kubernetes.state import leave_out, read_state
from schedgap.instances.provisioning.readers.kubernetes.templates import ANY, KEPT
from schedgap.instances.provisioning.readers.kubernetes.upkeep import tell_blocked
from schedgap.instances.provisioning.readers.quantities import rounding_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schedgap.instances.provisioning.model import ProvisioningInstance
    from schedgap.instances.provisioning.readers.catalogues import Catalogue
    from schedgap.instances.provisioning.readers.kubernetes.nodes import RunningNode
    from schedgap.instances.provisioning.readers.kubernetes.objects import Expression
    from schedgap.instances.provisioning.readers.kubernetes.state import PodGroup, State

# A zone that nobody names: no label has a space.
ANOTHER_ZONE = "another zone"
ADMITTED, AUTO, IGNORE = "admitted", "auto", "ignore"
UNPLACED = "volumes whose place is not given"
TOGETHER = "volumes that one node at a time can use (ReadWriteOnce), which several pods share"


def kubernetes(
    *paths: Path | str,
    catalogue: str = "",
    prices: str = "",
    region: str = "",
    capacity_types: str = ON_DEMAND,
    zones: str = AUTO,
    node_type: str = "",
    node_types: str = "",
    node_groups: str = ANY,
) -> ProvisioningInstance:
    """Read a cluster: JSON files of kubectl, or folders of them, with pods, nodes, and NodePools, PVCs and PVs if there.

    catalogue : the price list, in a format that `read_catalogue` knows; prices, region : as it takes them.
    capacity_types : `on-demand` rents new machines at on-demand prices, those of NodePools that admit spot alone at spot
        prices; `admitted` also as spot where the NodePool and the pods admit it. Spot nodes that run are there at their price.
    zones : `auto` tells machines of different zones apart where a pod or its volume is bound to one, and the price list or
        the nodes name zones; `ignore` drops such constraints.
    node_type : the type of nodes without a label that says it. node_types : a CSV with `node,type`, which goes before labels.
    node_groups : `any` rents machines as nodes of no NodePool could be; `kept` keeps these, and rents of NodePools alone.

    The notes of the instance say what was taken, left out, and relaxed; no relaxation raises a lower bound.

    Raises
    ------
    InstanceError
        for malformed files, nodes without a price, and parameters that are none.
    """
    one_of("capacity_types", capacity_types, (ON_DEMAND, ADMITTED), InstanceError)
    one_of("zones", zones, (AUTO, IGNORE), InstanceError)
    one_of("node_groups", node_groups, (ANY, KEPT), InstanceError)
    if not catalogue:
        raise InstanceError("no price list is given; name it in the parameter `catalogue`.")
    listed_types = read_catalogue(catalogue, prices=prices, region=region)
    state = read_state(paths)
    leave_out(state)
    groups = list(state.groups.values())
    constraints = [_constraint(state, group) for group in groups]
    _shared_volumes(state, groups)
    excluding = exclusions(state, groups, constraints)
    nodes = running_nodes(state, listed_types, excluding, types_of_nodes(state, node_type, node_types))
    asked = [expression for constraint in constraints for expression in constraint.expressions()]
    keys = {expression.key for expression in asked}
    daemons = (daemon.parts.constraint for daemon in state.daemon_sets.values())
    looked = keys | {expression.key for constraint in daemons for expression in constraint.expressions()}
    told_apart = _zones(listed_types, nodes, state, asked) if zones == AUTO and ZONE in keys else ()
    spot = capacity_types == ADMITTED
    market = Market(
        *(state, listed_types, nodes, excluding, frozenset(looked), constraints, told_apart, spot, node_groups)
    )
    rented, running = market.offers()
    report = state.report
    report.sentences += [*excluding.kept, *listed_types.notes, *rounding_note({o.price for o in (*rented, *running)})]
    made = Assembly(groups, constraints, excluding, [*rented, *running], report)
    name = "kubernetes-" + "-".join(dict.fromkeys(Path(path).stem for path in paths))
    tell_blocked(state)
    return made.instance(name[:100], state, nodes)


def _constraint(state: State, group: PodGroup) -> Constraint:
    """Return a group's constraint with the places of its volumes."""
    constraint = group.key.parts.constraint
    reached = []
    for claim in group.key.claims:
        volume = state.claims.get(claim, "")
        if volume not in state.volumes:
            state.report.relaxed[UNPLACED][group.name] += group.count
            return constraint
        if (terms := state.volumes[volume]) is not None:
            reached.append(terms)
    return constraint._replace(affinities=(*constraint.affinities, *dict.fromkeys(reached)))


def _shared_volumes(state: State, groups: Sequence[PodGroup]) -> None:
    users: Counter[str] = Counter()
    for group in groups:
        users.update(dict.fromkeys(group.key.claims, group.count))
    for group in groups:
        if any(users[claim] > 1 and claim in state.on_one_node for claim in group.key.claims):
            state.report.relaxed[TOGETHER][group.name] += group.count


def _zones(
    catalogue: Catalogue, nodes: Sequence[RunningNode], state: State, asked: Sequence[Expression]
) -> tuple[str, ...]:
    """Return the zones of nodes, NodePools and pods, and those of the price list, unless it has other names for all.

    Where pods avoid zones, and a line of the list holds for all, there is one more.
    """
    required = (each for pool in state.pools.values() for each in pool.spec.template.spec.requirements)
    own = {node.zone for node in nodes if node.zone} | _in_zones(required)
    named = own | _in_zones(asked)
    found = named.union(catalogue.zones if not own or not named.isdisjoint(catalogue.zones) else ())
    avoided = any(label_name(each.key, each.values) == ZONE and each.operator == "NotIn" for each in asked)
    everywhere = any(not offer.zone for kind in catalogue.types for offer in kind.offerings)
    return (*sorted(found), *((ANOTHER_ZONE,) if avoided and everywhere else ()))


def _in_zones(expressions: Iterable[Expression]) -> set[str]:
    found = (each for each in expressions if label_name(each.key, each.values) == ZONE and each.operator == "In")
    return {value for each in found for value in each.values}
