"""A cluster's past as an instance: the same pods at the times at which they ran, and what was paid.

Times are rounded inward to a grid: what ran is never more in the instance.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from heapq import heappop, heappush
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from schedgap.instances.arrays import IntArray
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.classes import with_classes
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.readers.kubernetes.at_most_one import Exclusions
from schedgap.instances.provisioning.readers.kubernetes.cluster import Assembly, Terms, assembled
from schedgap.instances.provisioning.readers.kubernetes.constraints import TYPE
from schedgap.instances.provisioning.readers.kubernetes.nodes import POOL, Held, smallest
from schedgap.instances.provisioning.readers.kubernetes.objects import Annotations, Node, Pod
from schedgap.instances.provisioning.readers.kubernetes.state import (
    PodGroup,
    State,
    gathered,
    leave_out,
    node_labels,
)
from schedgap.instances.provisioning.readers.quantities import listed
from schedgap.instances.provisioning.running import Running
from schedgap.instances.reconfiguration.delays import PHASES
from schedgap.instances.reconfiguration.model import MILLION, Past, ReconfigurationInstance
from schedgap.instances.reconfiguration.past.history import History, NodeLife, PodLife, numbered
from schedgap.instances.reconfiguration.past.upkeep import upkeep_of
from schedgap.instances.units import DOLLAR, HOUR_S

if TYPE_CHECKING:
    from msgspec import Struct

# Seconds between plans where no look tells them, the least, and until a node is ready where no node shows it.
PERIOD_S, LEAST_PERIOD_S, BOOT_S = 300, 60, 60
WORKLOAD = "pod"
NO_NOTES = Annotations()


def instance_of(
    history: History, *, name: str = "past", period_s: int = 0, boot_s: int = -1, restart_s: int = 30, **terms: str
) -> ReconfigurationInstance:
    """Return the same pods at the times at which they ran, on machines that can be rented, and what was paid.

    period_s : the grid of times, and between two plans; 0 for the median time between looks, at least 60, or 300.
    boot_s : from the order of a machine until it runs pods; -1 for what nodes of its type took. restart_s : what a pod loses
    that is moved. terms : the fields of `Terms`.

    A pod is there from the first point of the grid within its known time until the last; of a node every second counts.

    Raises
    ------
    InstanceError
        for parameters that are none, and where no pod ran for a whole period.
    """
    if min(period_s, boot_s + 1, restart_s) < 0:
        given = f"period_s is {period_s}, boot_s {boot_s}, restart_s {restart_s}"
        raise InstanceError(f"{given}; give seconds, or 0 and -1 for what is measured.")
    asked = Terms(**terms)
    grid = _Grid.of(history, period_s)
    pods = sorted(history.pods, key=lambda life: (life.name, life.first_s, life.node))
    state, groups = _union(history, pods, grid.second_0)
    stays = _stays(pods, groups, state, grid)
    _keep_at_a_time(state, stays)
    _complete_idle(state)
    made, nodes = assembled(state, asked, asked.price_list(), lambda _, excluding: _held(state, stays, excluding))
    whole = made.instance(name, state, nodes)
    stays, job2class = _classes(made, state, stays)
    past, running = _machines(history, pods, whole, stays, grid)
    jobs = stays.of(pods, list(state.groups.values()))
    upkeep = upkeep_of(state, whole, running, pods, jobs, job2class, stays.arrival_s, grid.second_0)
    used, job2class = np.unique(job2class, return_inverse=True)
    catalogue = _catalogue(whole, used)
    kinds = dict(zip(past.names, (made.kinds[k] for k in past.machine_type.tolist()), strict=True))
    boots, boot_note = _boots(history, pods, kinds, boot_s)
    delays: dict[str, Any] = {key: np.array([restart_s if key == "upload_s" else 0]) for key in PHASES}
    return ReconfigurationInstance(
        name=name,
        catalogue=catalogue,
        acquire_s=np.zeros(catalogue.num_types, np.int64),
        setup_s=np.array([boots(kind) for kind in made.kinds]),
        **delays,
        arrival_s=stays.arrival_s,
        work_s=stays.end_s - stays.arrival_s,
        job2class=job2class,
        num_tasks=np.ones(stays.size, np.int64),
        period_s=grid.period_s,
        terminate_s=0,
        running=running,
        upkeep=upkeep,
        past=past,
        notes=(
            *_taken(history, stays, past, whole),
            *grid.left_out(pods, groups, state),
            *history.sentences,
            boot_note,
            *_relaxed(state.report.notes(), made.kept_alone),
        ),
    )


def _catalogue(whole: ProvisioningInstance, classes: IntArray) -> ProvisioningInstance:
    """Return the machines, and some of the classes, of a cluster in which all is there at once."""
    return with_classes(
        whole,
        whole.demand[:, classes],
        np.ones(classes.size, np.int64),
        class_names=tuple(whole.class_name(c) for c in classes.tolist()),
        workloads=(WORKLOAD,),
        class2workload=np.zeros(classes.size, np.int64),
        # What ran could be had; and no method over time knows of limits on what shares a machine.
        stock=None,
        notes=(),
    )


def _relaxed(notes: Iterable[str], kept_alone: Sequence[str]) -> Iterator[str]:
    yield "Relaxed: of every type any number of machines could be had."
    for note in notes:
        yield f"Relaxed: {note.removeprefix('Kept exactly: ')}" if note in kept_alone else note


class _Grid(NamedTuple):
    """The points of time of an instance. second_0 : in unix seconds. end_s : of the past, in seconds since then."""

    period_s: int
    second_0: int
    end_s: int

    @classmethod
    def of(cls, history: History, period_s: int) -> _Grid:
        """Return the grid of a history. period_s : 0 for what the looks give."""
        apart = [b - a for a, b in pairwise(history.looks)]
        period_s = period_s or (max(LEAST_PERIOD_S, int(median(apart))) if apart else PERIOD_S)
        second_0 = history.start_s // period_s * period_s
        return cls(period_s, second_0, history.end_s - second_0)

    def within(self, lives: Sequence[PodLife | NodeLife]) -> tuple[IntArray, IntArray]:
        """Return from when until when each is known to be there, within the window, in seconds since second 0."""
        first, last = (np.array([getattr(life, key) for life in lives], np.int64) for key in ("first_s", "last_s"))
        from_s = np.clip(first - self.second_0, 0, self.end_s)
        return from_s, np.maximum(np.clip(last - self.second_0, 0, self.end_s), from_s)

    def inward(self, from_s: IntArray, until_s: IntArray) -> tuple[IntArray, IntArray]:
        """Return the first and the last point of the grid within times."""
        return -(-from_s // self.period_s) * self.period_s, until_s // self.period_s * self.period_s

    def left_out(self, pods: Sequence[PodLife], groups: Sequence[PodGroup | None], state: State) -> list[str]:
        """Say which pods are there for no whole period."""
        packed = [
            life for life, group in zip(pods, groups, strict=True) if group is not None and life.node in state.nodes
        ]
        from_s, until_s = self.within(packed)
        arrival, end = self.inward(from_s, until_s)
        known, out = until_s - from_s, end <= arrival
        lost = int((known - np.maximum(end - arrival, 0)).sum())
        share = lost / max(1, int(known.sum()))
        return [
            f"Rounded inward to whole periods of {self.period_s} s: {share:.1%} of all pod-hours are not in the instance; "
            f"{int(out.sum())} of {len(packed)} pods, which were there for no whole one, are left out."
        ]


@dataclass(frozen=True, slots=True)
class _Stays:
    """The pods that are in the instance, N of them, in order of arrival, on the grid.

    life, group, node : (N,) int64, into the sorted lives, the groups and the nodes of the state.
    """

    life: IntArray
    group: IntArray
    node: IntArray
    arrival_s: IntArray
    end_s: IntArray

    @property
    def size(self) -> int:
        """Number of pods."""
        return int(self.life.shape[0])

    def of(self, pods: Sequence[PodLife], groups: Sequence[PodGroup]) -> list[tuple[PodLife, PodGroup]]:
        """Return the life and the group of each."""
        return [(pods[i], groups[g]) for i, g in zip(self.life.tolist(), self.group.tolist(), strict=True)]

    def most_at_a_time(self, owner: IntArray, amount: IntArray) -> tuple[IntArray, IntArray]:
        """Return the distinct owners, and the most that the pods of each take together at a time. owner, amount : (N,)."""
        twice = np.concatenate((owner, owner))
        at = np.concatenate((self.arrival_s, self.end_s))
        signed = np.concatenate((amount, -amount))
        # What ends at a point of the grid makes room for what comes there.
        order = np.lexsort((signed, at, twice))
        owners, first = np.unique(twice[order], return_index=True)
        # The pods of an owner end at 0 together: the next one starts from there.
        return owners, np.maximum.reduceat(np.cumsum(signed[order]), first)


def _union(history: History, pods: Sequence[PodLife], now_s: int) -> tuple[State, list[PodGroup | None]]:
    """Return all that was there at some time as one state, and the group of each pod, None of one that is not packed.

    Names that come twice are told apart, and a pod that came with a node twice counts once.
    """
    groups: list[PodGroup | None] = [None] * len(pods)
    # A pod whose parts are the very objects of another is of its group.
    alike, repeated, at = dict[object, int](), list[tuple[int, int]](), -1

    def objects() -> Iterator[tuple[str, str, Struct | InstanceError]]:
        nonlocal at
        yield from history.others
        for each in history.nodes:
            meta = replace(each.node.metadata, name=each.name, deletion_timestamp=None)
            yield each.name, Node.__name__, replace(each.node, metadata=meta)
        static: set[str] = set()
        titles = numbered(life.name for life in pods)
        for number, (life, title) in enumerate(zip(pods, titles, strict=True)):
            if (mark := _mark(life)) is not None and (same := alike.setdefault(mark, number)) != number:
                repeated.append((number, same))
                continue
            at, pod, name = number, life.pod, title.rpartition("/")[2]
            if pod.metadata.annotations is not None and pod.metadata.annotations.mirror is not None:
                # Named after its node, as that is called here.
                name = f"{pod.metadata.name.removesuffix(f'-{pod.spec.node_name}')}-{life.node}"
                if name in static:
                    continue
                static.add(name)
            meta = replace(pod.metadata, name=name, deletion_timestamp=None)
            spec = replace(pod.spec, node_name=life.node)
            yield life.name, Pod.__name__, replace(pod, metadata=meta, spec=spec, status=replace(pod.status, phase=""))

    def watch(_: Pod, __: str, group: PodGroup) -> None:
        groups[at] = group

    state = gathered(objects(), watch)
    state.now_s = now_s
    for number, same in repeated:
        if (group := groups[same]) is not None:
            groups[number] = group
            group.on[pods[number].node] = group.on.get(pods[number].node, 0) + 1
            for kind in group.key.parts.relaxed:
                state.report.relaxed[kind][group.name] += 1
    leave_out(state)
    return state, groups


def _mark(life: PodLife) -> object:
    """Return what only pods of one group have in common, None of a pod that may be one of its own."""
    meta, spec = life.pod.metadata, life.pod.spec
    if not any(owner.controller and owner.kind not in ("DaemonSet", "Node") for owner in meta.owner_references):
        return None
    if spec.volumes or (meta.annotations or NO_NOTES) != NO_NOTES or b"matchFields" in bytes(spec.affinity):
        return None
    parts: tuple[object, ...] = (
        meta.labels,
        meta.owner_references,
        life.pod.status,
        spec.containers,
        spec.init_containers,
        spec.overhead,
    )
    parts += (spec.resources, spec.node_selector, spec.affinity, spec.tolerations, spec.topology_spread_constraints)
    return (meta.namespace, spec.host_network, *map(id, (*parts, spec.resource_claims)))


def _stays(pods: Sequence[PodLife], groups: Sequence[PodGroup | None], state: State, grid: _Grid) -> _Stays:
    """Return the pods that are packed and there for a whole period; groups without any are gone from the state."""
    places = {name: e for e, name in enumerate(state.nodes)}
    node = np.array([places.get(life.node, -1) for life in pods], np.int64)
    packed = np.array([group is not None for group in groups], np.bool_)
    arrival, end = grid.inward(*grid.within(pods))
    life = np.flatnonzero(packed & (node >= 0) & (arrival < end))
    if not life.size:
        raise InstanceError(
            f"of {len(pods)} pods none that is to be packed was on a node for a whole period of {grid.period_s} s; give a "
            "longer past, or a shorter period_s."
        )
    life = life[np.argsort(arrival[life], kind="stable")]
    used = {id(groups[each]) for each in life.tolist()}
    state.groups = {key: group for key, group in state.groups.items() if id(group) in used}
    index = {id(group): g for g, group in enumerate(state.groups.values())}
    of_group = np.array([index[id(groups[each])] for each in life.tolist()], np.int64)
    return _Stays(life, of_group, node[life], arrival[life], end[life])


def _keep_at_a_time(state: State, stays: _Stays) -> None:
    """Let groups have as many pods on each node as were there at a time at most."""
    names, groups = list(state.nodes), list(state.groups.values())
    for group in groups:
        group.on, group.pending = {}, 0
        # Who must not be moved is no matter of a past.
        group.held.clear()
    pairs, most = stays.most_at_a_time(stays.group * len(names) + stays.node, np.ones(stays.size, np.int64))
    for pair, number in zip(pairs.tolist(), most.tolist(), strict=True):
        groups[pair // len(names)].on[names[pair % len(names)]] = number


def _complete_idle(state: State) -> None:
    """Let nodes that no pod came to have the DaemonSets and static pods of busy nodes of their type and pool.

    One that a look showed in its first seconds has none yet; it would tell that machines without them can be had.
    """
    busy = {name for group in state.groups.values() for name in group.on}
    kinds = {name: (labels.get(TYPE), labels.get(POOL)) for name, labels in map(_labelled, state.nodes.values())}
    idle = [name for name in state.nodes if name not in busy]
    for daemons in (each for each in state.daemon_sets.values() if not each.pinned):
        least: dict[object, list[dict[str, int]]] = defaultdict(list)
        for name in daemons.requests.keys() & busy:
            least[kinds[name]].append(daemons.requests[name])
        lacking = (name for name in idle if name not in daemons.requests and kinds[name] in least)
        daemons.requests |= {name: smallest(least[kinds[name]]) for name in lacking}
    everywhere = set.intersection(*(set(state.mirrored.get(name, ())) for name in busy))
    for title in sorted(everywhere):
        usual = smallest([state.mirrored[name][title] for name in sorted(busy)])
        for name in idle:
            state.mirrored.setdefault(name, {}).setdefault(title, usual)


def _labelled(node: Node) -> tuple[str, dict[str, str]]:
    return node.metadata.name, node_labels(node)


def _held(state: State, stays: _Stays, excluding: Exclusions) -> Held:
    """Return what the pods of each node take of each resource at a time at most."""
    rows = [dict(group.key.request) | more for group, more in zip(state.groups.values(), excluding.demand, strict=True)]
    names, held = list(state.nodes), defaultdict[str, Counter[str]](Counter)
    for resource in {key for row in rows for key in row}:
        amount = np.array([row.get(resource, 0) for row in rows], np.int64)[stays.group]
        owners, most = stays.most_at_a_time(stays.node, amount)
        for e, number in zip(owners.tolist(), most.tolist(), strict=True):
            held[names[e]][resource] = number
    return held


def _classes(made: Assembly, state: State, stays: _Stays) -> tuple[_Stays, IntArray]:
    """Return the stays of pods that fit some machine, and the class of each.

    Where pods of a group on a node are of several classes, each pod is of the first that has a place free.
    """
    keys, names, found = [id(group.key) for group in state.groups.values()], list(state.nodes), made.classes_on()
    pairs, which = np.unique(stays.group * len(names) + stays.node, return_inverse=True)
    places = [found[keys[pair // len(names)], names[pair % len(names)]] for pair in pairs.tolist()]
    job2class: IntArray = np.array([some[0][0] if some else -1 for some in places], np.int64)[which]
    order = np.argsort(which, kind="stable")
    bounds = np.searchsorted(which[order], np.arange(pairs.size + 1)).tolist()
    for q in (q for q, some in enumerate(places) if len(some) > 1):
        free = list(enumerate(c for c, number in places[q] for _ in range(number)))
        taken: list[tuple[int, tuple[int, int]]] = []
        for j in order[bounds[q] : bounds[q + 1]].tolist():
            while taken and taken[0][0] <= stays.arrival_s[j]:
                heappush(free, heappop(taken)[1])
            place = heappop(free)
            job2class[j] = place[1]
            heappush(taken, (int(stays.end_s[j]), place))
    fits = job2class >= 0
    return _Stays(*(getattr(stays, each.name)[fits] for each in fields(_Stays))), job2class[fits]


def _machines(
    history: History, pods: Sequence[PodLife], whole: ProvisioningInstance, stays: _Stays, grid: _Grid
) -> tuple[Past, Running | None]:
    """Return what was paid, and what is there at second 0. whole : has all nodes as running machines."""
    assert whole.running is not None
    names, types = whole.running.names, whole.running.machine_type
    lives = {life.name: life for life in history.nodes}
    from_s, until_s = grid.within([lives[name] for name in names])
    # A pod that is seen later than its node shows that this was there.
    index = {name: e for e, name in enumerate(names)}
    on = np.array([index.get(life.node, -1) for life in pods], np.int64)
    first, last = grid.within(pods)
    np.minimum.at(from_s, on[on >= 0], first[on >= 0])
    np.maximum.at(until_s, on[on >= 0], last[on >= 0])
    past = Past(names, types, from_s, until_s, grid.second_0, grid.end_s, stays.node, _daemons(whole))
    there = np.flatnonzero((from_s == 0) & (until_s > 0))
    if not there.size:
        return past, None
    jobs = np.flatnonzero(stays.arrival_s == 0)
    jobs = jobs[np.argsort(stays.node[jobs], kind="stable")]
    indptr = np.append(np.searchsorted(stays.node[jobs], there), jobs.size)
    return past, Running(tuple(names[e] for e in there.tolist()), types[there], indptr, jobs, np.ones_like(jobs))


def _boots(
    history: History, pods: Sequence[PodLife], kinds: Mapping[str, str], boot_s: int
) -> tuple[Callable[[str], int], str]:
    """Return how long a new machine of each kind takes until it runs pods, and a sentence on it. kinds : of each node."""
    if boot_s >= 0:
        return lambda _: boot_s, f"A new machine runs pods {boot_s} s after its order, as boot_s says."
    first: dict[str, int] = {}
    for life in pods:
        first[life.node] = min(first.get(life.node, life.first_s), life.first_s)
    seen: defaultdict[str, list[int]] = defaultdict(list)
    for node in history.nodes:
        ready_s = node.ready_s if node.ready_s is not None else first.get(node.name)
        if node.first_s > history.start_s and ready_s is not None and node.name in kinds:
            seen[kinds[node.name]].append(max(0, ready_s - node.first_s))
    every = [seconds for some in seen.values() for seconds in some]
    if not every:
        return lambda _: BOOT_S, f"A new machine runs pods {BOOT_S} s after its order: no node began in this past."
    usual = {kind: int(median(some)) for kind, some in seen.items()}
    shown = listed([f"{kind} {seconds} s" for kind, seconds in sorted(usual.items())])
    note = (
        f"From its order until it runs pods a new machine takes the median of {len(every)} nodes that began: {shown}; "
    )
    return lambda kind: usual.get(kind, int(median(every))), f"{note}others {int(median(every))} s."


def _daemons(whole: ProvisioningInstance) -> IntArray | None:
    """(N,) int64, millionths of each node that the pods take that come with it: of what it has least of beside them."""
    running = whole.running
    if running is None or running.reserved is None:
        return None
    sizes = whole.capacity[running.machine_type] if running.whole is None else running.whole
    share = np.ceil(running.reserved * MILLION / np.maximum(sizes, 1)).max(axis=1).clip(0, MILLION)
    return np.asarray(share, np.int64)


def _taken(history: History, stays: _Stays, past: Past, whole: ProvisioningInstance) -> Iterator[str]:
    first, last = (
        datetime.fromtimestamp(s, UTC).strftime("%Y-%m-%d %H:%M:%S") for s in (history.start_s, history.end_s)
    )
    looks = f" in {len(history.looks)} looks" if history.looks else ""
    yield (
        f"Taken: {stays.size} pods that ran on {len(past.names)} nodes from {first} to {last} UTC{looks}; the nodes cost "
        f"{past.paid_micro(whole.price) / DOLLAR:g} $."
    )
    cost = whole.price[past.machine_type] * (past.until_s - past.from_s) / (HOUR_S * DOLLAR)
    if past.daemons is not None and (past.daemons >= 0).all() and cost.any():
        taken = float(past.daemons / MILLION @ cost)
        share = f"{taken:,.2f} $ of what was paid, {taken / cost.sum():.1%}"
        yield f"DaemonSets and static pods took {share}: larger nodes need fewer."
