import time
from decimal import Decimal

import numpy as np
import pytest

from schedgap.bench.certify.problem import read_problem
from schedgap.bench.certify.proof import check
from schedgap.formulations.provisioning.branch_price.program import Program
from schedgap.formulations.provisioning.branch_price.tree import Node, Tree
from schedgap.instances.provisioning.files import write_instance


def climbed(instance, cutoff):
    """Return the tree that proves that nothing is cheaper than the cutoff."""
    program = Program.of_classes(instance).expanded(range(instance.num_tasks))
    tree = Tree(Node(program, [], [], np.ones(instance.num_tasks, np.int64), 0, 0))
    while tree.open:
        assert tree.step(time.perf_counter() + 60, cutoff) is not None
    return tree


@pytest.mark.parametrize("rounds", [0, 30])
@pytest.mark.parametrize("seed", range(8))
def test_a_tree_is_a_proof(random_instance, optimum, seed, rounds, monkeypatch, tmp_path):
    """With cuts and without, by decisions on pairs alone."""
    monkeypatch.setattr("schedgap.formulations.provisioning.branch_price.tree.ROOT_ROUNDS", rounds)
    monkeypatch.setattr("schedgap.formulations.provisioning.branch_price.tree.NODE_ROUNDS", rounds)
    instance = random_instance(seed)
    best = optimum(instance)
    tree = climbed(instance, best)
    write_instance(instance, tmp_path / "i.json")
    found = check(read_problem(tmp_path / "i.json"), {"bound": Decimal(best) / 10**6, "proof": tree.root.proof})
    assert found.reason is None
    assert found.nodes >= 1


def test_pairs_are_branched_on(bins, monkeypatch):
    """Three items, two a bin: without cuts, 1.5 bins are a bound where prices are multiples of half a bin."""
    monkeypatch.setattr("schedgap.formulations.provisioning.branch_price.tree.ROOT_ROUNDS", 0)
    monkeypatch.setattr("schedgap.formulations.provisioning.branch_price.tree.NODE_ROUNDS", 0)
    tree = climbed(bins([6], [3, 3, 3], prices=(1_000_000, 500_000)), 2_000_000)
    assert tree.nodes > 1
    assert set(tree.root.proof) == {"pair", "together", "apart"}
    assert tree.bound is None
