"""Objects as kubectl prints them, and random tiny clusters of them."""

from __future__ import annotations

import csv
import io
import json

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
TYPE, ZONE, HOSTNAME = "node.kubernetes.io/instance-type", "topology.kubernetes.io/zone", "kubernetes.io/hostname"
ARCH, SYSTEM = "kubernetes.io/arch", "kubernetes.io/os"
CAPACITY_TYPE, POOL, GROUP = "karpenter.sh/capacity-type", "karpenter.sh/nodepool", "eks.amazonaws.com/nodegroup"
CONTROL = "node-role.kubernetes.io/control-plane"
EC2 = "karpenter.k8s.aws/instance-"


def asks(cpu=None, memory=None, **more):
    """Return the resources of a container."""
    amounts = {"cpu": cpu, "memory": memory, **more}
    return {"requests": {name: text for name, text in amounts.items() if text is not None}}


def container(cpu=None, memory=None, name="c", ports=(), policy=None, **more):
    """Return a container; of a sidecar the policy is Always."""
    made = {"name": name, "resources": asks(cpu, memory, **more), "ports": list(ports)}
    return made | ({"restartPolicy": policy} if policy else {})


def pod(name, node=None, cpu="1", memory=None, owner="ReplicaSet", labels=None, namespace="shop", phase=None, **more):
    """Return a pod. more : `containers`, `extended` resources, `meta`, `status`, and fields of its spec."""
    meta, status = more.pop("meta", {}), more.pop("status", {})
    containers = more.pop("containers", None) or [container(cpu, memory, **more.pop("extended", {}))]
    name_of_owner = name.rpartition("-")[0] or name
    owners = (
        [{"kind": owner, "name": name_of_owner + "-5c9d" * (owner == "ReplicaSet"), "controller": True}]
        if owner
        else []
    )
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": labels or {}, "ownerReferences": owners, **meta},
        "spec": {"containers": containers, **({"nodeName": node} if node else {}), **more},
        "status": {"phase": phase or ("Running" if node else "Pending"), **status},
    }


def pods(number, prefix="x", **more):
    """Return pods that are alike."""
    return [pod(f"{prefix}-{n}", **more) for n in range(number)]


def daemon(name, on, **more):
    """Return a DaemonSet's pod, which its controller binds to a node by name."""
    named = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [on]}]}
    expressions = more.pop("where", ())
    if expressions:
        named["matchExpressions"] = [{"key": k, "operator": o, "values": list(v)} for k, o, v in expressions]
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [named]}}}
    return pod(f"{name}-{on}", on, owner="DaemonSet", namespace="kube-system", affinity=affinity, **more) | {}


def node(name, kind, cpu="4", memory="16Gi", slots="110", labels=None, taints=(), capacity=None, **more):
    """Return a node of which all that it has can be used. capacity : what it has in all, where that is more."""
    size = {"cpu": cpu, "memory": memory, "pods": slots, **more.pop("extended", {})}
    named = {TYPE: kind, HOSTNAME: name, ARCH: "amd64", SYSTEM: "linux", **(labels or {})}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {key: value for key, value in named.items() if value is not None}},
        "spec": {"taints": list(taints), **more},
        "status": {
            "allocatable": size,
            "capacity": {**size, **(capacity or {})},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pool(name, *requirements, taints=(), labels=None, **spec):
    """Return a NodePool. requirements : (key, operator, values)."""
    wanted = [{"key": key, "operator": operator, "values": list(values)} for key, operator, values in requirements]
    template = {"metadata": {"labels": labels or {}}, "spec": {"requirements": wanted, "taints": list(taints)}}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": template, **spec},
    }


def taint(key="k", value="v", effect="NoSchedule"):
    """Return a taint."""
    return {"key": key, "value": value, "effect": effect}


def near(*terms):
    """Return required node affinity. terms : each a list of (key, operator, values)."""
    made = [{"matchExpressions": [{"key": k, "operator": o, "values": list(v)} for k, o, v in term]} for term in terms]
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": made}}}


