"""What a run costs beside the method: a method that does nothing, measured by the harness and by a bare subprocess.

Run with `make benchmarks`. The goal is under 30 ms for the harness, journal included. The subprocess has no limits, no
verification and no record; it imports what the method needs and calls it.
"""

import subprocess
import sys

import pytest

from schedgap.bench.api import gap, recorded
from schedgap.bench.catalogue import chosen_method, load_catalogue
from schedgap.bench.executors.execute import close_pools, perform
from schedgap.bench.plan import Plan, make_run, setting
from schedgap.bench.records.host import write_host
from schedgap.bench.records.journal import Journal
from schedgap.bench.records.runs import Limits
from schedgap.instances.provisioning import table7

METHOD = """
from schedgap.instances.method import method

@method("nothing", family="provisioning")
def nothing(instance):
    return None
"""
BARE = """
import pickle, sys
sys.path.insert(0, sys.argv[1])
import nothing
with open(sys.argv[2], "rb") as file:
    instance = pickle.load(file)
assert nothing.nothing(instance) is None
"""
ROUNDS = 200


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    path = tmp_path_factory.mktemp("overhead") / "nothing.py"
    path.write_text(METHOD)
    return path


@pytest.fixture(scope="module")
def tasks(plugin):
    """Runs on instances of 6 tasks, a new instance each, as in a suite."""
    load_catalogue(["provisioning"], [str(plugin)])
    plan = Plan(setting("provisioning", (str(plugin),), 1))
    method, given = chosen_method("provisioning", "nothing")
    for seed in range(ROUNDS + 1):
        instance = table7(6, seed=seed)
        plan.add(instance, make_run(instance, method, given, Limits()))
    return [plan.task(key) for key in plan.runs]


def test_harness(benchmark, tasks, tmp_path):
    """A run in the warm pool, its row synced."""
    perform(tasks[-1])
    left = iter(tasks)
    with Journal(tmp_path) as journal:

        def measure():
            performed = perform(next(left))
            journal.append(recorded(performed, write_host(tmp_path, performed.host)))
            return performed

        done = benchmark.pedantic(measure, rounds=ROUNDS)
    close_pools()
    assert done.answer.measurement.status == "no_solution"


def test_journal_line(benchmark, tasks, tmp_path):
    """Of that, the row: JSON, write and fsync."""
    record = recorded(perform(tasks[0]), "host")
    close_pools()
    with Journal(tmp_path) as journal:
        benchmark.pedantic(journal.append, (record,), rounds=ROUNDS)
    assert record.key in journal.records


def test_a_further_gap(benchmark):
    """What a notebook waits for at each call but its first, with one run."""
    instance = table7(6)
    found = benchmark.pedantic(gap, (instance, ["patterns"]), warmup_rounds=1, rounds=10)
    assert [record.status for record in found.records] == ["optimal"]


def test_bare_subprocess(benchmark, tasks, plugin, tmp_path):
    path = tmp_path / "instance.pickle"
    path.write_bytes(tasks[0].pickled)
    command = [sys.executable, "-c", BARE, str(plugin.parent), str(path)]
    done = benchmark.pedantic(subprocess.run, (command,), {"capture_output": True, "check": True}, rounds=10)
    assert done.returncode == 0
