"""Holes that the published evaluators of Prism had, on a family outside of this package; docs/evolved/prism.md says more."""

import re
from pathlib import Path

import pytest
from outside import forgotten

from schedgap.bench import evaluator

SUITE = Path(__file__).parents[3] / "examples" / "evolved" / "prism.toml"
CANDIDATE = """
import time
import numpy as np
import prism
from prism import PrismSolution
from schedgap.instances.method import Outcome, method

SEEN = []


@method("candidate", family="prism")
def candidate(instance):
    honest = prism.greedy(instance)
    everywhere = PrismSolution(np.arange(instance.size_gb.size))
    {body}
"""
# In the method, share of the honest score, why it is less.
HOLES = {
    "more GPUs than there are, one for each model": ("return everywhere", 0, "there are"),
    "GPUs below 0": ("return PrismSolution(honest.model2gpu - instance.gpus)", 0, "there are"),
    "models left out": ("return PrismSolution(honest.model2gpu[:-1])", 0, "shape"),
    "rates near 0": (
        "object.__setattr__(instance, 'req_rate', np.ones_like(instance.req_rate))\n    return honest",
        0,
        "changed",
    ),
    "sizes of 0": (
        "instance.size_gb.setflags(write=True)\n    instance.size_gb[:] = 0\n    return everywhere",
        0,
        "WRITEABLE|read-only",
    ),
    "a number of GPUs of its own": (
        "object.__setattr__(instance, 'gpus', 100)\n    return everywhere",
        0,
        "changed|there are",
    ),
    "an answer on one instance alone": (
        "if instance.name != 'published-0':\n        raise ValueError('no')\n    return honest",
        "first",
        "ValueError: no",
    ),
    "a slow first call": ("SEEN or time.sleep(60)\n    SEEN.append(1)\n    return honest", 0, "took all its time"),
    "a score of its own": ("return Outcome(honest, details={'sky': 40.29, 'objective': 0})", 1, "0 proven optimal"),
}


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prism")
    suite = SUITE.read_text().replace('families = ["prism.py"]', f'families = ["{SUITE.with_name("prism.py")}"]')
    (folder / "prism.toml").write_text(suite.replace("time_limit_s = 60", "time_limit_s = 20\nwall_s = 5"))
    with forgotten():
        yield evaluator(
            folder / "prism.toml", seeds=range(3), bound="subset-table", directory=folder / "bounds", jobs=2
        )


@pytest.fixture
def scored(judge, tmp_path):
    def score(body):
        (tmp_path / "candidate.py").write_text(CANDIDATE.format(body=body))
        return judge(tmp_path / "candidate.py")

    return score


@pytest.fixture(scope="module")
def honest(judge, tmp_path_factory):
    path = tmp_path_factory.mktemp("honest") / "candidate.py"
    path.write_text(CANDIDATE.format(body="return honest"))
    return judge(path)


@pytest.mark.parametrize("hole", HOLES)
def test_a_hole_is_none_here(scored, honest, hole):
    body, share, reason = HOLES[hole]
    found = scored(body)
    first = honest.gaps.details[0]
    worth = first.bound / first.objective / 3 if share == "first" else share * honest.score
    assert found.score == pytest.approx(worth), found.feedback
    assert re.search(reason, found.feedback), found.feedback
    assert set(found.to_dict()) == set(honest.to_dict())
    assert (found.native["sky"] > 0) is (found.failed == 0)
