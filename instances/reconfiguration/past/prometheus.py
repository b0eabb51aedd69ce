"""A cluster's past from Prometheus: answers of `/api/v1/query_range` on what kube-state-metrics says of pods and nodes.

Of the queries that `docs/over-time.md` has, those of phases and of nodes that there are say when; of all others the labels and
the last sample count. Of hundreds of thousands of series with thousands of samples no sample but the first and the last is
decoded. What kube-state-metrics does not show (selectors, affinity, volumes) is relaxed: a floor stays one.
"""

from __future__ import annotations

import gzip
import mmap
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from math import ceil, floor
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import msgspec
from msgspec import Raw, Struct

from schedgap.instances.documents.openings import open_given
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.kubernetes.constraints import CAPACITY_TYPE, OLD_TYPE, OLD_ZONE, TYPE, ZONE
from schedgap.instances.provisioning.readers.kubernetes.nodes import CONTROL_PLANES, POOL, SPOT_LABELS
from schedgap.instances.provisioning.readers.kubernetes.objects import (
    Annotations,
    Container,
    Metadata,
    Node,
    NodeSpec,
    NodeStatus,
    Owner,
    Pod,
    PodSpec,
    PodStatus,
    Resources,
    Taint,
    decode,
)
from schedgap.instances.provisioning.readers.quantities import listed
from schedgap.instances.reconfiguration.past.files import GZIP
from schedgap.instances.reconfiguration.past.history import History, NodeLife, PodLife

PHASE, CREATED = "kube_pod_status_phase", "kube_node_created"
INFO, REQUESTS = "kube_pod_info", "kube_pod_container_resource_requests"
LABELS, ALLOCATABLE = "kube_node_labels", "kube_node_status_allocatable"
START, COMPLETION, TAINT = "kube_pod_start_time", "kube_pod_completion_time", "kube_node_spec_taint"
TOLERATIONS, INITIAL = "kube_pod_tolerations", "kube_pod_init_container_resource_requests"
# Without these there is no instance.
NEEDED = {
    PHASE: f'{PHASE}{{phase="Running"}} == 1',
    CREATED: CREATED,
    **{name: f"last_over_time({name}[1h])" for name in (INFO, REQUESTS, LABELS, ALLOCATABLE)},
}
_NO_SYMBOL, _CAPITAL = re.compile(r"[^a-zA-Z0-9_]"), re.compile(r"([a-z0-9])([A-Z])")


def escaped(name: str) -> str:
    """Return a name of a resource as kube-state-metrics shows it."""
    return _NO_SYMBOL.sub("_", name)


def snake_case(name: str) -> str:
    """Return a name of a label as kube-state-metrics shows it, behind `label_`."""
    return _CAPITAL.sub(r"\1_\2", escaped(name)).lower()


# Names that matter to what a node is and costs; of others no pod's wish is shown.
_LABELS = {
    snake_case(name): name
    for name in (
        *(TYPE, OLD_TYPE, ZONE, OLD_ZONE, CAPACITY_TYPE, POOL, *SPOT_LABELS, *sorted(CONTROL_PLANES)),
        *("kubernetes.io/hostname", "kubernetes.io/arch", "kubernetes.io/os", "topology.kubernetes.io/region"),
        *("type", "kubernetes.azure.com/virtual-node"),
    )
}
_RESOURCES = {
    escaped(name): name
    for name in ("ephemeral-storage", "nvidia.com/gpu", "amd.com/gpu", "hugepages-1Gi", "hugepages-2Mi")
}
ALL = Raw(b'[{"operator":"Exists"}]')
# So many series are read until the memory that they are in is given back.
BATCH = 2**14


class _Metric(Struct):
    name: str = msgspec.field(name="__name__", default="")
    namespace: str = ""
    pod: str = ""
    uid: str = ""
    node: str = ""
    phase: str = ""
    container: str = ""
    resource: str = ""
    created_by_kind: str = ""
    created_by_name: str = ""
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


class _Series(Struct):
    metric: Raw
    values: Raw = Raw(b"")


class _Data(Struct, rename="camel"):
    result_type: str = ""
    result: Raw = Raw(b"[]")


class _Answer(Struct, rename="camel"):
    status: str
    error: str = ""
    data: _Data = msgspec.field(default_factory=_Data)


