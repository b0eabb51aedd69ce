"""What a price list states of machines that run nowhere yet: the system, sizes as labels, and what it does not know."""

import json

import numpy as np
import pytest

from schedgap.instances.provisioning import Provisioning, kubernetes
from schedgap.instances.provisioning.cluster import plan_remarks

OS = "kubernetes.io/os"
CPUS, MEMORY = "karpenter.k8s.aws/instance-cpu", "karpenter.k8s.aws/instance-memory"


@pytest.fixture
def types_for(read, k8s):
    """Return the names of the types that admit the only pod: `types_for(prices, *objects, **spec of the pod)`."""

    def types_for(prices, *objects, **spec):
        pod = k8s.pod("p", None, ("ReplicaSet", "p"), (k8s.requests("1", "1Gi"),), **spec)
        # A node of the pool that holds nothing, as a cluster has some.
        node = k8s.node("o", "old", "100m", "1Gi", "9", {"karpenter.sh/nodepool": "d"})
        pools = any(each["kind"] == "NodePool" for each in objects)
        priced = prices + "old,9" + "," * (prices.partition("\n")[0].count(",") - 1) + "\n"
        cluster = read([*objects, *[node] * pools, pod], priced if pools else prices)
        return {cluster.type_names[k].partition(" ")[0] for k in np.flatnonzero(cluster.fits()[:, 0])}

    return types_for


def test_a_linux_pod_is_not_on_windows(types_for, k8s):
    """Nothing keeps a pod that does not say so from a machine of Windows; a pod of Linux is kept from it."""
    prices = "name,price,cpu,memory_gib,os\ns,1,2,4,linux\nwin,0.8,2,4,windows\n"
    node = k8s.node("n", "s", "2", "4Gi", "110", {OS: "linux"})
    assert types_for(prices, node, nodeSelector={OS: "linux"}) == {"s"}
    assert "win" in types_for(prices, node)
    assert types_for(prices, node, nodeSelector={OS: "windows"}) == {"win"}
    pool = k8s.pool("d", (OS, "In", ["linux"]))
    assert types_for(prices, pool, nodeSelector={OS: "linux"}) == {"s"}


def test_without_a_column_the_system_is_the_groups(types_for, k8s):
    node = k8s.node("n", "s", "2", "4Gi", "110", {OS: "linux"})
    assert types_for("name,price,cpu,memory_gib\ns,1,2,4\nt,0.5,2,4\n", node, nodeSelector={OS: "linux"}) == {"s", "t"}


@pytest.mark.parametrize(
    ("requirement", "offered"),
    [
        ((CPUS, "Gt", ["3"]), {"l"}),
        ((CPUS, "In", ["2"]), {"s"}),
        ((MEMORY, "Gt", ["9999"]), {"l"}),
        # 8 GiB may be 7.5, and 16 may be 15.25.
        ((MEMORY, "Lt", ["8000"]), {"s"}),
        ((MEMORY, "In", ["15616"]), {"l"}),
        ((MEMORY, "In", ["40000"]), set()),
        (("karpenter.k8s.aws/instance-gpu-count", "DoesNotExist", []), {"s", "l"}),
        (("karpenter.azure.com/sku-cpu", "In", ["4"]), {"l"}),
    ],
)
def test_what_a_pool_requires_of_sizes_holds_for_any_list(types_for, k8s, requirement, offered):
    prices = "name,price,cpu,memory_gib,gpu\ns,1,2,8,\nl,2,4,16,\nodd,9,3.92,17.3,\n"
    pool = k8s.pool("d", requirement)
    # Of what a system has left of a machine nothing is known. It has more memory than any, so that none covers it.
    assert types_for(prices, pool) == {*offered, "odd"}


def test_a_group_that_is_no_pool_need_not_have_labels_of_karpenter(types_for, k8s):
    """A pod that keeps off machines of 2 CPUs by Karpenter's label runs on any node of a node group without that label."""
    prices = "name,price,cpu,memory_gib\nm9z.large,1,2,8\nm9z.xlarge,2,4,16\n"
    node = k8s.node("n", "m9z.xlarge", "4", "16Gi", "58")
    off = k8s.near((CPUS, "NotIn", ["2"]))
    assert types_for(prices, node, affinity=off) == {"m9z.large", "m9z.xlarge"}
    assert types_for(prices, k8s.pool("d"), affinity=off) == {"m9z.xlarge"}


def test_types_without_a_size_are_named(read, k8s):
    pod = k8s.pod("p", None, ("ReplicaSet", "p"), (k8s.requests("1", "1Gi"),))
    cluster = read(
        [pod, k8s.node("n", "run", "4", "8Gi", "9")], "name,price,cpu,memory_gib\nrun,1,,\nnew,1,4,\nl,1,4,8\n"
    )
    assert "Not offered, as the price list has no sizes of them and no node is one: new." in cluster.notes


SPOT_LIST = (
    "name,price,spot_price,cpu,memory_gib\nbig,0.2,0.06,4,16\nsmall,0.1,0.03,2,8\nfirm,0.05,,2,8\nspare,,0.02,2,8\n"
)
CAPACITY_TYPE = "karpenter.sh/capacity-type"


@pytest.fixture
def prices_of(read, k8s):
    """Return the price of each type by name, in micro-dollars, and what is said: `prices_of(requirement, prices, ...)`."""

    def prices_of(requirements, prices=SPOT_LIST, **parameters):
        node = k8s.node("n", "big", "4", "16Gi", "58", {"karpenter.sh/nodepool": "d", CAPACITY_TYPE: "spot"})
        pod = k8s.pod("p", "n", ("ReplicaSet", "p"), (k8s.requests("1", "1Gi"),))
        cluster = read([node, pod, k8s.pool("d", *requirements)], prices, **parameters)
        return dict(zip(cluster.type_names, cluster.price.tolist(), strict=True)), cluster.notes

    return prices_of


