"""What a policy is shown when a pod arrives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from schedgap.instances.arrays import BoolArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """The cluster, known from the start.

    Letters used for shapes: T node types, N nodes, R resources.

    capacity : (T, R) int64, of a node. num_gpus : (T,) int64, of a node. gpu_model : one a type. node2type : (N,) int64.
    """

    resources: tuple[str, ...]
    type_names: tuple[str, ...]
    capacity: IntArray
    num_gpus: IntArray
    gpu_model: tuple[str, ...]
    node2type: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Mix:
    """What is expected to arrive. Letters used for shapes: M classes of pods, T node types, R resources.

    pods : (M,) int64, how many of each class, in proportion. demand : (M, R) int64. gpus, gpu_milli, value : (M,) int64.
    admits : (M, T) bool.
    """

    pods: IntArray
    demand: IntArray
    gpus: IntArray
    gpu_milli: IntArray
    value: IntArray
    admits: BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """The present, in copies: nothing in it leads to what comes.

    Letters used for shapes: N nodes, G the most GPUs of a node, T node types, R resources.

    pod : how many arrived before. demand : (R,) int64. gpus : how many GPUs it takes. gpu_milli : thousandths of each.
    value : what is lost if it is refused. admits : (T,) bool. gang_size : pods of its gang, 1 for a pod in none.
    gang_placed : how many of them are placed so far.
    free : (N, R) int64. free_milli : (N, G) int64, thousandths of each GPU; 0 where a node has fewer.
    open_gpus : (N, G) bool, those with room for what it takes of a GPU, and for slices where it takes some.
    fitting : (F,) int64, the nodes with room for it: at least one, since a pod without room is refused unasked.
    memory : the policy's own, empty at first and kept from pod to pod.
    """

    nodes: Nodes
    mix: Mix
    pod: int
    demand: IntArray
    gpus: int
    gpu_milli: int
    value: int
    admits: BoolArray
    gang_size: int
    gang_placed: int
    free: IntArray
    free_milli: IntArray
    open_gpus: BoolArray
    fitting: IntArray
    memory: dict[str, Any]
