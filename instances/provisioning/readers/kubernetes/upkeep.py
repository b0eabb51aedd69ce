"""Which nodes controllers may give back: NodePools and their budgets, and what of pods and annotations keeps a node.

What pods and PodDisruptionBudgets ask not to be moved: no rule of a plan, and said where one breaks it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.catalogues.catalogue import SPOT
from schedgap.instances.provisioning.readers.kubernetes.constraints import Machine, holds
from schedgap.instances.provisioning.readers.kubernetes.nodes import POOL, RunningNode, is_leaving, is_ready
from schedgap.instances.provisioning.readers.kubernetes.objects import (
    DisruptionBudget,
    DisruptionSpec,
    Expression,
    Node,
    PodDisruptionBudget,
    decode,
    duration_s,
    unix_s,
)
from schedgap.instances.provisioning.readers.kubernetes.offers import Offer
from schedgap.instances.provisioning.readers.kubernetes.state import TRUE, PodGroup, State
from schedgap.instances.provisioning.readers.quantities import UNLIMITED, in_units, listed
from schedgap.instances.provisioning.running import (
    GOING,
    HELD,
    NEVER,
    NO_SCALE_DOWN,
    ONE_TASK,
    REASONS,
    STARTING,
    UNMANAGED,
    Budget,
    Disruption,
    Guard,
    Pool,
    Restraint,
)
from schedgap.instances.provisioning.windows import Window

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
    return guard_of("", budget).allows(running + pending, running)


def guard_of(name: str, budget: PodDisruptionBudget) -> Guard:
    """Return what a PodDisruptionBudget says; one that says nothing lets all go."""
    spec = budget.spec
    given = spec.min_available if spec.max_unavailable is None else spec.max_unavailable
    text = str(0 if given is None else given)
    return Guard(name, int(text.removesuffix("%")), text.endswith("%"), spec.max_unavailable is None)


INITIALIZED = "karpenter.sh/initialized"
WHEN_EMPTY, BALANCED = "WhenEmpty", "Balanced"


def looked_at(
    state: State,
    nodes: Sequence[RunningNode],
    resources: Sequence[str],
    demands: Sequence[dict[str, int]],
    types: Sequence[Offer],
) -> dict[str, Any]:
    """Return the fields of `Running` that only rules of real clusters look at, where they say something.

    demands : of all classes, by which amounts get their units. types : the machine types.
    """
    spot = [k for k, offer in enumerate(types) if offer.capacity_type == SPOT]
    rows = [{key: min(value, UNLIMITED) for key, value in (n.left | n.allocatable).items()} for n in nodes]
    _, _, whole = in_units(resources, demands, rows)
    _, _, taken = in_units(resources, demands, [n.taken for n in nodes])
    _, _, left = in_units(resources, demands, [n.left for n in nodes], alike=True)
    found: dict[str, Any] = {"reserved": np.array(taken, np.int64)} if any(map(any, taken)) else {}
    found |= {"whole": np.array(whole, np.int64)} if whole != left else {}
    # A node counts one to Karpenter, whatever is on it.
    return found | {"disruption": _disruption(state, nodes, spot), "node_disruption": np.full(len(nodes), ONE_TASK)}


def _disruption(state: State, nodes: Sequence[RunningNode], spot: Sequence[int]) -> Disruption | None:
    """Return what controllers may do to the nodes, None where nothing tells one from another. spot : machine types."""
    names = list(dict.fromkeys((*state.pools, *(n.labels[POOL] for n in nodes if n.labels.get(POOL)))))
    pools = [_pool(state, name) for name in names if any(n.labels.get(POOL) == name for n in nodes)]
    index = {pool.name: p for p, pool in enumerate(pools)}
    blocked = dict.fromkeys(_blocked(state), HELD | NO_SCALE_DOWN)
    never = {pool.name for pool in pools if pool.consolidate_after_s == NEVER}
    # What was exported without this label says nothing by its absence.
    is_said = any(INITIALIZED in node.labels for node in nodes)
    marks = []
    for node in nodes:
        item, pool, claim = state.nodes[node.name], node.labels.get(POOL, ""), state.node_claims.get(node.name)
        mark = state.marks.get(node.name, 0) | blocked.get(node.name, 0) | own_marks(item)
        if pool in never or (claim is not None and claim.get("Consolidatable", "False") != "True"):
            mark |= HELD
        if (state.now_s or 0) < state.held_until.get(node.name, 0):
            mark |= HELD
        if pool and is_said and node.labels.get(INITIALIZED) != TRUE:
            mark |= STARTING
        if is_leaving(item) or not is_ready(item):
            mark |= GOING
        marks.append(mark)
    if not pools and not any(marks) and not spot:
        return None
    pool_of = np.array([index.get(node.labels.get(POOL, ""), UNMANAGED) for node in nodes], np.int64)
    arrays = (pool_of, np.array(marks, np.int64), np.array(spot, np.int64))
    waits, at_times = any(p.consolidate_after_s > 0 for p in pools), any(b.window for p in pools for b in p.budgets)
    quiet_s = np.array([quiet(state, node.name) for node in nodes]) if waits and state.now_s is not None else None
    return Disruption(tuple(pools), *arrays, quiet_s, state.now_s if at_times else None)


def own_marks(node: Node) -> int:
    """Return what a node's own annotations say of it."""
    notes = node.metadata.annotations
    if notes is None:
        return 0
    return HELD * (notes.do_not_disrupt == TRUE) | NO_SCALE_DOWN * (notes.scale_down_disabled == TRUE)


