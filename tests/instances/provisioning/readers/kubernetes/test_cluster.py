"""The sample cluster, worked by hand: requests, capacities, constraints and prices to the last unit."""

import json
from random import Random

import numpy as np
import pytest

from schedgap.formulations.provisioning.patterns.patterns import patterns
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning import kubernetes, read_instance, verify, write_instance
from schedgap.instances.provisioning.readers.catalogues import read_catalogue
from schedgap.instances.provisioning.readers.kubernetes.at_most_one import exclusions
from schedgap.instances.provisioning.readers.kubernetes.nodes import held_by_node, running_nodes, types_of_nodes
from schedgap.instances.provisioning.readers.kubernetes.state import read_state

MIB = 2**20
WITHOUT_POOLS = slice(-2)


def optimum(instance):
    outcome = patterns(instance)
    assert verify(instance, outcome.solution) == outcome.bound
    return outcome.bound


def test_requests(read, sample):
    """api: 900m and 828Mi + 100M at most beside each other, migrate 2 CPU, warm 1600m and 1152Mi: 2 CPU and 1152Mi."""
    cluster = read(sample, zones="ignore")
    assert cluster.resources == ("cpu", "ram_kib", "pods", "nvidia.com/gpu")
    demand = {cluster.class_name(c): cluster.demand[-1, c] for c in range(7)} | {
        cluster.class_name(c): cluster.demand[0, c] for c in range(7)
    }
    assert {name: row.tolist() for name, row in demand.items()} == {
        "coredns": [100, 70 * 1024, 1000, 0],
        "web": [500, 512 * 1024, 1000, 0],
        "api": [2000, 1152 * 1024, 1000, 0],
        "cache": [1250, 1696 * 1024, 1000, 0],
        "debug": [0, 0, 1000, 0],
        # 2G are 2,000,000,000 bytes.
        "sim": [1500, 1953125, 1000, 0],
        "train": [3000, 10240 * 1024, 1000, 1000],
    }
    assert dict(zip(cluster.class_names, cluster.counts.tolist(), strict=True))["web"] == 3
    assert dict(zip(cluster.class_names, cluster.per_machine.tolist(), strict=True)) == dict.fromkeys(demand, -1) | {
        "web": 1
    }
    assert cluster.num_tasks == 10


def test_what_is_left_of_nodes(tmp_path, sample, k8s):
    (tmp_path / "c.json").write_text(json.dumps({"kind": "List", "items": sample}))
    (tmp_path / "p.csv").write_text(k8s.prices)
    state = read_state([tmp_path / "c.json"])
    groups = list(state.groups.values())
    excluding = exclusions(state, groups, [group.key.parts.constraint for group in groups])
    given = state, read_catalogue(tmp_path / "p.csv"), excluding, types_of_nodes(state)
    found = running_nodes(*given, held_by_node(state, excluding))
    left = {n.name: [n.left[r] for r in ("cpu", "ram_bytes", "pods")] for n in found}
    assert left == {
        "a": [3770, (15225512 - 64 * 1024) * 1024, 56_000],
        "b": [7860, 14571 * MIB, 57_000],
        "c": [3860, (15225000 - 84 * 1024) * 1024, 27_000],
    }
    assert [n.left.get("nvidia.com/gpu", 0) for n in found] == [0, 0, 1000]
    assert [float(n.price) for n in found] == [0.2016, 0.1428, 1.006]


def test_new_machines(read, sample):
    """New ones are as those that run; m9z.2xlarge has no node: its size less the agent, which is on every node.

    The static pod of node a is on no other. The GPU's plug-in comes only with a label that the type may have or not, so it is
    not counted.
    """
    cluster = read(sample, zones="ignore")
    rows = dict(zip(cluster.type_names, cluster.capacity.tolist(), strict=True))
    # CPU is a multiple of 50, the greatest common divisor of all demands: 3770 and 3750 hold the same pods.
    assert rows == {
        "m9z.xlarge": [3850, 15225512 - 64 * 1024, 57_000, 0],
        "m9z.2xlarge": [7950, (32768 - 64) * 1024, 57_000, 0],
        "c9z.2xlarge": [7850, 14571 * 1024, 57_000, 0],
        "g9z.xlarge": [3850, 15225000 - 84 * 1024, 27_000, 1000],
        "m9z.xlarge (a)": [3750, 15225512 - 64 * 1024, 56_000, 0],
        "c9z.2xlarge (spot, b)": [7850, 14571 * 1024, 57_000, 0],
    }
    assert cluster.stock.tolist() == [-1, -1, -1, -1, 1, 1]
    assert cluster.families == ("general", "gpu")
    only_general = {"coredns", "web", "api", "cache", "sim"}
    assert {cluster.class_name(c) for c in range(7) if cluster.demand[1, c, 0] < 0} == only_general


def test_running_machines(read, sample):
    cluster = read(sample, zones="ignore")
    running = cluster.running
    types = [cluster.type_names[k] for k in running.machine_type]
    assert dict(zip(running.names, types, strict=True)) == {
        "a": "m9z.xlarge (a)",
        "b": "c9z.2xlarge (spot, b)",
        "c": "g9z.xlarge",
    }
    content = running.contents(7)
    used = np.array([(content[e][:, None] * cluster.demand[f]).sum(axis=0) for e, f in ((0, 0), (1, 0), (2, 1))])
    assert used[:, :3].tolist() == [
        [1850, 2278 * 1024, 4000],
        [4100, (70 + 512 + 1152) * 1024 + 1953125, 4000],
        [3000, 10240 * 1024, 1000],
    ]
    # One pod of web is pending.
    assert running.placed(7).sum() == 9
    assert cluster.price[running.machine_type].sum() == 1_350_400


