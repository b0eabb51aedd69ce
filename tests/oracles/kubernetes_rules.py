"""What a pod asks of a machine and of others there, by Kubernetes' own rules, from what kubectl prints.

Sources: component-helpers/resource/helpers.go (requests), component-helpers/scheduling/corev1 (node affinity, tolerations),
kube-scheduler's plugins interpodaffinity, nodeports, volumebinding and volumezone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
TYPE, ZONE, HOSTNAME = "node.kubernetes.io/instance-type", "topology.kubernetes.io/zone", "kubernetes.io/hostname"
ARCH, SYSTEM = "kubernetes.io/arch", "kubernetes.io/os"
ALIASES = {
    "beta.kubernetes.io/instance-type": TYPE,
    "failure-domain.beta.kubernetes.io/zone": ZONE,
    "topology.ebs.csi.aws.com/zone": ZONE,
    "topology.gke.io/zone": ZONE,
    "beta.kubernetes.io/arch": ARCH,
    "beta.kubernetes.io/os": SYSTEM,
}
CPU, MEMORY, PODS = "cpu", "memory", "pods"
SCALES = {"": 1, "n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000)}
SCALES |= {letter: 1000 ** (n + 1) for n, letter in enumerate("kMGTPE")}
SCALES |= {f"{letter}i": 1024 ** (n + 1) for n, letter in enumerate("KMGTPE")}


def quantity(text):
    """Return a quantity exactly."""
    text = str(text)
    if match := re.fullmatch(r"([+-]?[\d.]+)[eE]([+-]?\d+)", text):
        return Fraction(match[1]) * Fraction(10) ** int(match[2])
    number, suffix = re.fullmatch(r"([+-]?[\d.]+)([a-zA-Z]*)", text).groups()
    return Fraction(number) * SCALES[suffix]


def whole(amounts):
    """Return amounts as the scheduler counts them: thousandths of a CPU, else ones, rounded up."""
    return {name: ceil(value * 1000) if name == CPU else ceil(value) for name, value in amounts.items()}


def amounts(given):
    """Return the quantities of an object."""
    return {name: quantity(text) for name, text in (given or {}).items()}


def total(*each):
    """Return the sum of amounts."""
    names = {name for one in each for name in one}
    return {name: sum(one.get(name, 0) for one in each) for name in names}


def largest(*each):
    """Return the most of each amount."""
    names = {name for one in each for name in one}
    return {name: max(one.get(name, 0) for one in each) for name in names}


def request(pod):
    """Return what a pod asks for, and its slot."""
    spec, status = pod["spec"], pod.get("status", {})
    found = {
        each["name"]: each for key in ("containerStatuses", "initContainerStatuses") for each in status.get(key, ())
    }
    pending = [c for c in status.get("conditions", ()) if c["type"] == "PodResizePending"]
    infeasible = status.get("resize") == "Infeasible" or any(c.get("reason") == "Infeasible" for c in pending)

    def of(container):
        asked = amounts(container.get("resources", {}).get("requests"))
        has = found.get(container.get("name"), {})
        given = [amounts(has.get("resources", {}).get("requests")), amounts(has.get("allocatedResources"))]
        if infeasible and any(given):
            return largest(*given)
        return largest(asked, *given)

    running = total(*map(of, spec["containers"]))
    sidecars, first = {}, {}
    for container in spec.get("initContainers", ()):
        if container.get("restartPolicy") == "Always":
            sidecars = total(sidecars, of(container))
        else:
            first = largest(first, total(sidecars, of(container)))
    asked = largest(total(running, sidecars), first) | amounts(spec.get("resources", {}).get("requests"))
    return whole(total(asked, amounts(spec.get("overhead")))) | {PODS: 1}


def label(key):
    """Return the newer of two names of a label."""
    return ALIASES.get(key, key)


def holds(expression, labels):
    """Return whether an expression holds for labels."""
    value, operator = labels.get(label(expression["key"])), expression["operator"]
    values = expression.get("values") or []
    if operator in ("In", "NotIn"):
        return (value in values) == (operator == "In")
    if operator in ("Exists", "DoesNotExist"):
        return (value is not None) == (operator == "Exists")
    if value is None or not re.fullmatch(r"-?\d+", value):
        return False
    has, limit = int(value), int(values[0])
    return {"Gt": has > limit, "Lt": has < limit, "Gte": has >= limit, "Lte": has <= limit}[operator]


def tolerates(tolerations, taint):
    """Return whether a taint forbids nothing to a pod."""
    if taint["effect"] == "PreferNoSchedule":
        return True
    for each in tolerations:
        if each.get("effect") not in (None, "", taint["effect"]) or each.get("key", "") not in ("", taint["key"]):
            continue
        if each.get("operator") == "Exists" or (each.get("key") and each.get("value", "") == taint.get("value", "")):
            return True
    return False


@dataclass(eq=False)
class Asked:
    """What a pod asks of a machine, and of others there. alternatives : lists of terms; one of each list must hold."""

    name: str
    namespace: str
    labels: dict
    request: dict
    tolerations: list
    alternatives: list
    apart: list
    ports: set
    node: str = ""
    owner: str = ""
    is_static: bool = False

    @property
    def keys(self):
        """Labels that it looks at."""
        return {
            label(e["key"]) for terms in self.alternatives for term in terms for e in term.get("matchExpressions") or ()
        }

    def admitted(self, labels, taints, node=""):
        """Return whether it may come to a machine. node : its name, if it runs."""
        if not all(tolerates(self.tolerations, taint) for taint in taints):
            return False
        return all(any(_term(term, labels, node) for term in terms) for terms in self.alternatives)


def _term(term, labels, node):
    expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    if not expressions and not fields:
        return False
    # A new machine may be called anything.
    named = all(not node or (node in f["values"]) == (f["operator"] == "In") for f in fields)
    return named and all(holds(each, labels) for each in expressions)


def excludes(one, other):
    """Return whether two pods cannot come to one machine."""
    return _apart(one, other) or _apart(other, one) or any(_clash(p, q) for p in one.ports for q in other.ports)


def _clash(one, other):
    return one[:2] == other[:2] and (one[2] == other[2] or "" in (one[2], other[2]))


def _apart(one, other):
    for term in one.apart:
        everywhere = term.get("namespaceSelector") == {}
        chosen = term.get("namespaces") or ([] if "namespaceSelector" in term else [one.namespace])
        selector = term.get("labelSelector")
        if selector is None or not (everywhere or other.namespace in chosen):
            continue
        same = all(other.labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items())
        same &= all(holds(each, other.labels) for each in selector.get("matchExpressions") or ())
        same &= all(one.labels.get(key) == other.labels.get(key) for key in term.get("matchLabelKeys") or ())
        if same:
            return True
    return False


def asked(pod, volumes):
    """Return what a pod asks for. volumes : the terms of the place of each claim."""
    spec, meta = pod["spec"], pod["metadata"]
    affinity = spec.get("affinity") or {}
    alternatives = [
        [{"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}]
        for key, value in (spec.get("nodeSelector") or {}).items()
    ]
    if node_terms := (affinity.get("nodeAffinity") or {}).get(REQUIRED):
        alternatives.append(node_terms["nodeSelectorTerms"])
    for volume in spec.get("volumes", ()):
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        claim = f"{meta['name']}-{volume['name']}" if "ephemeral" in volume else claim
        if terms := volumes.get((meta.get("namespace", ""), claim)):
            alternatives.append(terms)
    terms = (affinity.get("podAntiAffinity") or {}).get(REQUIRED, ())
    lasting = [c for c in spec.get("initContainers", ()) if c.get("restartPolicy") == "Always"]
    ports = {
        (port.get("protocol", "TCP"), number, "" if port.get("hostIP", "") == "0.0.0.0" else port.get("hostIP", ""))
        for container in [*spec["containers"], *lasting]
        for port in container.get("ports", ())
        if (number := port.get("hostPort") or (port["containerPort"] if spec.get("hostNetwork") else 0))
    }
    owner = next((o for o in meta.get("ownerReferences", ()) if o.get("controller")), {})
    return Asked(
        meta["name"],
        meta.get("namespace", ""),
        meta.get("labels") or {},
        request(pod),
        spec.get("tolerations") or [],
        alternatives,
        [term for term in terms if term["topologyKey"] == HOSTNAME],
        ports,
        spec.get("nodeName", ""),
        f"{owner.get('kind', '')} {meta.get('namespace', '')}/{owner.get('name', '')}",
    )
