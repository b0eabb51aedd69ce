"""What it costs that a scheduler is a program: first fit in C beside the same as a plug-in, by decision and by run.

Run with `make benchmarks`. Goals: as a policy on as many jobs as the trace of Table 14 the program takes at most three times
as long as the plug-in, and less than 30 s; as a method a run takes less than 15 ms more than the program alone. Microseconds
a decision and bytes told at each are in the extra info, on a light load and on one with 20 times as many jobs at a time.
"""

import importlib.util
import shutil
import subprocess
from pathlib import Path
from unittest import mock

import pytest

from schedgap.bench.catalogue import chosen_method, load_catalogue
from schedgap.bench.executors.execute import close_pools, perform
from schedgap.bench.plan import Plan, make_run, setting
from schedgap.bench.plugins.discover import load_methods
from schedgap.bench.programs.program import Program, Terms
from schedgap.bench.programs.run import ask
from schedgap.bench.records.runs import Limits
from schedgap.instances.family import find_family
from schedgap.instances.method import REGISTRY, find_method
from schedgap.instances.provisioning import table7
from schedgap.instances.reconfiguration import FAMILY, alibaba_like, verify

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples" / "programs"
TERMS = Terms(seed=0, time_limit_s=60.0, threads=1)
ROUNDS = 50


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The programs in C, compiled."""
    if shutil.which("cc") is None:
        pytest.skip("there is no 'cc' here")
    folder = tmp_path_factory.mktemp("programs")
    for role in ("method", "policy"):
        source = EXAMPLES / f"first_fit_{role}.c"
        subprocess.run(["cc", "-O2", "-o", str(folder / f"first-fit-{role}"), str(source)], check=True)
    return folder


@pytest.fixture(scope="module")
def is_timed(pytestconfig):
    return pytestconfig.getoption("benchmark_enable")


@pytest.fixture(scope="module")
def players(folder):
    """First fit by the way that it is asked: from an instance to an outcome."""
    load_methods([FAMILY])
    with mock.patch.dict(REGISTRY):
        spec = importlib.util.spec_from_file_location("first_fit_plugin", EXAMPLES / "first_fit_plugin.py")
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
        plugin = find_method(FAMILY, "first-fit")
    program = Program.make("first-fit", "./first-fit-policy", kind="policy", folder=folder)
    return {"plugin": plugin.run, "program": lambda instance: ask(program, find_family(FAMILY), instance, TERMS)}


@pytest.fixture(scope="module", params=[1200.0, 60.0])
def instance(request, is_timed):
    return alibaba_like(6274 if is_timed else 20, mean_gap_s=request.param, interference="artifact")


@pytest.mark.parametrize("name", ["plugin", "program"])
def test_policy(benchmark, players, instance, name):
    """All in this process, without the harness: the simulator, the observations, and the pipe."""
    players[name](alibaba_like(10, interference="artifact"))
    outcome = benchmark.pedantic(players[name], (instance,), rounds=1)
    assert verify(instance, outcome.solution) > 0
    if benchmark.stats:
        decisions = outcome.details["decisions"]
        benchmark.extra_info["decisions"] = decisions
        benchmark.extra_info["us_per_decision"] = round(1e6 * benchmark.stats["median"] / decisions, 1)
        if name == "program":
            benchmark.extra_info["told_bytes_per_decision"] = round(outcome.details["told_bytes"] / decisions)
            benchmark.extra_info["program_us_per_decision"] = round(1e6 * outcome.details["program_s"] / decisions, 1)


def test_method_in_the_harness(benchmark, folder, is_timed):
    """A run of 200 tasks, a new instance each; `overhead_ms` is the run's own time beyond the program's, their median."""
    program = Program.make("first-fit", "./first-fit-method", folder=folder)
    rounds = ROUNDS if is_timed else 2
    with mock.patch.dict(REGISTRY):
        load_catalogue(["provisioning"], [program])
        plan = Plan(setting("provisioning", (program,), 1))
        method, given = chosen_method("provisioning", "first-fit")
        for seed in range(rounds + 1):
            made = table7(200, seed=seed)
            plan.add(made, make_run(made, method, given, Limits()))
        tasks = [plan.task(key) for key in plan.runs]
    perform(tasks.pop())
    measured = []
    benchmark.pedantic(lambda: measured.append(perform(tasks.pop()).answer.measurement), rounds=rounds)
    close_pools()
    assert {str(each.status) for each in measured} == {"feasible"}
    beside = sorted(1e3 * (each.wall_s - each.details["program_s"]) for each in measured)
    benchmark.extra_info["overhead_ms"] = round(beside[len(beside) // 2], 2)


def test_method_alone(benchmark, folder, is_timed, tmp_path):
    """The same program, started by hand."""
    path = tmp_path / "instance.json"
    find_family("provisioning").write_instance(table7(200), path)

    def alone():
        with open(path, "rb") as given:
            return subprocess.run([folder / "first-fit-method"], stdin=given, capture_output=True, check=True)

    done = benchmark.pedantic(alone, rounds=ROUNDS if is_timed else 2)
    assert done.stdout.startswith(b'{"schema":"schedgap/provisioning-solution/1"')