@dataclass(slots=True)
class _PodSeen:
    """A pod as the series show it. first_s, last_s : of samples while it ran."""

    node: str = ""
    owner: tuple[str, str] = ("", "")
    first_s: int = 2**62
    last_s: int = -1
    samples: int = 0
    start_s: int = -1
    end_s: int = -1
    requests: dict[tuple[str, str], str] = field(default_factory=dict)
    initial: dict[tuple[str, str], str] = field(default_factory=dict)
    tolerations: dict[tuple[str, str, str, str], None] = field(default_factory=dict)


@dataclass(slots=True)
class _NodeSeen:
    """A node's lives by the second of their beginning, each with its last sample; labels and amounts as last seen."""

    lives: dict[int, int] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    allocatable: dict[str, str] = field(default_factory=dict)
    taints: dict[Taint, None] = field(default_factory=dict)


def read_prometheus(paths: Sequence[Path]) -> History:
    """Read answers of `query_range`, in any order, several of one query if its time was cut. O(bytes).

    Raises
    ------
    InstanceError
        for an answer that is an error or no matrix, and naming a query without an answer.
    """
    seen = _Seen()
    # The largest while little else is held.
    for path in sorted(paths, key=lambda path: -path.stat().st_size):
        for number, (metric, values) in enumerate(_series(path)):
            try:
                seen.take(metric, values)
            except (InstanceError, ValueError) as error:
                raise InstanceError(f"{path.name} series {number}: {error}; ask Prometheus again.") from None
    if lacking := [query for name, query in NEEDED.items() if name not in seen.names]:
        raise InstanceError(
            f"no series of {lacking[0].partition('{')[0].removeprefix('last_over_time(').partition('[')[0]} in "
            f"{listed([path.name for path in paths])}; add the answer to the query {lacking[0]}."
        )
    return seen.history()


def _series(path: Path) -> Iterator[tuple[Raw, Raw]]:
    """Yield labels and samples of the series of an answer."""
    content = content_of(path)
    try:
        answer: _Answer = decode(content, _Answer)
        if answer.status == "success" and answer.data.result_type == "matrix":
            for number, each in enumerate(decode(answer.data.result, list[_Series])):
                if number % BATCH == 0 and hasattr(mmap, "MADV_DONTNEED"):
                    # What was read stays in the file; in memory it counts as ours.
                    content.madvise(mmap.MADV_DONTNEED)
                yield each.metric, each.values
            return
    except InstanceError as error:
        raise InstanceError(
            f"{path.name}: no answer of Prometheus ({error}); store what /api/v1/query_range says."
        ) from None
    if answer.status != "success":
        raise InstanceError(
            f"{path.name}: Prometheus answered {answer.status}: {answer.error:.200}; correct the query."
        )
    raise InstanceError(
        f"{path.name}: its resultType is '{answer.data.result_type:.40}', not matrix; ask /api/v1/query_range."
    )


def content_of(path: Path) -> mmap.mmap:
    """Map a file into memory, a zipped one by way of a temporary file."""
    try:
        with open_given(path) as file:
            if file.peek(2)[:2] != GZIP:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            with TemporaryFile() as plain, gzip.open(file) as zipped:
                shutil.copyfileobj(zipped, plain, 2**20)
                plain.flush()
                return mmap.mmap(plain.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError, EOFError) as error:
        raise InstanceError(f"{path}: cannot be read ({error}); leave it out, or write it again.") from None


def _span(values: Raw) -> tuple[int, int, int, str]:
    """Return the first and last second of samples, inwards, their number, and the last value. O(bytes), without decoding."""
    text = bytes(values)
    many = text.count(b"[") - 1
    if many < 1:
        raise ValueError("it has no samples")
    start = text.index(b"[", text.index(b"[") + 1) + 1
    end = text.rindex(b"[") + 1
    comma = text.index(b",", end)
    first, last = text[start : text.index(b",", start)], text[end:comma]
    value = text[comma + 1 : text.index(b"]", comma)].strip().strip(b'"').decode()
    return ceil(Decimal(first.decode())), floor(Decimal(last.decode())), many, value


