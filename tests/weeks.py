"""An invented past as its owner has it: snapshots of kubectl, answers of Prometheus, audit and event logs."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import BinaryIO, cast

from schedgap.instances.provisioning.generators.clusters.machines import Json, metadata
from schedgap.instances.provisioning.readers.quantities import nano
from schedgap.instances.reconfiguration.past.prometheus import escaped, snake_case
from schedgap.instances.reconfiguration.weeks.documents import (
    ENCODER,
    PENDING,
    RUNNING,
    SUCCEEDED,
    node_document,
    pod_document,
    stamp,
)
from schedgap.instances.reconfiguration.weeks.lives import Life, NodeLife, Week

HEAD = b'{"apiVersion":"v1","items":['
FOOT = b'],"kind":"List","metadata":{"resourceVersion":""}}\n'
GONE = "gone"
# Between the samples of what does not change; see `docs/over-time.md`.
DESCRIBED_S = 3600


def write_snapshots(week: Week, folder: Path, *, zipped: bool = False) -> None:
    """Write what `kubectl get pods,nodes -A -o json` prints at each look. O(pods) a look: texts are kept, also zipped ones."""
    folder.mkdir(parents=True, exist_ok=True)
    pods, nodes = _Shown(week.lives(), zipped), sorted(week.nodes, key=lambda each: each.made.name)
    pieces: dict[NodeLife, tuple[bytes, bytes, bytes]] = {}
    for now in week.looks:
        parts = []
        for node in nodes:
            if node.created_s <= now < node.gone_s:
                before, middle, after = pieces.get(node) or pieces.setdefault(node, _pieces(node))
                ready = b"True" if node.ready_s <= now else b"False"
                parts.append(before + stamp(now - now % 300).encode() + middle + ready + after)
        texts = [_Text.of(HEAD, zipped), *pods.at(now), _Text.of(b",".join(parts) + FOOT, zipped)]
        name = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ") + ".json"
        if zipped:
            (folder / f"{name}.gz").write_bytes(_joined(texts))
        else:
            (folder / name).write_bytes(b"".join(each.plain for each in texts))


@dataclass(frozen=True, slots=True)
class _Text:
    """A part of a file, and the same as whole blocks of a zipped stream."""

    plain: bytes
    packed: bytes

    @staticmethod
    def of(plain: bytes, zipped: bool) -> _Text:
        """Return a part, zipped if asked for."""
        if not zipped:
            return _Text(plain, b"")
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        return _Text(plain, packer.compress(plain) + packer.flush(zlib.Z_FULL_FLUSH))


def _joined(texts: Sequence[_Text]) -> bytes:
    """Return a gzip file of parts."""
    crc = size = 0
    for each in texts:
        crc, size = zlib.crc32(each.plain, crc), size + len(each.plain)
    tail = b"\3\0" + struct.pack("<2L", crc, size % 2**32)
    return b"".join((b"\x1f\x8b\x08\0\0\0\0\0\4\xff", *(each.packed for each in texts), tail))


def _new(path: Path) -> BinaryIO:
    return cast("BinaryIO", gzip.open(path, "wb", 1) if path.suffix == ".gz" else path.open("wb"))


class _Shown:
    """The pods that there are, moment after moment, by their owners."""

    def __init__(self, lives: Iterable[Life], zipped: bool) -> None:
        self._coming, self._zipped = sorted(lives, key=lambda life: -life.created_s), zipped
        # Of each owner its pods by name: phase and text; and all texts together, until one changes.
        self._there: dict[tuple[str, str], dict[str, tuple[Life, str, bytes]]] = {}
        self._texts: dict[tuple[str, str], _Text] = {}

    def at(self, now: int) -> list[_Text]:
        """Return the texts of a moment; moments come in order. O(pods)."""
        while self._coming and self._coming[-1].created_s <= now:
            life = self._coming.pop()
            if life.gone_s > now:
                owner = life.template.namespace, life.template.owner[1]
                self._there.setdefault(owner, {})[life.name] = (life, "", b"")
        for owner, pods in list(self._there.items()):
            changed = [
                (name, life, state)
                for name, (life, old, _) in pods.items()
                if (state := GONE if life.gone_s <= now else _state(life, now)) != old
            ]
            for name, life, state in changed:
                if state == GONE:
                    del pods[name]
                else:
                    pods[name] = (life, state, ENCODER.encode(pod_document(life, state)))
            if not pods:
                del self._there[owner]
                self._texts.pop(owner, None)
            elif changed:
                text = b"".join(pods[name][2] + b"," for name in sorted(pods))
                self._texts[owner] = _Text.of(text, self._zipped)
        return [self._texts[owner] for owner in sorted(self._texts)]


def _state(life: Life, now: int) -> str:
    return PENDING if now < life.start_s else RUNNING if now < life.end_s else SUCCEEDED


def _pieces(node: NodeLife) -> tuple[bytes, bytes, bytes]:
    """Return a node's text without its heartbeat and its readiness, which stand between them."""
    before, rest = ENCODER.encode(node_document(node, "@ready", "@beat")).split(b"@beat")
    middle, after = rest.split(b"@ready")
    return before, middle, after


