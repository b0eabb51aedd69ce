"""Price lists of every known format."""

import json
from fractions import Fraction

import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.catalogues import read_catalogue

GIB = 2**30


def label(kind, key):
    """Return the values that a type's label may have."""
    return kind.labels[key]


@pytest.fixture
def listed(tmp_path):
    """Read a price list that is written as given: `listed(text_or_document, prices=text, region=...)`."""

    def listed(content, prices="", **parameters):
        path = tmp_path / "list"
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        if prices:
            (tmp_path / "prices.csv").write_text(prices)
            parameters["prices"] = tmp_path / "prices.csv"
        return read_catalogue(path, **parameters)

    return listed


def test_a_list_of_ones_own(listed):
    """Columns that are no others are resources; empty is none, of `pods` no limit; one name may have prices by zone."""
    text = (
        "\ufeffname,cpu,memory_gib,gpu,pods,price,spot_price,zone,family,count,fee,arch,os\n"
        "a,4,7.5,1,58,0.2016,0.08,z1,f,3,0.01,x86_64,linux\n"
        "a,4,7.5,1,58,0.21,,z2,f,2,0.01,x86_64,linux\n"
        "b,0.5,16,,,1e-3,,,,,,,\n"
    )
    a, b = listed(text).types
    assert a.capacity == {"cpu": 4000, "ram_bytes": 15 * GIB // 2, "gpu": 1000, "pods": 58_000}
    assert [offer.machines for offer in (*a.offerings, *b.offerings)] == [3, 3, 2, -1]
    assert (a.family, label(a, "kubernetes.io/arch"), label(a, "kubernetes.io/os")) == ("f", {"amd64"}, {"linux"})
    assert "kubernetes.io/os" not in b.labels
    # The fee is part of what a machine costs.
    assert [a.price("on-demand", zone) for zone in ("z1", "z2", "z3", "")] == [
        *(Fraction("0.2116"), Fraction("0.22"), Fraction("0.2116"), Fraction("0.2116"))
    ]
    assert (a.price("spot", "z2"), b.price("spot")) == (Fraction("0.09"), None)
    assert b.capacity == {"cpu": 500, "ram_bytes": 16 * GIB, "gpu": 0}
    assert b.price("on-demand") == Fraction(1, 1000)


def test_sizes_that_are_no_whole_units_are_rounded_down(listed):
    catalogue = listed("name,cpu,ram_gib,price\na,0.3337,1.7,1\n")
    # 1.7 x 2^30 = 1825361100.8
    assert catalogue.types[0].capacity == {"cpu": 333, "ram_bytes": 1_825_361_100}
    assert catalogue.notes == ("list: 2 capacities are no whole bytes or thousandths and were rounded down.",)


def test_kwok(listed):
    """Both shapes that Karpenter's own files have: fields by name in any case, and requirements of an offering."""
    resources = {"cpu": "4", "memory": "8Gi", "ephemeral-storage": "20Gi", "pods": "64"}
    by_name = [
        {"capacityType": "on-demand", "zone": "z1", "price": 0.108589934592},
        {"CapacityType": "spot", "Zone": "z1", "Price": 0.0760129542144, "Available": True},
        {"CapacityType": "spot", "Zone": "z2", "Price": 0.01, "Available": False},
    ]
    requirements = [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
        {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["z1", "z2"]},
    ]
    common = {"architecture": "amd64", "resources": resources}
    old = {"name": "c-4x-amd64-linux", "offerings": by_name, "operatingSystems": {"linux": {}}, **common}
    new = {
        "name": "g5.4xlarge",
        "offerings": [{"Requirements": requirements, "Price": 1.5}],
        "operatingSystems": ["linux"],
        **common,
    }
    first, second = listed([old, new]).types
    assert first.capacity == {"pods": 64_000, "cpu": 4000, "ram_bytes": 8 * GIB, "ephemeral_bytes": 20 * GIB}
    assert (first.usable()["cpu"], first.usable()["ram_bytes"]) == (3900, 8 * GIB - 10 * 2**20)
    assert first.price("on-demand") == Fraction("0.108589934592")
    assert [offer[:2] for offer in first.offerings] == [("on-demand", "z1"), ("spot", "z1"), ("spot", "z2")]
    assert label(first, "karpenter.kwok.sh/instance-size") == {"4"}
    assert label(first, "karpenter.kwok.sh/instance-family") == {"c"}
    assert label(first, "kubernetes.io/os") == {"linux"}
    assert [offer[:2] for offer in second.offerings] == [("spot", "z1"), ("spot", "z2")]
    assert label(second, "karpenter.kwok.sh/instance-size") == {"4xlarge"}


def ec2_type(name, cpus, mib, gpus=0, archs=("i386", "x86_64")):
    more = (
        {"GpuInfo": {"Gpus": [{"Count": gpus, "Manufacturer": "NVIDIA", "MemoryInfo": {"SizeInMiB": 1}}]}}
        if gpus
        else {}
    )
    sizes = {"VCpuInfo": {"DefaultVCpus": cpus, "DefaultCores": 2}, "MemoryInfo": {"SizeInMiB": mib}}
    return {"InstanceType": name, "ProcessorInfo": {"SupportedArchitectures": list(archs)}, **sizes, **more}


def test_gpus_are_called_as_those_of_their_make(listed):
    kind = ec2_type("g4ad.xlarge", 4, 16384, 1)
    kind["GpuInfo"]["Gpus"][0]["Manufacturer"] = "AMD"
    assert listed({"InstanceTypes": [kind]}, "name,price\ng4ad.xlarge,1\n").types[0].gpu_name == "amd.com/gpu"


def test_parts_of_gpus_are_what_the_plugin_offers(listed):
    """Of partitioned machines EC2 counts no GPU and so many logical ones; which of both the label counts is not known."""
    kind = ec2_type("g6f.xlarge", 4, 16384, 1)
    kind["GpuInfo"]["Gpus"] = [
        {"Manufacturer": "NVIDIA", "Count": 0, "LogicalGpuCount": 1, "GpuPartitionSize": 0.125},
        {"Manufacturer": "AMD", "Count": 2},
    ]
    part = listed({"InstanceTypes": [kind]}, "name,price\ng6f.xlarge,1\n").types[0]
    assert (part.capacity["gpu"], part.gpu_name, part.capacity["amd.com/gpu"]) == (1000, "nvidia.com/gpu", 2000)
    assert "karpenter.k8s.aws/instance-gpu-count" not in part.labels


def test_what_prices_say_beside_ec2(listed):
    """The operating system that a price is for, a fee, and a limit on pods, which is the user's; other columns are none."""
    prices = "name,price,os,fee,pods,note\nm9z.large,1,Windows,0.5,110,x\nm9z.xlarge,2,,,,y\n"
    document = {"InstanceTypes": [ec2_type(f"m9z.{size}", 2, 8192) for size in ("large", "xlarge")]}
    for kind in document["InstanceTypes"]:
        kind["NetworkInfo"] = {"MaximumNetworkInterfaces": 3, "Ipv4AddressesPerInterface": 10}
    large, xlarge = listed(document, prices).types
    assert (label(large, "kubernetes.io/os"), large.price("on-demand")) == ({"windows"}, Fraction("1.5"))
    assert (large.capacity["pods"], large.usual_pods) == (110_000, -1)
    # 3 x (10 - 1) + 2
    assert ("pods" in xlarge.capacity, xlarge.usual_pods, "kubernetes.io/os" in xlarge.labels) == (False, 29, False)


@pytest.mark.parametrize(
    ("network", "pods"),
    [
        ({"MaximumNetworkInterfaces": 4, "Ipv4AddressesPerInterface": 15}, 58),
        # Pods have addresses of the default card alone.
        (
            {"MaximumNetworkInterfaces": 60, "Ipv4AddressesPerInterface": 50, "DefaultNetworkCardIndex": 1}
            | {"NetworkCards": [{"MaximumNetworkInterfaces": 5}, {"MaximumNetworkInterfaces": 15}]},
            737,
        ),
        ({"MaximumNetworkInterfaces": 4}, -1),
        ({}, -1),
    ],
)
def test_how_many_pods_a_machine_of_ec2_usually_takes(listed, network, pods):
    kind = ec2_type("m9z.large", 2, 8192) | {"NetworkInfo": network}
    assert listed({"InstanceTypes": [kind]}, "name,price\nm9z.large,1\n").types[0].usual_pods == pods


def test_systems_that_kubernetes_has_not_are_named(listed):
    catalogue = listed("name,price,cpu,os,arch\na,1,2,plan9,x86_64\nb,1,2,linux,\n")
    assert "kubernetes.io/os" not in catalogue.types[0].labels
    assert catalogue.notes == ("list: not known to Kubernetes, so that these machines count as any: os 'plan9'.",)


def test_ec2(listed):
    document = {
        "InstanceTypes": [
            ec2_type("g9z.xlarge", 4, 16384, 1),
            ec2_type("c7gn.2xlarge", 8, 16384, archs=["arm64"]),
            ec2_type("x", 1, 1),
        ]
    }
    catalogue = listed(document, "name,price,spot_price\ng9z.xlarge,1.006,0.4\nc7gn.2xlarge,0.3,\n")
    gpu, arm = catalogue.types
    assert gpu.capacity == {"cpu": 4000, "ram_bytes": 16 * GIB, "gpu": 1000}
    assert (gpu.price("spot"), label(gpu, "kubernetes.io/arch")) == (Fraction("0.4"), {"amd64"})
    assert label(arm, "kubernetes.io/arch") == {"arm64"}
    for provider in ("karpenter.k8s.aws", "eks.amazonaws.com"):
        found = [
            label(arm, f"{provider}/instance-{key}") for key in ("family", "category", "generation", "size", "cpu")
        ]
        assert found == [{"c7gn"}, {"c"}, {"7"}, {"2xlarge"}, {"8"}]
    assert catalogue.notes == ("list: left out, as prices.csv has no price of them: x.",)
    with pytest.raises(InstanceError, match="has no prices; give a CSV of name,price as `prices`"):
        listed(document)


SKYPILOT = """InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,AvailabilityZone,Price,SpotPrice
m,2.0,8.0,,,,r1,r1-a,0.1,0.04
m,2.0,8.0,,,,r1,r1-b,0.12,
m,2.0,8.0,,,,r2,r2-a,0.01,
p,96,1152,V100,8,"{'Gpus': [{'Name': 'V100', 'Count': 8}]}",r1,r1-a,24.48,
t,4,16,Inferentia,1,,r1,r1-a,0.5,
a2-highgpu-2g,24.0,170.0,,,,r1,r1-a,1.4,0.6
g2-standard-24,24.0,96.0,,,,r1,r1-a,1.0,
a3-highgpu-8g,208.0,1872.0,,,,r1,r1-a,9.4,
,,,A100,2,A100,r1,r1-a,5.8,2.0
,,,L4,1,L4,r1,r1-a,0.5,
"""


def test_skypilot(listed):
    """Google's accelerators are rows of their own: a row for two A100, and for two L4 twice one; none for the H100."""
    catalogue = listed(SKYPILOT, region="r1")
    prices = {kind.name: kind.price("on-demand") for kind in catalogue.types}
    assert prices == {
        name: Fraction(text)
        for name, text in (
            ("m", "0.1"),
            ("p", "24.48"),
            ("t", "0.5"),
            ("a2-highgpu-2g", "7.2"),
            ("g2-standard-24", "2"),
        )
    }
    assert {kind.name: kind.capacity.get("gpu", 0) for kind in catalogue.types} == {
        **{"m": 0, "p": 8000, "t": 0},
        **{"a2-highgpu-2g": 2000, "g2-standard-24": 2000},
    }
    m = catalogue.types[0]
    assert (m.price("on-demand", "r1-b"), m.price("spot"), catalogue.zones) == (
        Fraction("0.12"),
        Fraction("0.04"),
        ("r1-a", "r1-b"),
    )
    assert catalogue.types[3].price("spot") == Fraction("2.6")
    assert catalogue.notes == ("list: left out, as the price of their accelerators is not there: a3-highgpu-8g.",)
    for region, found in (("", "no region is given"), ("r9", "region is 'r9'")):
        with pytest.raises(InstanceError, match=f"list: {found}; choose one of r1, r2"):
            listed(SKYPILOT, region=region)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "list: no price list, it begins with b''; known are Karpenter's KWOK instance types"),
        ("kind: List\n", "no price list, it begins with b'kind: List"),
        ("name,cpu\na,1\n", "no price list"),
        ("name,price\n", "no machine types after the header"),
        ("name,price\n,1\n", "line 2: name is ''; give one in printable characters"),
        ("name,price\na,\n", "line 2: no price; give dollars an hour"),
        ("name,price\na,0\n", "line 2: price is '0'; it must be at least a micro-dollar"),
        ("name,price\na,-1\n", "line 2: price is '-1', not a number from 0 to 2\\^50"),
        ("name,price\na,1e99\n", "line 2: price is '1e99', not a number"),
        ("name,price,cpu\na,1,x\n", "line 2: cpu is 'x', not a number"),
        ("name,price,cpu\na,1,NaN\n", "line 2: cpu is 'NaN', not a number"),
        ("name,price,ram_gib,memory_mib\na,1,1,1\n", "line 1: two columns are ram_bytes, one of them 'memory_mib'"),
        ("name,price\na,1\na,2\n", "machine type a has two on-demand prices for all zones; keep one"),
        ("name,price,cpu,zone\na,1,1,x\na,1,2,y\n", "machine type a is there twice and not the same; keep one"),
        ("name,price,count\na,1,1.5\n", "line 2: count is '1.5', not a whole number"),
        ("[]", "no machine types; the price list is empty"),
        (
            '[{"name": "a"}]',
            r"list: no price list \(Object missing required field `resources` - at `\$\[0\]`\); give one",
        ),
        ("[" * 5000 + "]" * 5000, "list: no price list"),
        ([{"name": "a", "resources": {"cpu": "1x"}, "offerings": []}], "'1x' is no quantity"),
        (
            [{"name": "a", "resources": {}, "offerings": [{"Price": "1"}]}],
            'machine type a has price "1"; give at least a micro-dollar',
        ),
        (SKYPILOT.replace("0.12", "x"), "line 3: Price is 'x', not a number"),
    ],
)
def test_lists_that_are_none(listed, content, message):
    with pytest.raises(InstanceError, match=message):
        listed(content, **({"region": "r1"} if isinstance(content, str) and content.startswith("InstanceType") else {}))


def test_parameters_of_other_formats(listed):
    with pytest.raises(InstanceError, match="'prices' is for another kind of price list; leave it out here"):
        listed("name,price\na,1\n", "name,price\na,1\n")
    with pytest.raises(InstanceError, match="cannot be read"):
        read_catalogue("/nowhere/list.csv")