def quiet(state: State, name: str) -> int:
    """Return for how many seconds no pod is known to have come to a node or gone; since it was made where nothing is known."""
    assert state.now_s is not None
    last = state.changed.get(name)
    if last is None:
        last = max(state.came.get(name, 0), unix_s(state.nodes[name].metadata.creation_timestamp) or 0)
    return max(0, state.now_s - last)


def _pool(state: State, name: str) -> Pool:
    if name not in state.pools:
        return Pool(name)
    given: DisruptionSpec = state.pools[name].spec.disruption
    found = [_budget(state, budget) for budget in given.budgets]
    budgets = tuple(budget for budget in found if budget is not None and budget.reasons)
    if left_out := found.count(None):
        state.report.sentences.append(
            f"For information: Karpenter's rule is without {left_out} budgets of NodePool {name:.60} that hold at times only, "
            "or are no number."
        )
    after = given.consolidate_after or "0s"
    policy = given.consolidation_policy
    waits = NEVER if after == "Never" else duration_s(after) or 0
    return Pool(name, budgets, policy == WHEN_EMPTY, policy == BALANCED, waits)


def _budget(state: State, given: DisruptionBudget) -> Budget | None:
    """Return a budget, None for one that is none, or that holds at times where nobody knows the time."""
    text, window = str(given.nodes), None
    if not re.fullmatch(r"[0-9]{1,9}%?", text):
        return None
    if given.schedule is not None:
        try:
            window = Window(given.schedule, duration_s(given.duration or "") or 0)
        except InstanceError:
            return None
        if state.now_s is None:
            return None
    reasons = tuple(r for r in REASONS if r.capitalize() in given.reasons) if given.reasons else REASONS
    return Budget(int(text.removesuffix("%")), text.endswith("%"), reasons, window)


def _blocked(state: State) -> Iterator[str]:
    """Yield the nodes of pods of which a PodDisruptionBudget admits no eviction now, or that have more than one."""
    guards = Guards(state)
    running: Counter[str] = Counter()
    pending: Counter[str] = Counter()
    for group in state.groups.values() if state.budgets else ():
        for name in guards.of(group):
            running[name] += sum(group.on.values())
            pending[name] += group.pending
    full = {name for name in running if not _at_once(state.budgets[name], running[name], pending[name])}
    for group in (g for g in state.groups.values() if g.on):
        found = guards.of(group)
        if len(found) > 1 or not full.isdisjoint(found):
            yield from group.on


def tell_blocked(state: State) -> None:
    """Say of PodDisruptionBudgets what becomes of them."""
    full = [name for name, budget in state.budgets.items() if budget.status.disruptions_allowed == 0]
    if full:
        state.report.sentences.append(
            f"For information: {len(full)} of {len(state.budgets)} PodDisruptionBudgets admit no eviction now: {listed(full)}; "
            "they keep nodes in the rules of Karpenter and cluster-autoscaler, and bind no plan."
        )
    elif state.budgets:
        state.report.sentences.append(
            f"For information: {len(state.budgets)} PodDisruptionBudgets all admit an eviction now, and bind no plan."
        )