def test_a_pool_that_admits_spot_alone_rents_spot(prices_of):
    """Without a spot price in the list its machines cost as on demand, which is said."""
    prices, notes = prices_of([(CAPACITY_TYPE, "In", ["spot"])])
    assert (prices["spare (spot)"], prices["big (spot)"]) == (20_000, 60_000)
    assert not {"small", "big"} & prices.keys()
    assert "New machines cost their spot price, as the NodePool admits no other: d." in notes
    assert "They cost as on demand there, as the price list has no spot price of them: firm." in notes


@pytest.mark.parametrize("requirements", [[], [(CAPACITY_TYPE, "In", ["spot", "on-demand"])]])
@pytest.mark.parametrize("parameters", [{}, {"capacity_types": "admitted"}])
def test_a_type_that_has_a_spot_price_alone_costs_that(prices_of, requirements, parameters):
    prices, notes = prices_of(requirements, **parameters)
    assert prices["spare (spot)"] == 20_000
    assert "At their spot price, as the price list has no other of them: spare." in notes
    said = "Spot was not looked at, which NodePools admit (capacity_types=admitted does): d."
    assert (said in notes) == (requirements != [] and parameters == {})


def test_a_pool_that_admits_no_spot_has_no_type_of_spot_alone(prices_of):
    prices, _ = prices_of([(CAPACITY_TYPE, "In", ["on-demand"])])
    assert set(prices) == {"firm", "big", "big (spot, n)"}


def test_a_limit_on_pods_that_can_be_lifted_is_no_limit_but_said(tmp_path, k8s):
    """An m9z.large usually takes 3 x (10 - 1) + 2 = 29 pods, here one of a DaemonSet; with prefix delegation it takes more."""
    network = {"MaximumNetworkInterfaces": 3, "Ipv4AddressesPerInterface": 10}
    sizes = {"VCpuInfo": {"DefaultVCpus": 8}, "MemoryInfo": {"SizeInMiB": 16384}, "NetworkInfo": network}
    types = [{"InstanceType": name, **sizes} for name in ("m9z.large", "m9z.run")]
    pods = [k8s.pod(f"p{i}", "n", ("ReplicaSet", "p"), (k8s.requests("20m"),)) for i in range(60)]
    agent = k8s.pod("d", "n", ("DaemonSet", "d"), (k8s.requests("20m"),))
    items = [k8s.node("n", "m9z.run", "8", "15Gi", "110"), agent, *pods]
    for name, text in (
        ("cluster.json", json.dumps({"kind": "List", "items": items})),
        ("types.json", json.dumps({"InstanceTypes": types})),
        ("prices.csv", "name,price\nm9z.large,1\nm9z.run,2\n"),
        ("limited.csv", "name,price,pods\nm9z.large,1,29\nm9z.run,2,\n"),
    ):
        (tmp_path / name).write_text(text)

    def read(prices):
        catalogue = {"catalogue": str(tmp_path / "types.json"), "prices": str(tmp_path / prices)}
        return kubernetes(tmp_path / "cluster.json", **catalogue)

    cluster = read("prices.csv")
    large = cluster.type_names.index("m9z.large")
    assert dict(cluster.usual_tasks) == {"m9z.large": 28}
    assert cluster.capacity[large, cluster.resources.index("pods")] > 10**6
    (said,) = plan_remarks(cluster, Provisioning.from_machines([large], [[60]]))
    assert said.startswith("60 pods on one m9z.large, of which one usually takes 28 beside those of DaemonSets: ")
    limited = read("limited.csv")
    assert limited.usual_tasks == ()
    assert limited.capacity[limited.type_names.index("m9z.large"), limited.resources.index("pods")] == 28_000


PRODUCT = "nvidia.com/gpu.product"


@pytest.mark.parametrize(("names", "offered"), [(("A100-80GB", "L40S"), {"a"}), (("", ""), {"l", "h"})])
def test_a_pod_of_one_gpu_is_not_on_another(types_for, k8s, names, offered):
    """Without a name in the list a type may have any GPU; where a node tells that it has, it has that one."""
    prices = "name,price,cpu,memory_gib,gpu,gpu_name\n"
    first, second, third = (*names, "H100" if names[0] else "")
    prices += f"a,9,16,64,1,{first}\nl,2,16,65,1,{second}\nh,3,16,66,1,{third}\nt,1,16,64,1,T4\nc,1,4,16,,\n"
    node = k8s.node("n", "t", "16", "64Gi", "110", {PRODUCT: "Tesla-T4"}, **{"nvidia.com/gpu": "1"})
    assert types_for(prices, node, nodeSelector={PRODUCT: "NVIDIA-A100-SXM4-80GB"}) == offered
    assert types_for(prices, node, nodeSelector={PRODUCT: "Tesla-T4"}) == ({"t"} if names[0] else {"l", "h", "t"})


def test_of_which_types_a_label_is_not_known_is_said(read, k8s):
    prices = "name,price,cpu,memory_gib,gpu\nt,1,16,64,1\nl,2,16,65,1\nc,1,4,16,0\n"
    node = k8s.node("n", "t", "16", "64Gi", "110", {PRODUCT: "Tesla-T4"}, **{"nvidia.com/gpu": "1"})
    pod = k8s.pod("p", None, ("Job", "p"), (k8s.requests("1"),), nodeSelector={PRODUCT: "Tesla-T4"})
    line = (
        f"Relaxed: label {PRODUCT}, which pods ask for, is not known of 1 type, which may have any value: l; a column "
    )
    assert any(note.startswith(line) for note in read([node, pod], prices).notes)
