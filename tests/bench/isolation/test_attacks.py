"""Attacks on the harness itself: each ends as one right row, and nobody else's changes."""

import json
import tempfile
from dataclasses import replace

import numpy as np
import pytest

from schedgap.bench import run_suite
from schedgap.bench.executors.execute import close_pools
from schedgap.bench.isolation.answer import UNDECLARED, Report, pack
from schedgap.bench.isolation.judge import judged
from schedgap.bench.isolation.messages import Cause, Ending, Request, pickled
from schedgap.bench.isolation.pool import Pool, _Kept
from schedgap.bench.plan import Plan, make_run, setting
from schedgap.bench.records.runs import Limits
from schedgap.instances.family import FAMILIES
from schedgap.instances.method import find_method
from schedgap.instances.provisioning import table7

EXPECTED = {
    "a-patched": ("feasible", None),
    "a-slow-warm-up": ("feasible", None),
    "a-clock": ("feasible", None),
    "a-broken-clock": ("invalid", "its answer cannot be read"),
    "a-forged-time": ("feasible", None),
    "a-forged-negative": ("invalid", "Expected `float` >= 0.0 - at `$.said.wall_s`"),
    "a-forged-ages": ("invalid", "it says wall_s = 1e+09, and its process was there for"),
    "a-forged-cpu": ("invalid", "it says cpu_s = 1e+09, and its processes used"),
    "a-forged-bound": ("invalid", "its answer cannot be read"),
    "a-forged-claim": ("invalid", "it claims to be 'proven'"),
    "a-early-answer": ("invalid", "its answer came before its call was over"),
    "a-looks-around": ("feasible", None),
    "a-asks-early": ("feasible", None),
    "a-packs": ("feasible", None),
    "a-twice": ("feasible", None),
    "a-quick-machine": ("feasible", None),
    "a-deletes-scratch": ("feasible", None),
    "a-odd-facts": ("feasible", None),
    "a-odd-times": ("invalid", "$.said.solve_s"),
    "a-odd-reason": ("unsupported", "['a', {'b': 1}]"),
    "a-surrogate": ("error", "ValueError: lone \\ud800 surrogate"),
    "a-real-time-signal": ("crashed", "its process was ended by signal 40"),
    "a-memfd": ("memory", "killed over 400 MiB"),
    "a-shm": ("memory", "killed over 400 MiB"),
    "a-vandal": ("feasible", None),
    "a-many-machines": ("invalid", None),
}
# Where the kernel gives none of such memory.
FILTERED = {"a-memfd": ("error", "OSError: [Errno 38] Function not implemented")}
HONEST = ("no-packing", "full-reconfiguration")


@pytest.fixture(scope="module")
def ends(tmp_path_factory, hostile):
    """One run of each attack, among honest ones of this package; the measurements by label."""
    folder = tmp_path_factory.mktemp("attacks")
    suite = folder / "attacks.toml"
    suite.write_text(
        f"""
        schema = "schedgap/suite/1"
        name = "attacks"
        title = ""
        question = ""
        family = "provisioning"
        methods = {json.dumps([*EXPECTED, *HONEST])}
        [limits]
        time_limit_s = 2
        wall_s = 6
        memory_mib = 400
        [[instances]]
        generator = "table7"
        parameters = {{ tasks = 6 }}
        """
    )
    plugin = hostile.with_name("attacks.py")
    close_pools()
    with pytest.MonkeyPatch.context() as patch:
        # What is spoilt is this suite's alone: other tests run on this machine.
        patch.setenv("TMPDIR", str(folder))
        patch.setattr(tempfile, "tempdir", None)
        result = run_suite(suite, out=folder / "out", plugins=[plugin], jobs=2)
        close_pools()
    return {record.run.label: record.measurement for record in result.records}


@pytest.mark.parametrize("label", EXPECTED)
def test_status_and_reason(ends, label):
    end = ends[label]
    status, reason = (FILTERED if "seccomp" in end.confined and label in FILTERED else EXPECTED)[label]
    assert (end.status, end.reason) == (status, end.reason)
    assert reason is None or reason in end.reason


def test_costs_are_those_of_an_untouched_verifier(ends):
    """Every task on its own machine costs what `no-packing` costs, whatever was patched."""
    honest = ends["no-packing"].objective
    assert {end.objective for label, end in ends.items() if label.startswith("a-")} == {honest, None}
    assert ends["full-reconfiguration"].status == "feasible"
    assert ends["a-patched"].bound == 7


def test_times_are_the_supervisors_where_they_cannot_be_true(ends):
    """Half a second passed, less a tenth of it and of a second; wherever a run does its work once it has its instance."""
    for label in ("a-clock", "a-forged-time", "a-asks-early", "a-packs", "a-twice"):
        assert ends[label].wall_s > 0.3, label


def test_nobody_is_warmed_up_in_sight_of_the_instance(ends):
    assert ends["a-looks-around"].details["seen"] == "table7-6-physical-s0-shrunk"


