"""A cluster's past, invented: services with rollouts, a daily wave or a batch at night, and nodes that follow late.

The scheduler is Kubernetes' by its main rule (to the node with most left), the autoscaler one that adds nodes of its groups for
pods that wait, and drains what has been half empty for ten minutes where all of it fits elsewhere. Both are plain: nodes boot
for a minute or two, stay a while too long, and pods lie where they once fell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from math import ceil, pi, sin

import numpy as np

from schedgap.instances.arrays import IntArray
from schedgap.instances.errors import InstanceError, one_of
from schedgap.instances.provisioning.generators.clusters.build import (
    daemon_pod,
    daemon_request,
    made_nodes,
    vector,
)
from schedgap.instances.provisioning.generators.clusters.kinds import BATCH, EKS
from schedgap.instances.provisioning.generators.clusters.machines import NodeGroup
from schedgap.instances.provisioning.generators.clusters.workloads import NAMESPACES, NOUNS, SHAPES, Dice, made
from schedgap.instances.provisioning.readers.quantities import fine_amounts
from schedgap.instances.reconfiguration.weeks.lives import NEVER, Life, NodeLife, Places, Template, Week
from schedgap.instances.units import DAY_S, HOUR_S

KINDS = ("steady", "daily", "nightly")
# 1 March 2026, midnight UTC; the cron job is some seconds late.
START_S, LATE_S = 1_772_323_200, 7
# Shapes whose memory is a whole number of bytes: what other sources show of them is exact.
WHOLE = tuple(each for each in SHAPES if each[1] not in ("100m", "1.5Gi"))
PROVIDER = replace(EKS, node_name=lambda n, digits, group: f"{group}-{n}-{digits[:5]}.eu-west-1.compute.internal")
# All hold the largest pod that is drawn.
SIZES = (("xlarge", 4), ("2xlarge", 8), ("4xlarge", 16), ("8xlarge", 32))
# Of cores or memory, of nodes at first; what of a node new ones are ordered for.
FIRST_LOAD, ORDERED_LOAD = 0.72, 0.85
# Of all pods at the busiest time, those of services at their mean.
SERVICES = {"steady": 1.0, "daily": 0.68, "nightly": 0.55}
# Of a completed job's pods, until they are deleted.
KEPT_S = 900
LOOK_AGAIN_S, IDLE_S = 60, 600


@dataclass(slots=True, eq=False)
class _Service:
    template: Template
    base: float
    pods: dict[Life, None] = field(default_factory=dict)


def simulate(kind: str, nodes: int, pods: int, days: float, look_s: int, seed: int) -> Week:
    """Invent a cluster's past of a kind, with about so many nodes, and so many pods at its busiest time.

    look_s : between two looks at it.

    Raises
    ------
    InstanceError
        for a parameter out of range.
    """
    one_of("kind", kind, KINDS, InstanceError)
    for name, value, least in (("nodes", nodes, 4), ("pods", pods, 2 * nodes), ("look_s", look_s, 60)):
        if value < least:
            raise InstanceError(f"generator cluster-week: {name} is {value}; it must be at least {least}.")
    if not 2 * look_s <= days * DAY_S <= 60 * DAY_S:
        raise InstanceError(f"generator cluster-week: days is {days:g}; give at least two looks, at most 60 days.")
    first = START_S + LATE_S
    looks = range(first, first + int(days * DAY_S) + 1, look_s)
    made_of = _Simulation(kind, nodes, pods, Dice(f"week-{kind}", nodes, seed), looks)
    made_of.run()
    name = f"cluster-week-{kind}-{nodes}-{pods}-{days:g}d-s{seed}"
    return Week(name, looks, made_of.lives, made_of.all_nodes)


class _Simulation:
    """Events in order of time: (second, number, what happens)."""

    def __init__(self, kind: str, nodes: int, pods: int, dice: Dice, looks: range) -> None:
        self.kind, self.dice, self.size, self.looks = kind, dice, pods, looks
        self.places, self.lives, self.all_nodes = Places(), list[Life](), list[NodeLife]()
        self.events: list[tuple[int, int, Callable[[int], None]]] = []
        self.number = 0
        self.pending: list[Life] = []
        self.booting: dict[str, int] = {}
        self.service_of: dict[Life, _Service] = {}
        self.services = self._services(int(SERVICES[kind] * pods))
        asked = np.sum([each.base * each.template.asked[:2] for each in self.services], axis=0)
        cores = max(asked[0] / 1000, asked[1] / 2**30 / 4) / SERVICES[kind] / nodes / FIRST_LOAD
        self.groups, self.large_share = _groups(float(cores))
        self.maker = {g.name: made_nodes(PROVIDER, (g,), 10**6, True, dice) for g in self.groups.values()}
        self.daemons = [(each, dice.suffix(9), daemon_request(each)) for each in PROVIDER.daemons]

    def at(self, second: int, what: Callable[[int], None]) -> None:
        """Let something happen at a second."""
        heappush(self.events, (second, self.number, what))
        self.number += 1

    def run(self) -> None:
        """Play the past until the last look."""
        self._begin()
        while self.events and self.events[0][0] <= self.looks[-1]:
            now, _, what = heappop(self.events)
            what(now)

    def _services(self, pods: int) -> list[_Service]:
        found: list[_Service] = []
        group = NodeGroup("general", (), 1.0)
        while pods > 0:
            workload = made(
                self.dice,
                group,
                "plain",
                f"{self.dice.pick(NOUNS)}-{len(found)}",
                self.dice.pick(NAMESPACES),
                dict(zip(("cpu", "memory"), self.dice.pick(WHOLE), strict=True)),
            )
            # Of larger clusters services are larger, too.
            replicas = min(pods, workload.replicas * max(1, self.size // 3000))
            pods -= replicas
            template = Template(
                workload.namespace, {}, ("Service", workload.name), workload.spec, vector(workload.request())
            )
            found.append(_Service(self._revised(template, workload.name), replicas))
        return found

    def _revised(self, template: Template, name: str) -> Template:
        revision = self.dice.suffix(9)
        labels = {"app": name, "pod-template-hash": revision}
        return replace(template, labels=labels, owner=("ReplicaSet", f"{name}-{revision}"))

    def _begin(self) -> None:
        """Fill the cluster as it is at first, and say what will happen."""
        first = self.looks[0]
        for service in self.services:
            for _ in range(self._wanted(service, first)):
                life = self._new_pod(service.template, first - 60 - self.dice.below(36 * HOUR_S))
                service.pods[life] = None
                self.service_of[life] = service
        waiting, self.pending = self.pending, []
        while waiting:
            asked = np.sum([life.template.asked[:2] for life in waiting], axis=0)
            size = np.zeros(2)
            while (size * FIRST_LOAD < asked).any():
                node = self._node(self._general(), first - 40 * HOUR_S, first - 40 * HOUR_S + 60)
                size += self._join(node, first - IDLE_S)[:2]
            waiting = [life for life in waiting if not self._place(life, life.created_s + 2)]
        self.at(first, self._autoscale)
        for service in self.services:
            self._plan_rollout(service, first)
        cron = max(1, self.size // 200)
        for minute in range(0, (self.looks[-1] - first) // 60, 15):
            self.at(first + 60 * minute + 13, lambda now: self._job("report", cron, now, 480))
        if self.kind == "daily":
            for minute in range(10, (self.looks[-1] - first) // 60, 10):
                self.at(first + 60 * minute, self._scale_all)
        if self.kind == "nightly":
            many = ceil(self.size * 0.45 * 300 / 1800)
            for minute in range(60, (self.looks[-1] - first) // 60, 5):
                if minute % 1440 < 240:
                    self.at(first + 60 * minute + 2, lambda now: self._batch(many, now))

    def _wanted(self, service: _Service, now: int) -> int:
        """Return how many pods a service should have: of a daily wave most at 14 h."""
        if self.kind != "daily":
            return int(service.base)
        hour = (now - START_S) % DAY_S / HOUR_S
        return max(1, round(service.base * (1 + 0.45 * sin((hour - 8) / 24 * 2 * pi))))

    def _new_pod(self, template: Template, now: int) -> Life:
        life = Life(template, f"{template.owner[1]}-{self.dice.suffix()}", self.dice.digits(), now)
        self.lives.append(life)
        if not self.places.nodes or not self._place(life, now):
            self.pending.append(life)
        return life

    def _place(self, life: Life, now: int) -> bool:
        slot = self.places.place(life.template.asked, life.template.tolerates)
        if slot >= 0:
            self._bind(life, slot, now)
        return slot >= 0

    def _bind(self, life: Life, slot: int, now: int) -> None:
        life.node, life.start_s = self.places.nodes[slot], now
        self.places.pods[slot][life] = None
        if life.template.tolerates or life.template.owner[0] == "Job":
            self.at(now + self.dice.below(2 * self._mean_s(life)) + 60, lambda then: self._finish(life, then))

    def _mean_s(self, life: Life) -> int:
        """Return the mean number of seconds that a job's pod runs."""
        return 1500 if life.template.tolerates else 420

    def _finish(self, life: Life, now: int) -> None:
        if life.gone_s < NEVER:
            return
        self._leave(life)
        life.end_s, life.gone_s = now, now + KEPT_S

    def _delete(self, life: Life, now: int) -> None:
        """End a pod of a service, wherever it is."""
        if life.node is None:
            self.pending.remove(life)
        else:
            self._leave(life)
        life.gone_s = now
        if (service := self.service_of.pop(life, None)) is not None:
            service.pods.pop(life, None)

    def _leave(self, life: Life) -> None:
        assert life.node is not None
        slot = self.places.slot[life.node]
        del self.places.pods[slot][life]
        self.places.free[slot] += life.template.asked

    def _plan_rollout(self, service: _Service, now: int) -> None:
        self.at(now + self.dice.below(3 * DAY_S), lambda then: self._roll_out(service, then))

    def _roll_out(self, service: _Service, now: int) -> None:
        """Replace the pods of a service one after another by new ones, each first, as Deployments do."""
        service.template = self._revised(service.template, service.template.labels["app"])
        for number, life in enumerate(list(service.pods)):
            self.at(now + 15 * (number // 4), lambda then, old=life: self._renew(service, old, then))  # type: ignore[misc]
        self._plan_rollout(service, now)

    def _renew(self, service: _Service, old: Life, now: int) -> None:
        if old not in service.pods:
            return
        life = self._new_pod(service.template, now)
        service.pods[life] = None
        self.service_of[life] = service
        self.at(now + 20, lambda then: self._delete(old, then) if old.gone_s == NEVER else None)

    def _scale_all(self, now: int) -> None:
        for service in self.services:
            wanted = self._wanted(service, now)
            for _ in range(wanted - len(service.pods)):
                life = self._new_pod(service.template, now)
                service.pods[life] = None
                self.service_of[life] = service
            for life in list(service.pods)[wanted:]:
                self._delete(life, now)

    def _batch(self, pods: int, now: int) -> None:
        while pods > 0:
            number = min(pods, 1 + self.dice.below(max(4, self.size // 100)))
            self._job("batch", number, now, 1500)
            pods -= number

    def _job(self, name: str, pods: int, now: int, mean_s: int) -> None:
        group = self.groups["batch" if name == "batch" else "general"]
        requests = dict(zip(("cpu", "memory"), self.dice.pick(WHOLE), strict=True))
        workload = made(self.dice, group, "job", f"{name}-{now // 60}-{self.dice.suffix(3)}", "ml", requests, 1)
        labels = {"job-name": workload.name}
        tolerates = group.taint is not None
        template = Template("ml", labels, ("Job", workload.name), workload.spec, vector(workload.request()), tolerates)
        for _ in range(pods):
            self._new_pod(template, now)

    def _node(self, group: NodeGroup, created_s: int, ready_s: int) -> NodeLife:
        node = NodeLife(next(self.maker[group.name]), created_s, ready_s)
        for daemon, revision, _ in self.daemons:
            document = daemon_pod(daemon, node.made.name, revision, self.dice)
            meta = document["metadata"]
            owner = meta["ownerReferences"][0]
            template = Template(
                daemon.namespace,
                meta["labels"],
                (owner["kind"], owner["name"]),
                document["spec"],
                np.zeros(5, np.int64),
            )
            life = Life(template, meta["name"], "", created_s, ready_s, NEVER, NEVER, node, document)
            node.pods.append(life)
        self.all_nodes.append(node)
        return node

    def _join(self, node: NodeLife, now: int) -> IntArray:
        """Let a node take pods, and return what is allocatable on it less what comes with it."""
        whole = vector(fine_amounts(node.made.document["status"]["allocatable"]))
        taken = np.sum([asked for _, _, asked in self.daemons], axis=0)
        favour = 0.5 + 0.5 * float(self.dice.shares(1)[0])
        self.places.add(node, whole, taken, now, favour)
        left: IntArray = np.maximum(whole - taken, 1)
        return left

    def _autoscale(self, now: int) -> None:
        """Look at what waits, and at what is half empty, once a minute."""
        refused: set[tuple[bool, bytes]] = set()
        waiting = []
        for life in self.pending:
            key = life.template.tolerates, life.template.asked.tobytes()
            if key in refused or not self._place(life, now):
                refused.add(key)
                waiting.append(life)
        self.pending = waiting
        for tolerates in (False, True):
            asked = [life.template.asked for life in waiting if life.template.tolerates == tolerates]
            if asked:
                self._order(self.groups["batch"] if tolerates else self._general(), asked, now)
        self._scale_down(now)
        self.at(now + LOOK_AGAIN_S, self._autoscale)

    def _general(self) -> NodeGroup:
        return self.groups["general" if self.dice.shares(1)[0] < self.large_share else "general-small"]

    def _order(self, group: NodeGroup, asked: list[IntArray], now: int) -> None:
        """Order nodes of a group for what waits, less those on their way."""
        kind = next(each for each in PROVIDER.types if each.name == group.types[0])
        whole = np.array([1000 * kind.vcpu, kind.gib * 2**30]) * ORDERED_LOAD
        total = np.sum(asked, axis=0)[:2]
        key = group.audience
        wanted = ceil(float((total / whole).max())) - self.booting.get(key, 0)
        for _ in range(max(0, wanted)):
            self.booting[key] = self.booting.get(key, 0) + 1
            self.at(now + 40 + self.dice.below(60), lambda then: self._boot(group, key, then))

    def _boot(self, group: NodeGroup, key: str, now: int) -> None:
        ready_s = now + 15 + self.dice.below(40)
        node = self._node(group, now, ready_s)

        def ready(then: int) -> None:
            self.booting[key] -= 1
            self._join(node, then)

        self.at(ready_s, ready)

    def _scale_down(self, now: int) -> None:
        """Drain nodes that have long been half empty, the emptiest first, where their pods fit elsewhere."""
        places = self.places
        half = places.half_empty()
        places.low_s[~half] = now
        due = np.flatnonzero(half & (places.low_s <= now - IDLE_S))
        if self.pending or not due.size:
            return
        order = due[np.argsort([len(places.pods[slot]) for slot in due.tolist()], kind="stable")]
        for slot in order[: 1 + len(places.slot) // 100].tolist():
            self._drain(slot, now)

    def _drain(self, slot: int, now: int) -> None:
        places, moved = self.places, list[tuple[Life, int]]()
        places.open[slot] = False
        for life in list(places.pods[slot]):
            to = -1 if life.template.owner[0] == "Job" else places.place(life.template.asked, life.template.tolerates)
            if to < 0:
                for each, back in moved:
                    places.free[back] += each.template.asked
                places.open[slot], places.low_s[slot] = True, now
                return
            moved.append((life, to))
        for life, to in moved:
            service = self.service_of[life]
            self._delete(life, now)
            new = Life(life.template, f"{life.template.owner[1]}-{self.dice.suffix()}", self.dice.digits(), now)
            self.lives.append(new)
            service.pods[new] = None
            self.service_of[new] = service
            self._bind(new, to, now + 1)
        node = places.nodes[slot]
        assert node is not None
        node.gone_s = now + 30 + self.dice.below(60)
        for each in node.pods:
            each.gone_s = node.gone_s
        places.remove(slot)


def _groups(cores: float) -> tuple[dict[str, NodeGroup], float]:
    """Return groups of nodes of about so many cores: of a size, of half of it, and of spot nodes; and the share of the first."""
    number = min(max(1, sum(size <= cores for _, size in SIZES)), len(SIZES) - 1)
    (small, size), (large, _) = SIZES[number - 1 : number + 1]
    groups = (
        NodeGroup("general", (f"m5.{large}",), 1.0),
        NodeGroup("general-small", (f"m6i.{small}",), 1.0),
        NodeGroup("batch", (f"c6i.{large}",), 1.0, "batch", spot=True, taint=BATCH),
    )
    return {group.name: group for group in groups}, cores / size - 1