def apart(labels=None, key=HOSTNAME, expressions=(), **more):
    """Return required anti-affinity to pods of labels."""
    selector = {"matchLabels": labels or {}}
    if expressions:
        selector["matchExpressions"] = [{"key": k, "operator": o, "values": list(v)} for k, o, v in expressions]
    return {"podAntiAffinity": {REQUIRED: [{"topologyKey": key, "labelSelector": selector, **more}]}}


def volume(name, zone=None, *, by_label=False, namespace="shop", key=ZONE):
    """Return a claim and the volume that it is bound to, in a zone."""
    claim = {"kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": namespace}}
    made = {"kind": "PersistentVolume", "metadata": {"name": f"pv-{name}"}, "spec": {}}
    claim["spec"] = {"volumeName": f"pv-{name}", "accessModes": ["ReadWriteOncePod"]}
    if zone and by_label:
        made["metadata"]["labels"] = {key: zone}
    elif zone:
        terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": [zone]}]}]
        made["spec"] = {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}
    return [claim, made]


def uses(claim):
    """Return the volumes of a pod that uses a claim."""
    return [{"name": "d", "persistentVolumeClaim": {"claimName": claim}}]


def rows(text):
    """Return the rows of a price list."""
    return list(csv.DictReader(io.StringIO(text)))


def document(objects):
    """Return what kubectl prints: a List, whose parts share nothing."""
    return json.loads(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))


