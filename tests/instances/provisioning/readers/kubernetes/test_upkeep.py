"""What the import keeps for rules: what comes with nodes, NodePools and budgets, what keeps nodes; none of it binds a plan."""

import numpy as np
import pytest

from schedgap.heuristics.provisioning.kubernetes.cluster_autoscaler import cluster_autoscaler
from schedgap.heuristics.provisioning.kubernetes.karpenter import karpenter_consolidation
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning import verify
from schedgap.instances.provisioning.running import (
    GOING,
    HELD,
    NO_SCALE_DOWN,
    ONE_TASK,
    STARTING,
    UNDERUTILIZED,
    Budget,
)
from schedgap.instances.provisioning.windows import Window

PRICES = "name,cpu,memory_gib,price,spot_price\nm,4,8,0.01,0.004\n"
POOL, READY = "karpenter.sh/nodepool", {"karpenter.sh/initialized": "true"}
WEB = {"requests": {"cpu": "100m", "memory": "512Mi"}}
BOTH = HELD | NO_SCALE_DOWN


@pytest.fixture
def cluster(k8s, read):
    """Read two nodes of 4 CPUs and 7Gi with a pod of 512Mi each, in a NodePool; with changes of the first node and pod."""

    def made(more=(), node=(), pod=(), prices=PRICES, labels=None, now="", **pool):
        objects = list(more)
        for number in range(2):
            labelled = {POOL: "default", **READY} if labels is None else labels
            item = k8s.node(f"n{number}", "m", "4", "7Gi", "110", labels=labelled)
            task = k8s.pod(
                f"web-{number}", f"n{number}", ("ReplicaSet", "web-5d"), [k8s.requests("100m", "512Mi")], {"app": "web"}
            )
            if number == 0:
                item["metadata"] |= dict(node)
                task["metadata"] |= dict(pod)
            objects += [item, task]
        if pool:
            objects.append(k8s.pool("default", **pool))
        return read(objects, prices=prices, now=now)

    return made


def marks(instance):
    found = instance.running.disruption
    return found.marks[np.argsort(instance.running.names)].tolist()


def test_daemon_sets_and_static_pods_are_kept_for_the_rules(k8s, read):
    """kubernetes/autoscaler 894: four nodes of 7Gi, a DaemonSet pod of 3584Mi and a task of 512Mi on each: 57%, all stay.

    That of n0 is a static pod. What of the memory pods cannot tell is rounded off capacities, not off these.
    """
    objects = []
    for n in range(4):
        objects.append(k8s.node(f"n{n}", "m", "4", f"{7 * 2**20 + 5}Ki", "110"))
        owner, meta = ("DaemonSet", "agent"), {}
        if n == 0:
            owner, meta = None, {"annotations": {"kubernetes.io/config.mirror": "x"}}
        objects.append(k8s.pod(f"agent-{n}", f"n{n}", owner, [k8s.requests("100m", "3584Mi")], meta=meta))
        objects.append(k8s.pod(f"web-{n}", f"n{n}", ("ReplicaSet", "web-5d"), [WEB]))
    instance = read(objects, prices=PRICES)
    running = instance.running
    assert instance.resources == ("cpu", "ram_mib", "pods")
    assert running.reserved.tolist() == [[100, 3584, 1000]] * 4
    assert running.whole.tolist() == [[4000, 7168, 110_000]] * 4
    assert running.disruption is None
    for ignored, price in ((False, 40_000), (True, 10_000)):
        outcome = cluster_autoscaler(instance, np.random.default_rng(1), ignore_daemonsets=ignored)
        assert verify(instance, outcome.solution) == price


def test_without_anything_to_keep_nothing_is_kept(k8s, read):
    objects = [k8s.node("n", "m", "4", "7Gi", "110"), k8s.pod("p", "n", ("Job", "j"), [k8s.requests("1", "1Gi")])]
    running = read(objects, prices=PRICES).running
    assert (running.whole, running.reserved, running.disruption) == (None, None, None)


def test_node_pools_their_budgets_and_policy(cluster):
    budgets = [
        {"nodes": "30%", "reasons": ["Underutilized", "Drifted"]},
        {"nodes": 5},
        {"nodes": "0", "reasons": ["Drifted"]},
        {"nodes": "0", "schedule": "0 9 * * 1-5", "duration": "8h"},
    ]
    instance = cluster(disruption={"budgets": budgets, "consolidationPolicy": "WhenEmpty", "consolidateAfter": "0s"})
    (pool,) = instance.running.disruption.pools
    assert pool.budgets == (Budget(30, True, (UNDERUTILIZED,)), Budget(5, False))
    assert (pool.name, pool.only_empty) == ("default", True)
    assert any("without 1 budgets of NodePool default that hold at times only" in note for note in instance.notes)
    # What the API server makes of a NodePool that says nothing: 10%.
    assert cluster(limits={"cpu": 9}).running.disruption.pools[0].budgets == (Budget(10, True),)
    # Of one that is not given nothing is known.
    assert cluster().running.disruption.pools[0].budgets == ()


