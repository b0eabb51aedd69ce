"""Certificates as files."""

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest

from schedgap.bench.certify.problem import Problem, read_certificate, read_node
from schedgap.bench.certify.proof import check
from schedgap.instances.errors import SolutionError

LEAF = {"scale": 1, "prices": [1_000_000]}
GIVEN = {"schema": "schedgap/certificate/1", "instance": "x", "bound": 0.7, "proof": LEAF}


@pytest.fixture
def read(tmp_path):
    def read(content):
        (tmp_path / "c.json").write_text(content if isinstance(content, str) else json.dumps(content))
        return read_certificate(tmp_path / "c.json")

    return read


def test_bounds_are_exact(read):
    assert read(GIVEN)["bound"] == Decimal("0.7")
    assert read({**GIVEN, "bound": 3})["bound"] == 3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "no JSON"),
        ([], "c.json: the document: input should be a valid dictionary"),
        ({**GIVEN, "schema": "schedgap/certificate/2"}, "schema: input should be 'schedgap/certificate/1'"),
        ({**GIVEN, "solution": []}, "solution: extra inputs are not permitted"),
        ({**GIVEN, "bound": -1}, "bound"),
        (json.dumps(GIVEN).replace("0.7", "1e999999999"), r"bound: 1E\+999999999 is more than any solution costs"),
        ({**GIVEN, "bound": 10**400}, "bound: 1000.* is more than any solution costs"),
        (json.dumps(GIVEN).replace("0.7", "1e-999999999"), "bound.decimal: decimal input should have no more than 6"),
        (
            {**GIVEN, "proof": {**LEAF, "multipliers": [[1, 1]] * 1001}},
            "multipliers: list should have at most 1000 items",
        ),
        ('{"schema": "schedgap/certificate/1", "instance": "x", "bound": NaN, "proof": {}}', "bound"),
        ({key: value for key, value in GIVEN.items() if key != "proof"}, "proof: field required"),
    ],
)
def test_what_is_no_certificate(read, content, said):
    with pytest.raises(SolutionError, match=said):
        read_node(read(content)["proof"], "proof")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(SolutionError, match="cannot be read"):
        read_certificate(tmp_path / "none.json")


def test_deep_trees_are_read(read):
    proof, tasks = {"scale": 1, "prices": [0] * 300}, 300
    for t in range(1, tasks):
        proof = {"pair": [0, t], "together": proof, "apart": {"scale": 1, "prices": [10**6] * tasks}}
    problem = Problem("x", (10**6,), ((1,),), (0,), (((1,),) * tasks,), (1,) * tasks)
    found = check(problem, read({**GIVEN, "bound": 0, "proof": proof}))
    assert (found.reason, found.nodes, found.leaves) == (None, 599, 300)


def test_the_example_of_the_page_holds(read):
    """Three tasks of 2, 2 and 4 of 5: the first two fit together, and neither with the third."""
    page = Path(__file__).parents[3] / "docs" / "files.md"
    (example,) = re.findall(r"<!-- certificate -->\n```json\n(.*?)```", page.read_text(), re.DOTALL)
    problem = Problem("x", (10**6,), ((5,),), (0,), (((2,), (2,), (4,)),), (1, 1, 1))
    assert check(problem, read(example)).reason is None