def test_prices(read, sample, rentable):
    """Three pods of web need three machines: 3 x 0.2016 + 1.006; spot 3 x 0.0806 + 1.006. Without: 0.357, 0.1428 + 1.006."""
    for capacity_types, apart, together in (("on-demand", 1_610_800, 1_363_000), ("admitted", 1_247_800, 1_148_800)):
        for zones in ("ignore", "auto"):
            cluster = rentable(read(sample, capacity_types=capacity_types, zones=zones))
            assert optimum(cluster) == apart
            assert optimum(cluster.replace(per_machine=None)) == together


def test_the_report(read, sample):
    assert read(sample, zones="ignore").notes == (
        "Taken: 10 pods in 7 classes (9 on 3 nodes, 1 pending; 2 of Jobs); the nodes cost 1.3504 $/h.",
        "Relaxed: the limits of NodePool general.",
        "Relaxed: what the system takes, or how many pods it admits, is not known of types that a group has no node of; they "
        "count as whole: 1 type: m9z.2xlarge.",
        "Spot was not looked at, which NodePools admit (capacity_types=admitted does): general.",
        "Kept exactly: at most one a machine of 3 pods of shop/web.",
        "Left out: ended (Failed): 1 pod: shop/web-66f5-0.",
        "Left out: ended (Succeeded): 1 pod: batch/report-x7.",
        "Left out: of a DaemonSet: 4 pods: kube-system/gpu-plugin, kube-system/node-agent (3).",
        "Left out: static (mirror): 1 pod: shop/kube-proxy-a.",
        "Relaxed: bound to a zone: 1 pod: shop/cache.",
        "Relaxed: limits on volumes attached to a node: 1 pod: shop/cache.",
        "Relaxed: topology spread by hostname: 2 pods: kube-system/coredns (2).",
        "Relaxed: volumes whose place is not given: 1 pod: shop/cache.",
        "For information: marked as not to be moved: 1 pod: ml/train.",
    )


def test_zones_where_a_pod_is_bound_to_one(read, sample):
    cluster = read(sample)
    assert cluster.families == ("general", "gpu", "general-2")
    assert "m9z.xlarge (zone-1)" in cluster.type_names
    cache = cluster.class_names.index("cache")
    assert (cluster.demand[:, cache, 0] >= 0).tolist() == [True, False, False]
    assert not any("zone" in note for note in cluster.notes)


def test_without_node_pools_types_have_taints_or_none(read, sample, rentable):
    """One of the three machines for web is the one with a GPU, which a new group without its taint has: 2 x 0.2016 + 1.006."""
    assert optimum(rentable(read(sample[WITHOUT_POOLS], zones="ignore"))) == 1_409_200


def test_several_files_a_folder_and_single_objects(tmp_path, sample, read):
    """Pods and nodes may come in any number of Lists, and one object alone."""
    whole = read(sample)
    folder = tmp_path / "parts"
    folder.mkdir()
    prices = str(tmp_path / "prices.csv")
    pods = [each for each in sample if each["kind"] == "Pod"]
    # A list of one kind may name it once.
    bare = [{key: value for key, value in each.items() if key != "kind"} for each in pods]
    (folder / "1.json").write_bytes(b"\xef\xbb\xbf" + json.dumps({"kind": "PodList", "items": bare}).encode())
    nodes = [each for each in sample if each["kind"] == "Node"]
    (folder / "2.json").write_text(json.dumps({"kind": "List", "items": nodes}))
    for number, each in enumerate(sample[-2:]):
        (folder / f"3-{number}.json").write_text(json.dumps(each))
    assert kubernetes(folder, catalogue=prices).replace(name="x").digest == whole.replace(name="x").digest
    dump = tmp_path / "dump"
    for name, kind in (("nodes", "Node"), ("default/pods", "Pod")):
        (dump / name).parent.mkdir(parents=True, exist_ok=True)
        items = [each for each in sample if each["kind"] == kind]
        (dump / f"{name}.json").write_text(json.dumps({"kind": f"{kind}List", "items": items}))
    (dump / "more.json").write_text(json.dumps({"kind": "List", "items": sample[-2:]}))
    (dump / "default" / "events.json").write_text(json.dumps({"kind": "EventList", "items": [{"reason": "Pulled"}]}))
    assert kubernetes(dump, catalogue=prices).replace(name="x").digest == whole.replace(name="x").digest
    apart = kubernetes(*sorted(folder.iterdir()), catalogue=prices)
    assert apart.replace(name="x").digest == whole.replace(name="x").digest


def test_objects_in_any_order(sample, read):
    whole = read(sample)
    for seed in range(5):
        mixed = sample.copy()
        Random(seed).shuffle(mixed)
        assert read(mixed).digest == whole.digest


def test_the_instance_as_a_file(tmp_path, read, sample):
    cluster = read(sample, capacity_types="admitted")
    write_instance(cluster, tmp_path / "i.json")
    assert read_instance(tmp_path / "i.json").digest == cluster.digest


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"capacity_types": "spot"}, "capacity_types is one of on-demand, admitted, not 'spot'"),
        ({"zones": "none"}, "zones is one of auto, ignore, not 'none'"),
        ({"region": "eu"}, r"prices\.csv: 'region' is for another kind of price list"),
        (
            {"prices": "name,price\nm9z.xlarge,1\n"},
            r"no price of node b \(c9z.2xlarge, spot\), c \(g9z.xlarge, on-demand\)",
        ),
    ],
)
def test_parameters_and_prices_that_do_not_do(read, sample, change, message):
    with pytest.raises(InstanceError, match=message):
        read(sample, **change)


def test_no_price_list(tmp_path):
    with pytest.raises(InstanceError, match="no price list is given; name it in the parameter `catalogue`"):
        kubernetes(tmp_path / "none.json")
