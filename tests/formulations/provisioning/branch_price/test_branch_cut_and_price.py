from decimal import Decimal

import numpy as np
import pytest

from schedgap.bench.certify.problem import read_problem
from schedgap.bench.certify.proof import check
from schedgap.formulations.provisioning.branch_price.branch_cut_and_price import branch_cut_and_price
from schedgap.formulations.provisioning.column_generation.column_generation import column_generation
from schedgap.instances.method import Status, find_method
from schedgap.instances.provisioning.files import write_instance
from schedgap.instances.provisioning.generators import distinct
from schedgap.instances.provisioning.verify import verify


def certified(instance, outcome, path):
    """Whether the certificate of an outcome holds, and what it proves in micro-dollars."""
    write_instance(instance, path / "i.json")
    certificate = outcome.certificate | {"bound": Decimal(str(outcome.certificate["bound"]))}
    found = check(read_problem(path / "i.json"), certificate)
    return found.reason is None, found.bound


def test_the_papers_example_costs_12_8_dollars(paper_example, tmp_path):
    outcome = branch_cut_and_price(paper_example)
    assert (outcome.status, outcome.bound) == (Status.OPTIMAL, 12_800_000)
    assert certified(paper_example, outcome, tmp_path) == (True, 12_800_000)


@pytest.mark.parametrize("seed", range(20))
def test_proves_what_brute_force_finds(random_instance, optimum, seed, tmp_path):
    instance = random_instance(seed)
    outcome = branch_cut_and_price(instance)
    assert outcome.status is Status.OPTIMAL
    assert verify(instance, outcome.solution) == outcome.bound == optimum(instance)
    assert certified(instance, outcome, tmp_path) == (True, outcome.bound)


@pytest.mark.parametrize("dimensions", [1, 2, 4])
@pytest.mark.parametrize("seed", range(4))
def test_packs_bins_and_proves_it(random_bins, seed, dimensions, tmp_path):
    instance = random_bins(seed, 14, dimensions)
    outcome = branch_cut_and_price(instance)
    assert outcome.status is Status.OPTIMAL
    assert verify(instance, outcome.solution) == outcome.bound
    assert certified(instance, outcome, tmp_path) == (True, outcome.bound)
    other = column_generation(instance, time_limit_s=0.5)
    assert other.bound <= outcome.bound <= verify(instance, other.solution)


def test_a_relaxation_that_is_too_low_is_branched_on(bins, tmp_path):
    """Three items, two a bin, where half of a bin's price would do: 1.5 bins in the relaxation, 2 in whole ones."""
    instance = bins([6], [3, 3, 3], prices=(1_000_000, 500_000))
    outcome = branch_cut_and_price(instance)
    assert (outcome.status, outcome.bound) == (Status.OPTIMAL, 2_000_000)
    assert outcome.details["nodes"] > 0
    assert certified(instance, outcome, tmp_path) == (True, 2_000_000)


def test_without_time_there_is_a_solution_and_a_bound(random_bins):
    instance = random_bins(1, 40, 3)
    outcome = branch_cut_and_price(instance, time_limit_s=0.0)
    assert 0 < outcome.bound <= verify(instance, outcome.solution)


def test_equal_classes_have_one_price(bins, tmp_path):
    instance = bins([10, 10], [[6, 2], [3, 3], [6, 2], [3, 3], [2, 7]], [1, 2, 2, 1, 2])
    outcome = branch_cut_and_price(instance)
    assert outcome.status is Status.OPTIMAL
    assert certified(instance, outcome, tmp_path) == (True, outcome.bound)


def test_interference_is_refused(paper_example):
    instance = paper_example.replace(
        workloads=("a",), class2workload=np.zeros(paper_example.num_classes, np.int64), throughput=np.array([[900]])
    )
    assert "interference" in find_method("provisioning", "branch-cut-and-price").supports(instance)


def test_many_machine_types(tmp_path):
    instance = distinct(30, seed=2)
    outcome = branch_cut_and_price(instance, time_limit_s=2.0)
    assert outcome.bound <= verify(instance, outcome.solution)
    assert certified(instance, outcome, tmp_path)[0]