def test_schedules_hold_by_the_time_of_the_newest_look_or_by_a_time_that_is_given(cluster):
    """2026-11-27 was a Friday. The pod's start is the newest time; both pods fit on one node, unless it is working time."""
    day = {"nodes": "0", "schedule": "0 9 * * mon-fri", "duration": "8h"}
    given = {"budgets": [day, {"nodes": "100%"}], "consolidateAfter": "0s"}
    for now, price in (
        ("2026-11-27T16:59:59Z", 20_000),
        ("2026-11-27T17:00:00Z", 10_000),
        ("2026-11-28T10:00:00Z", 10_000),
    ):
        seen = cluster(pod={}, more=[started(now)], disruption=given)
        asked = cluster(more=[started("2026-11-27T12:00:00Z")], disruption=given, now=now)
        for instance in (seen, asked):
            (pool,) = instance.running.disruption.pools
            assert pool.budgets[0] == Budget(0, False, window=Window("0 9 * * mon-fri", 8 * 3600))
            assert verify(instance, karpenter_consolidation(instance).solution) == price
    with pytest.raises(InstanceError, match="now is 'noon'; give a time such as"):
        cluster(now="noon")
    for wrong in (
        {"schedule": "0 9 * *", "duration": "8h"},
        {"schedule": "0 9 * * 1"},
        {"schedule": "@daily", "duration": "x"},
    ):
        odd = cluster(now="2026-11-27T12:00:00Z", disruption={"budgets": [{"nodes": "0", **wrong}]})
        assert odd.running.disruption.pools[0].budgets == ()
        assert any("without 1 budgets of NodePool default" in note for note in odd.notes)


def started(time, node="n1", **more):
    """A DaemonSet's pod of a start."""
    return {
        "kind": "Pod",
        "metadata": {
            "name": "agent",
            "namespace": "shop",
            "ownerReferences": [{"kind": "DaemonSet", "name": "agent", "controller": True}],
            **more,
        },
        "spec": {"nodeName": node, "containers": [{"name": "main"}]},
        "status": {"phase": "Running", "startTime": time},
    }


def test_a_pod_is_left_alone_for_a_duration_after_its_start(cluster):
    held = {"annotations": {"karpenter.sh/do-not-disrupt": "1h30m"}}
    agent = started("2026-11-27T10:00:00Z", **held)
    for now, expected in (("2026-11-27T11:29:59Z", HELD), ("2026-11-27T11:30:00Z", 0)):
        assert marks(cluster([agent], now=now)) == [0, expected]
    # Without a start, or for as long as it runs, it is left alone always.
    for meta, time in (
        (held, None),
        ({"annotations": {"karpenter.sh/do-not-disrupt": "true"}}, "2026-11-27T10:00:00Z"),
    ):
        assert marks(cluster([started(time, **meta)], now="2027-11-27T10:00:00Z")) == [0, HELD]
    # What is no duration is ignored.
    for asked in ("1h 30m", "-1h", "0s", "5"):
        odd = started("2026-11-27T10:00:00Z", annotations={"karpenter.sh/do-not-disrupt": asked})
        assert marks(cluster([odd], now="2026-11-27T10:00:01Z")) == [0, 0]


