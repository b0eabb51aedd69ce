"""Labels that new node groups may be given: each combination that some pods need, and no two that serve the same."""

import pytest

from schedgap.instances.provisioning.readers.catalogues.catalogue import OTHER
from schedgap.instances.provisioning.readers.kubernetes.constraints import Constraint
from schedgap.instances.provisioning.readers.kubernetes.objects import Expression, NodeTerms, SelectorTerm
from schedgap.instances.provisioning.readers.kubernetes.templates import MOST, combinations, values_of

GROUP = "eks.amazonaws.com/nodegroup"
FARGATE = "eks.amazonaws.com/compute-type"


def wants(*terms):
    """Return what a pod asks for: one of some terms, each a list of (key, operator, values)."""
    return Constraint((), (NodeTerms(tuple(SelectorTerm(tuple(Expression(*e) for e in term)) for term in terms)),))


def selects(**labels):
    return Constraint(tuple(Expression(key, "In", (value,)) for key, value in labels.items()))


def made(asked, daemons=()):
    keys = {e.key for one in (*asked, *daemons) for e in one.expressions()}
    found = combinations(asked, daemons, {key: values_of(key, (*asked, *daemons)) for key in sorted(keys)})
    return {tuple(v for _, v in sorted(labels.items())) for labels in found}


@pytest.mark.parametrize(
    ("asked", "right"),
    [
        ([selects(team="a"), selects(team="b")], {("a",), ("b",)}),
        ([selects(disk="ssd"), selects(team="a")], {("ssd", "a")}),
        # Of labels that pods ask for together no other combination serves any.
        ([selects(app="x", team="a"), selects(app="y", team="b")], {("x", "a"), ("y", "b")}),
        ([wants([("team", "NotIn", ("a",))]), selects(team="a")], {(None,), ("a",)}),
        ([wants([("disk", "NotIn", ("hdd",))]), selects(disk="ssd")], {("ssd",)}),
        ([wants([("team", "DoesNotExist", ())]), selects(team="a")], {(None,), ("a",)}),
        ([wants([("team", "Exists", ())]), wants([("team", "NotIn", ("a",))])], {(OTHER,)}),
        ([wants([("n", "Gt", ("4",))]), wants([("n", "Lt", ("6",))])], {("5",)}),
        ([wants([("team", "In", ("a", "b"))]), selects(team="b")], {("b",)}),
        ([wants([("team", "In", ("a",))], [("disk", "In", ("ssd",))])], {("ssd", "a")}),
        ([Constraint()], {()}),
    ],
)
def test_combinations_that_pods_need(asked, right):
    assert made(asked) == right


def test_a_daemon_set_stays_off_where_a_label_need_not_be():
    """What is bound to a label comes with it only, and a pod that needs the label has it all the same."""
    agent = wants([("team", "In", ("a",))])
    assert made([Constraint()], [agent]) == {(None,)}
    assert made([selects(team="a"), selects(team="b")], [agent]) == {("a",), ("b",)}
    # A pod of either has the agent beside it, or not.
    assert made([wants([("team", "In", ("a", "b"))])], [agent]) == {("b",)}
    assert made([selects(disk="ssd")], [wants([("logs", "NotIn", ("off",))])]) == {("ssd", "off")}


def test_very_many_combinations_are_none():
    asked = [selects(team=f"t{n}") for n in range(MOST)]
    values = {"team": values_of("team", asked)}
    assert len(combinations(asked, [], values)) == MOST
    more = [*asked, selects(team="one more")]
    assert combinations(more, [], {"team": values_of("team", more)}) is None


PRICES = "name,price,cpu,memory_gib\ns,1,2,4\nb,1.8,4,8\nh,3.5,8,16\n"


def test_two_values_of_a_label_are_two_machines(read, one, k8s, optimum):
    pods = [one(team, nodeSelector={"team": team}) for team in "ab"]
    cluster = read([k8s.node("n", "h", "8", "16Gi", "9"), *pods], PRICES)
    assert optimum(cluster) == 2_000_000
    assert not any("team" in note for note in cluster.notes if note.startswith("Relaxed"))


def test_above_the_limit_labels_may_be_any_and_this_is_said(read, one, k8s):
    pods = [one(f"t{n}", cpu="10m", nodeSelector={"team": f"t{n}"}) for n in range(MOST + 1)]
    cluster = read([k8s.node("n", "h", "8", "16Gi", "110"), *pods], PRICES)
    assert cluster.num_classes == 1
    assert cluster.fits()[:, 0].any()
    assert any(
        note.startswith(f"Relaxed: bound to label team, which is not known of every machine: {MOST + 1} pods")
        for note in cluster.notes
    )


@pytest.mark.parametrize(("label", "floor"), [(FARGATE, 1_800_000), ("example.com/logs", 1_000_000)])
def test_of_a_providers_labels_that_no_pod_asks_for_new_groups_have_none(read, one, k8s, optimum, label, floor):
    """An agent is on all nodes but Fargate's, or those that say so: a new node group cannot become the former."""
    off = {"affinity": k8s.near((label, "NotIn", ["fargate"]))}
    agent = k8s.pod("agent-n", "n", ("DaemonSet", "agent"), (k8s.requests("100m"),), **off)
    cluster = read([k8s.node("n", "h", "8", "16Gi", "110"), agent, one("x", cpu="2")], PRICES)
    assert optimum(cluster) == floor


def test_what_has_a_node_pools_label_is_of_it(read, one, k8s, optimum):
    """Beside the NodePool, which rents h alone, a node group may have any label but that of the NodePool."""
    pool = k8s.pool("p", ("node.kubernetes.io/instance-type", "In", ["h"]))
    nodes = [k8s.node("n", "b", "4", "8Gi", "110", {GROUP: "web"})]
    for key, value, floor in (("karpenter.sh/nodepool", "p", 3_500_000), (GROUP, "web", 1_000_000)):
        assert optimum(read([*nodes, pool, one("x", nodeSelector={key: value})], PRICES)) == floor


def test_a_zone_that_pods_avoid_leaves_others(read, one, k8s, optimum):
    """The list has no zones, so that there may be one that neither of the pods avoids."""
    zone = "topology.kubernetes.io/zone"
    nodes = [k8s.node(z, "h", "8", "16Gi", "110", {zone: z}) for z in ("za", "zb")]
    pods = [one(f"not-{z}", affinity=k8s.near((zone, "NotIn", [z]))) for z in ("za", "zb")]
    assert optimum(read([*nodes, *pods], PRICES)) == 1_000_000
