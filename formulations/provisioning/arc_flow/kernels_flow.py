"""Building a compressed flow graph of patterns, and longest paths in it. All arithmetic is int64.

Letters: L layers (one a task class), R resources, S states, N nodes, A arcs, Q roots.

A state is a layer and the capacity left before the class of that layer is chosen, as one number: the sum of left[r] *
stride[r]. State s has the arcs arc_ptr[s] <= e < arc_ptr[s + 1]; arc e takes e - arc_ptr[s] tasks. The states of layer i
are layer_ptr[i] <= s < layer_ptr[i + 1]. Nodes are numbered from the end: an arc leads to a smaller number, node 0 is
the end of every path.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedgap.instances.arrays import IntArray
from schedgap.instances.jit import inlined_kernel, kernel

TOO_MANY = -1
# An odd number near 2^32 / golden ratio spreads neighbouring keys (Knuth's multiplicative hashing); keys are folded to
# 31 bits first, so that the product stays within 63.
SPREAD = 2654435769
LOW_BITS = 2**31 - 1


class States(NamedTuple):
    """state : (S,). layer_ptr : (L + 2,). arc_ptr : (S + 1,). head : (A,) int32, the states that arcs lead to."""

    state: IntArray
    layer_ptr: IntArray
    arc_ptr: IntArray
    head: NDArray[np.int32]


class Table(NamedTuple):
    """An open hash table of size 2^b. slot : int32, index of a key. layer : int32, that filled the slot; else it is free."""

    slot: NDArray[np.int32]
    layer: NDArray[np.int32]


class Nodes(NamedTuple):
    """layer : (N,) int32. ptr : (N + 1,), node u has the arcs ptr[u] <= e < ptr[u + 1]. head : (A,) int32, nodes."""

    layer: NDArray[np.int32]
    ptr: IntArray
    head: NDArray[np.int32]


@kernel
def subset_sums(demand: IntArray, most: IntArray, box: IntArray, offset: IntArray, sums: NDArray[np.int32]) -> None:
    """Write for each layer, resource and amount the largest total of tasks of that and later layers within the amount.

    demand : (L, R). most : (L,), tasks of a class on one machine. box : (R,), the largest capacity. offset : (L + 1, R),
    where the amounts 0..box[r] of a layer begin in `sums`. O(L * sum(box)).
    """
    num_layers, num_resources = demand.shape
    for r in range(num_resources):
        can = np.zeros(box[r] + 1, np.bool_)
        copies = np.zeros(box[r] + 1, np.int64)
        can[0] = True
        for i in range(num_layers, -1, -1):
            if i < num_layers and demand[i, r] > 0:
                size = demand[i, r]
                for v in range(box[r] + 1):
                    copies[v] = 0
                    if not can[v] and v >= size and can[v - size] and copies[v - size] < most[i]:
                        copies[v] = copies[v - size] + 1
                        can[v] = True
            largest = 0
            for v in range(box[r] + 1):
                if can[v]:
                    largest = v
                sums[offset[i, r] + v] = largest


@inlined_kernel
def dot(amounts: IntArray, stride: IntArray) -> int:
    """Return the sum of amounts times strides, (R,) each; NumPy's own sums take a second to compile."""
    total = np.int64(0)
    for r in range(stride.shape[0]):
        total += amounts[r] * stride[r]
    return total


