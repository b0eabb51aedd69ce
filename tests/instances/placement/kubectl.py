"""Objects as kubectl prints them, as small as they may be."""


def node(name, *, gpus=0, cpu="16", memory="64Gi", labels=None, notes=None, unschedulable=False, **more):
    has = {"cpu": cpu, "memory": memory, "pods": "110", **({"nvidia.com/gpu": str(gpus)} if gpus else {}), **more}
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": {"gpu": "a100", **(labels or {})}, "annotations": notes},
        "spec": {"unschedulable": unschedulable},
        "status": {"allocatable": has},
    }


def pod(
    name, on=None, *, gpus=0, cpu="1", memory="1Gi", owner="ReplicaSet", labels=None, notes=None, spec=None, **more
):
    asks = {"cpu": cpu, "memory": memory, **({"nvidia.com/gpu": str(gpus)} if gpus else {}), **more}
    owners = [{"kind": owner, "name": name, "controller": True}] if owner else []
    return {
        "kind": "Pod",
        "metadata": {"namespace": "a", "name": name, "labels": labels, "annotations": notes, "ownerReferences": owners},
        "spec": {
            "containers": [{"name": "c", "resources": {"requests": asks}}],
            **({"nodeName": on} if on else {}),
            **(spec or {}),
        },
        "status": {"phase": "Running" if on else "Pending"},
    }