def test_nodes_are_quiet_since_the_last_pod_event_or_start(cluster):
    """A claim's lastPodEventTime counts; else that it was ready, or the newest start of a pod on the node."""

    def claim(node, **status):
        return {"kind": "NodeClaim", "metadata": {"name": f"c-{node}"}, "status": {"nodeName": node, **status}}

    ready = [
        {"type": "Consolidatable", "status": "True"},
        {"type": "Initialized", "status": "True", "lastTransitionTime": "2026-11-27T09:00:00Z"},
    ]
    now, pool = "2026-11-27T10:00:00Z", {"consolidateAfter": "10m", "consolidationPolicy": "Balanced"}
    claims = [
        claim("n0", conditions=ready, lastPodEventTime="2026-11-27T09:55:00Z"),
        claim("n1", conditions=ready),
    ]
    for objects, expected in (
        (claims, [300, 3600]),
        ([started("2026-11-27T09:59:30Z")], [1_795_773_600, 30]),
        ([started("2026-11-27T10:59:30Z")], [1_795_773_600, 0]),
    ):
        given = cluster(objects, now=now, disruption=pool).running
        order = np.argsort(given.names)
        assert given.disruption.quiet_s[order].tolist() == expected
        (found,) = given.disruption.pools
        assert (found.consolidate_after_s, found.balanced, found.only_empty) == (600, True, False)
    # No schedule asks for the time, nor is there anything to say where no pool waits.
    assert given.disruption.at_s is None
    assert cluster(claims, now=now, disruption={"consolidateAfter": "0s"}).running.disruption.quiet_s is None
    # n1 may go, and n0 takes no pod yet.
    for objects, asked, price in ((claims, now, 20_000), (claims, "2026-11-27T10:05:00Z", 10_000)):
        instance = cluster(objects, now=asked, disruption=pool)
        assert verify(instance, karpenter_consolidation(instance).solution) == price


def test_a_budget_that_is_none_is_left_out_and_named(cluster):
    instance = cluster(disruption={"budgets": [{"nodes": "10 %"}]})
    assert instance.running.disruption.pools[0].budgets == ()
    assert any("without 1 budgets of NodePool default" in note for note in instance.notes)


