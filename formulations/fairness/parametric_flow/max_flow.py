"""Maximum flow from users to machine classes in whole numbers of any size.

Solvers' flows hold 32 or 64 bits; fair shares are fractions whose common denominators do not fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# From a user to a class.
Flow: TypeAlias = dict[tuple[int, int], int]


def max_flow(
    supply: Mapping[int, int], capacity: Mapping[int, int], classes_of: Mapping[int, Sequence[int]]
) -> tuple[Flow, set[int], set[int]]:
    """Return a maximum flow, and the users and classes on the source's side of the minimum cut.

    supply : of each user, what it can send. capacity : of each class, what it can take. classes_of : where each user may
    send; classes that have no capacity entry are left out.

    Dinic's algorithm, in phases of shortest paths: at most K + 1 of them for K classes, each O(E) and O(K) a path.
    """
    left, room = dict(supply), dict(capacity)
    edges = {user: [k for k in classes_of[user] if k in room] for user in supply}
    senders: dict[int, dict[int, int]] = {k: {} for k in room}
    while True:
        depth, ends = _depths(left, room, edges, senders)
        if not ends:
            break
        _block(left, room, edges, senders, depth)
    flow = {(user, k): amount for k, sent in senders.items() for user, amount in sent.items() if amount}
    return flow, {node for node in depth if node >= 0}, {~node for node in depth if node < 0}


def _depths(
    left: Mapping[int, int],
    room: Mapping[int, int],
    edges: Mapping[int, Sequence[int]],
    senders: Mapping[int, Mapping[int, int]],
) -> tuple[dict[int, int], bool]:
    """Return how far nodes are from users with something left, up to the nearest class with room, and if there is one.

    A user is its number i, a class k is ~k.
    """
    front = [user for user, amount in left.items() if amount]
    depth = dict.fromkeys(front, 0)
    far = 0
    while front:
        far += 1
        classes = []
        for user in front:
            for k in edges[user]:
                if ~k not in depth:
                    depth[~k] = far
                    classes.append(k)
        if any(room[k] for k in classes):
            return depth, True
        far += 1
        front = []
        for k in classes:
            for user, amount in senders[k].items():
                if amount and user not in depth:
                    depth[user] = far
                    front.append(user)
    return depth, False


def _block(
    left: dict[int, int],
    room: dict[int, int],
    edges: Mapping[int, Sequence[int]],
    senders: dict[int, dict[int, int]],
    depth: Mapping[int, int],
) -> None:
    """Send along paths that go one deeper at every step, until there is none."""
    nexts = {node: edges[node] if node >= 0 else [*senders[~node]] for node in depth}
    turn = dict.fromkeys(depth, 0)

    def is_open(node: int, to: int) -> bool:
        if node >= 0:
            return depth.get(~to) == depth[node] + 1
        return depth.get(to) == depth[node] + 1 and senders[~node].get(to, 0) > 0

    for start in [user for user in left if depth.get(user) == 0]:
        path = [start]
        while path and left[start]:
            node = path[-1]
            if node < 0 and room[~node]:
                _send(path, left, room, senders)
                path = [start]
                continue
            ahead = nexts[node]
            while turn[node] < len(ahead) and not is_open(node, ahead[turn[node]]):
                turn[node] += 1
            if turn[node] < len(ahead):
                to = ahead[turn[node]]
                path.append(~to if node >= 0 else to)
            else:
                path.pop()
                if path:
                    turn[path[-1]] += 1


def _send(path: Sequence[int], left: dict[int, int], room: dict[int, int], senders: dict[int, dict[int, int]]) -> None:
    """Send as much as a path allows; users on it after the first send less to the class before them, more to the next."""
    steps = [(path[place], ~path[place + 1]) for place in range(0, len(path), 2)]
    returns = [(path[place + 1], ~path[place]) for place in range(1, len(path) - 1, 2)]
    start, end = path[0], ~path[-1]
    amount = min(left[start], room[end], *(senders[k][user] for user, k in returns))
    left[start] -= amount
    room[end] -= amount
    for user, k in returns:
        senders[k][user] -= amount
    for user, k in steps:
        senders[k][user] = senders[k].get(user, 0) + amount