class Draw:
    """A random tiny cluster: what it needs, and what is of no matter to its pods."""

    def __init__(self, random):
        self.random, self.objects = random, []
        self.zones = ["za", "zb"] if random.random() < 0.35 else []
        self.pooled = random.random() < 0.4
        self.gpu = random.random() < 0.3
        self.sizes = {}
        self.prices = self._prices()
        self.names = list(dict.fromkeys(row["name"] for row in rows(self.prices)))
        self.labels = {}

    def chance(self, share):
        """Return whether what happens in a share of cases does."""
        return self.random.random() < share

    def _prices(self):
        random = self.random
        columns = ["name", "price", "cpu", "memory_gib"]
        more = [
            name
            for name, share in (("spot_price", 0.5), ("pods", 0.3), ("arch", 0.3), ("os", 0.2))
            if random.random() < share
        ]
        more += ["gpu"] * self.gpu + ["zone"] * bool(self.zones)
        lines = [",".join([*columns, *more])]
        for n in range(random.randrange(2, 5)):
            size = random.choice((1, 2, 4, 8))
            name = random.choice((f"t{n}", f"m{n + 5}.large", f"c{n + 5}.xlarge"))
            price = random.randrange(40, 160) * size
            cells = {"pods": str(random.choice((3, 8, 110))), "arch": random.choice(("amd64", "amd64", "arm64"))}
            cells |= {"os": random.choice(("linux", "linux", "windows")), "gpu": str(random.choice((0, 0, 1, 2)))}
            self.sizes[name] = (size, 4 * size, int(cells["gpu"]) if self.gpu else 0)
            for zone in random.choice((self.zones, self.zones[:1], [""])) if self.zones else [""]:
                cents = price + random.randrange(3)
                cells |= {"zone": zone, "spot_price": f"{cents / 300:.2f}" if random.random() < 0.8 else ""}
                line = [name, f"{cents / 100:.2f}", str(size), str(4 * size), *(cells[each] for each in more)]
                lines.append(",".join(line))
        return "\n".join(lines) + "\n"

    def cluster(self):
        """Return the objects and the price list."""
        random = self.random
        groups = [f"g{n}" for n in range(random.randrange(1, 3))]
        made = {group: (self._labels(), self._taints(0.25)) for group in groups}
        if self.pooled:
            self.objects += [self._pool(g, *made[g]) for g in groups]
        nodes = [self._node(n, random.choice(groups), made) for n in range(random.randrange(1, 4))]
        self.objects += nodes
        there = self._daemons(nodes)
        for number in range(random.randrange(1, 7)):
            self._pod(number, nodes, there)
        return self.objects, self.prices

    def _labels(self):
        found = {"team": self.random.choice("ab")} if self.chance(0.4) else {}
        return found | ({"disk": "ssd"} if self.chance(0.2) else {})

    def _taints(self, share):
        return (
            [taint(self.random.choice(("k", "l")), "v", self.random.choice(("NoSchedule", "NoExecute")))]
            if self.chance(share)
            else []
        )

    def _pool(self, name, labels, taints):
        random, wanted = self.random, []
        if self.chance(0.4):
            wanted.append((TYPE, random.choice(("In", "NotIn")), random.sample(self.names, 1)))
        if self.chance(0.3):
            wanted.append((CAPACITY_TYPE, "In", random.choice((["spot"], ["on-demand"], ["spot", "on-demand"]))))
        if self.chance(0.2):
            wanted.append((ARCH, "In", ["amd64"]))
        if self.zones and self.chance(0.3):
            wanted.append((ZONE, "In", random.choice((self.zones, self.zones[:1]))))
        if self.chance(0.15):
            wanted.append(("disk", random.choice(("In", "Exists", "NotIn")), []))
            wanted[-1] = (*wanted[-1][:2], [] if wanted[-1][1] == "Exists" else ["ssd"])
        if self.chance(0.15):
            wanted.append((f"{EC2}cpu", random.choice(("Gt", "Lt")), ["3"]))
        return pool(name, *wanted, taints=taints, labels=labels)

    def _node(self, number, group, made):
        random = self.random
        kind = random.choice(self.names)
        cpu, memory, gpus = self.sizes[kind]
        row = next(row for row in rows(self.prices) if row["name"] == kind)
        labels = made[group][0] | {POOL if self.pooled else GROUP: group}
        if self.chance(0.2):
            labels.pop(POOL, None)
        if self.zones:
            labels[ZONE] = random.choice(self.zones)
        if (
            row.get("spot_price")
            and all(r.get("spot_price") for r in rows(self.prices) if r["name"] == kind)
            and self.chance(0.4)
        ):
            labels[CAPACITY_TYPE] = "spot"
        labels |= {ARCH: row.get("arch") or "amd64", SYSTEM: row.get("os") or "linux"}
        taints = made[group][1] + ([taint("by-hand", "", "NoSchedule")] if self.chance(0.1) else [])
        more = {"extended": {"nvidia.com/gpu": str(gpus)}} if gpus else {}
        if self.chance(0.1):
            more["unschedulable"] = True
            taints = [*taints, taint("node.kubernetes.io/unschedulable", "")]
        less = random.choice((0, 0, 70, 200))
        memory = f"{memory * 2**20 - 1024 * less}Ki"
        return node(
            f"n{number}", kind, f"{cpu * 1000 - less}m", memory, row.get("pods") or "110", labels, taints, **more
        )

    def _daemons(self, nodes):
        there = {each["metadata"]["name"]: [] for each in nodes}
        if not self.chance(0.3):
            return there
        spec = self.random.choice(({}, {"tolerations": [{"operator": "Exists"}]}, {"where": [("team", "In", ["a"])]}))
        for each in nodes:
            fits = "tolerations" in spec or not each["spec"]["taints"]
            fits &= "where" not in spec or each["metadata"]["labels"].get("team") == "a"
            if fits and self.chance(0.95):
                one = daemon(
                    "agent", each["metadata"]["name"], cpu="100m", memory="64Mi", **json.loads(json.dumps(spec))
                )
                self.objects.append(one)
                there[each["metadata"]["name"]].append(one)
        return there

    def _pod(self, number, nodes, there):
        """Add a pod, on a node where there is room by CPU, or pending."""
        random, owner = self.random, self.random.randrange(4)
        spec, size = {}, random.choice((100, 300, 500, 900, 1000, 1500))
        if self.chance(0.5):
            spec |= self._constraint(number, owner)
        if self.chance(0.3):
            spec["tolerations"] = [
                random.choice(({"operator": "Exists"}, {"key": "k", "value": "v"}, {"key": "l", "operator": "Exists"}))
            ]
        extended = {"nvidia.com/gpu": "1"} if self.gpu and self.chance(0.3) else {}
        memory = random.choice(("100M", "256Mi", "1Gi", "3Gi", "1500Ki", None))
        containers = [container(f"{size}m", memory, **extended)]
        if self.chance(0.15):
            containers[0]["ports"] = [{"containerPort": 80, "hostPort": random.choice((80, 81))}]
        if self.chance(0.15):
            kinds = [
                container(f"{random.choice((200, 1200))}m", name=f"i{n}", policy=random.choice((None, "Always")))
                for n in (0, 1)
            ]
            spec["initContainers"] = kinds
        if self.chance(0.08):
            spec["overhead"] = {"cpu": "120m"}
        if self.chance(0.08):
            spec["resources"] = asks("700m")
        labels = {"app": f"o{owner}", "tier": str(owner % 2)}
        one = pod(
            f"o{owner}-{number}",
            labels=labels,
            containers=containers,
            namespace=random.choice(("shop", "shop", "lab")),
            **spec,
        )
        if self.chance(0.1):
            held = {"name": "c", "resources": asks("200m"), "allocatedResources": {"cpu": "200m"}}
            one["status"] |= {"containerStatuses": [held]}
            one["status"] |= random.choice(({}, {"resize": "Infeasible"}, {"resize": "InProgress"}))
        if self.chance(0.8) and size <= 1000:
            one["spec"]["nodeName"] = random.choice(nodes)["metadata"]["name"]
            one["status"]["phase"] = "Running"
        there.setdefault(one["spec"].get("nodeName"), []).append(one)
        self.objects.append(one)

    def _constraint(self, number, owner):
        random = self.random
        match random.randrange(9):
            case 0:
                return {"affinity": apart({"app": f"o{owner}"})}
            case 1:
                return {
                    "affinity": apart(
                        {"tier": str(owner % 2)}, **({"namespaces": ["shop", "lab"]} if self.chance(0.5) else {})
                    )
                }
            case 2:
                return {"affinity": apart({"app": f"o{(owner + 1) % 4}"})}
            case 3 if self.zones:
                return {"nodeSelector": {ZONE: random.choice(self.zones)}}
            case 4 if self.zones:
                claim = f"v{number}"
                self.objects += volume(claim, random.choice(self.zones), by_label=self.chance(0.3))
                self.objects += volume(claim, random.choice(self.zones), namespace="lab")[:1]
                return {"volumes": uses(claim)}
            case 5:
                return {"affinity": near([("team", random.choice(("In", "NotIn")), ["a"])])}
            case 6:
                key = random.choice(("team", "disk", ARCH, TYPE))
                operator = random.choice(("Exists", "DoesNotExist"))
                return {"affinity": near([(key, operator, [])], [(TYPE, "In", random.sample(self.names, 1))])}
            case 7:
                return {"nodeSelector": random.choice(({SYSTEM: "linux"}, {"disk": "ssd"}))}
            case _:
                return {"affinity": near([(f"{EC2}category", random.choice(("In", "NotIn")), ["m"])])}


