"""What a candidate of a search costs beside its own runs, and how soon a broken one is known.

Run with `make benchmarks`. The goals are under 100 ms a candidate beside its runs, under 1 s for the first stage of a broken
one; all warm: the instances are made, the bounds are frozen, one candidate was scored.
"""

import itertools
import time

import pytest

from schedgap.bench import evaluator
from schedgap.bench.testing import evaluator as candidates

SUITE = """
schema = "schedgap/suite/1"
name = "few"
title = ""
question = ""
family = "provisioning"
methods = ["column-generation"]
limits = { time_limit_s = 2 }
[[instances]]
generator = "table7"
parameters = { tasks = 6 }
seeds = 4
"""
CANDIDATE = """
import numpy as np
from schedgap.instances import method
from schedgap.instances.provisioning import Provisioning

@method("candidate", family="provisioning")
def candidate(instance):
    types = instance.reservation_type[instance.task_classes()]
    return Provisioning.from_tasks(instance, types, np.arange(instance.num_tasks))
"""


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    folder = tmp_path_factory.mktemp("evaluator")
    (folder / "few.toml").write_text(SUITE)
    made = evaluator(folder / "few.toml", directory=folder / "bounds", jobs=1)
    (folder / "candidate.py").write_text(CANDIDATE)
    assert made(folder / "candidate.py").failed == 0
    return made


@pytest.fixture
def another(tmp_path):
    """Return a candidate that nobody has seen: each is written anew."""
    numbers = itertools.count()

    def written(text):
        path = tmp_path / f"candidate{next(numbers)}.py"
        path.write_text(text)
        return ((path,), {})

    return written


def test_broken(benchmark, judge, another):
    """Stage 1 of a candidate that cannot be imported."""
    found = benchmark.pedantic(judge.tiny, setup=lambda: another("def broken(:"), rounds=20)
    assert found.score == 0


def test_beside_its_runs(benchmark, judge, another, monkeypatch):
    """Of a candidate with four runs, all that is not in these: importing it, planning, scoring."""
    ran_s, perform, spans = [], candidates.perform, []

    def timed(task):
        start = time.perf_counter()
        performed = perform(task)
        ran_s.append(time.perf_counter() - start)
        return performed

    monkeypatch.setattr(candidates, "perform", timed)

    def beside(path):
        ran_s.clear()
        start = time.perf_counter()
        found = judge(path)
        spans.append(time.perf_counter() - start - sum(ran_s))
        benchmark.extra_info["beside_ms"] = 1000 * sorted(spans)[len(spans) // 2]
        benchmark.extra_info["run_ms"] = 1000 * sum(ran_s) / len(ran_s)
        return found

    assert benchmark.pedantic(beside, setup=lambda: another(CANDIDATE), rounds=20).failed == 0
