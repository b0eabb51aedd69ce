"""How large machines that are rented anew are: as nodes of their type and group, less what surely comes with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedgap.instances.provisioning.readers.catalogues.catalogue import (
    ARCH_LABEL,
    NVIDIA_GPU,
    OS_LABEL,
    Catalogue,
    MachineType,
)
from schedgap.instances.provisioning.readers.kubernetes.at_most_one import Exclusions
from schedgap.instances.provisioning.readers.kubernetes.constraints import Constraint, Machine, may_run
from schedgap.instances.provisioning.readers.kubernetes.nodes import (
    CONTROL_PLANES,
    CONTROLLING,
    GPU,
    RunningNode,
    largest,
    less,
    smallest,
    with_gpus,
)
from schedgap.instances.provisioning.readers.kubernetes.state import DaemonSet, State
from schedgap.instances.provisioning.readers.kubernetes.templates import Template, without_names
from schedgap.instances.provisioning.readers.quantities import BYTES, CPU, PODS, RAM, THOUSAND, UNLIMITED, listed

NOT_EVERYWHERE = "of DaemonSets that are not on every node that admits them, and count on no new machine"


class Sizes:
    """What new machines have, in fine units by resource."""

    def __init__(
        self,
        state: State,
        catalogue: Catalogue,
        nodes: Sequence[RunningNode],
        machines: Sequence[Machine],
        excluding: Exclusions,
    ) -> None:
        self.state, self.catalogue, self.nodes, self.excluding = state, catalogue, nodes, excluding
        self.certain = list(self._certain_daemons(machines))
        self.static = list(self._certain_static())
        asked = {name for group in state.groups.values() for name, _ in group.key.request} - {PODS}
        stated = {name for name in asked if catalogue.states(name)}
        # What pods ask for and the price list says nothing about.
        self.states_gpus = catalogue.states(GPU)
        makes = {kind.gpu_name for kind in catalogue.types} | catalogue.makes if self.states_gpus else set()
        self.unstated = frozenset(asked - stated - makes)
        types = {kind.name: with_gpus(kind) for kind in catalogue.types}
        # Devices of which nodes have more than the list gives them: they share each among several pods.
        self.shared = {
            name
            for node in nodes
            for name, amount in types[node.type_name].items()
            if "/" in name and 0 < amount < node.devices.get(name, 0)
        }
        self.systems = {
            key: {node.labels[key] for node in nodes if key in node.labels} for key in (ARCH_LABEL, OS_LABEL)
        }
        # By a type's name, and whether a group has a node of it: in all, and less what comes with it.
        self.whole_size: dict[tuple[str, bool], dict[str, int]] = {}
        self.sizes: dict[tuple[str, bool, tuple[int, ...]], dict[str, int]] = {}
        self.looked = sorted({each.key for _, constraint, _ in self.certain for each in constraint.expressions()})
        self.known: dict[object, tuple[int, ...]] = {}
        self.whole: set[str] = set()
        self.foreign: set[str] = set()
        self.many: set[str] = set()

    def of(
        self, kind: MachineType, template: Template, machine: Machine, alike: Sequence[RunningNode]
    ) -> dict[str, int]:
        """Return what a new machine has, as nodes of its kind do, less the DaemonSets and static pods that surely come."""
        for key, known in self.systems.items():
            if known and (values := machine.labels.get(key)) and values.isdisjoint(known):
                self.foreign.add(kind.name)
        likely = [node for node in alike if _is_likely(node, kind)] if alike else []
        is_seen = any(node.name in template.nodes for node in likely)
        if (kind.name, is_seen) not in self.whole_size:
            size = largest([node.allocatable for node in likely]) if is_seen else self._not_seen(kind, likely)
            size = self._with_devices(kind, size, alike)
            self.whole_size[kind.name, is_seen] = size if is_seen else self._with_shared(kind, size)
        coming = self._coming(machine)
        if (place := (kind.name, is_seen, coming)) not in self.sizes:
            size = self.whole_size[kind.name, is_seen]
            daemons = [(d, asked) for d, _, asked in (self.certain[n] for n in coming)]
            taken = [amounts for d, asked in daemons for amounts in (asked, self.excluding.taken_by(d))]
            self.sizes[place] = less(size | self.excluding.capacity, *taken, *self.static)
        return self.sizes[place]

    def _coming(self, machine: Machine) -> tuple[int, ...]:
        """Return the numbers of the certain DaemonSets that surely come with a machine."""
        seen = tuple((machine.labels.get(key), key in machine.unknown) for key in self.looked)
        if (place := (seen, machine.taints)) not in self.known:
            surely = [may_run(constraint, machine) for _, constraint, _ in self.certain]
            self.known[place] = tuple(n for n, admits in enumerate(surely) if admits)
        return self.known[place]

    def usual_pods(self, kind: MachineType, capacity: dict[str, int], alike: Sequence[RunningNode]) -> int:
        """Return how many pods a new machine takes beside its DaemonSets' as nodes of its type, or the list, have it.

        -1 where that is not known, or its capacity is a limit already.
        """
        usual = max((node.allocatable.get(PODS, 0) for node in alike), default=kind.usual_pods * THOUSAND)
        taken = UNLIMITED - capacity.get(PODS, 0)
        return max(1, (usual - taken) // THOUSAND) if usual > 0 and taken < UNLIMITED // 2 else -1

    def tell(self) -> None:
        """Say what is not known of machines that were offered."""
        seen, whole = {node.type_name for node in self.nodes}, sorted(self.whole)
        new = [kind for kind in self.catalogue.types if kind.name not in seen and kind.capacity]
        lacking = sorted(name for name in self.unstated if any(self._any_amount(kind).get(name) for kind in new))
        columns = listed([name.replace(BYTES, "_gib") for name in lacking])
        for names, sentence in (
            (lacking, f"the price list says nothing of {columns}; types that no node is of count as having any amount"),
            (
                whole,
                "what the system takes, or how many pods it admits, is not known of types that a group has no node of; they "
                f"count as whole: {len(whole)} type{'s' * (len(whole) != 1)}: {listed(whole)}",
            ),
            (
                self.foreign,
                "whether images run there is not known of types with another architecture or operating system than every node: "
                + listed(sorted(self.foreign)),
            ),
            (
                self.many,
                "nodes have more devices than the price list gives them, as where pods share these; types that a group has no "
                f"node of count as having any number: {listed(sorted(self.many))}",
            ),
        ):
            if names:
                self.state.report.sentences.append(f"Relaxed: {sentence}.")

    def _not_seen(self, kind: MachineType, likely: Sequence[RunningNode]) -> dict[str, int]:
        """Return the size of a type of which a group has no node: nodes elsewhere may have other settings, and disks."""
        if not (kind.overhead and PODS in kind.capacity):
            self.whole.add(kind.name)
        size = {PODS: UNLIMITED} | with_gpus(kind) | self._any_amount(kind)
        if not likely:
            return size
        # Of devices they tell more than the list, and what the system takes of CPU and memory follows from the type.
        size = {name: amount for name, amount in size.items() if "/" not in name and name not in (CPU, RAM)}
        return largest([size, *(node.allocatable for node in likely)])

    def _with_shared(self, kind: MachineType, size: dict[str, int]) -> dict[str, int]:
        """Return a size with any number of the devices that pods share on other nodes."""
        if many := [name for name in self.shared if size.get(name)]:
            self.many.add(kind.name)
        return size | dict.fromkeys(many, UNLIMITED)

    def _with_devices(self, kind: MachineType, size: dict[str, int], alike: Sequence[RunningNode]) -> dict[str, int]:
        """Return a size with all devices: one that is broken, or not there yet, is on a new machine."""
        more = largest([size, *(node.devices for node in alike)])
        if alike and not any(name.endswith("/gpu") for name in more.keys() - {NVIDIA_GPU}):
            more = largest([more, with_gpus(kind)])
        return size | {name: amount for name, amount in more.items() if "/" in name}

    def _any_amount(self, kind: MachineType) -> dict[str, int]:
        """Return what a type may have of what the price list says nothing about; others' GPUs only where it has some."""
        gpus = kind.capacity.get(GPU, 0) if self.states_gpus else UNLIMITED
        amounts = {name: gpus if name.endswith("/gpu") else UNLIMITED for name in self.unstated}
        return {name: amount for name, amount in amounts.items() if gpus or "gpu" not in name}

    def _certain_daemons(self, machines: Sequence[Machine]) -> Iterator[tuple[DaemonSet, Constraint, dict[str, int]]]:
        """Yield the DaemonSets that are on every node that surely admits them, with the least that they ask for."""
        for name, daemons in self.state.daemon_sets.items():
            if daemons.pinned:
                continue
            constraint = without_names(daemons.parts.constraint)
            admits = {id(machine): may_run(constraint, machine) for machine in machines}
            places = zip(self.nodes, machines, strict=True)
            if all(node.name in daemons.requests for node, machine in places if admits[id(machine)]):
                yield daemons, constraint, smallest(daemons.requests.values())
            else:
                self.state.report.relaxed[NOT_EVERYWHERE][name] += len(daemons.requests)

    def _certain_static(self) -> Iterator[dict[str, int]]:
        """Yield the least that static pods ask for which are on every node, as kube-proxy is on some clouds."""
        if all(not CONTROL_PLANES.isdisjoint(node.labels) for node in self.nodes):
            return
        on_nodes = [self.state.mirrored.get(name, {}) for name in self.state.nodes]
        for name in set.intersection(*map(set, on_nodes)):
            if name.rpartition("/")[2] not in CONTROLLING:
                yield smallest(on[name] for on in on_nodes)


def _is_likely(node: RunningNode, kind: MachineType) -> bool:
    """Return whether a node tells how large its type is: not where most of it was taken away, as by huge pages."""
    return all(2 * node.allocatable.get(name, 0) >= kind.capacity.get(name, 0) for name in (CPU, RAM))
