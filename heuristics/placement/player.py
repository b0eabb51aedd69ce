"""Playing an online policy over an instance, pod by pod, without showing it the future.

A policy is a function from what is visible when a pod arrives to the node that takes it, or None to refuse it:

    @policy("most-free-cpu")
    def most_free_cpu(observation):
        free = observation.free[observation.fitting, 0]
        return observation.fitting[np.argmax(free)]

A share of a GPU goes to the GPU with the least that suffices, and whole GPUs to those of the lowest numbers, unless the
policy answers `(node, gpus)`. Of a GPU that MIG divides, a pod takes the last slices that are open. Pods that run stay where
they are. When a pod of a gang is refused, all of it is undone.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from schedgap.heuristics.placement.observation import Mix, Nodes, Observation
from schedgap.heuristics.player import Whole, policy_decorator
from schedgap.instances.arrays import BoolArray, IntArray, first_true, locked
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Outcome
from schedgap.instances.placement.model import FAMILY, NO_GANG, NOWHERE, Placement, PlacementInstance
from schedgap.instances.placement.stranded import open_gpus, open_start, room_of
from schedgap.instances.units import shown_amount


class Player:
    """One policy on one instance."""

    family: ClassVar[str] = FAMILY
    knowledge: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[Mapping[str, tuple[str | None, ...]]] = {}
    # A node, or a node and GPUs: msgspec 0.22 crashes on a union with the tuple that is meant.
    document: ClassVar[Any] = Whole | list[Whole | list[Whole]] | None

    def __init__(self, instance: PlacementInstance, knows: frozenset[str] = frozenset()) -> None:
        """Begin before the first pod."""
        self.instance = instance
        room = room_of(instance, instance.is_running)
        self.free, self.milli, self.taken = room.left, np.maximum(room.milli, 0), room.taken
        self.admits = instance.takes()
        self.node: IntArray = instance.running_node.copy()
        self.gpus: IntArray = instance.running_gpus.copy()
        self.start: IntArray = np.zeros_like(self.node)
        if instance.running_start is not None:
            self.start[:] = instance.running_start
        # Copies, as all that a policy gets: whoever unlocks them does not change the instance.
        self.nodes = Nodes(
            instance.resources,
            instance.type_names,
            locked(instance.capacity.copy()),
            locked(instance.num_gpus.copy()),
            instance.gpu_model,
            locked(instance.node2type.copy()),
        )
        pods = instance.mix()
        there = pods > 0
        self.mix = Mix(
            pods=locked(pods[there]),
            demand=locked(instance.demand[there]),
            gpus=locked(instance.gpus[there]),
            gpu_milli=locked(instance.gpu_milli[there]),
            value=locked(instance.value[there]),
            admits=locked(self.admits[there]),
        )
        self.memory: dict[str, Any] = {}
        self.pod = -1
        self.fits: BoolArray = np.zeros(instance.num_nodes, np.bool_)
        self.open: BoolArray = np.zeros(self.milli.shape, np.bool_)

    def observe(self) -> Observation | None:
        """Return the present when the next pod arrives that fits somewhere, in copies; None after the last."""
        instance = self.instance
        self.pod += 1
        while self.pod < instance.num_pods:
            if instance.running_node[self.pod] == NOWHERE:
                self.fits = self._fits(int(instance.pod2class[self.pod]))
                if self.fits.any():
                    return self._seen()
                self._refuse()
            self.pod += 1
        return None

    @staticmethod
    def read(document: Any) -> Any:
        """Return the actions that a document means."""
        return tuple(document) if isinstance(document, list) else document

    def act(self, actions: object) -> None:
        """Put the pod on the node that the policy answered with, or refuse it and its gang.

        Raises
        ------
        MethodError
            for anything but None, a node with room, and such a node with GPUs of it that have room.
        """
        instance = self.instance
        if actions is None:
            self._refuse()
            return
        if isinstance(actions, tuple | list) and len(actions) == 2:
            where = self._node(actions[0])
            chosen = self._devices(where, actions[1])
        else:
            where = self._node(actions)
            chosen = self._tightest(where)
        c = int(instance.pod2class[self.pod])
        if instance.slices is not None and instance.slices[c]:
            kind, taken = instance.node2type[where : where + 1], self.taken[where, chosen]
            self.start[self.pod] = open_start(instance, c, kind, taken)[0]
        self._take(self.pod, where, sum(1 << gpu for gpu in chosen), 1)

    def outcome(self) -> Outcome:
        """Return the placement."""
        return Outcome(Placement(locked(self.node), locked(self.gpus), locked(self.start)))

    def _fits(self, c: int) -> BoolArray:
        instance = self.instance
        self.open = open_gpus(instance, c, instance.node2type, self.milli, self.taken)
        fits: BoolArray = self.admits[c, instance.node2type] & (self.free >= instance.demand[c]).all(axis=1)
        fits &= self.open.sum(axis=1) >= instance.gpus[c]
        return fits

    def _seen(self) -> Observation:
        instance, pod = self.instance, self.pod
        c = instance.pod2class[pod]
        first, end = self._gang()
        return Observation(
            nodes=self.nodes,
            mix=self.mix,
            pod=pod,
            demand=locked(instance.demand[c].copy()),
            gpus=int(instance.gpus[c]),
            gpu_milli=int(instance.gpu_milli[c]),
            value=int(instance.value[c]),
            admits=locked(self.admits[c].copy()),
            gang_size=end - first,
            gang_placed=pod - first,
            free=locked(self.free.copy()),
            free_milli=locked(self.milli.copy()),
            open_gpus=locked(self.open.copy()),
            fitting=locked(np.flatnonzero(self.fits)),
            memory=self.memory,
        )

    def _gang(self) -> tuple[int, int]:
        """Return the first pod of the arriving one's gang, and the one after its last."""
        gang = self.instance.gang
        if gang[self.pod] == NO_GANG:
            return self.pod, self.pod + 1
        first, end = self.pod, self.pod + 1
        while first > 0 and gang[first - 1] == gang[self.pod]:
            first -= 1
        while end < gang.size and gang[end] == gang[self.pod]:
            end += 1
        return first, end

    def _refuse(self) -> None:
        """Undo the gang of the pod, and pass by what is left of it."""
        first, end = self._gang()
        for pod in range(first, self.pod):
            self._take(pod, int(self.node[pod]), int(self.gpus[pod]), -1)
        self.pod = end - 1

    def _take(self, pod: int, node: int, gpus: int, times: int) -> None:
        instance, c = self.instance, self.instance.pod2class[pod]
        self.free[node] -= times * instance.demand[c]
        size = 0 if instance.slices is None else int(instance.slices[c])
        for gpu in range(gpus.bit_length()):
            self.milli[node, gpu] -= times * instance.gpu_milli[c] * (gpus >> gpu & 1)
            self.taken[node, gpu] ^= (((1 << size) - 1) << self.start[pod]) * (gpus >> gpu & 1)
        self.node[pod], self.gpus[pod], self.start[pod] = (
            (node, gpus, self.start[pod]) if times > 0 else (NOWHERE, 0, 0)
        )

    def _node(self, answer: object) -> int:
        instance, who = self.instance, self._who()
        try:
            # To Python a bool is a whole number, but it names no node.
            node = operator.index(None if isinstance(answer, bool) else answer)  # type: ignore[arg-type]
        except TypeError:
            raise MethodError(
                f"{who} returned {type(answer).__name__}; return a node, (node, gpus), or None to refuse the pod."
            ) from None
        way_out = "return one of observation.fitting."
        if not 0 <= node < instance.num_nodes:
            raise MethodError(f"{who} returned node {node}, and there are {instance.num_nodes}; {way_out}")
        if self.fits[node]:
            return node
        c, said = instance.pod2class[self.pod], f"{who} returned node {instance.node_name(node)},"
        if not self.admits[c, instance.node2type[node]]:
            raise MethodError(f"{said} whose type does not admit the pod; {way_out}")
        if (r := first_true(instance.demand[c] > self.free[node])) is not None:
            name = instance.resources[r]
            asked, free = (shown_amount(int(each[r]), name) for each in (instance.demand[c], self.free[node]))
            raise MethodError(f"{said} which has {free} free; the pod asks for {asked}; {way_out}")
        raise MethodError(
            f"{said} with room for it on {int(self.open[node].sum())} GPUs; the pod takes {instance.gpus[c]}; {way_out}"
        )

    def _tightest(self, node: int) -> list[int]:
        """Return the GPUs with the least left that suffices, of equals the first: of whole ones, those of the lowest numbers."""
        c = self.instance.pod2class[self.pod]
        left = self.milli[node]
        order = np.argsort(left, kind="stable")
        found: list[int] = order[self.open[node, order]][: self.instance.gpus[c]].tolist()
        return found

    def _devices(self, node: int, answer: Any) -> list[int]:
        c, who = self.instance.pod2class[self.pod], self._who()
        takes = int(self.instance.gpus[c])
        try:
            gpus = [operator.index(gpu) for gpu in answer]
        except TypeError:
            raise MethodError(f"{who} returned {answer!r:.60} for its GPUs; return a list of their numbers.") from None
        if len(set(gpus)) < len(gpus) or len(gpus) != takes:
            raise MethodError(f"{who} returned GPUs {gpus!s:.60}; return {takes} different ones, as the pod takes.")
        for gpu in gpus:
            left = int(self.milli[node, gpu]) if 0 <= gpu < self.milli.shape[1] else 0
            if left < self.instance.gpu_milli[c]:
                raise MethodError(
                    f"{who} returned GPU {gpu} of node {self.instance.node_name(node)}, which has {left} thousandths left; "
                    f"return GPUs with {self.instance.gpu_milli[c]} or more."
                )
            if not self.open[node, gpu]:
                raise MethodError(
                    f"{who} returned GPU {gpu} of node {self.instance.node_name(node)}, whose slices are taken where the pod may "
                    "start; return one of observation.open_gpus."
                )
        return gpus

    def _who(self) -> str:
        return f"arrival of pod {self.instance.pod_name(self.pod)}: the policy"


# A policy of anyone's may refuse a pod that fits, so it is not asked where none may be.
policy = policy_decorator(Player, shown=("running", "gangs", "slices"))
