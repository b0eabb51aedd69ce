"""Price lists against each other: formats that state the same machines, lines in another order, lines that help nobody."""

import json
from random import Random

import pytest

from schedgap.instances.provisioning import csv_tables, kubernetes

SIZES = ("large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "metal")
SKYPILOT = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region,AvailabilityZone,Arch"
CPUS, ARCH = "karpenter.k8s.aws/instance-cpu", "kubernetes.io/arch"


def machines(random):
    """Machines of EC2's kind: name, CPUs, GiB, GPUs, architecture, price and spot price in cents, of which one may be missing."""
    made = []
    for size in random.sample(SIZES, random.randrange(2, 5)):
        price, spot = random.randrange(5, 99), random.randrange(1, 50)
        arch = random.choice(("x86_64", "arm64"))
        prices = random.choice(((price, spot), (price, ""), ("", spot), (price, spot)))
        family = random.choice(("m9z", "g9z"))
        cpus, gib, gpus = random.choice((2, 4, 8)), random.choice((4, 8, 16)), (family == "g9z") * random.choice((1, 2))
        made.append((f"{family}.{size}", cpus, gib, gpus, arch, *prices))
    return made


def dollars(cents):
    return "" if cents == "" else f"{cents / 100:.2f}"


def plain(folder, rows):
    lines = [
        f"{name},{cpus},{gib},{gpus},{arch},{dollars(price)},{dollars(spot)}"
        for name, cpus, gib, gpus, arch, price, spot in rows
    ]
    (folder / "own.csv").write_text("\n".join(["name,cpu,memory_gib,gpu,arch,price,spot_price", *lines, ""]))
    return {"": folder / "own.csv"}


def skypilot(folder, rows):
    lines = [
        f"{name},{'L4' if gpus else ''},{gpus or ''},{cpus},{gib}.0,{dollars(price)},{dollars(spot)},r,,{arch}"
        for name, cpus, gib, gpus, arch, price, spot in rows
    ]
    (folder / "vms.csv").write_text("\n".join([SKYPILOT, *lines, ""]))
    return {"": folder / "vms.csv"}


def ec2(folder, rows):
    types = [
        {
            "InstanceType": name,
            "VCpuInfo": {"DefaultVCpus": cpus},
            "MemoryInfo": {"SizeInMiB": 1024 * gib},
            "ProcessorInfo": {"SupportedArchitectures": [arch]},
            **({"GpuInfo": {"Gpus": [{"Manufacturer": "NVIDIA", "Count": gpus}]}} if gpus else {}),
        }
        for name, cpus, gib, gpus, arch, _, _ in rows
    ]
    lines = [f"{row[0]},{dollars(row[5])},{dollars(row[6])}" for row in rows]
    (folder / "types.json").write_text(json.dumps({"InstanceTypes": types}))
    (folder / "prices.csv").write_text("\n".join(["name,price,spot_price", *lines, ""]))
    return {"": folder / "types.json", "prices": str(folder / "prices.csv")}


FORMATS = (plain, skypilot, ec2)


@pytest.fixture
def tables(tmp_path):
    """Return the instance of tasks of one's own: `tables(format, machines, tasks)`."""

    def tables(write, rows, tasks):
        given = write(tmp_path, rows)
        lines = [f"t{i},{cpu},{gib},{gpu}" for i, (cpu, gib, gpu) in enumerate(tasks)]
        (tmp_path / "tasks.csv").write_text("\n".join(["name,cpu,memory_gib,gpu", *lines, ""]))
        return csv_tables(given.pop(""), tasks=str(tmp_path / "tasks.csv"), **given)

    return tables


@pytest.fixture
def cluster(tmp_path):
    """Return the instance of a cluster with pending pods, a node of a type of its own, and a NodePool, or none."""

    def cluster(write, rows, tasks, asked, pool):
        given = write(tmp_path, [*rows, ("m9z.run", 2, 4, 0, "x86_64", 99, 99)])
        amounts = {"cpu": "100m", "memory": "128Mi", "pods": "9"}
        labels = {"node.kubernetes.io/instance-type": "m9z.run", "kubernetes.io/hostname": "n", ARCH: "amd64"}
        node = {"kind": "Node", "metadata": {"name": "n", "labels": labels}, "status": {"allocatable": amounts}}
        wanted = {"template": {"spec": {"requirements": [{"key": CPUS, "operator": "Gt", "values": ["3"]}]}}}
        items = [node, *[{"kind": "NodePool", "metadata": {"name": "d"}, "spec": wanted}] * pool]
        for i, (cpu, gib, gpu) in enumerate(tasks):
            requests = {"cpu": str(cpu), "memory": f"{gib}Gi"} | ({"nvidia.com/gpu": str(gpu)} if gpu else {})
            owner = [{"kind": "ReplicaSet", "name": f"t{i}", "controller": True}]
            spec = {"containers": [{"name": "c", "resources": {"requests": requests}}], "nodeSelector": asked}
            meta = {"name": f"t{i}", "namespace": "d", "ownerReferences": owner}
            items.append({"kind": "Pod", "metadata": meta, "spec": spec, "status": {"phase": "Pending"}})
        (tmp_path / "cluster.json").write_text(json.dumps({"kind": "List", "items": items}))
        return kubernetes(tmp_path / "cluster.json", catalogue=str(given.pop("")), **given)

    return cluster


def least(instance):
    """Return the least price of all tasks: every way to share them among machines. For some four tasks."""
    tasks = instance.task_classes().tolist()
    allowed = instance.demand[:, :, 0] >= 0

    def cheapest(part):
        found = [
            int(instance.price[k])
            for k, f in enumerate(instance.type2family)
            if (instance.stock is None or instance.stock[k] < 0)
            and allowed[f, part].all()
            and (instance.demand[f, part].sum(axis=0) <= instance.capacity[k]).all()
        ]
        return min(found, default=None)

    def best(left, parts):
        if not left:
            prices = [cheapest(part) for part in parts]
            return None if None in prices else sum(prices)
        found = [best(left[1:], [*parts[:i], [*part, left[0]], *parts[i + 1 :]]) for i, part in enumerate(parts)]
        found.append(best(left[1:], [*parts, [left[0]]]))
        return min((each for each in found if each is not None), default=None)

    return best(tasks, [])


def draw(seed):
    """Machines, tasks of which each fits the largest of them, labels that pods ask for, and whether there is a NodePool."""
    random = Random(seed)
    rows = machines(random)
    _, cpus, gib, gpus, arch, *_ = max(rows, key=lambda row: (row[3], row[1]))
    tasks = [
        (random.randrange(1, cpus + 1), random.randrange(1, gib + 1), random.choice((0, gpus)))
        for _ in range(random.randrange(2, 5))
    ]
    asked = random.choice(({}, {ARCH: {"x86_64": "amd64"}.get(arch, arch)}, {CPUS: str(cpus)}))
    return rows, tasks, asked, random.random() < 0.4 and cpus > 3, random


@pytest.mark.parametrize("seed", range(40))
def test_formats_that_state_the_same_machines_agree(tables, cluster, seed):
    rows, tasks, asked, pool, _ = draw(seed)
    assert len({tables(write, rows, tasks).digest for write in FORMATS}) == 1
    found = [cluster(write, rows, tasks, asked, pool) for write in FORMATS]
    assert len({(made.num_tasks, least(made)) for made in found}) == 1


@pytest.mark.parametrize("write", FORMATS)
@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_lines_says_nothing(tables, cluster, write, seed):
    rows, tasks, asked, pool, random = draw(seed)
    other = random.sample(rows, len(rows))
    first, second = tables(write, rows, tasks), tables(write, other, tasks)
    assert sorted(first.type_names) == sorted(second.type_names)
    assert least(first) == least(second)
    assert least(cluster(write, rows, tasks, asked, pool)) == least(cluster(write, other, tasks, asked, pool))


@pytest.mark.parametrize("write", FORMATS)
@pytest.mark.parametrize("seed", range(20))
def test_a_line_more_never_raises_the_least_price(tables, cluster, write, seed):
    """A machine that holds nothing, one that is dearer and no larger, and any other."""
    rows, tasks, asked, pool, random = draw(seed)
    _, cpus, gib, gpus, arch, price, spot = random.choice(rows)
    lines = [
        ("m9z.nothing", 0, 0, 0, arch, 1, 1),
        ("m9z.dearer", cpus, gib, gpus, arch, *("" if cents == "" else cents + 1 for cents in (price, spot))),
        ("g9z.more", 16, 64, 2, "arm64", "", 3),
    ]
    before = least(tables(write, rows, tasks)), least(cluster(write, rows, tasks, asked, pool))
    for line in lines:
        more = [*rows, line]
        after = least(tables(write, more, tasks)), least(cluster(write, more, tasks, asked, pool))
        assert all(new <= old for new, old in zip(after, before, strict=True))
        if "dearer" in line[0]:
            assert after == before