def test_how_quick_the_machine_is_no_run_says(ends):
    assert all(end.reference_s > 1e-6 for end in ends.values() if end.wall_s is not None)


def test_odd_facts_are_text(ends):
    end = ends["a-odd-facts"]
    assert (end.details["nan"], end.details["bytes"], end.details["7"]) == ("nan", "b'x'", 3)
    assert "none" not in end.details
    assert len(end.details["long"]) == 10_000
    assert end.solver == "b'bytes'"


def test_saying_that_one_compiles_buys_time_once(hostile):
    """Of what is left to a method for compiling, all its runs together."""
    plugin = (str(hostile.with_name("attacks.py")),)
    instance = table7(6)
    pool = Pool(["provisioning"])
    label = f"provisioning/a-compiles/[]//{plugin}"
    pool._kept[label] = _Kept(compile_left_s=0.5)
    limits = Limits(time_limit_s=1.0, wall_s=1.0)
    request = Request(
        "provisioning", "a-compiles", {}, 0, limits, instance.digest, pickled(instance), is_plugin=True, plugins=plugin
    )
    try:
        assert pool.run(request, "").measurement.status == "timeout"
        assert pool._kept[label].compile_left_s == 0.0
    finally:
        pool.close()


def test_judging_has_limits_of_its_own(monkeypatch):
    """A verifier that wants 8 TiB for what it was sent."""
    family = FAMILIES["provisioning"]
    greedy = replace(family, verify=lambda instance, solution: int(np.ones(2**40).sum()))
    monkeypatch.setitem(FAMILIES, "provisioning", greedy)
    instance = table7(6)
    report = Report(wall_s=0.1, cpu_s=0.1, compile_s=0.0, status="feasible", mutated=False)
    types = instance.reservation_type[instance.task_classes()]
    plan = family.solution.from_tasks(instance, types, np.arange(instance.num_tasks))
    request = Request("provisioning", "any", {}, 0, Limits(), instance.digest, None)
    answer = judged(request, instance, Ending(answer=pack(report, plan)))
    assert answer.measurement.status == "invalid"
    assert answer.measurement.reason == "its answer could not be judged within 4096 MiB of memory"


@pytest.fixture
def judge_bound():
    """Judge a solution of an instance, and what was said of a bound, of a method that proves some or none."""
    instance = table7(6)
    family = FAMILIES["provisioning"]
    types = instance.reservation_type[instance.task_classes()]
    plan = family.solution.from_tasks(instance, types, np.arange(instance.num_tasks))

    def call(*, proves, bound=None, told=None, trajectory=(), **seen):
        times = {"wall_s": 0.1, "cpu_s": 0.1, "compile_s": 0.0}
        report = Report(**times, status="feasible", mutated=False, bound=bound, trajectory=list(trajectory))
        seen = {"answer": pack(report, plan), "bound": told, **seen}
        request = Request("provisioning", "any", {}, 0, Limits(), instance.digest, None, proves=proves)
        return judged(request, instance, Ending(**seen)).measurement

    return call


@pytest.mark.parametrize("said", [{"bound": 7}, {"bound": 0}, {"told": 7, "answer": None, "cause": Cause.WALL}])
def test_a_bound_counts_only_of_a_method_that_is_known_to_prove_some(judge_bound, said):
    """In an answer, or in a frame of the pipe: a run's process may have changed what checks that there."""
    assert judge_bound(proves=True, **said).bound == said.get("told", said.get("bound"))
    refused = judge_bound(proves=False, **said)
    assert (refused.status, refused.bound, refused.objective, refused.reason) == ("invalid", None, None, UNDECLARED)


def test_bounds_of_a_trajectory_are_left_out_likewise(judge_bound):
    assert judge_bound(proves=False, trajectory=[(0.1, 9, 7)]).trajectory == ((0.1, 9, None),)
    assert judge_bound(proves=True, trajectory=[(0.1, 9, 7)]).trajectory == ((0.1, 9, 7),)
    assert judge_bound(proves=False).status == "feasible"


def test_what_the_harness_knows_of_a_method_decides(tmp_path):
    """Of those of this package, as of all."""
    for name, proves in (("no-packing", False), ("bound-resource", True)):
        instance, method = table7(6), find_method("provisioning", name)
        plan = Plan(setting("provisioning", (), 1))
        plan.add(instance, make_run(instance, method, {}, Limits()))
        assert plan.task(next(iter(plan.runs))).proves is proves


def test_a_judge_that_dies_is_replaced(monkeypatch):
    """No row is the worse for it: an answer is the fault of whoever's judge dies twice."""
    instance = table7(6)
    request = Request("provisioning", "no-packing", {}, 0, Limits(), instance.digest, pickled(instance))
    pool = Pool(["provisioning"])
    try:
        assert pool.run(request, "").measurement.status == "feasible"
        (judge,) = pool._idle["judges"]
        judge.hang_up()
        assert pool.run(request, "").measurement.status == "feasible"
    finally:
        pool.close()
