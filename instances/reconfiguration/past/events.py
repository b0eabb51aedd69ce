"""A cluster's past from logs: the API server's audit log, or the events that kubectl shows, with looks at the cluster beside.

An audit log (JSON lines, `audit.k8s.io/v1`) that has pods and nodes tells each birth, binding and end, and at levels with
bodies what they are. Events tell who was scheduled where and who was killed; completed pods have no event of their end, and no
event has a size: a snapshot has. A pod counts while it is known to have been there, so that no floor is too high.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import ceil, floor
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Raw, Struct

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.kubernetes.objects import NOTHING, Node, Pod, decode
from schedgap.instances.provisioning.readers.quantities import listed
from schedgap.instances.reconfiguration.past.history import History, NodeLife, PodLife, numbered
from schedgap.instances.reconfiguration.past.prometheus import content_of

AUDIT = "audit.k8s.io/"
# What the kubelet and others report of a pod that is about to be no more.
ENDS = ("Killing", "Evicted", "Preempted", "TaintManagerEviction")
BORN, GONE = ("RegisteredNode",), ("RemovingNode", "DeletingNode")
ASSIGNED = re.compile(r"Successfully assigned \S+ to (\S+)")
PODS, NODES = "pods", "nodes"


class _Reference(Struct, rename="camel"):
    resource: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    kind: str = ""


class _Code(Struct):
    code: int = 200


class _Source(Struct):
    host: str = ""


class _Times(Struct, rename="camel"):
    creation_timestamp: str | None = None


class _Record(Struct, rename="camel"):
    """A line of an audit log, or an event; the fields of the one are not there in the other."""

    api_version: str = ""
    kind: str = ""
    items: list[Raw] | None = None
    stage: str = ""
    verb: str = ""
    object_ref: _Reference | None = None
    response_status: _Code | None = None
    request_object: Raw = NOTHING
    response_object: Raw = NOTHING
    stage_timestamp: str | None = None
    metadata: _Times | None = None
    involved_object: _Reference | None = None
    reason: str = ""
    message: str = ""
    source: _Source | None = None
    event_time: str | None = None
    last_timestamp: str | None = None


class _Named(Struct):
    name: str = ""


class _Body(Struct):
    """What tells a binding, and the name of what the API server named."""

    kind: str = ""
    metadata: _Named | None = None
    target: _Named | None = None


class _State(Struct, rename="camel"):
    finished_at: str | None = None


class _Terminated(Struct):
    terminated: _State | None = None


class _Container(Struct):
    state: _Terminated | None = None


class _Status(Struct, rename="camel"):
    phase: str = ""
    start_time: str | None = None
    container_statuses: tuple[_Container, ...] = ()


class _PodTimes(Struct):
    status: _Status = msgspec.field(default_factory=_Status)


class _Fact(NamedTuple):
    """Something that the log tells. what : created, placed, seen, ended, or gone; node : where, if it says so."""

    second: float
    resource: str
    name: str
    what: str
    node: str = ""
    body: Raw = NOTHING


@dataclass(slots=True)
class _Life:
    """first_s, last_s : None for before and after what the log tells. known_s : the last second that tells of it.

    born : whether the log has its beginning.
    """

    name: str
    born: bool = False
    first_s: float | None = None
    last_s: float | None = None
    known_s: float = 0.0
    node: str = ""
    body: Raw = field(default_factory=lambda: NOTHING)


def read_logs(paths: Sequence[Path], seen: History | None = None) -> History:
    """Read logs, in any order. seen : looks at the cluster, for what it had before the log began, and what pods ask for.

    Raises
    ------
    InstanceError
        for lines that are none of a log, logs of both kinds, and events without a look at the cluster.
    """
    facts: list[_Fact] = []
    kinds: set[bool] = set()
    begin, end = float("inf"), float("-inf")
    for path in paths:
        for place, record in _records(path):
            kinds.add(is_audit := record.api_version.startswith(AUDIT))
            try:
                at = _moment(record)
                begin, end = min(begin, at), max(end, at)
                facts += _audited(record, at) if is_audit else _reported(record, at)
            except (InstanceError, ValueError) as error:
                raise InstanceError(f"{place}: {error}; correct the line or take it out.") from None
    if len(kinds) > 1:
        raise InstanceError(
            f"{listed([p.name for p in paths])}: audit logs and events tell the same twice; give one of them."
        )
    if not facts:
        raise InstanceError(f"{listed([p.name for p in paths])}: nothing of pods or nodes is in this log; log both.")
    facts.sort(key=lambda fact: fact.second)
    is_audit = True in kinds
    if not is_audit and seen is None:
        raise InstanceError(
            "events do not say what pods ask for and nodes have; add what `kubectl get pods,nodes -A -o json` prints, "
            "best of the beginning and the end of the log."
        )
    return _Joined(facts, seen, is_audit, ceil(begin), floor(end)).history()


def _records(path: Path) -> Iterator[tuple[str, _Record]]:
    """Yield place and content of each line, or of each item of a List."""
    content = content_of(path)
    number, line = 0, content.readline()
    try:
        first = decode(line, _Record)
    except InstanceError:
        # Of several lines, as kubectl prints it.
        first, line = _decoded(path.name, content[:], _Record), b""
        content.seek(0, 2)
    while True:
        if first.items is not None:
            for item, raw in enumerate(first.items):
                yield f"{path.name} item {item}", _decoded(f"{path.name} item {item}", raw, _Record)
        else:
            yield f"{path.name} line {number + 1}", first
        while (line := content.readline()) and not line.strip():
            number += 1
        if not line:
            return
        number += 1
        first = _decoded(f"{path.name} line {number + 1}", line, _Record)


def _decoded(place: str, raw: bytes | Raw, kind: type[_Record]) -> _Record:
    try:
        record: _Record = decode(raw, kind)
    except InstanceError as error:
        raise InstanceError(f"{place}: no line of a log ({error}); give JSON lines, or what kubectl prints.") from None
    return record


def seconds_of(text: str | None) -> float:
    """Return a time of Kubernetes in unix seconds.

    Raises
    ------
    ValueError
        for what is none.
    """
    moment = datetime.fromisoformat(text or "")
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _moment(record: _Record) -> float:
    """Return when a line was written, or an event last seen.

    Raises
    ------
    InstanceError, ValueError
        for what is neither, and has no time.
    """
    if record.kind != "Event":
        raise InstanceError(f"its kind is '{record.kind:.60}', neither Event nor a List of them")
    created = record.metadata.creation_timestamp if record.metadata is not None else None
    return seconds_of(record.stage_timestamp or record.last_timestamp or record.event_time or created)


def _audited(record: _Record, at: float) -> Iterator[_Fact]:
    """Yield what a line of an audit log tells: of calls that were answered, and succeeded."""
    reference = record.object_ref
    if record.stage != "ResponseComplete" or reference is None or reference.resource not in (PODS, NODES):
        return
    if record.response_status is not None and not 200 <= record.response_status.code < 300:
        return
    body: _Body = decode(record.response_object, _Body | None) or _Body()
    asked: _Body = decode(record.request_object, _Body | None) or _Body()
    name = reference.name or (body.metadata.name if body.metadata is not None else "")
    kind = {PODS: "Pod", NODES: "Node"}[reference.resource]
    has = record.response_object if body.kind == kind else record.request_object if asked.kind == kind else NOTHING
    full = f"{reference.namespace}/{name}" if reference.resource == PODS else name
    if record.verb == "deletecollection":
        yield _Fact(at, reference.resource, f"{reference.namespace}/", "gone")
    elif not name:
        return
    elif record.verb == "delete" or reference.subresource == "eviction":
        yield _Fact(at, reference.resource, full, "gone", body=has)
    elif reference.subresource == "binding":
        yield _Fact(at, PODS, full, "placed", asked.target.name if asked.target is not None else "")
    elif record.verb in ("create", "patch", "update"):
        what = "created" if record.verb == "create" and not reference.subresource else "seen"
        yield _Fact(at, reference.resource, full, what, body=has)
        if kind == "Pod" and bytes(has) != bytes(NOTHING):
            yield from _status_of(at, full, has)


def _status_of(at: float, name: str, body: Raw) -> Iterator[_Fact]:
    """Yield what the status of a pod tells: when it started and where, and when it ended."""
    pod: Pod = decode(body, Pod)
    status: _Status = decode(body, _PodTimes).status
    if pod.spec.node_name and status.start_time is not None:
        yield _Fact(seconds_of(status.start_time), PODS, name, "placed", pod.spec.node_name)
    if status.phase in ("Succeeded", "Failed"):
        ends = [
            each.state.terminated.finished_at
            for each in status.container_statuses
            if each.state and each.state.terminated
        ]
        yield _Fact(max([seconds_of(each) for each in ends if each] or [at]), PODS, name, "ended")


def _reported(record: _Record, at: float) -> Iterator[_Fact]:
    """Yield what an event tells."""
    about = record.involved_object
    if about is None:
        raise InstanceError("an event without involvedObject is about nothing")
    if about.kind == "Node":
        what = "created" if record.reason in BORN else "gone" if record.reason in GONE else "seen"
        yield _Fact(at, NODES, about.name, what)
    elif about.kind == "Pod":
        name = f"{about.namespace}/{about.name}"
        if record.reason == "Scheduled":
            found = ASSIGNED.match(record.message)
            yield _Fact(at, PODS, name, "created")
            yield _Fact(at, PODS, name, "placed", found.group(1) if found else "")
        elif record.reason == "Started":
            yield _Fact(at, PODS, name, "placed", record.source.host if record.source is not None else "")
        else:
            yield _Fact(at, PODS, name, "ended" if record.reason in ENDS else "seen")


@dataclass(slots=True)
class _Joined:
    """Facts in order of time, with what was seen at looks. begin, end : of the log.

    is_audit : whether the log has every end, so that what has none is there until its end.
    """

    facts: list[_Fact]
    seen: History | None
    is_audit: bool
    begin: int
    end: int
    lives: dict[str, dict[str, list[_Life]]] = field(default_factory=lambda: {PODS: {}, NODES: {}})

    def history(self) -> History:
        """Return the past."""
        for fact in self.facts:
            self._take(fact)
        begin, end = self.begin, self.end
        looks = self.seen.looks if self.seen is not None else ()
        made = History([], [], min((begin, *looks)), max((end, *looks)))
        if self.seen is not None:
            made.others += self.seen.others
        nodes = self._nodes(made, end)
        self._pods(made, nodes, begin, end)
        return made

    def _take(self, fact: _Fact) -> None:
        known = self.lives[fact.resource]
        if fact.name.endswith("/"):
            for name, lives in known.items():
                if name.startswith(fact.name) and lives[-1].last_s is None:
                    lives[-1].last_s = fact.second
            return
        lives = known.setdefault(fact.name, [])
        if not lives or (fact.what == "created" and lives[-1].last_s is not None):
            lives.append(_Life(fact.name))
        life = lives[-1]
        life.known_s = max(life.known_s, fact.second)
        if bytes(fact.body) != bytes(NOTHING):
            life.body = fact.body
        if fact.what == "placed":
            life.node = fact.node or life.node
            life.first_s = fact.second if life.first_s is None else min(life.first_s, fact.second)
            # Containers that are started again were killed for that.
            life.last_s = None if not self.is_audit else life.last_s
        elif fact.what == "created":
            life.born = True
            if fact.resource == NODES and life.first_s is None:
                life.first_s = fact.second
        elif fact.what in ("ended", "gone"):
            life.last_s = fact.second if life.last_s is None or not self.is_audit else min(life.last_s, fact.second)

    def _nodes(self, made: History, end: int) -> dict[str, tuple[list[int], list[NodeLife]]]:
        """Add the lives of nodes, and return them by name, in order; those that nothing describes are left out."""
        looked: defaultdict[str, list[NodeLife]] = defaultdict(list)
        for each in self.seen.nodes if self.seen is not None else ():
            looked[each.node.metadata.name].append(each)
        found: list[tuple[str, Node, int, int, int | None]] = []
        unknown = []
        for name in sorted({*self.lives[NODES], *looked}):
            lives = self.lives[NODES].get(name, [_Life(name)])
            for life in lives:
                body: Node | None = decode(life.body, Node | None)
                near = [each for each in looked[name] if life.last_s is None or each.first_s <= life.last_s]
                node = body or (near[-1].node if near else None)
                if node is None:
                    unknown.append(name)
                    continue
                born = node.metadata.creation_timestamp
                first = seconds_of(born) if born else life.first_s
                if first is None:
                    first = min([each.first_s for each in near] or [made.start_s])
                last = life.last_s
                if last is None:
                    last = max([end if life.known_s or self.is_audit else 0, *(each.last_s for each in near)])
                ready = near[-1].ready_s if near else None
                found.append((name, node, ceil(first), floor(last), ready))
        if unknown:
            made.sentences.append(f"Left out, as nothing says what they are: nodes {listed(unknown)}, with their pods.")
        titles = numbered(name for name, *_ in found)
        made.nodes += [NodeLife(t, *each) for t, (_, *each) in zip(titles, found, strict=True)]  # type: ignore[arg-type]
        by_name: defaultdict[str, list[NodeLife]] = defaultdict(list)
        for (name, *_), life_of in zip(found, made.nodes, strict=True):
            by_name[name].append(life_of)
        return {name: ([each.first_s for each in lives], lives) for name, lives in by_name.items()}

    def _pods(self, made: History, nodes: dict[str, tuple[list[int], list[NodeLife]]], begin: int, end: int) -> None:
        """Add the lives of pods that are known to have been on a node that is known, and of which something says the size."""
        looked = {each.name: each for each in (self.seen.pods if self.seen is not None else ())}
        bodies = {id(life): decode(life.body, Pod | None) for lives in self.lives[PODS].values() for life in lives}
        templates = {_template(each.name): each.pod for each in looked.values()}
        for name, lives in self.lives[PODS].items():
            templates |= {_template(name): pod for life in lives if (pod := bodies[id(life)]) is not None}
        lost: Counter[str] = Counter()
        unsized = []
        for name in sorted({*self.lives[PODS], *looked}):
            for life in self.lives[PODS].get(name, [_Life(name)]):
                look, own = looked.get(name), bodies.get(id(life))
                own = own if own is not None else look.pod if look is not None else None
                on, first = life.node or (own.spec.node_name if own is not None else ""), life.first_s
                if first is None and not life.born:
                    first = look.first_s if look is not None else begin
                starts, lives_of = nodes.get(on, ([], []))
                if first is None or not starts or starts[0] > first:
                    lost["nowhere"] += 1
                    continue
                pod, host = own or templates.get(_template(name)), lives_of[bisect_right(starts, first) - 1]
                if pod is None:
                    unsized.append(name)
                    continue
                last = life.last_s
                if last is None:
                    lost["endless" if self.is_audit else "known"] += 1
                    last = max(end if self.is_audit else life.known_s, look.last_s if look is not None else 0)
                made.pods.append(PodLife(name, pod, host.name, ceil(first), floor(min(last, host.last_s))))
        self._tell(made, lost, unsized)

    def _tell(self, made: History, lost: Counter[str], unsized: list[str]) -> None:
        for why, text in (
            (
                "endless",
                "pods have no end in the log: they are taken to have been there until its end, or their node's",
            ),
            (
                "known",
                "pods have no end in the log, which has none of completed ones: they count until what last tells of them",
            ),
            ("nowhere", "pods are left out: they never ran, or nothing says on which node"),
        ):
            if lost[why]:
                made.sentences.append(f"{lost[why]} {text}.")
        if unsized:
            made.sentences.append(
                f"Left out: {len(unsized)} pods of which nothing says what they ask for: {listed(unsized)}."
            )
        if self.seen is None:
            made.sentences.append("Pods and nodes that neither came nor went while the log was written are not in it.")


def _template(name: str) -> str:
    """Return what pods of one owner have in common in their names: all but the end."""
    return name.rpartition("-")[0]