@pytest.mark.parametrize(
    ("node", "pod", "expected"),
    [
        ({"annotations": {"karpenter.sh/do-not-disrupt": "true"}}, {}, HELD),
        ({"annotations": {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}}, {}, NO_SCALE_DOWN),
        ({"deletionTimestamp": "2026-01-01T00:00:00Z"}, {}, GOING),
        ({"labels": {"node.kubernetes.io/instance-type": "m", POOL: "default"}}, {}, STARTING),
        ({}, {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}, HELD),
        ({}, {"annotations": {"karpenter.sh/do-not-disrupt": "1h30m"}}, HELD),
        ({}, {"annotations": {"karpenter.sh/do-not-disrupt": "yes"}}, 0),
        ({}, {"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}}, NO_SCALE_DOWN),
        ({}, {"ownerReferences": []}, NO_SCALE_DOWN),
        (
            {},
            {"ownerReferences": [], "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}},
            0,
        ),
    ],
)
def test_what_keeps_a_node(cluster, node, pod, expected):
    assert marks(cluster(node=node, pod=pod)) == [expected, 0]


def test_pods_that_are_not_packed_keep_their_node_too(k8s, cluster):
    held = {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}
    for owner, meta, phase, expected in (
        (("DaemonSet", "agent"), held, "Running", HELD),
        (("Job", "done"), held, "Succeeded", 0),
        (("Job", "ending"), held | {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "Running", 0),
    ):
        extra = k8s.pod("extra", "n1", owner, [k8s.requests("1m")], phase=phase, meta=meta)
        assert marks(cluster([extra])) == [0, expected]


def budget(name, allowed, selector, namespace="shop"):
    return {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"minAvailable": 1, "selector": selector},
        "status": {"disruptionsAllowed": allowed},
    }


def test_disruption_budgets_that_admit_nothing_keep_nodes(cluster):
    web = {"matchLabels": {"app": "web"}}
    for allowed, selector, namespace, expected in (
        (0, web, "shop", BOTH),
        (0, {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}, "shop", BOTH),
        (0, {}, "shop", BOTH),
        (0, None, "shop", 0),
        (0, web, "other", 0),
        (0, {"matchLabels": {"app": "db"}}, "shop", 0),
        (1, web, "shop", 0),
    ):
        instance = cluster([budget("web", allowed, selector, namespace)])
        assert marks(instance) == [expected, expected]
    # Without a status, as many may go as the number of pods says: of two that run one, or none.
    for least, expected in ((1, 0), (2, BOTH), ("50%", 0), ("51%", BOTH)):
        item = budget("web", 1, web)
        item["spec"]["minAvailable"], item["status"] = least, {}
        assert marks(cluster([item])) == [expected, expected]
    # Eviction refuses pods of two budgets.
    assert marks(cluster([budget("web", 1, web), budget("all", 1, {})])) == [BOTH, BOTH]
    notes = " ".join(cluster([budget("web", 0, web)]).notes)
    assert "1 of 1 PodDisruptionBudgets admit no eviction now: shop/web" in notes


def test_claims_say_whether_the_time_has_come(cluster):
    def claim(node, status):
        conditions = [{"type": "Consolidatable", "status": status}] if status else []
        return {
            "kind": "NodeClaim",
            "metadata": {"name": f"c-{node}"},
            "status": {"nodeName": node, "conditions": conditions},
        }

    assert marks(cluster([claim("n0", "True"), claim("n1", None)])) == [0, HELD]
    assert marks(cluster(disruption={"consolidateAfter": "Never"})) == [HELD, HELD]


def test_spare_capacity_is_told_apart(k8s, read):
    node = k8s.node("n", "m", "4", "7Gi", "110", labels={"karpenter.sh/capacity-type": "spot"})
    instance = read([node, k8s.pod("p", "n", ("Job", "j"), [k8s.requests("1", "1Gi")])], prices=PRICES)
    assert [instance.type_names[k] for k in instance.running.disruption.spot] == ["m (spot, n)"]


def test_karpenter_leaves_what_is_held(cluster):
    """Both pods fit on one node, unless a budget of 0 keeps the nodes."""
    web = {"matchLabels": {"app": "web"}}
    for objects, price in (([], 10_000), ([budget("web", 0, web)], 20_000)):
        instance = cluster(objects)
        assert verify(instance, karpenter_consolidation(instance).solution) == price
    plain = cluster(labels={})
    assert verify(plain, karpenter_consolidation(plain).solution) == 10_000


@pytest.mark.parametrize(
    ("said", "priority", "weight"),
    [
        (None, None, ONE_TASK),
        ("0", 0, ONE_TASK),
        # 1 + 2^26 / 2^27 + 2^24 / 2^25.
        (str(2**26), 2**24, 2 * ONE_TASK),
        ("1", None, ONE_TASK + 1),
        ("-1", 1, ONE_TASK + 3),
        # At most ten: 1 + 16, 1 + 59.6; not below nothing: 1 - 1.49.
        ("2147483647", None, 10 * ONE_TASK),
        (None, 2_000_001_000, 10 * ONE_TASK),
        ("-200000000", None, 0),
        # What no API server admits counts as none.
        ("much", None, ONE_TASK),
        ("1e9", None, ONE_TASK),
    ],
)
def test_what_a_pod_counts_as_disruption(cluster, k8s, said, priority, weight):
    """Two pods alike but for what they count are two classes, unless they count the same; a node counts one."""
    note = {} if said is None else {"annotations": {"controller.kubernetes.io/pod-deletion-cost": said}}
    pod = k8s.pod("other-0", "n0", ("ReplicaSet", "web-5d"), [k8s.requests("100m", "512Mi")], {"app": "web"})
    pod["metadata"] |= note
    if priority is not None:
        pod["spec"]["priority"] = priority
    instance = cluster([pod])
    assert sorted(instance.weight.tolist()) == sorted({ONE_TASK, weight})
    assert (instance.disruption is None) == (weight == ONE_TASK)
    assert instance.running.node_disruption.tolist() == [ONE_TASK] * 2


def test_pods_of_daemon_sets_and_static_pods_count_nothing(cluster, k8s):
    static = k8s.pod("s-n0", "n0", ("Node", "n0"), [k8s.requests("100m", "512Mi")])
    static["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
    daemon = k8s.pod("d-1", "n0", ("DaemonSet", "d"), [k8s.requests("100m", "512Mi")])
    for pod in (static, daemon):
        pod["spec"]["priority"] = 2_000_001_000
    instance = cluster([static, daemon])
    assert (instance.num_tasks, instance.disruption) == (2, None)


def test_what_counts_differently_is_apart_all_the_same(read, k8s):
    """Four pods that exclude each other, two of which count more: still one a node."""
    objects = [k8s.node(f"n{n}", "m", "4", "7Gi", "110") for n in range(4)]
    for n in range(4):
        pod = k8s.pod(
            f"web-{n}",
            f"n{n}",
            ("ReplicaSet", "web-5d"),
            [k8s.requests("100m", "512Mi")],
            {"app": "web"},
            affinity=k8s.apart({"app": "web"}),
        )
        pod["spec"]["priority"] = 10**8 * (n % 2)
        objects.append(pod)
    instance = read(objects, prices=PRICES)
    assert instance.num_classes == 2
    found = karpenter_consolidation(instance).solution
    assert found.num_machines == 4


def test_the_policy_balanced_of_a_node_pool_is_read(cluster, read):
    given = {"consolidationPolicy": "Balanced", "consolidateAfter": "0s"}
    pools = cluster(disruption=given).running.disruption.pools
    assert [(pool.balanced, pool.only_empty) for pool in pools] == [(True, False)]
