"""Tests of removals leave no trace; the search for a prefix against all prefixes; commits keep the books."""

import numpy as np
import pytest

from schedgap.heuristics.provisioning.kubernetes.cluster import Cluster
from schedgap.heuristics.provisioning.kubernetes.karpenter import (
    candidates,
    consolidate,
    new_claims,
    new_work,
    place_waiting,
    queue_of,
)
from schedgap.heuristics.provisioning.kubernetes.kernels_removal import (
    DELETE,
    KEEP,
    Search,
    commit,
    first_removable,
    list_tasks,
    removal,
    widest_prefix,
)

ONE = np.zeros(2, np.int64)
PLENTY = 2**40


def placed(instance):
    """A cluster in which nothing waits, its candidates, and what tests take."""
    cluster = Cluster.of(instance, queue_of(instance))
    place_waiting(cluster, ONE)
    cluster.remove(cluster.empty())
    cluster.make_room(1)
    chosen = candidates(cluster, "savings-ratio", np.flatnonzero(cluster.nodes.machine_type[: cluster.number] >= 0))
    work, claims = new_work(cluster), new_claims(1, cluster)
    return cluster, chosen, (cluster.tasks, cluster.catalogue(), cluster.nodes, cluster.number, claims, work)


def left(cluster):
    """(M, R), the room of each node, from nothing but where tasks are."""
    types = cluster.nodes.machine_type[: cluster.number]
    room = np.where(types[:, None] >= 0, cluster.capacity[types], cluster.nodes.left[: cluster.number])
    used = cluster.demand[cluster.type2family[types[cluster.tasks.place]], cluster.tasks.task2class]
    np.subtract.at(room, cluster.tasks.place, used)
    return room


@pytest.mark.parametrize("seed", range(40))
def test_tests_leave_no_trace_and_prefixes_are_those_of_the_search(drawn, seed):
    cluster, chosen, given = placed(drawn(seed))
    before = cluster.nodes.left.tolist(), cluster.nodes.machine_type.tolist(), cluster.tasks.place.tolist()
    alone = [removal(chosen[i:], 1, Search(*given, 1, PLENTY, False)) for i in range(chosen.shape[0])]
    first = next((i + 1 for i, answer in enumerate(alone) if answer != KEEP), 0)
    works = [removal(chosen, n, Search(*given, 1, PLENTY, False)) != KEEP for n in range(chosen.shape[0] + 1)]
    low, high, best = 1, chosen.shape[0] - 1, 0
    while low <= high:
        middle = (low + high) // 2
        low, high, best = (middle + 1, high, middle + 1) if works[middle + 1] else (low, middle - 1, best)
    assert widest_prefix(chosen, chosen.shape[0], Search(*given, 1, PLENTY, False)) == best
    assert first_removable(chosen.copy(), chosen.shape[0], Search(*given, 1, PLENTY, False)) == first
    assert (cluster.nodes.left.tolist(), cluster.nodes.machine_type.tolist(), cluster.tasks.place.tolist()) == before


@pytest.mark.parametrize("seed", range(40))
def test_commits_keep_the_books(drawn, seed):
    cluster, chosen, given = placed(drawn(seed))
    price = cluster.price[cluster.nodes.machine_type[chosen]].sum()
    work = given[-1]
    for n in range(1, min(3, chosen.shape[0] + 1)):
        answer = removal(chosen, n, Search(*given, 1, PLENTY, False))
        if answer == KEEP:
            continue
        gone = cluster.price[cluster.nodes.machine_type[chosen[:n]]].sum()
        cluster.number = commit(chosen, n, answer, *given[:4], work)
        assert (cluster.nodes.left[: cluster.number] == left(cluster))[
            cluster.nodes.machine_type[: cluster.number] >= 0
        ].all()
        now = cluster.nodes.machine_type[: cluster.number]
        rented = 0 if answer == DELETE else cluster.price[answer]
        assert cluster.price[now[now >= 0]].sum() == price - gone + rented < price
        head, following = work.head.copy(), work.following.copy()
        list_tasks(cluster.tasks, work)
        for m in np.flatnonzero(now >= 0):
            assert listed(head, following, m) == listed(work.head, work.following, m) != set()
        return


def listed(head, following, m):
    """The tasks of a node."""
    tasks, t = set(), head[m]
    while t >= 0:
        tasks.add(int(t))
        t = following[t]
    return tasks


def test_without_pools_nothing_is_rented(make):
    instance = make({"large": (5, [10]), "small": (4, [5])}, [([5], 1)], [("large", [1])], resources=("cpu",))
    _, chosen, given = placed(instance)
    assert removal(chosen, 1, Search(*given, 1, PLENTY, False)) == 1
    assert removal(chosen, 1, Search(*given, 0, PLENTY, False)) == KEEP
    assert removal(chosen, 1, Search(*given, 1, 0, False)) == KEEP


@pytest.mark.parametrize("seed", range(20))
def test_passes_end(drawn, seed):
    cluster, _, _ = placed(drawn(seed))
    for _ in range(200):
        if not consolidate(cluster, ONE, "savings-ratio", 100, PLENTY):
            return
    pytest.fail("passes go on")
