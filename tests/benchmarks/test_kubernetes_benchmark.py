"""A cluster of 100,000 pods, 400 MB of JSON: reading it, and its price floor; run with `make benchmarks`.

Goals: read in under 20 s and under 1 GiB; bound and plan in under 2 minutes with 2 GiB.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from schedgap.instances.provisioning import kubernetes

PODS = 100_000
PER_NODE = 20
# What managed fields, environments and probes take in a real document.
FILLER = [{"name": f"VARIABLE_{n}", "value": "x" * 90} for n in range(20)]
COMMAND = """
import resource, sys
from schedgap.instances.provisioning import kubernetes
cluster = kubernetes(sys.argv[1], catalogue=sys.argv[2])
print(cluster.num_tasks, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def pod(number, nodes):
    """One of 1,000 deployments, with sizes of its own, a third of them with anti-affinity; every tenth a StatefulSet's."""
    app, stateful = f"app-{number % 1000}", number % 10 == 0
    owner = {"kind": "StatefulSet", "name": app} if stateful else {"kind": "ReplicaSet", "name": f"{app}-6d5f"}
    requests = {"cpu": f"{50 + 10 * (number % 97)}m", "memory": f"{64 + 16 * (number % 83)}Mi"}
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"}
    alone = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    preferred = {
        "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}
    }
    labels = {"app": app} | ({"statefulset.kubernetes.io/pod-name": f"{app}-{number}"} if stateful else {})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{app}-{number}",
            "namespace": f"team-{number % 40}",
            "labels": labels,
            "annotations": {"note": "y" * 600},
            "ownerReferences": [owner | {"controller": True}],
        },
        "spec": {
            "containers": [{"name": "main", "env": FILLER, "resources": {"requests": requests}}],
            "nodeSelector": {"team": "a"} if number % 5 == 0 else {},
            "affinity": alone if number % 1000 < 5 else preferred,
            "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}],
            "nodeName": f"node-{number % nodes}",
        },
        "status": {"phase": "Running", "conditions": [{"type": "PodScheduled", "status": "True"}]},
    }


def node(number):
    labels = {"node.kubernetes.io/instance-type": f"m9z.{2 + number % 3}xlarge", "team": "a" if number % 2 else "b"}
    sizes = {"cpu": "31750m", "memory": f"{128_000_000 - number % 7}Ki", "pods": "110"}
    return {
        "kind": "Node",
        "metadata": {"name": f"node-{number}", "labels": labels},
        "status": {"allocatable": sizes, "conditions": [{"type": "Ready", "status": "True"}]},
    }


@pytest.fixture(scope="module")
def files(request, tmp_path_factory):
    """All pods where times are taken; so few where the benchmarks are only run once that the best plan is proven at once."""
    pods = PODS if request.config.getoption("benchmark_enable") else 500
    folder = tmp_path_factory.mktemp("cluster")
    nodes = pods // PER_NODE
    with open(folder / "cluster.json", "w", encoding="utf-8") as file:
        file.write('{"kind": "List", "items": [\n')
        file.writelines(json.dumps(node(number)) + ",\n" for number in range(nodes))
        file.writelines(",\n" * (number > 0) + json.dumps(pod(number, nodes), indent=1) for number in range(pods))
        file.write("]}")
    (folder / "prices.csv").write_text("name,price\n" + "".join(f"m9z.{n}xlarge,{n}.5\n" for n in (2, 3, 4)))
    return pods, folder / "cluster.json", folder / "prices.csv"


def test_reading_a_cluster(benchmark, files):
    pods, path, prices = files
    benchmark.extra_info["bytes"] = path.stat().st_size
    cluster = benchmark.pedantic(kubernetes, (path,), {"catalogue": str(prices)}, rounds=1)
    assert cluster.num_tasks == pods


def test_its_memory(benchmark, files):
    pods, path, prices = files
    command = [sys.executable, "-c", COMMAND, str(path), str(prices)]
    done = benchmark.pedantic(
        subprocess.run, (command,), {"capture_output": True, "text": True, "check": True}, rounds=1
    )
    tasks, kib = map(int, done.stdout.split())
    benchmark.extra_info["max_rss_mib"] = kib / 1024
    assert tasks == pods


def test_the_floor(benchmark, files, tmp_path):
    """The whole command, within 2 GiB a run, from the state to a verified plan."""
    path = files[1]
    sizes = "name,price,cpu,memory_gib,pods\n" + "".join(f"m9z.{n}xlarge,1.{n},32,122,110\n" for n in (2, 3, 4))
    prices = tmp_path / "prices.csv"
    prices.write_text(sizes + "m9z.large,0.3,8,30,58\nm9z.huge,4.8,128,490,250\n")
    floor = [str(Path(sys.executable).with_name("schedgap")), "floor", str(path), "--catalogue", str(prices)]
    command = [*floor, "--no-front", "--memory", "2048", "--json"]
    done = benchmark.pedantic(
        subprocess.run, (command,), {"capture_output": True, "text": True, "check": True}, rounds=1
    )
    found = json.loads(done.stdout)
    benchmark.extra_info |= {key: found[key] for key in ("price", "floor", "gap", "moves")}
    assert 0 < found["floor"] <= found["price"]
    assert not found["problems"]
