"""Proofs of bounds on placements: by hand, false ones, and those of the methods."""

import json
from decimal import Decimal

import pytest

from schedgap.bench.certify.nodes import check_nodes, read_nodes
from schedgap.bench.certify.problem import read_certificate
from schedgap.formulations.placement.moves_bound import bound_resources
from schedgap.formulations.placement.node_patterns import (
    bound_forced,
    bound_gpu_cutting_stock,
    bound_gpu_resources,
    bound_node_patterns,
)
from schedgap.instances.documents import inline_up_to
from schedgap.instances.errors import SchedgapError
from schedgap.instances.placement import openb_like, random_pods, write_instance

# Two nodes of one GPU and 3 cores. Of the pods of 0.6 GPU one fits a GPU.
DOCUMENT = {
    "schema": "schedgap/placement/1",
    "name": "by hand",
    "unit": "GPUs",
    "resources": ["cpu", "memory_gib"],
    "node_types": [{"name": "t", "capacity": [3, 8], "gpus": 1, "model": "A"}],
    "pod_classes": [{"name": "a", "demand": [1, 1], "gpus": 0.6}, {"name": "b", "demand": [2, 0.5], "gpus": 0.3}],
    "nodes": {"type": ["t", "t"]},
    "pods": {"class": ["a", "a", "a", "b", "b", "b"]},
}


@pytest.fixture
def reason(tmp_path):
    """Return why a proof proves no bound of a document."""

    def of(proof, bound, **changes):
        (tmp_path / "i.json").write_text(json.dumps({**DOCUMENT, **changes}))
        given = {"schema": "schedgap/certificate/1", "instance": "by hand", "bound": bound, "proof": proof}
        (tmp_path / "c.json").write_text(json.dumps(given))
        return check_nodes(read_nodes(tmp_path / "i.json"), read_certificate(tmp_path / "c.json")).reason

    return of


# All pods are worth what they are: 1800 + 900, and 900 fit each GPU at most.
FULL = {"scale": 1, "pod_prices": [600, 300], "multipliers": []}


def test_single_gpus(reason):
    assert reason(FULL, 0.9) is None
    assert reason(FULL, 1.2) == "proof: nodes may hold 1800 in prices, 1799 would prove the bound."
    # Values are multiples of 300, so more than 0.6 is 0.9.
    assert reason(FULL, 0.7) is None


def test_all_contents_are_tried_where_tables_do_not_do(reason):
    """With 2 cores a node holds one pod, of either class: 600 at most, which no price of cores alone tells."""
    cores = [{"name": "t", "capacity": [2, 8], "gpus": 1, "model": "A"}]
    assert reason(FULL, 1.5, node_types=cores) is None
    assert reason(FULL, 1.8, node_types=cores) is not None


def test_prices_of_resources(reason):
    # 2 cores a node; a pod of a takes 1, one of b 2. At 300 a core a node has 600, and b is worth nothing beyond: 300 for an a.
    cores = [{"name": "t", "capacity": [2, 8], "gpus": 1, "model": "A"}]
    assert reason({**FULL, "multipliers": [[150, 0]]}, 0.9, node_types=cores) is None
    assert reason({"scale": 1, "pod_prices": [600, 0], "multipliers": []}, 0.6, node_types=cores) is None


def test_pods_that_stay_are_taken_off_their_nodes(reason):
    pods = {"class": ["a", "a", "a"], "node": [0, None, None], "gpus": [[0], [], []], "movable": [False, True, True]}
    assert reason(FULL, 0.6, pods=pods) is None
    # If it may move, it has a price of its own, beyond its value.
    moves = {**pods, "movable": [True, True, True]}
    assert reason({**FULL, "running_prices": [9000, 0]}, 0.6, pods=moves) is not None
    assert reason({**FULL, "running_prices": [600, 0]}, 0.6, pods=moves) is None


@pytest.mark.parametrize(
    ("proof", "message"),
    [
        ({**FULL, "pod_prices": [601, 300]}, "pod_prices.0: 601 is more than the pod's value, 600"),
        ({**FULL, "pod_prices": [600]}, "give a price for each of 2 classes"),
        ({**FULL, "pod_prices": [-1, 0]}, "pod_prices.0"),
        ({**FULL, "multipliers": [[1]]}, "give 2 numbers in each"),
    ],
)
def test_what_is_wrong_is_said(reason, proof, message):
    with pytest.raises(SchedgapError, match=message):
        reason(proof, 0.9)


@pytest.mark.parametrize("seed", range(50))
def test_what_methods_prove_is_proven(tmp_path, seed):
    unit = ("GPUs", "pods", "value")[seed // 3 % 3]
    accepts = seed >= 40
    moves = 0 if accepts else (-1, 0, 1)[seed % 3]
    instance = random_pods(
        seed=seed, running=0.4 * (seed % 2), moves=moves, divided=seed % 5 == 0, unit=unit, accepts=accepts
    )
    with inline_up_to(-1 if seed % 4 == 0 else 10_000):
        write_instance(instance, tmp_path / "i.json")
    nodes = read_nodes(tmp_path / "i.json")
    forced = [bound_forced] * instance.accepts
    for bound in (bound_resources, bound_gpu_cutting_stock, bound_gpu_resources, bound_node_patterns, *forced):
        given = json.loads(json.dumps(bound(instance).certificate), parse_float=Decimal)
        assert check_nodes(nodes, given).reason is None
        step = {"GPUs": 10, "pods": 1000, "value": 1000}[instance.unit]
        assert check_nodes(nodes, {**given, "bound": instance.total_value / 1000 + step}).reason is not None


def test_a_gpu_holds_no_more_of_a_class_than_there_are(tmp_path):
    """So the table must count: without that 1.4 million contents were tried in vain."""
    instance = openb_like(nodes=40, seed=3, constrained=0.3)
    write_instance(instance, tmp_path / "i.json")
    given = json.loads(json.dumps(bound_gpu_cutting_stock(instance).certificate), parse_float=Decimal)
    found = check_nodes(read_nodes(tmp_path / "i.json"), given)
    assert (found.reason, found.contents) == (None, 0)


# A node of 10 cores and 1 GPU: until more than 8 cores are in use pods of 2 are placed, and the pod of a GPU finds none left.
ACCEPTS = {
    "accepts": True,
    "resources": ["cpu"],
    "node_types": [{"name": "t", "capacity": [10], "gpus": 1, "model": "A"}],
    "pod_classes": [{"name": "a", "demand": [2]}, {"name": "b", "demand": [2], "gpus": 1}],
    "nodes": {"type": ["t"]},
    "pods": {"class": ["a"] * 5 + ["b"]},
}


def test_what_must_be_accepted_has_any_price(reason):
    """At 1 a thousandth of a core: 10,000 for the node, 5 pods at 2,000 and one of a GPU at 1,000 make 1,000 more."""
    proof = {"scale": 1, "pod_prices": [0, 1000], "accepted_prices": [2000, 0], "multipliers": [[1]], "weights": [[1]]}
    assert reason(proof, 1, **ACCEPTS) is None
    assert reason({**proof, "weights": []}, 1, **ACCEPTS) is not None
    # With the pod of a GPU first 4 are certain: before the fifth 10 cores have arrived; with 8.001 in use there may be no room.
    assert reason(proof, 1, **{**ACCEPTS, "pods": {"class": ["b"] + ["a"] * 5}}) is not None
    with pytest.raises(SchedgapError, match="lets pods be refused that fit"):
        reason(proof, 1, **{**ACCEPTS, "accepts": False})
