"""The least value of refused pods, by trying everything: what tiny placement instances are held against."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def optimum(instance, most_moves=None):
    """Return the least value of the refused pods, None if what runs and moves finds no place. Exponential in pods.

    most_moves : in place of the instance's. What moves is chosen first; it counts as moved wherever it ends.
    """
    running = np.flatnonzero(instance.is_running).tolist()
    movable = [pod for pod in running if instance.movable[pod]]
    most = instance.max_moves if most_moves is None else most_moves
    most = len(movable) if most < 0 else min(most, len(movable))
    best = None
    for number in range(most + 1):
        for moved in combinations(movable, number):
            best = _Search(instance, [pod for pod in running if pod not in moved], list(moved), best).best
            if best == 0:
                return 0
    return best


class _Search:
    """All placements in which some pods stay: the moved ones first, then gangs and pods that arrive, the dearest first."""

    def __init__(self, instance, stay, moved, best):
        self.instance, self.best = instance, best
        self.classes = instance.pod2class.tolist()
        self.free = [list(map(int, instance.capacity[t])) for t in instance.node2type]
        self.left = [[1000] * int(instance.num_gpus[t]) for t in instance.node2type]
        self.taken = [[0] * int(instance.num_gpus[t]) for t in instance.node2type]
        self.sizes = [0] * len(instance.class_names) if instance.slices is None else instance.slices.tolist()
        for pod in stay:
            node, c = int(instance.running_node[pod]), self.classes[pod]
            self.free[node] = [has - int(d) for has, d in zip(self.free[node], instance.demand[c], strict=True)]
            for g in range(len(self.left[node])):
                if instance.running_gpus[pod] >> g & 1:
                    self.left[node][g] -= int(instance.gpu_milli[c])
                    if self.sizes[c]:
                        self.taken[node][g] |= ((1 << self.sizes[c]) - 1) << int(instance.running_start[pod])
        arriving: dict[int, list[int]] = {}
        for pod in np.flatnonzero(~instance.is_running).tolist():
            gang = int(instance.gang[pod])
            arriving.setdefault(gang if gang >= 0 else -pod - 1, []).append(pod)
        value = instance.value
        self.groups = [(None, [pod]) for pod in moved]
        rest = [(sum(int(value[self.classes[p]]) for p in pods), pods) for pods in arriving.values()]
        # What must be accepted is placed as it arrives.
        key = None if instance.accepts else lambda group: (-group[0], [self.classes[p] for p in group[1]])
        self.groups += rest if key is None else sorted(rest, key=key)
        self.known = set()
        self._place(0, 0)

    def _place(self, index, lost):
        if self.best is not None and lost >= self.best:
            return
        if index == len(self.groups):
            self.best = lost
            return
        types = self.instance.node2type.tolist()
        nodes = sorted(
            (t, tuple(free), tuple(sorted(zip(left, taken, strict=True))))
            for t, free, left, taken in zip(types, self.free, self.left, self.taken, strict=True)
        )
        state = index, lost, tuple(nodes)
        if state in self.known:
            return
        self.known.add(state)
        value, pods = self.groups[index]
        fits = []
        self._each(pods, lambda: (fits.append(True), self._place(index + 1, lost)))
        if value is not None and not (fits and self.instance.accepts):
            self._place(index + 1, lost + value)

    def _each(self, pods, then):
        """Try every place of the pods, but for nodes and GPUs that are alike."""
        if not pods:
            then()
            return
        instance, c = self.instance, self.classes[pods[0]]
        demand, k, milli = instance.demand[c].tolist(), int(instance.gpus[c]), int(instance.gpu_milli[c])
        seen = set()
        for node, t in enumerate(instance.node2type.tolist()):
            free, left, taken = self.free[node], self.left[node], self.taken[node]
            like = t, tuple(free), tuple(sorted(zip(left, taken, strict=True)))
            if like in seen or not instance.admits[c, t] or any(d > f for d, f in zip(demand, free, strict=True)):
                continue
            seen.add(like)
            size, has = self.sizes[c], 0 if instance.gpu_slices is None else int(instance.gpu_slices[t])
            # Slices are taken of divided GPUs, all else of others.
            if k and (size > 0) != (has > 0):
                continue
            starts = [s for s in range(has - size + 1) if instance.starts[c] >> s & 1] if size else [0]
            for chosen in {
                tuple(sorted((left[g], taken[g]) for g in some)): some for some in combinations(range(len(left)), k)
            }.values():
                for start in starts:
                    bits = ((1 << size) - 1) << start
                    if all(left[g] >= milli and not taken[g] & bits for g in chosen):
                        self._change(node, demand, chosen, milli, -1, bits)
                        self._each(pods[1:], then)
                        self._change(node, demand, chosen, milli, 1, bits)

    def _change(self, node, demand, gpus, milli, sign, bits):
        self.free[node] = [has + sign * d for has, d in zip(self.free[node], demand, strict=True)]
        for g in gpus:
            self.left[node][g] += sign * milli
            self.taken[node][g] ^= bits