def draw(random):
    """Return the objects and the price list of a random tiny cluster."""
    objects, prices = Draw(random).cluster()
    more = [each for each in beside(random, objects, prices) if random.random() < 0.2]
    objects += [item for each in more for item in each]
    random.shuffle(objects)
    return objects, prices


def beside(random, objects, prices, mark=""):
    """Return lists of objects of which no pod of a cluster takes notice; nodes are as large as the list says of their type.

    mark : what their names end with.
    """
    row = random.choice(rows(prices))
    shown = {n["metadata"]["labels"].get(ZONE) for n in objects if n["kind"] == "Node"} - {None}
    # Where the list and the nodes have no zone in common, the list's are taken as other names for the nodes'.
    is_told = not shown or not shown.isdisjoint(each.get("zone") for each in rows(prices))
    zone = {ZONE: row["zone"] if is_told else min(shown)} if row.get("zone") else {}
    own = {ARCH: row.get("arch") or "amd64", SYSTEM: row.get("os") or "linux", **zone}
    gpus = {"extended": {"nvidia.com/gpu": row["gpu"]}} if row.get("gpu", "0") != "0" else {}
    size = (row["name"], row["cpu"], f"{row['memory_gib']}Gi", row.get("pods") or "1000")
    job = {"owner": "Job", "cpu": "3"}
    found = [
        [
            node(f"cp{mark}", *size, {CONTROL: "", **own}, [taint(CONTROL, "")], **gpus),
            pod(
                f"etcd-cp{mark}",
                f"cp{mark}",
                owner="Node",
                namespace="kube-system",
                meta={"annotations": {"kubernetes.io/config.mirror": "1"}},
            ),
        ],
        [node(f"sys{mark}", *size, {GROUP: "system", **own}, [taint("CriticalAddonsOnly", "true")], **gpus)],
        [node(f"hand{mark}", *size, own, [taint("maintenance", "")], **gpus)],
        [node(f"plain{mark}", *size, {GROUP: "plain", "team": "z", **own}, **gpus)],
        [pod(f"done-1{mark}", "n0", phase="Succeeded", **job), pod(f"bad-1{mark}", phase="Failed", **job)],
        [pod(f"gated-1{mark}", cpu="3", schedulingGates=[{"name": "g"}])],
        [pod(f"going-1{mark}", "n0", cpu="3", meta={"deletionTimestamp": "2026-01-01T00:00:00Z"})],
        [
            {
                "kind": "PodDisruptionBudget",
                "metadata": {"name": f"b{mark}", "namespace": "shop"},
                "spec": {"minAvailable": 1},
            }
        ],
        [{"kind": "Deployment", "metadata": {"name": f"d{mark}", "namespace": "shop"}, "spec": {"replicas": 9}}],
        volume(f"nobodys{mark}", "za"),
    ]
    # The first NodePool of a cluster says that nothing else is rented; another takes nothing away.
    if any(each["kind"] == "NodePool" for each in objects):
        found.append([pool(f"other{mark}", (TYPE, "In", [row["name"]]), taints=[taint("other", "x")])])
        found.append([pool(f"spots{mark}", (CAPACITY_TYPE, "In", ["spot"]), taints=[taint("spots", "x")])])
    return found