class _Seen:
    """All that the series say. names : of metrics. moments : at which Prometheus saw nodes."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.pods: defaultdict[tuple[str, str, str], _PodSeen] = defaultdict(_PodSeen)
        self.nodes: defaultdict[str, _NodeSeen] = defaultdict(_NodeSeen)
        self.moments: set[int] = set()
        self._take: dict[str, Callable[[_Metric, Raw, Raw], None]] = {
            PHASE: self._phase,
            CREATED: self._created,
            LABELS: self._labels,
            ALLOCATABLE: self._allocatable,
        }
        self._about_pods: dict[str, Callable[[_PodSeen, _Metric, Raw], None]] = {
            INFO: _take_info,
            REQUESTS: lambda pod, metric, values: _take_request(pod.requests, metric, values),
            INITIAL: lambda pod, metric, values: _take_request(pod.initial, metric, values),
            START: _take_start,
            COMPLETION: _take_completion,
            TOLERATIONS: _take_toleration,
        }

    def take(self, labels: Raw, values: Raw) -> None:
        """Take in a series.

        Raises
        ------
        InstanceError, ValueError
            for one without a name, and malformed ones.
        """
        metric: _Metric = decode(labels, _Metric)
        if not metric.name:
            raise InstanceError(
                "it has no __name__, so nobody knows of which metric it is; query without sums and functions"
            )
        self.names.add(metric.name)
        if metric.name in self._about_pods:
            key = metric.namespace, metric.pod, metric.uid
            self._about_pods[metric.name](self.pods[key], metric, values)
        elif metric.name in self._take:
            self._take[metric.name](metric, labels, values)
        elif metric.name == TAINT:
            taint = msgspec.convert({"key": metric.key, "value": metric.value, "effect": metric.effect}, Taint)
            self.nodes[metric.node].taints[taint] = None

    def _phase(self, metric: _Metric, labels: Raw, values: Raw) -> None:
        if metric.phase == "Running":
            pod = self.pods[metric.namespace, metric.pod, metric.uid]
            first_s, last_s, many, _ = _span(values)
            if b'"0"' in bytes(values):
                raise InstanceError(
                    f"a sample of phase Running is 0; query {NEEDED[PHASE]}, so that absence is absence"
                )
            pod.first_s, pod.last_s = min(pod.first_s, first_s), max(pod.last_s, last_s)
            pod.samples += many

    def _created(self, metric: _Metric, labels: Raw, values: Raw) -> None:
        # Few series: their moments are those of all.
        samples = decode(values, list[tuple[float, str]])
        self.moments.update(int(second) for second, _ in samples)
        lives = self.nodes[metric.node].lives
        for second, value in (samples[0], samples[-1]):
            born = int(float(value))
            lives[born] = max(lives.get(born, 0), int(second))

    def _labels(self, metric: _Metric, labels: Raw, values: Raw) -> None:
        given: dict[str, str] = decode(labels, dict[str, str])
        shown = {key.removeprefix("label_"): value for key, value in given.items() if key.startswith("label_")}
        self.nodes[metric.node].labels |= {_LABELS[key]: value for key, value in shown.items() if key in _LABELS}

    def _allocatable(self, metric: _Metric, labels: Raw, values: Raw) -> None:
        name = _RESOURCES.get(metric.resource, metric.resource)
        self.nodes[metric.node].allocatable[name] = _span(values)[3]

    def history(self) -> History:
        """Return the past that the series show."""
        looks = tuple(sorted(self.moments))
        made = History([], [], looks[0], looks[-1], looks)
        names = {name: self._lives(name, seen, made) for name, seen in sorted(self.nodes.items())}
        maker = _PodMaker(TOLERATIONS in self.names)
        unplaced, unsized = 0, []
        for (namespace, name, _), seen in sorted(self.pods.items(), key=lambda each: (each[0][:2], each[1].first_s)):
            first_s = seen.start_s if seen.start_s >= 0 else seen.first_s
            last_s = max(seen.last_s, seen.end_s)
            if last_s < 0 or first_s > last_s:
                unplaced += 1
                continue
            life = next((each for born, each in reversed(names.get(seen.node, [])) if born <= first_s), "")
            if not life:
                unplaced += 1
                continue
            if not seen.requests:
                unsized.append(f"{namespace}/{name}")
            pod = maker.pod(namespace, name, seen)
            made.pods.append(PodLife(f"{namespace}/{name}", pod, life, first_s, last_s))
        made.sentences += self._sentences(unplaced, unsized, looks)
        return made

    def _lives(self, name: str, seen: _NodeSeen, made: History) -> list[tuple[int, str]]:
        """Add the lives of a node, and return their beginnings and names."""
        lives = []
        for number, (born, last_s) in enumerate(sorted(seen.lives.items())):
            meta = Metadata(name=name, labels=Raw(msgspec.json.encode(seen.labels)))
            node = Node(meta, NodeStatus(dict(seen.allocatable)), NodeSpec(tuple(seen.taints)))
            lives.append((born, f"{name}@{number + 1}" if number else name))
            made.nodes.append(NodeLife(lives[-1][1], node, born, last_s))
        return lives

    def _sentences(self, unplaced: int, unsized: list[str], looks: tuple[int, ...]) -> Iterator[str]:
        yield (
            "Relaxed, as kube-state-metrics does not show it: node selectors, affinity, spread, volumes and host ports"
            + ("." if TOLERATIONS in self.names else f", and tolerations, since there is no answer to {TOLERATIONS}.")
        )
        if unplaced:
            yield f"Left out: {unplaced} pods that never ran, or on a node that no answer has."
        if unsized:
            yield f"{len(unsized)} pods of which {REQUESTS} has nothing count as asking for nothing: {listed(unsized)}."
        step = min((b - a for a, b in pairwise(looks)), default=0)
        gaps = sum(
            seen.samples <= (seen.last_s - seen.first_s) // step for seen in self.pods.values() if step and seen.samples
        )
        if gaps:
            yield f"{gaps} pods have moments without a sample between others; they are taken to have run through."


def _take_info(pod: _PodSeen, metric: _Metric, values: Raw) -> None:
    pod.node = metric.node or pod.node
    pod.owner = metric.created_by_kind, metric.created_by_name


def _take_request(requests: dict[tuple[str, str], str], metric: _Metric, values: Raw) -> None:
    requests[metric.container, _RESOURCES.get(metric.resource, metric.resource)] = _span(values)[3]


def _take_start(pod: _PodSeen, metric: _Metric, values: Raw) -> None:
    pod.start_s = ceil(Decimal(_span(values)[3]))


def _take_completion(pod: _PodSeen, metric: _Metric, values: Raw) -> None:
    pod.end_s = floor(Decimal(_span(values)[3]))


def _take_toleration(pod: _PodSeen, metric: _Metric, values: Raw) -> None:
    pod.tolerations[metric.key, metric.operator, metric.value, metric.effect] = None


class _PodMaker:
    """Makes pods; parts that are alike are one object."""

    def __init__(self, shows_tolerations: bool) -> None:
        self.shows_tolerations = shows_tolerations
        self._containers: dict[tuple[Any, ...], tuple[Container, ...]] = {}
        self._tolerations: dict[tuple[Any, ...], Raw] = {}

    def pod(self, namespace: str, name: str, seen: _PodSeen) -> Pod:
        """Return a pod's object."""
        kind, owner = seen.owner
        owners = (Owner(kind, owner, True),) if kind not in ("", "<none>") else ()
        # Static pods belong to their node; the API server shows them as mirrors.
        notes = Annotations(mirror="") if kind == "Node" else None
        spec = PodSpec(
            self._made(seen.requests) or (Container(),),
            init_containers=self._made(seen.initial),
            node_name=seen.node,
            tolerations=self._raw(seen) if self.shows_tolerations else ALL,
        )
        return Pod(Metadata(name, namespace, annotations=notes, owner_references=owners), spec, PodStatus("Running"))

    def _made(self, requests: dict[tuple[str, str], str]) -> tuple[Container, ...]:
        key = tuple(sorted(requests.items()))
        if key not in self._containers:
            by_name: defaultdict[str, dict[str, str | int]] = defaultdict(dict)
            for (container, resource), amount in key:
                by_name[container][resource] = amount
            self._containers[key] = tuple(Container(each, Resources(asked)) for each, asked in by_name.items())
        return self._containers[key]

    def _raw(self, seen: _PodSeen) -> Raw:
        key = tuple(sorted(seen.tolerations))
        if key not in self._tolerations:
            rows = [dict(zip(("key", "operator", "value", "effect"), each, strict=True)) for each in key]
            self._tolerations[key] = Raw(msgspec.json.encode([{k: v for k, v in row.items() if v} for row in rows]))
        return self._tolerations[key]
