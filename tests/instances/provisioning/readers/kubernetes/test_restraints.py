"""Pods that say that they are not to be moved, and PodDisruptionBudgets."""

import json

import pytest

from schedgap.instances.provisioning import kubernetes
from schedgap.instances.provisioning.running import Restraint

A, B = 0, 1


def node(name):
    labels = {"node.kubernetes.io/instance-type": "m"}
    status = {"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "10"}}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def pod(name, node, app, cpu, **annotations):
    meta = {"name": name, "namespace": "shop", "labels": {"app": app}, "annotations": annotations}
    meta["ownerReferences"] = [{"kind": "StatefulSet", "name": app, "controller": True}]
    spec = {"containers": [{"resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}]}
    return {"kind": "Pod", "metadata": meta, "spec": spec | ({"nodeName": node} if node else {}), "status": {}}


def budget(status=None, namespace="shop", **spec):
    selector = {"matchLabels": {"app": "db"}}
    meta = {"name": "guard", "namespace": namespace}
    return {
        "kind": "PodDisruptionBudget",
        "metadata": meta,
        "spec": {"selector": selector} | spec,
        "status": status or {},
    }


@pytest.fixture
def imported(tmp_path):
    """Of db one pod on a, two on b, and one pending; a web on a that is not to be evicted, and one that is."""
    (tmp_path / "prices.csv").write_text("name,price,cpu,memory_gib,pods\nm,1,4,16,10\n")
    pods = [
        *(pod(f"db-{i}", place, "db", "1") for i, place in enumerate(("a", "b", "b", None))),
        pod("web-0", "a", "web", "500m", **{"karpenter.sh/do-not-disrupt": "true"}),
        pod("web-1", "a", "web", "500m", **{"karpenter.sh/do-not-disrupt": "false"}),
    ]

    def read(*budgets):
        items = [node("a"), node("b"), *pods, *budgets]
        (tmp_path / "c.json").write_text(json.dumps({"kind": "List", "items": items}))
        return kubernetes(tmp_path / "c.json", catalogue=str(tmp_path / "prices.csv"))

    return read


def test_pods_that_say_so(imported):
    instance = imported()
    web = instance.class_names.index("web")
    assert instance.running.restraints == (Restraint("do-not-disrupt", None, ((A, web, 1),)),)


@pytest.mark.parametrize(
    ("given", "at_once"),
    [
        ({"status": {"disruptionsAllowed": 0}}, 0),
        ({"status": {"disruptionsAllowed": 2}, "minAvailable": 3}, 2),
        # Of four pods three run.
        ({"minAvailable": 2}, 1),
        ({"minAvailable": "60%"}, 0),
        ({"maxUnavailable": 2}, 1),
        ({"maxUnavailable": "51%"}, 2),
        ({}, 3),
    ],
)
def test_budgets(imported, given, at_once):
    instance = imported(budget(**given))
    db = instance.class_names.index("db")
    assert instance.running.restraints[1] == Restraint("shop/guard", at_once, ((A, db, 1), (B, db, 2)))
    # One that admits no eviction now is part of the instance: rules of real clusters look at it.
    assert (instance.digest == imported().digest) == (at_once > 0)


def test_budgets_of_other_pods(imported):
    assert len(imported(budget(namespace="other"), budget() | {"spec": {}}).running.restraints) == 1


def test_a_budget_that_is_none(imported):
    instance = imported(budget(minAvailable="most"))
    assert len(instance.running.restraints) == 1
    assert any("PodDisruptionBudget ('guard')" in note and "minAvailable" in note for note in instance.notes)