def longer(random, prices):
    """Return a price list with a line more: a new type, dear or cheap, small or large; or one of another zone."""
    given = rows(prices)
    found = []
    for price, cpu, memory in (("99", "64", "256"), ("0.01", "1", "1"), ("1.11", "2", "8"), ("5.55", "16", "16")):
        line = dict(
            random.choice(given),
            name=random.choice(("x", "c7i.large", "m6g.xlarge")),
            price=price,
            cpu=cpu,
            memory_gib=memory,
        )
        found.append(written([*given, line]))
    if "zone" in given[0]:
        found.append(written([*given, dict(random.choice(given), zone="zc", price="0.77")]))
    return found


def written(given):
    """Return rows as a price list."""
    return "".join(",".join(line) + "\n" for line in (given[0].keys(), *(row.values() for row in given)))


def said_otherwise(random, prices):
    """Return price lists that state the same machines in other words."""
    given = rows(prices)
    names = list(given[0])
    random.shuffle(names)
    amd = {"amd64": "x86_64", "arm64": "aarch64"}
    found = [
        written(random.sample(given, len(given))),
        written([{name: row[name] for name in names} for row in given]),
        written([{**row, "price": row["price"] + "00", "cpu": row["cpu"] + ".0"} for row in given]),
        written(
            [
                {
                    ("ram_mib" if k == "memory_gib" else k): (str(int(v) * 1024) if k == "memory_gib" else v)
                    for k, v in row.items()
                }
                for row in given
            ]
        ),
        written([{**row, **({"arch": amd[row["arch"]]} if row.get("arch") else {})} for row in given]),
    ]
    for column in {"zone", "count", "fee", "arch", "os", "pods", "spot_price", "family"} - set(names):
        found.append(written([{**row, column: ""} for row in given]))
    return found
