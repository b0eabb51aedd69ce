"""A folder of snapshots, as a cron job writes them with `kubectl get pods,nodes -A -o json`: the past that they show.

The time of each look, from the name of its file.

What is known of a pod or node: from its own times, else from the looks that show it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, pairwise
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.kubernetes.objects import (
    KINDS,
    NOTHING,
    Node,
    Pod,
    decode,
    decoded,
    unix_s,
)
from schedgap.instances.provisioning.readers.kubernetes.state import ENDED
from schedgap.instances.provisioning.readers.quantities import listed
from schedgap.instances.reconfiguration.past.files import Text, in_order, newest, read_ahead
from schedgap.instances.reconfiguration.past.history import History, NodeLife, PodLife, numbered
from schedgap.instances.reconfiguration.past.looks import Look, read_look
from schedgap.instances.units import HOUR_S

# Parts of a pod that many have alike: of its metadata, its spec, and itself.
SHARED = (
    ("labels", "annotations", "owner_references"),
    (
        *("containers", "init_containers", "overhead", "resources", "node_selector", "affinity", "tolerations"),
        *("topology_spread_constraints", "volumes", "scheduling_gates", "resource_claims"),
    ),
    ("status",),
)
# A clock that is so far behind what it writes about is another clock, or another zone. A gap is so many median looks.
MOST_BEHIND_S, GAP = 300, 3


class _Meta(Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    creation_timestamp: str | None = None


class _Placed(Struct, rename="camel"):
    node_name: str = ""


class _Ended(Struct, rename="camel"):
    finished_at: str | None = None


class _ContainerState(Struct):
    terminated: _Ended | None = None


class _Container(Struct):
    state: _ContainerState | None = None


class _Condition(Struct, rename="camel"):
    type: str = ""
    status: str = ""
    last_transition_time: str | None = None


class _Status(Struct, rename="camel"):
    phase: str = ""
    start_time: str | None = None
    conditions: tuple[_Condition, ...] = ()
    container_statuses: tuple[_Container, ...] = ()
    init_container_statuses: tuple[_Container, ...] = ()


class _Object(Struct):
    kind: str = ""
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    spec: _Placed | None = None
    status: _Status | None = None


@dataclass(slots=True)
class _Life:
    """A pod or node from its first sight on; of what is neither, its last text.

    text : of the last sight that counts: of a pod one on a node, before it ended. made : of that, once it is gone. node : where
    the pod was. start_s : what it says itself. seen_s : the first look that shows it there. last_s : the last such look, once
    it is known. ended_s : what an ended pod says itself. has_ended : whether it was seen ended.
    is_known : whether a look that counts shows it.
    """

    kind: str
    name: str
    text: bytes = b""
    made: Any = None
    node: str = ""
    start_s: int | None = None
    seen_s: int | None = None
    last_s: int | None = None
    ended_s: int | None = None
    has_ended: bool = False
    ready_s: int | None = None
    is_known: bool = False

    def is_shown(self, seen: _Sight, now: int, before: int) -> None:
        """Take in a sight of it, other than the last. before : the look before this one."""
        status, self.is_known = seen.item.status or _Status(), True
        if self.kind == Pod.__name__:
            self.start_s = unix_s(status.start_time) or self.start_s
            node = seen.item.spec.node_name if seen.item.spec is not None else ""
            if status.phase in ENDED:
                self._has_ended(status, node, seen.text, before)
            if status.phase in ENDED or not node:
                return
            self.node = node
        elif self.kind == Node.__name__:
            self.start_s = unix_s(seen.item.metadata.creation_timestamp)
            is_ready = (c for c in status.conditions if (c.type, c.status) == ("Ready", "True"))
            self.ready_s = _least((self.ready_s, *(unix_s(c.last_transition_time) for c in is_ready)))
        self.text, self.last_s, self.has_ended = seen.text, None, False
        self.seen_s = now if self.seen_s is None else self.seen_s

    def _has_ended(self, status: _Status, node: str, text: bytes, before: int) -> None:
        if not self.has_ended and self.seen_s is not None:
            self.last_s = before
        if not self.node:
            self.node, self.text = node, text
        self.has_ended = True
        every = (each.state for each in (*status.container_statuses, *status.init_container_statuses))
        ends = [unix_s(state.terminated.finished_at) for state in every if state is not None and state.terminated]
        self.ended_s = max((end for end in ends if end is not None), default=None)

    def span(self, end_s: int) -> tuple[int, int] | None:
        """Return from when until when it is known to have been there, None where that is not known. end_s : the last look."""
        first = self.seen_s if self.start_s is None else self.start_s
        last = end_s if self.last_s is None and not self.has_ended else self.last_s
        if self.has_ended and self.ended_s is not None:
            last = self.ended_s
        return None if first is None or last is None else (first, max(first, last))


def _least(moments: Iterable[int | None]) -> int | None:
    return min((moment for moment in moments if moment is not None), default=None)


class _Sight(NamedTuple):
    """An object as a look shows it."""

    key: int
    text: bytes
    item: _Object


class _Cluster:
    """All that was ever seen, by the number of each object."""

    def __init__(self) -> None:
        self.numbers: dict[object, int] = {}
        self.lives: list[_Life] = []
        self.shared: dict[tuple[str, bytes], Any] = {}
        self.malformed: list[tuple[str, str, Struct | InstanceError]] = []

    def read(self, text: bytes, kind: str) -> _Sight:
        """Return what an object is, by its text; `InstanceError` for what is no JSON."""
        try:
            item = msgspec.json.decode(text, type=_Object)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            # Nothing that Kubernetes has; what is wrong with it is said where it is decoded as what it should be.
            item = _Object(str((decode(text, dict[str, Any])).get("kind", "")))
        meta = item.metadata
        kind, name = item.kind or kind, f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name
        key = (kind, name, meta.uid or meta.creation_timestamp) if name else text
        number = self.numbers.setdefault(key, len(self.lives))
        if number == len(self.lives):
            self.lives.append(_Life(kind, name))
        return _Sight(number, text, item)

    def shows(self, looks: Mapping[str, Look[_Sight]], kind: str) -> bool:
        """Return whether the files of a look have an object of a kind."""
        # Pods come first, and nodes last.
        keys = (chain(look.keys[:1], reversed(look.keys)) for look in looks.values())
        return any(self.lives[key].kind == kind for some in keys for key in some)

    def adds(self, looks: Mapping[str, Look[_Sight]], now: int) -> bool:
        """Take in objects that have no time of their own, and return whether there are any."""
        found = [seen for look in looks.values() for seen in look.come if self.lives[seen.key].kind in KINDS]
        for seen in found:
            self.lives[seen.key].is_shown(seen, now, now)
        return bool(found)

    def see(self, looks: Mapping[str, Look[_Sight]], gone: Sequence[int], now: int, before: int) -> None:
        """Take in a look. gone : objects of files that are not there any more."""
        left = [key for some in (gone, *(look.gone for look in looks.values())) for key in some]
        for key in left:
            life = self.lives[key]
            if life.last_s is None and not life.has_ended:
                life.last_s = before
        for look in looks.values():
            for seen in look.come:
                self.lives[seen.key].is_shown(seen, now, before)
            look.come = []
        for key in left:
            life = self.lives[key]
            if life.kind == Pod.__name__ and life.text and (life.last_s is not None or life.has_ended):
                self.make(life)

    def make(self, life: _Life) -> None:
        """Decode what is known of an object, and let go of its text; parts that many have are held once."""
        place = f"{life.kind} {life.name}"
        life.made, life.text = decoded(place, life.text, KINDS[life.kind]), b""
        if isinstance(life.made, InstanceError):
            self.malformed.append((place, life.kind, life.made))
        elif isinstance(life.made, Pod):
            # Of others only the name matters, which each pod has for itself.
            life.made.spec.volumes = tuple(
                v for v in life.made.spec.volumes if v.persistent_volume_claim or v.ephemeral
            )
            for owner, keys in zip((life.made.metadata, life.made.spec, life.made), SHARED, strict=True):
                for key in keys:
                    value = getattr(owner, key)
                    # What is not there is one object already.
                    if value is None or value is NOTHING or value == ():
                        continue
                    text = msgspec.json.encode(value)
                    if (key, text) not in self.shared:
                        self.shared[key, text] = Raw(text) if isinstance(value, Raw) else value
                    setattr(owner, key, self.shared[key, text])

    def history(self, times: Sequence[int], sentences: list[str]) -> History:
        """Return what is known after the last look."""
        for life in self.lives:
            if life.text and life.kind in KINDS:
                self.make(life)
        spans = [life.span(times[-1]) for life in self.lives]
        known = [
            (life, *span)
            for life, span in zip(self.lives, spans, strict=True)
            if span is not None and life.made is not None and not isinstance(life.made, InstanceError)
        ]
        there = sorted((first, life.name, last, life) for life, first, last in known if life.kind == Node.__name__)
        names = numbered(name for _, name, _, _ in there)
        nodes, firsts, places = [], defaultdict[str, list[int]](list), defaultdict[str, list[str]](list)
        for name, (first, title, last, life) in zip(names, there, strict=True):
            nodes.append(NodeLife(name, life.made, first, last, life.ready_s))
            firsts[title].append(first)
            places[title].append(name)
        pods = []
        for life, first, last in known:
            if life.kind == Pod.__name__ and life.node:
                # Of nodes of one name the last that was there when the pod came.
                near = places[life.node][max(0, bisect_right(firsts[life.node], first) - 1) :]
                pods.append(PodLife(life.name, life.made, next(iter(near), life.node), first, last))
        every = [
            (life, at)
            for life, at in zip(self.lives, spans, strict=True)
            if life.kind == Pod.__name__ and life.is_known
        ]
        never = [life.name for life, _ in every if not life.node]
        unknown = [life.name for life, at in every if life.node and at is None]
        for some, what in (
            (never, "pods were never seen on a node"),
            (unknown, "pods were seen only after they had ended, without the times of it"),
        ):
            if some:
                sentences.append(f"Left out: {len(some)} {what}: {listed(sorted(some))}.")
        others = [
            (life.name, life.kind, life.made)
            for life in self.lives
            if life.made is not None
            and life.kind not in (Pod.__name__, Node.__name__)
            and not isinstance(life.made, InstanceError)
        ]
        return History(pods, nodes, times[0], times[-1], tuple(times), [*others, *self.malformed], sentences)


def snapshots(paths: Sequence[tuple[Path, str]]) -> History:
    """Read looks at a cluster, files and what each is called, and return the past that they show.

    A look is a file, or several of one time. One that cannot be read is left out, and said.

    Raises
    ------
    InstanceError
        where no look can be read, two have one time, and a time is not known.
    """
    looks, bad, said = in_order(paths)
    cluster, before, times, spare = _Cluster(), dict[str, Look[_Sight]](), list[int](), list[bytearray]()
    for now, texts in read_ahead(looks, spare):
        shown = _shown(texts, cluster, before)
        if isinstance(shown, str):
            bad.append(shown)
            continue
        if lacking := [kind for kind in (Node.__name__, Pod.__name__) if not cluster.shows(shown, kind)]:
            # NodePools and volumes may stand in files by themselves.
            if len(lacking) == 1 or not cluster.adds(shown, now):
                bad.append(f"{texts[0][0].name} (it shows no {' and no '.join(lacking)})")
            continue
        if not times:
            _check_clock(now, texts)
        dropped = [key for slot, look in before.items() if slot not in shown for key in look.keys]
        cluster.see(shown, dropped, now, times[-1] if times else now)
        spare += [look.text for look in before.values() if isinstance(look.text, bytearray)]
        before = shown
        times.append(now)
    number = len(times) + len(bad)
    if not times:
        reason = f"none of {number} looks can be read: {bad[0]:.300}" if bad else "no look shows pods and nodes"
        raise InstanceError(f"{reason}; give what `kubectl get pods,nodes -A -o json` prints.")
    if bad:
        said.append(f"Left out: {len(bad)} of {number} looks, which cannot be read: {'; '.join(bad[:3])}.")
    return cluster.history(times, [*_unseen(times), *said])


def _shown(
    texts: Sequence[Text], cluster: _Cluster, before: Mapping[str, Look[_Sight]]
) -> dict[str, Look[_Sight]] | str:
    """Return the files of a look by what their names say, or the name of one that cannot be read, and why."""
    shown: dict[str, Look[_Sight]] = {}
    for path, slot, text in texts:
        try:
            if isinstance(text, InstanceError):
                raise text
            shown[slot] = read_look(text, cluster.read, before.get(slot))
        except InstanceError as error:
            return f"{path.name} ({error})"
    return shown


def _check_clock(now: int, texts: Sequence[Text]) -> None:
    moments = [newest(text) for _, _, text in texts if not isinstance(text, InstanceError)]
    latest = max((moment for moment in moments if moment is not None), default=now)
    if latest > now + MOST_BEHIND_S:
        named, inside = (datetime.fromtimestamp(moment, UTC).isoformat() for moment in (now, latest))
        raise InstanceError(
            f"{texts[0][0].name}: its name says {named}, an object in it {inside}; name looks in UTC, or with their zone."
        )


def _unseen(times: Sequence[int]) -> list[str]:
    """Say what looks cannot show."""
    apart = [later - earlier for earlier, later in pairwise(times)]
    if not apart:
        return ["One look is a moment, no past."]
    usual = int(median(apart))
    said = [f"There is a look every {usual} s: of pods that came and went between two looks nothing is known."]
    if gaps := [(wide, at) for wide, at in zip(apart, times, strict=False) if wide > GAP * usual]:
        wide, at = max(gaps)
        since = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")
        said.append(
            f"{len(gaps)} gaps between looks are longer than {GAP * usual} s, {sum(gap for gap, _ in gaps) / HOUR_S:.1f} h in "
            f"all, the longest {wide / HOUR_S:.1f} h from {since} UTC on: pods may have come and gone there."
        )
    return said
