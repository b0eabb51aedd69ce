"""Many candidates of one name in one process, by threads: no clash, no growth, nothing left.

By default 32 of them; SCHEDGAP_CANDIDATES says how many, such as 1000.
"""

import os
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psutil

from schedgap.bench import evaluator
from schedgap.bench.isolation.handle import MOST_KEPT
from schedgap.instances.method import REGISTRY

MANY = int(os.environ.get("SCHEDGAP_CANDIDATES", "32"))
THREADS = 8
GROWTH_MIB = 50
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
"""
CANDIDATE = """
import numpy as np
from schedgap.instances import method
from schedgap.instances.provisioning import Provisioning

NUMBER = {number}

@method("candidate", family="provisioning")
def candidate(instance):
    types = instance.reservation_type[instance.task_classes()]
    if NUMBER % 4 == 1:
        types = np.full(instance.num_tasks, int(np.argmax(instance.price)))
    if NUMBER % 4 == 2:
        raise ValueError(NUMBER)
    return Provisioning.from_tasks(instance, types, np.arange(instance.num_tasks))
{broken}
"""


def state():
    """What this process holds: MiB, descriptors, processes below it."""
    process = psutil.Process()
    return process.memory_info().rss / 2**20, process.num_fds(), len(process.children(recursive=True))


def searched(folder):
    """Score a few candidates, then many; return both, and what this process held in between and afterwards."""
    judge = evaluator(folder / "few.toml", directory=folder / "bounds", jobs=2)

    def scored(number):
        path = folder / "candidates" / f"c{number}.py"
        path.write_text(CANDIDATE.format(number=number, broken="" if number % 4 < 3 else "def broken(:"))
        return judge(path)

    with ThreadPoolExecutor(THREADS) as threads:
        first, before = list(threads.map(scored, range(THREADS))), state()
        return first, list(threads.map(scored, range(MANY))), before, state()


def test_many_candidates_of_one_name(tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    for folder in (temporary, tmp_path / "candidates"):
        folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("TMPDIR", str(temporary))
    (tmp_path / "few.toml").write_text(SUITE)
    known = {path.name for path in tmp_path.iterdir()}
    # Evaluators of other tests may be there.
    most, threads = state()[2] + MOST_KEPT, threading.active_count()
    first, found, before, after = searched(tmp_path)
    print(f"{MANY} candidates: MiB, descriptors, processes {before}, then {after}")
    assert [each.score for each in found] == [first[number % 4].score for number in range(MANY)]
    assert first[0].score > first[1].score > first[2].score == first[3].score == 0
    assert "ValueError: 2" in first[2].feedback
    assert "SyntaxError" in first[3].feedback
    assert ("provisioning", "candidate") not in REGISTRY
    assert after[0] - before[0] < GROWTH_MIB
    assert after[1] <= before[1] + THREADS
    assert after[2] <= before[2] + THREADS
    assert {path.name for path in tmp_path.iterdir()} == known | {"bounds"}
    deadline = time.monotonic() + 60
    while (state()[2] > most or threading.active_count() > threads) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert state()[2] <= most
    assert [path.name for path in temporary.iterdir()] == []
    assert threading.active_count() <= threads