@kernel
def copies_that_fit(left: int, demand: IntArray, stride: IntArray, most: int) -> int:
    """Return how many tasks of one class fit what is left, at most `most`. O(R)."""
    fit = most
    for r in range(stride.shape[0]):
        amount = left // stride[r]
        left -= amount * stride[r]
        if demand[r] > 0:
            fit = min(fit, amount // demand[r])
    return fit


@kernel
def rounded_down(left: int, stride: IntArray, offset: IntArray, sums: IntArray) -> int:
    """Return what is left, each resource rounded down to what later tasks can use. offset : (R,). O(R)."""
    key = 0
    for r in range(stride.shape[0]):
        amount = left // stride[r]
        left -= amount * stride[r]
        key += sums[offset[r] + amount] * stride[r]
    return key


@kernel
def find_slot(key: int, layer: int, keys: IntArray, table: Table) -> int:
    """Return the slot of a key in a table of indices into `keys`: its own, or the free one where it belongs."""
    slot, slot_layer = table
    mask = slot.shape[0] - 1
    at = ((((key >> 31) ^ key) & LOW_BITS) * SPREAD >> 16) & mask
    while slot_layer[at] == layer and keys[slot[at]] != key:
        at = (at + 1) & mask
    return at


@kernel
def expand_states(
    demand: IntArray,
    most: IntArray,
    stride: IntArray,
    offset: IntArray,
    sums: NDArray[np.int32],
    num_roots: int,
    states: States,
    table: Table,
) -> int:
    """Write all states that the first `num_roots` lead to, layer by layer, with their arcs; returns the number of states.

    states : as long as there may be states and arcs. table : twice as long as `state` or more, its layers filled with -1.
    Returns TOO_MANY when an array is full. O(R) an arc.
    """
    state, layer_ptr, arc_ptr, head = states
    num_layers = demand.shape[0]
    count, arcs = num_roots, 0
    arc_ptr[0] = 0
    layer_ptr[0], layer_ptr[1] = 0, num_roots
    for i in range(num_layers):
        step = dot(demand[i], stride)
        for s in range(layer_ptr[i], layer_ptr[i + 1]):
            fit = copies_that_fit(state[s], demand[i], stride, most[i])
            if arcs + fit + 1 > head.shape[0]:
                return TOO_MANY
            for k in range(fit + 1):
                key = rounded_down(state[s] - k * step, stride, offset[i + 1], sums)
                at = find_slot(key, i, state, table)
                if table.layer[at] != i:
                    if count == state.shape[0]:
                        return TOO_MANY
                    state[count] = key
                    table.slot[at], table.layer[at] = count, i
                    count += 1
                head[arcs] = table.slot[at]
                arcs += 1
            arc_ptr[s + 1] = arcs
        layer_ptr[i + 2] = count
    for s in range(layer_ptr[num_layers], count):
        arc_ptr[s + 1] = arcs
    return count


@kernel
def merge_states(
    demand: IntArray,
    stride: IntArray,
    states: States,
    used: IntArray,
    state2node: NDArray[np.int32],
    node2state: NDArray[np.int32],
    node_layer: NDArray[np.int32],
    table: Table,
) -> int:
    """Merge the states of a layer from which the same patterns fit; returns the number of nodes.

    used[s], (S,) : the most of each resource that any pattern from s on uses. A pattern fits what is left at s exactly
    if it fits used[s], so states of equal `used` are one node; a state that can only take nothing is the one after it.
    state2node, node2state : (S,), (S + 1,). node_layer : (S + 1,). O(R) an arc.
    """
    _, layer_ptr, arc_ptr, head = states
    num_layers, num_resources = demand.shape
    top = np.zeros(num_resources, np.int64)
    for s in range(layer_ptr[num_layers], layer_ptr[num_layers + 1]):
        used[s], state2node[s] = 0, 0
    count = 1
    node_used = np.empty(node2state.shape[0], np.int64)
    for i in range(num_layers - 1, -1, -1):
        step = dot(demand[i], stride)
        for s in range(layer_ptr[i], layer_ptr[i + 1]):
            first, stop = arc_ptr[s], arc_ptr[s + 1]
            if stop == first + 1:
                used[s], state2node[s] = used[head[first]], state2node[head[first]]
                continue
            top[:] = 0
            for e in range(first, stop):
                rest = used[head[e]] + (e - first) * step
                for r in range(num_resources):
                    amount = rest // stride[r]
                    rest -= amount * stride[r]
                    top[r] = max(top[r], amount)
            used[s] = dot(top, stride)
            at = find_slot(used[s], i, node_used, table)
            if table.layer[at] != i:
                table.slot[at], table.layer[at] = count, i
                node_used[count], node2state[count], node_layer[count] = used[s], s, i
                count += 1
            state2node[s] = table.slot[at]
    return count


@kernel
def node_arcs(states: States, state2node: NDArray[np.int32], node2state: NDArray[np.int32], nodes: Nodes) -> None:
    """Write the arcs of the nodes, those of each node's first state. nodes : its layers are known. O(A)."""
    arc_ptr, head, node_ptr, out, filled = states.arc_ptr, states.head, nodes.ptr, nodes.head, 0
    node_ptr[0], node_ptr[1] = 0, 0
    for u in range(1, node_ptr.shape[0] - 1):
        for e in range(arc_ptr[node2state[u]], arc_ptr[node2state[u] + 1]):
            out[filled] = state2node[head[e]]
            filled += 1
        node_ptr[u + 1] = filled


@kernel
def longest_paths(value: IntArray, most: IntArray, nodes: Nodes, best: IntArray, choice: IntArray) -> None:
    """Write the largest value of a path from each node to the end, and the arc it starts with. O(A).

    value, most : (L,), of a task of each layer, and how many of them a path may take.
    """
    node_layer, node_ptr, head = nodes
    best[0], choice[0] = 0, 0
    for u in range(1, node_layer.shape[0]):
        first = node_ptr[u]
        best[u], choice[u] = best[head[first]], first
        for e in range(first + 1, min(node_ptr[u + 1], first + most[node_layer[u]] + 1)):
            total = best[head[e]] + (e - first) * value[node_layer[u]]
            if total > best[u]:
                best[u], choice[u] = total, e


@kernel
def follow(node: int, nodes: Nodes, choice: IntArray, out: IntArray) -> None:
    """Write the tasks of each class on the path that `choice` gives from a node to the end. out : (L,), zeros. O(L)."""
    while node > 0:
        out[nodes.layer[node]] = choice[node] - nodes.ptr[node]
        node = nodes.head[choice[node]]
