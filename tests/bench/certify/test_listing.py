"""Proofs by lists of contents, true and false ones, of bins that cost 1 micro-dollar."""

from decimal import Decimal

import numpy as np
import pytest

from schedgap.bench.certify.problem import Problem
from schedgap.bench.certify.proof import check
from schedgap.instances.errors import SolutionError


def bins(*sizes):
    return Problem("x", (1,), ((10,),), (0,), (tuple((size,) for size in sizes),), (1,) * len(sizes))


def said(problem, bound, node):
    return check(problem, {"bound": Decimal(bound) / 10**6, "proof": node}).reason


# Two bins are enough, 6 + 4 and 5 + 5; in the other two bins have no room to spare, and none is full.
FULL, SHORT = bins(6, 4, 5, 5), bins(7, 7, 4, 2)


def test_nothing_is_listed_where_no_bin_is_full():
    assert said(SHORT, 3, {"listed": [[7, 7, 4, 2]]}) is None
    assert "contents are left" in said(SHORT, 4, {"listed": [[7, 7, 4, 2]]})


def test_a_branch_drops_what_its_sides_rule_out():
    """6 and 4 apart: neither is in a full bin. Together they leave the items of 5 one."""
    node = {"listed": [[6, 4, 5, 5]], "pair": [0, 1], "apart": {"listed": [[1, 0, 0, 0]]}, "together": {"listed": []}}
    assert said(FULL, 3, node) == "proof.together: 2 contents are left of 2."


def test_random_proofs_rule_out_no_solution():
    rng = np.random.default_rng(1)

    def node(depth):
        listed = rng.integers(-5, 9, (2, 4)).tolist()
        if depth == 0:
            return {"listed": listed}
        pair = rng.permutation(4)[:2].tolist()
        return {"listed": listed, "pair": pair, "apart": node(depth - 1), "together": node(depth - 1)}

    for _ in range(300):
        assert said(FULL, 3, node(2)) is not None


@pytest.mark.parametrize("rows", [[], [[1, 2]], [[2**60, 1, 1, 1]]])
def test_malformed_prices_are_refused(rows):
    with pytest.raises(SolutionError, match="give prices"):
        said(FULL, 3, {"listed": rows})


def test_a_list_is_for_one_type_and_one_resource():
    with pytest.raises(SolutionError, match="one machine type and one resource"):
        said(Problem("x", (1,), ((10, 10),), (0,), (((6, 6),),), (1,)), 1, {"listed": [[1]]})
