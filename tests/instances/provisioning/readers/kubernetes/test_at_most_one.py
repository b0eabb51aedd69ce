"""Pods that exclude each other, against what the scheduler would refuse, pair by pair."""

from itertools import combinations_with_replacement

import pytest

TYPE = "name,cpu,memory_gib,price,pods\nm,4,16,1,10\n"


@pytest.fixture
def together(read, k8s):
    """Return pairs of pods' names, and counts of resources, that fit one machine: {(x, y): whether}."""

    def together(*pods, machine=None, **more):
        nodes = [machine or k8s.node("n", "m", "4", "16Gi", "10")]
        cluster = read([*pods, *nodes], TYPE, **more)
        sizes = {cluster.class_name(c): cluster.demand[0, c] for c in range(cluster.num_classes)}
        room = cluster.capacity[0]
        pairs = combinations_with_replacement(sorted(sizes), 2)
        most = dict(zip(cluster.class_names, cluster.most_together, strict=True))
        return {x + y: bool((sizes[x] + sizes[y] <= room).all() and (x != y or most[x] > 1)) for x, y in pairs}, cluster

    return together


def some(k8s, name, number=3, **more):
    """Pods of one owner; each owner asks for another amount of memory, so that it is a class."""
    size = k8s.requests("10m", f"{ord(name[0])}Mi")
    return [
        k8s.pod(f"{name}-{n}", None, ("StatefulSet", name), (size,), labels={"app": name}, **more)
        for n in range(number)
    ]


def test_a_term_that_selects_its_own_pods(together, k8s):
    pairs, cluster = together(*some(k8s, "a", affinity=k8s.apart({"app": "a"})), *some(k8s, "b"))
    assert pairs == {"aa": False, "ab": True, "bb": True}
    assert cluster.resources == ("cpu", "ram_mib", "pods")
    assert cluster.per_machine.tolist() == [1, -1]


def test_mutual_terms_of_several_classes_are_one_resource(together, k8s):
    both = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]}
    affinity = k8s.apart({}, labelSelector=both)
    pairs, cluster = together(*some(k8s, "a", affinity=affinity), *some(k8s, "b", affinity=affinity), *some(k8s, "c"))
    assert pairs == {"aa": False, "ab": False, "ac": True, "bb": False, "bc": True, "cc": True}
    assert sum(name.startswith("apart-") for name in cluster.resources) == 1


def test_a_term_that_selects_others_too(together, k8s):
    """All pods of the namespace: no `a` beside anything, whatever else may be together, up to all six of it."""
    pairs, cluster = together(*some(k8s, "a", affinity=k8s.apart({})), *some(k8s, "b"), *some(k8s, "c"))
    assert pairs == {"aa": False, "ab": False, "ac": False, "bb": True, "bc": True, "cc": True}
    b, c, r = cluster.class_names.index("b"), cluster.class_names.index("c"), cluster.resources.index("apart-a")
    assert 3 * cluster.demand[0, b, r] + 3 * cluster.demand[0, c, r] <= cluster.capacity[0, r]


def test_a_term_that_does_not_select_its_own_pods_is_dropped_and_listed(together, k8s):
    pairs, cluster = together(*some(k8s, "a", affinity=k8s.apart({"app": "b"})), *some(k8s, "b"))
    assert all(pairs.values())
    assert any(
        note.startswith("Relaxed: pod anti-affinity by hostname that does not select the pods")
        for note in cluster.notes
    )


def test_namespaces(together, k8s):
    """A term means its own namespace, unless it names others or all."""
    elsewhere = some(k8s, "b", namespace="other")
    for more, excluded in (({}, False), ({"namespaces": ["other", "shop"]}, True), ({"namespaceSelector": {}}, True)):
        pairs, _ = together(*some(k8s, "a", affinity=k8s.apart({}, **more)), *elsewhere)
        assert (pairs["aa"], pairs["ab"]) == (False, not excluded)


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({"key": "topology.kubernetes.io/zone"}, "pod anti-affinity by zone"),
        ({"matchLabelKeys": ["x"]}, "with matchLabelKeys or a namespaceSelector"),
        ({"namespaceSelector": {"matchLabels": {"x": "y"}}}, "with matchLabelKeys or a namespaceSelector"),
    ],
)
def test_what_is_dropped_and_listed(together, k8s, more, kind):
    pairs, cluster = together(*some(k8s, "a", affinity=k8s.apart({"app": "a"}, **more)))
    assert pairs == {"aa": True}
    assert any(note.startswith("Relaxed: ") and kind in note and "3 pods: shop/a (3)" in note for note in cluster.notes)


def port(k8s, name, *ports, **more):
    size = k8s.requests("10m", f"{ord(name[0])}Mi")
    containers = [{"name": "c", "resources": size, "ports": [{"containerPort": 1} | each for each in ports]}]
    return [k8s.pod(f"{name}-{n}", None, ("StatefulSet", name), containers, **more) for n in range(2)]


def test_ports_of_the_host(together, k8s):
    """By protocol and number; with the host's network every port is one of the host."""
    a, b = port(k8s, "a", {"hostPort": 80}), port(k8s, "b", {"hostPort": 80, "protocol": "UDP"})
    c = port(k8s, "c", {"containerPort": 80}, hostNetwork=True)
    pairs, _ = together(*a, *b, *c, *port(k8s, "d", {"containerPort": 80}))
    assert {pair for pair, fits in pairs.items() if not fits} == {"aa", "ac", "bb", "cc"}


def test_ports_at_an_address_are_listed(together, k8s):
    pairs, cluster = together(
        *port(k8s, "a", {"hostPort": 80, "hostIP": "10.0.0.1"}), *port(k8s, "b", {"hostPort": 80})
    )
    assert (pairs["aa"], pairs["bb"]) == (True, False)
    assert "Relaxed: host ports of a single address: 2 pods: shop/a (2)." in cluster.notes