# Queries of `docs/over-time.md`; others are made of `kube_node_created`'s, with the same values all the time.
COMMON = {"job": "kube-state-metrics", "instance": "10.0.3.7:8080"}
Series = tuple[dict[str, str], str, int, int]


def write_prometheus(week: Week, folder: Path, *, zipped: bool = False) -> None:
    """Write what Prometheus answers to the queries of the docs: phases and nodes at each look, all else each hour. O(size)."""
    folder.mkdir(parents=True, exist_ok=True)
    step = max(DESCRIBED_S, week.looks.step)
    described = range(week.looks[0], week.looks[-1] + step, step)
    for name, series in _answers(week).items():
        at_looks = name in ("kube_pod_status_phase", "kube_node_created")
        path = folder / f"{name}.json{'.gz' * zipped}"
        with _new(path) as file:
            _write_answer(file, name, series(), week.looks if at_looks else described, 0 if at_looks else step)


def _write_answer(file: BinaryIO, name: str, series: Iterable[Series], points: range, last_over_s: int) -> None:
    """Write an answer. last_over_s : of `last_over_time`, 0 for samples of the moments themselves."""
    file.write(b'{"status":"success","data":{"resultType":"matrix","result":[')
    separate = b""
    for labels, value, first_s, gone_s in series:
        # A sample where there was one within the window that ends at the point, or at the point itself.
        shown = points[-(-(first_s - points.start) // points.step) if first_s > points.start else 0 :]
        count = max(0, -(-(gone_s + max(0, last_over_s - 1) - shown.start) // points.step)) if shown else 0
        if shown := shown[:count]:
            metric = ENCODER.encode({"__name__": name, **COMMON, **labels})
            middle = f',"{value}"],['.join(map(str, shown))
            file.write(separate + b'{"metric":' + metric + f',"values":[[{middle},"{value}"]]}}'.encode())
            separate = b","
    file.write(b"]}}\n")


def _answers(week: Week) -> dict[str, Callable[[], Iterator[Series]]]:
    nodes = {each.made.name: _Labelled.of(each) for each in week.nodes}
    return {
        "kube_pod_status_phase": lambda: _of_pods(week, _phase),
        "kube_pod_info": lambda: _of_pods(week, _info),
        "kube_pod_start_time": lambda: _of_pods(week, _start),
        "kube_pod_completion_time": lambda: _of_pods(week, _completion),
        "kube_pod_container_resource_requests": lambda: _of_pods(week, _requests),
        "kube_pod_tolerations": lambda: _of_pods(week, _tolerations),
        "kube_node_created": lambda: ((e.name, str(e.node.created_s), *e.span) for e in nodes.values()),
        "kube_node_labels": lambda: ((e.name | e.labels, "1", *e.span) for e in nodes.values()),
        "kube_node_status_allocatable": lambda: (
            (e.name | {"resource": resource, "unit": unit}, value, *e.span)
            for e in nodes.values()
            for resource, unit, value in e.amounts
        ),
        "kube_node_spec_taint": lambda: ((e.name | taint, "1", *e.span) for e in nodes.values() for taint in e.taints),
    }


def _of_pods(week: Week, shown: Callable[[Life], Iterator[Series]]) -> Iterator[Series]:
    """Yield the series of all pods, each with the labels that say which pod it is."""
    for life in week.lives():
        own = {"namespace": life.template.namespace, "pod": life.name, "uid": uid_of(life)}
        for labels, value, first_s, gone_s in shown(life):
            if first_s < gone_s:
                yield own | labels, value, first_s, gone_s


def uid_of(life: Life) -> str:
    """Return a pod's uid."""
    given = life.document["metadata"] if life.document else metadata("", "", life.digits)
    return str(given["uid"])


def _phase(life: Life) -> Iterator[Series]:
    yield {"phase": RUNNING}, "1", life.start_s, life.stops_s


def _info(life: Life) -> Iterator[Series]:
    kind, name = life.template.owner
    labels = {"created_by_kind": kind, "created_by_name": name, "host_network": "false", "priority_class": ""}
    yield labels | {"node": ""}, "1", life.created_s, min(life.start_s, life.gone_s)
    if life.node is not None:
        yield labels | {"node": life.node.made.name}, "1", life.start_s, life.gone_s


def _start(life: Life) -> Iterator[Series]:
    yield {}, str(life.start_s), life.start_s, life.gone_s


def _completion(life: Life) -> Iterator[Series]:
    yield {}, str(life.end_s), life.end_s, life.gone_s


def _requests(life: Life) -> Iterator[Series]:
    node = "" if life.node is None else life.node.made.name
    for each in life.template.spec["containers"]:
        for resource, quantity in each["resources"].get("requests", {}).items():
            labels = {"container": each["name"], "node": node, "resource": escaped(resource)}
            unit, value = _sample(resource, quantity)
            yield labels | {"unit": unit}, value, life.created_s, life.gone_s


def _tolerations(life: Life) -> Iterator[Series]:
    for each in life.template.spec.get("tolerations", ()):
        seconds = str(each.get("tolerationSeconds", ""))
        labels = {key: each.get(key, "") for key in ("key", "operator", "value", "effect")}
        yield labels | {"toleration_seconds": seconds}, "1", life.created_s, life.gone_s


@lru_cache(2**10)
def _sample(resource: str, quantity: str) -> tuple[str, str]:
    """Return the unit and the sample of a quantity, as kube-state-metrics rounds it: bytes up, cores to thousandths."""
    amount = nano(quantity)
    if resource == "cpu":
        milli = -(-amount // 10**6)
        return "core", f"{milli // 1000}.{milli % 1000:03}".rstrip("0").rstrip(".")
    unit = "byte" if resource == "memory" or "storage" in resource or "hugepages" in resource else "integer"
    return unit, str(-(-amount // 10**9))


@dataclass(frozen=True, slots=True)
class _Labelled:
    """A node as kube-state-metrics shows it. amounts : resource, unit, sample."""

    node: NodeLife
    name: dict[str, str]
    labels: dict[str, str]
    amounts: list[tuple[str, str, str]]
    taints: list[dict[str, str]]

    @property
    def span(self) -> tuple[int, int]:
        """From when until when it is there."""
        return self.node.created_s, self.node.gone_s

    @staticmethod
    def of(node: NodeLife) -> _Labelled:
        """Return what is shown of a node."""
        document = node.made.document
        labels = {f"label_{snake_case(key)}": value for key, value in document["metadata"]["labels"].items()}
        amounts = [(escaped(k), *_sample(k, v)) for k, v in document["status"]["allocatable"].items()]
        taints = [
            {key: each.get(key, "") for key in ("key", "value", "effect")}
            for each in document["spec"].get("taints", ())
        ]
        return _Labelled(node, {"node": node.made.name}, labels, amounts, taints)


def write_audit_log(week: Week, path: Path) -> None:
    """Write the API server's audit log (JSON lines, level RequestResponse) of the time from the first look to the last."""
    with _new(path) as file:
        for _, document in sorted(_audited(week), key=lambda each: each[0]):
            file.write(ENCODER.encode(document()) + b"\n")


def _audited(week: Week) -> Iterator[tuple[int, Callable[[], Json]]]:
    """Yield the second and the maker of each line."""
    first, last = week.looks[0], week.looks[-1]

    def within(second: int, make: Callable[[], Json]) -> Iterator[tuple[int, Callable[[], Json]]]:
        if first <= second <= last:
            yield second, make

    for life in week.lives():
        for second, verb, part, state in (
            (life.created_s, "create", "", PENDING),
            (life.start_s, "create", "binding", PENDING),
            (life.start_s, "patch", "status", RUNNING),
            (life.end_s, "patch", "status", SUCCEEDED),
            (life.gone_s, "delete", "", _state(life, life.gone_s)),
        ):
            yield from within(second, partial(_audit_pod, life, second, verb, part, state))
    for now in week.looks:
        # Of many things that this past has no use for.
        yield now, partial(_audit, now, "update", {"resource": "leases", "namespace": "kube-node-lease"}, {})
    for node in week.nodes:
        yield from within(node.created_s, partial(_audit_node, node, node.created_s, "create", ""))
        yield from within(node.ready_s, partial(_audit_node, node, node.ready_s, "patch", "status"))
        yield from within(node.gone_s, partial(_audit_node, node, node.gone_s, "delete", ""))


def _audit_pod(life: Life, second: int, verb: str, part: str, state: str) -> Json:
    reference = {"resource": "pods", "namespace": life.template.namespace, "name": life.name, "apiVersion": "v1"}
    given: Json = {"responseObject": pod_document(life, state)}
    if part == "binding":
        assert life.node is not None
        target = {"kind": "Node", "name": life.node.made.name}
        meta = {"name": life.name, "namespace": life.template.namespace, "uid": uid_of(life)}
        given = {"requestObject": {"kind": "Binding", "apiVersion": "v1", "metadata": meta, "target": target}}
        given |= {"responseObject": {"kind": "Status", "apiVersion": "v1", "status": "Success", "code": 201}}
    return _audit(second, verb, reference | ({"subresource": part} if part else {}), given)


def _audit_node(node: NodeLife, second: int, verb: str, part: str) -> Json:
    reference = {"resource": "nodes", "name": node.made.name, "apiVersion": "v1"}
    ready = "True" if second >= node.ready_s else "False"
    given = {"responseObject": node_document(node, ready, stamp(second))}
    return _audit(second, verb, reference | ({"subresource": part} if part else {}), given)


def _audit(second: int, verb: str, reference: Json, given: Json) -> Json:
    at = stamp(second).replace("Z", ".000000Z")
    head = {"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "stage": "ResponseComplete"}
    head |= {"verb": verb, "requestReceivedTimestamp": at, "stageTimestamp": at}
    return head | {"objectRef": reference, "responseStatus": {"metadata": {}, "code": 200}} | given


def write_event_log(week: Week, path: Path) -> None:
    """Write what `kubectl get events -A -o json` would print, were nothing forgotten after an hour."""
    made = []
    for life in week.lives():
        if life.node is None:
            continue
        name, host = f"{life.template.namespace}/{life.name}", life.node.made.name
        about = {"kind": "Pod", "namespace": life.template.namespace, "name": life.name, "uid": uid_of(life)}
        if life.document is None:
            text = f"Successfully assigned {name} to {host}"
            made.append((life.start_s, "Scheduled", text, about))
        made.append((life.start_s, "Started", "Started container main", about))
        if life.gone_s < life.end_s:
            made.append((life.gone_s, "Killing", "Stopping container main", about))
    for node in week.nodes:
        name = node.made.name
        about = {"kind": "Node", "name": name, "uid": name}
        made.append(
            (node.created_s, "RegisteredNode", f"Node {name} event: Registered Node {name} in Controller", about)
        )
        made.append((node.gone_s, "RemovingNode", f"Node {name} event: Removing Node {name} from Controller", about))
    items = [
        ENCODER.encode(_event(number, *each))
        for number, each in enumerate(sorted(made, key=lambda each: each[0]))
        if week.looks[0] <= each[0] <= week.looks[-1]
    ]
    with _new(path) as file:
        file.write(HEAD + b",".join(items) + FOOT)


def _event(number: int, second: int, reason: str, message: str, about: dict[str, str]) -> Json:
    meta = {"name": f"{about['name']}.{number:x}", "namespace": about.get("namespace", "default")}
    times = {"firstTimestamp": stamp(second), "lastTimestamp": stamp(second), "eventTime": None, "count": 1}
    head = {"apiVersion": "v1", "kind": "Event", "type": "Normal", "reason": reason, "message": message}
    return head | times | {"metadata": meta | {"creationTimestamp": stamp(second)}, "involvedObject": about}
