"""Proofs made by hand, and false ones. Prices are in micro-bins, and a bin costs 10^6."""

import itertools
from dataclasses import replace
from fractions import Fraction

import pytest

from schedgap.bench.certify.problem import Problem, read_problem
from schedgap.bench.certify.proof import check
from schedgap.formulations.provisioning.column_generation.relaxation import Relaxation
from schedgap.instances.errors import SolutionError
from schedgap.instances.provisioning import table7, write_instance
from schedgap.instances.provisioning.pricing import NANO, dual_bound

BIN = 10**6


def bins(capacity, *sizes):
    """One task a class, equal ones too: tasks are their positions."""
    return Problem("x", (BIN,), (tuple(capacity),), (0,), (tuple(sizes),), (1,) * len(sizes))


def reason(problem, bound, proof):
    return check(problem, {"bound": bound, "proof": proof}).reason


# Five tasks, any two of which fit together, and no three.
PAIRS = bins((2,), *[(1,)] * 5)
HALVES = {"scale": 1, "prices": [BIN // 2] * 5}


def test_the_volume():
    # 0.4 + 0.7 + 0.7 + 0.4 = 2.2 bins.
    volume = {"scale": 10, "prices": [4 * BIN, 7 * BIN, 7 * BIN, 4 * BIN]}
    problem = bins((10,), (4,), (7,), (7,), (4,))
    assert reason(problem, 3, volume) is None
    assert reason(problem, 4, volume) == "proof: proves 3, not the 4 that are claimed."


def test_two_machines_that_must_be_full():
    """A volume of 20 in two bins of 10 leaves nothing free, and no bin is full of items of 4: any prices prove 3 bins."""
    problem = bins((10,), *[(4,)] * 5)
    prices = {"scale": 10, "prices": [p * BIN for p in (10, 9, 5, 4, 2)]}
    assert reason(problem, 3, prices) is None
    # Two items of 2 more: then two of 4 and one of 2 are a full bin, worth more than one.
    full = bins((10,), *[(4,)] * 4, *[(2,)] * 2)
    assert "is worth more than the machine" in reason(full, 3, {"scale": 5, "prices": [3 * BIN] * 4 + [BIN] * 2})
    two = replace(problem, prices=(BIN, BIN), capacities=((10,), (10,)), families=(0, 0))
    assert "is worth more than the machine" in reason(two, 3, prices)


def test_a_clique():
    # No two of the first three fit together, each for another reason.
    problem = bins((4, 4), (3, 1), (2, 3), (1, 4), (1, 0))
    assert reason(problem, 3, {"scale": 1, "prices": [BIN, BIN, BIN, 0]}) is None
    said = reason(problem, 4, {"scale": 1, "prices": [BIN] * 4})
    assert "a content of machine type 0 is worth more than the machine: tasks" in said


def test_a_price_may_be_negative():
    problem = bins((4,), (3,), (3,), (1,))
    assert reason(problem, 1, {"scale": 1, "prices": [BIN, BIN, -BIN // 2]}) is None
    assert reason(problem, 2, {"scale": 1, "prices": [BIN, BIN, -BIN // 2]}) is None
    assert (
        reason(problem, 2, {"scale": 1, "prices": [BIN, BIN, -BIN]}) == "proof: proves 1, not the 2 that are claimed."
    )


def test_a_cut_of_a_triangle():
    """A bin holds two of three tasks: with the cut, one of them is worth a bin, two are no more, and all three two bins."""
    cut = {"tasks": [0, 1, 2], "numerators": [1, 1, 1], "denominator": 2, "price": BIN}
    leaf = {"scale": 1, "prices": [BIN] * 3, "cuts": [cut]}
    problem = bins((2,), (1,), (1,), (1,))
    assert reason(problem, 2, leaf) is None
    assert reason(problem, 3, leaf) == "proof: proves 2, not the 3 that are claimed."
    assert "is worth more" in reason(problem, 3, {**leaf, "cuts": []})


def test_cuts_close_what_prices_leave_open():
    """Two rings of five tasks, of which only neighbours fit together: each takes three bins, and 2.5 by prices alone."""
    ring = [(i + base, (i + 1) % 5 + base) for base in (0, 5) for i in range(5)]
    apart = [pair for pair in itertools.combinations(range(10), 2) if pair not in ring and pair[::-1] not in ring]
    # A dimension for each pair that does not fit together.
    problem = bins([1] * len(apart), *[tuple(int(i in pair) for pair in apart) for i in range(10)])
    halves = {"scale": 2, "prices": [BIN] * 10}
    assert reason(problem, 5, halves) is None
    assert reason(problem, 6, halves) == "proof: proves 5, not the 6 that are claimed."
    cuts = [
        {"tasks": list(range(base, base + 5)), "numerators": [1] * 5, "denominator": 2, "price": BIN} for base in (0, 5)
    ]
    assert reason(problem, 6, {"scale": 1, "prices": [BIN] * 10, "cuts": cuts}) is None
    assert "is worth more" in reason(problem, 6, {"scale": 1, "prices": [BIN] * 10, "cuts": cuts[:1]})


def test_a_cut_over_classes_counts_each_task():
    problem = Problem("x", (BIN,), ((2,),), (0,), (((1,),),), (5,))
    cut = {"classes": [0], "numerators": [1], "denominator": 2, "price": BIN}
    # 5 bins' worth of prices, 2 off for the pairs.
    assert reason(problem, 3, {"scale": 1, "prices": [BIN], "cuts": [cut]}) is None
    assert reason(problem, 4, {"scale": 1, "prices": [BIN], "cuts": [cut]}) is not None


def test_a_branch_on_a_pair():
    """Tasks 2, 2, 2 and 3 of 5: together, a pair is a task of 4; apart, one bin has none of the two."""
    problem = bins((5,), (2,), (2,), (2,), (3,))
    together = {"scale": 1, "task_prices": [BIN, 0, 0, BIN]}
    apart = {"scale": 1, "task_prices": [BIN, BIN, 0, 0]}
    proof = {"pair": [0, 1], "together": together, "apart": apart}
    assert check(problem, {"bound": 2, "proof": proof}).nodes == 3
    assert reason(problem, 2, proof) is None
    # At the root, 0 and 1 fit together.
    assert "tasks 0, 1" in reason(problem, 2, apart)
    swapped = {"pair": [0, 1], "together": apart, "apart": together}
    assert reason(problem, 2, swapped).startswith("proof.together: a content")


def test_decisions_that_contradict_each_other_have_no_solutions():
    problem = bins((9,), (1,), (1,), (1,))
    worthless = {"scale": 1, "prices": [0, 0, 0]}
    inner = {"pair": [0, 2], "together": worthless, "apart": worthless}
    outer = {"pair": [1, 2], "together": inner, "apart": worthless}
    # 0 with 1, 1 with 2, and 0 not with 2.
    proof = {"pair": [0, 1], "together": outer, "apart": worthless}
    found = check(problem, {"bound": 2, "proof": proof})
    assert found.reason.startswith("proof.together.together.together: proves 0")
    assert check(problem, {"bound": 0, "proof": proof}).leaves == 4


def test_a_branch_on_the_number_of_machines():
    """Types at 1 and 3 for one and two tasks: with at most one small machine, the rest is paid in large ones."""
    problem = Problem("x", (BIN, 3 * BIN), ((1,), (2,)), (0, 0), (((1,), (1,), (1,)),), (1, 1, 1))
    below = {"scale": 1, "prices": [3 * BIN // 2] * 3, "machine_prices": [BIN // 2]}
    above = {"scale": 1, "prices": [BIN] * 3, "machine_prices": [0]}
    proof = {"machines": 0, "at_most": 1, "below": below, "above": above}
    # 4.5 - 0.5 = 4 below (one small, one large machine); 3 above.
    assert reason(problem, 3, proof) is None
    assert reason(problem, 4, proof).startswith("proof.above: proves 3")
    assert reason(problem, 4, {**proof, "above": below}).startswith("proof.above: a content of machine type 0")
    # At least four machines in all cost four.
    many = {"scale": 1, "prices": [0] * 3, "machine_prices": [BIN]}
    assert reason(problem, 3, {"machines": None, "at_most": 3, "below": {**above}, "above": many}) is None


def test_bounds_are_multiples_of_the_step_of_prices():
    problem = Problem("x", (300_000, 500_000), ((1,), (2,)), (0, 0), (((1,),),), (1,))
    assert reason(problem, "0.3", {"scale": 3, "prices": [300_000 * 3 - 1]}) is None
    assert problem.price_step == 100_000
    assert (
        reason(problem, "0.3", {"scale": 3, "prices": [600_000]}) == "proof: proves 0.2, not the 0.3 that are claimed."
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"prices": [1] * 4}, "proof.prices: 4 numbers for 5"),
        ({"task_prices": [1] * 5}, "2 of prices and task_prices are given"),
        ({"scale": 0}, r"proof: scale: input should be greater than or equal to 1 \(found 0\)"),
        ({"prices": [0.5] * 5}, "prices.0: input should be a valid integer"),
        ({"colour": 1}, "colour: extra inputs are not permitted"),
        ({"machine_prices": [1]}, "1 numbers for 0 decisions"),
        ({"multipliers": [[1, 2]]}, "one number a resource"),
        ({"cuts": [{"tasks": [0, 0], "numerators": [1, 1], "denominator": 2, "price": 1}]}, "named twice"),
        ({"cuts": [{"tasks": [7], "numerators": [1], "denominator": 2, "price": 1}]}, "is none of 5"),
        ({"cuts": [{"numerators": [1], "denominator": 2, "price": 1}]}, "give tasks or classes"),
        ({"cuts": [{"tasks": [0], "numerators": [1], "denominator": 2, "price": -1}]}, "cuts.0.price"),
        ({"cuts": [{"tasks": [0], "numerators": [-1], "denominator": 2, "price": 1}]}, "cuts.0.numerators.0"),
        ({"prices": [2**62] * 5}, "more than 62 bits"),
    ],
)
def test_malformed_leaves(changes, said):
    with pytest.raises(SolutionError, match=said):
        check(PAIRS, {"bound": 4, "proof": {**HALVES, **changes}})


def test_malformed_branches():
    for pair in ([0, 0], [0, 5]):
        with pytest.raises(SolutionError, match="are not two of the 5 tasks"):
            check(PAIRS, {"bound": 3, "proof": {"pair": pair, "together": HALVES, "apart": HALVES}})
    with pytest.raises(SolutionError, match="apart: field required"):
        check(PAIRS, {"bound": 3, "proof": {"pair": [0, 1], "together": HALVES}})
    with pytest.raises(SolutionError, match="1 is none of the 1 types"):
        check(PAIRS, {"bound": 3, "proof": {"machines": 1, "at_most": 1, "below": HALVES, "above": HALVES}})
    with pytest.raises(SolutionError, match="no whole number of micro-dollars"):
        check(PAIRS, {"bound": "0.0000001", "proof": HALVES})


def test_equal_tasks_are_one_kind_until_a_decision_names_one():
    problem = Problem("x", (BIN,), ((7,),), (0,), (((2,), (3,)),), (6, 3))
    # 12 + 9 = 21 in bins of 7: three bins, all full.
    assert reason(problem, 3, {"scale": 7, "prices": [2 * BIN, 3 * BIN]}) is None
    leaf = {"scale": 7, "prices": [2 * BIN, 3 * BIN]}
    found = check(problem, {"bound": 3, "proof": {"pair": [0, 8], "together": leaf, "apart": leaf}})
    assert (found.reason, found.leaves, Fraction(found.bound, BIN)) == (None, 2, 3)


def test_the_scale_need_not_be_whole():
    """Two tasks, two machines of 10: read at 1.3, the leaf proves more than 10, and so 20."""
    problem = Problem("x", (10,), ((1,),), (0,), (((1,), (1,)),), (1, 1))
    assert reason(problem, Fraction(20, 10**6), {"scale": 1, "prices": [13, 1]}) is None
    assert reason(problem, Fraction(20, 10**6), {"scale": 1, "prices": [14, 1]}) is None
    assert reason(problem, Fraction(20, 10**6), {"scale": 1, "prices": [13, 0]}) is not None


def apart(count, most, capacity=(4,), sizes=((1,),)):
    """So many tasks of a class that fit a machine together, of which `most` may share one."""
    return Problem("x", (BIN,), (capacity,), (0,), (sizes,), (count,) * len(sizes), (most,) * len(sizes))


def test_only_so_many_tasks_of_a_class_share_a_machine():
    """Five tasks of 1 in bins of 4: two bins, three if two share one, five if none does; no proof for more."""
    for most, number in ((1, 5), (2, 3), (3, 2), (None, 2)):
        problem = apart(5, most)
        share = BIN // (most or 4)
        assert reason(problem, number, {"scale": 1, "prices": [share]}) is None
        assert reason(problem, number + 1, {"scale": 1, "prices": [share]}) is not None
    assert "is worth more than the machine" in reason(apart(5, 2), 5, {"scale": 1, "prices": [BIN]})
    assert "is worth more than the machine" in reason(
        replace(apart(5, 1), together=()), 5, {"scale": 1, "prices": [BIN]}
    )


def test_limits_hold_for_tasks_of_different_prices_and_on_branches():
    """Of a class with prices of its tasks' own, and where two of them are together: then they are over the limit, or at it."""
    problem = apart(3, 1)
    assert reason(problem, 3, {"scale": 1, "task_prices": [BIN, BIN, BIN - 1]}) is None
    assert reason(problem, 3, {"scale": 1, "task_prices": [BIN, 2 * BIN, 0]}) is not None
    leaf = {"scale": 1, "task_prices": [BIN, BIN, BIN]}
    assert reason(problem, 3, {"pair": [0, 1], "together": leaf, "apart": leaf}) is None
    two = apart(4, 2)
    halves = {"scale": 1, "task_prices": [BIN // 2] * 4}
    assert reason(two, 2, {"pair": [0, 1], "together": halves, "apart": halves}) is None
    assert reason(two, 3, {"pair": [0, 1], "together": leaf | {"task_prices": [BIN] * 4}, "apart": halves}) is not None


def test_two_classes_with_limits_of_their_own():
    """Of each class one a machine: a bin holds one of each, not two of one."""
    problem = apart(3, 1, sizes=((1,), (2,)))
    assert reason(problem, 3, {"scale": 1, "prices": [BIN, 0]}) is None
    assert "is worth more than the machine" in reason(problem, 6, {"scale": 1, "prices": [BIN, BIN]})


@pytest.mark.parametrize("seed", range(3))
def test_class_prices_of_column_generation_are_a_proof_under_limits(seed, tmp_path):
    """And no proof of the same instance without them, whose bound is lower."""
    instance = table7(20, seed=seed)
    instance = instance.replace(per_machine=[1] * instance.num_classes)
    relaxation = Relaxation(instance)
    relaxation.solve(None)
    bound = dual_bound(instance, relaxation.proof)
    proof = {"scale": NANO, "prices": relaxation.proof.tolist()}
    said = []
    for each in (instance, instance.replace(per_machine=None)):
        write_instance(each, tmp_path / "x.json")
        said.append(reason(read_problem(tmp_path / "x.json"), Fraction(bound, 10**6), proof))
    assert said[0] is None
    assert "is worth more than the machine" in said[1]