def test_a_port_that_a_daemon_set_holds(read, k8s):
    """No pod with the port fits beside it: left out, and said so."""
    daemon = k8s.pod("d", "n", ("DaemonSet", "d"), port(k8s, "d", {"hostPort": 80})[0]["spec"]["containers"])
    pods = [*port(k8s, "a", {"hostPort": 80}), *port(k8s, "b", {"hostPort": 81})]
    cluster = read([daemon, *pods, k8s.node("n", "m", "4", "16Gi", "10")], TYPE)
    assert cluster.class_names == ("b",)
    assert "Left out: fit no machine that can be had: 2 pods: shop/a (2)." in cluster.notes


def zoned(k8s, name, zone, number=2, **more):
    """Pods that are alike but for the zone that they are bound to."""
    bound = k8s.near(("topology.kubernetes.io/zone", "In", [zone]))
    pods = some(k8s, name, number, affinity=bound | k8s.apart({"app": name}), **more)
    for n, pod in enumerate(pods):
        pod["metadata"]["name"] = f"{name}-{zone}-{n}"
    return pods


def test_classes_that_no_machine_may_hold_together_need_no_resource(read, k8s):
    """A StatefulSet on volumes of two zones is two classes: of each one a machine, and no machine is in both zones."""
    pods = [*zoned(k8s, "a", "z1"), *zoned(k8s, "a", "z2")]
    nodes = [k8s.node(f"n{z}", "m", "4", "16Gi", "10", labels={"topology.kubernetes.io/zone": z}) for z in ("z1", "z2")]
    cluster = read([*pods, *nodes], "name,cpu,memory_gib,price,pods,zone\nm,4,16,1,10,z1\nm,4,16,1,10,z2\n")
    assert cluster.resources == ("cpu", "ram_mib", "pods")
    assert cluster.per_machine.tolist() == [1, 1]
    assert cluster.counts.tolist() == [2, 2]


def test_classes_of_one_owner_that_may_share_a_machine_need_a_resource(together, k8s):
    """Pods of a Deployment that is being resized: two sizes, of which no machine holds two."""
    size = k8s.requests("20m", "97Mi")
    affinity = k8s.apart({"app": "a"})
    new = k8s.pod("a-new", None, ("StatefulSet", "a"), (size,), labels={"app": "a"}, affinity=affinity)
    _, cluster = together(*some(k8s, "a", affinity=affinity), new)
    assert "apart-a" in cluster.resources
    assert cluster.per_machine is None
    assert "Kept exactly: at most one a machine of 4 pods of shop/a." in cluster.notes


def test_resources_are_few_however_many_exclude_others(together, k8s):
    """Ten owners that no pod of their own team goes beside, of more and more pods: eight are exact, two for themselves."""
    pods = []
    for n, name in enumerate("abcdefghij"):
        labels = {"app": name, "team": name}
        size = k8s.requests("10m", f"{ord(name)}Mi")
        for i in range(2 + n):
            affinity = k8s.apart({"team": name})
            pods.append(k8s.pod(f"{name}-{i}", None, ("StatefulSet", name), (size,), labels=labels, affinity=affinity))
        more = k8s.requests("10m", "10Mi")
        pods.append(k8s.pod(f"{name}{name}", None, ("StatefulSet", name * 2), (more,), labels={"team": name}))
    cluster = together(*pods)[1]
    assert sorted(r for r in cluster.resources if r.startswith("apart")) == [f"apart-{name}" for name in "cdefghij"]
    most = dict(zip(cluster.class_names, cluster.per_machine.tolist(), strict=True))
    assert (most["a"], most["b"], most["c"]) == (1, 1, -1)
    said = "Relaxed: exclude pods of other classes on a machine, beyond the 8 that exclude the most: 7 pods: "
    assert any(note.startswith(said) and "shop/a (2)" in note and "shop/bb" in note for note in cluster.notes)


def test_many_owners_are_one_sentence(together, k8s):
    pods = [pod for name in "abcdefg" for pod in some(k8s, name, affinity=k8s.apart({"app": name}))]
    _, cluster = together(*pods)
    assert cluster.resources == ("cpu", "ram_mib", "pods")
    assert (cluster.per_machine == 1).all()
    said = "Kept exactly: at most one a machine of each of 7 owners, 21 pods of shop/a, shop/b, shop/c, "
    assert f"{said}shop/d, shop/e and 2 more." in cluster.notes


def test_nobody_is_evicted_where_more_run_than_may_share_a_node(read, k8s):
    """Three of `a` on one node, as after labels were changed by hand: two of them exclude nobody, and all may stay."""
    pods = [
        k8s.pod(f"a-{n}", node, ("StatefulSet", "a"), (k8s.requests("10m", "97Mi"),), labels={"app": "a"},
                affinity=k8s.apart({"app": "a"}))
        for n, node in enumerate(["n", "n", "n", "o", None])
    ]  # fmt: skip
    nodes = [k8s.node(name, "m", "4", "16Gi", "10") for name in ("n", "o")]
    cluster = read([*pods, *nodes], TYPE)
    content = cluster.running.contents(cluster.num_classes)
    limited, free = cluster.per_machine.tolist().index(1), cluster.per_machine.tolist().index(-1)
    assert content[:, limited].tolist() == [1, 1]
    assert content[:, free].tolist() == [2, 0]
    assert cluster.counts[[limited, free]].tolist() == [3, 2]
    said = "Relaxed: run on a node with others of their own that may not share one, and may stay or go anywhere"
    assert f"{said}: 2 pods: shop/a (2)." in cluster.notes
