"""What a past says of NodePools, PodDisruptionBudgets and annotations, for the rules of controllers."""

import json

import msgspec
import numpy as np

from schedgap.instances.provisioning.readers.kubernetes.objects import NodePool, PodDisruptionBudget
from schedgap.instances.provisioning.running import HELD, NO_SCALE_DOWN, Budget, Guard
from schedgap.instances.provisioning.windows import Window
from schedgap.instances.reconfiguration.upkeep import ALWAYS, SEVERAL, UNGUARDED

POOL, OWNER = "karpenter.sh/nodepool", ("ReplicaSet", "web-5d")
HELD_NOTE = "karpenter.sh/do-not-disrupt"


def other(kind, name, spec, namespace=""):
    document = {"metadata": {"name": name, "namespace": namespace}, "spec": spec}
    return (name, kind.__name__, msgspec.json.decode(json.dumps(document), type=kind))


def node_pool(name, **disruption):
    return other(NodePool, name, {"template": {"spec": {"requirements": []}}, "disruption": disruption})


def guard(name, app, **spec):
    return other(PodDisruptionBudget, name, {"selector": {"matchLabels": {"app": app}}, **spec}, "shop")


def test_a_past_of_which_nothing_is_said_has_no_upkeep(past):
    pods = [past.ran(past.pod("a", "n1", owner=OWNER), 0, 3600)]
    assert past.instance(pods, [past.there(past.node("n1"), 0, 3600)]).upkeep is None


def test_pools_schedules_and_waits(past):
    """n1 is of pool a, l of pool b is born later; n1 has been quiet since a pod came 90 s before the first look."""
    day = {"nodes": "0", "schedule": "0 9 * * *", "duration": "8h"}
    others = [node_pool("a", budgets=[day], consolidateAfter="2m"), node_pool("b", consolidationPolicy="WhenEmpty")]
    nodes = [
        past.there(past.node("n1", labels={POOL: "a"}), -600, 3600),
        past.there(past.node("n2", "l", labels={POOL: "b"}), 600, 3600),
    ]
    pods = [
        past.ran(past.pod("a", "n1", owner=OWNER), -90, 3600),
        past.ran(past.pod("b", "n2", owner=OWNER), 900, 3600),
        past.ran(past.pod("c", "n1", owner=OWNER), 300, 900),
    ]
    instance = past.instance(pods, nodes, more={"others": others})
    machines = instance.upkeep.machines
    assert machines.at_s == past.start
    assert [(p.name, p.only_empty, p.consolidate_after_s) for p in machines.pools] == [
        ("a", False, 120),
        ("b", True, 0),
    ]
    assert machines.pools[0].budgets == (Budget(0, False, window=Window("0 9 * * *", 8 * 3600)),)
    assert (machines.pool.tolist(), machines.quiet_s.tolist(), instance.running.names) == ([0], [90], ("n1",))
    of_type = dict(zip(instance.catalogue.type_names, instance.upkeep.new_pool.tolist(), strict=True))
    assert {name.partition(" ")[0]: p for name, p in of_type.items() if "(" not in name or "n2" in name}["l"] == 1


def test_what_pods_and_nodes_ask_for(past):
    """A pod started 250 s before second 300 of its arrival; the node's own annotations are its, not those of pods."""
    notes = {"annotations": {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}}
    marked = past.node("n1")
    marked["metadata"] |= notes
    held = {"annotations": {HELD_NOTE: "10m"}}
    pods = [
        past.ran(past.pod("a", "n1", owner=OWNER, meta=held), 50, 3600),
        past.ran(past.pod("b", "n1", owner=OWNER, meta={"annotations": {HELD_NOTE: "true"}}), 300, 3600),
        past.ran(past.pod("c", "n1"), 600, 3600),
        past.ran(past.pod("d", "n1", owner=OWNER), 900, 3600),
    ]
    upkeep = past.instance(pods, [past.there(marked, -60, 3600)]).upkeep
    assert upkeep.held_s.tolist() == [600, ALWAYS, 0, 0]
    assert upkeep.age_s.tolist() == [250, 0, 0, 0]
    assert upkeep.kept.tolist() == [0, 0, 1, 0]
    assert upkeep.machines.marks.tolist() == [NO_SCALE_DOWN]
    assert upkeep.machines.quiet_s is None
    marked["metadata"]["annotations"] = {HELD_NOTE: "true"}
    assert past.instance(pods, [past.there(marked, -60, 3600)]).upkeep.machines.marks.tolist() == [HELD]


def test_guards_of_pods(past):
    others = [guard("db", "db", minAvailable="50%"), guard("web", "web", maxUnavailable=1), guard("all", "both")]
    others.append(guard("also", "both"))
    pods = [
        past.ran(past.pod(name, "n1", "100m", owner=OWNER, meta={"labels": {"app": app}}), 300 * number, 3600)
        for number, (name, app) in enumerate((("a", "web"), ("b", "db"), ("c", "both"), ("d", "other")))
    ]
    upkeep = past.instance(pods, [past.there(past.node("n1"), -60, 3600)], more={"others": others}).upkeep
    names = [g.name for g in upkeep.guards]
    assert [names[g] if g >= 0 else g for g in upkeep.guard.tolist()] == ["shop/web", "shop/db", SEVERAL, UNGUARDED]
    found = {g.name: g for g in upkeep.guards}
    assert found["shop/db"] == Guard("shop/db", 50, True, is_least=True)
    assert found["shop/web"] == Guard("shop/web", 1, False, is_least=False)
    assert not np.any(upkeep.kept)
