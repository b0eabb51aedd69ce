"""A program to search for, and a judge that runs nothing."""

import pytest

from schedgap.bench.search.program import read_program
from schedgap.bench.testing.evaluator import Evaluation
from schedgap.instances.expressions import expression

PROGRAM = '''"""Grüße."""
from schedgap.instances import method

SEARCH = {
    "weight": (0.0, 1.0),
    "tries": (1, 9),
    "wait_s": (0.1, 1000.0),
    "ties": ["first", "last"],
    "score": {"size", "price"},
}


@method("candidate", family="provisioning")
def candidate(instance, weight: float = 0.5, tries: int = 3, *, wait_s: float = 2.0, ties="first", score="size / price", rest=7):
    return weight
'''


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(PROGRAM)
    return path


class Judge:
    """Likes weights near 0.8, nine tries, the last of ties, expressions that grow with the size. calls : how many it scored."""

    def __init__(self, offset=0.0, most=None):
        self.calls, self.offset, self.most = 0, offset, most

    def __call__(self, path):
        if self.calls == self.most:
            raise KeyboardInterrupt
        self.calls += 1
        given = read_program(path).first
        grows = expression(given["score"], ("size", "price"))(size=[1, 2], price=[1, 1])
        score = (
            1
            - abs(given["weight"] - 0.8 + self.offset)
            + given["tries"]
            + (given["ties"] == "last")
            + (grows[0] < grows[1])
        )
        return Evaluation(score / 12, {"wall_s": float(self.calls)}, None, "")


@pytest.fixture
def judge():
    return Judge
