"""The quality gate of this repository: suites `ci` and `ci-FAMILY`, and their baselines in `results`."""

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from schedgap.bench.comparison.comparison import compare_results
from schedgap.bench.comparison.pairs import used_clock
from schedgap.bench.plan import plan_suite
from schedgap.bench.plugins.discover import load_methods
from schedgap.bench.suites.results import read_results
from schedgap.bench.suites.suite import read_suite
from schedgap.instances.method import REGISTRY, Status

RESULTS = Path(__file__).parents[2] / "results"
# What finds neither a solution nor a bound has no quality that a gate could compare; its tests hold its figures.
MODELS = ("model-", "workload")


GATES = ("ci", "ci-fairness", "ci-harvest", "ci-placement", "ci-reconfiguration", "ci-sharing", "ci-waiting")


@pytest.fixture(scope="module", params=GATES)
def name(request):
    return request.param


@pytest.fixture(scope="module")
def plan(name):
    suite, folder = read_suite(name)
    return plan_suite(suite, folder)


@pytest.fixture(scope="module")
def baseline(name):
    return read_results(RESULTS / name)


def names(runs):
    return {(run.digest, run.label, run.seed) for run in runs}


def test_the_baseline_is_of_the_suite_as_it_is(plan, baseline):
    """If not: `make baseline`."""
    assert names(record.run for record in baseline.records) == names(plan.runs.values())
    assert len(baseline.records) == baseline.planned


def test_nothing_in_it_failed_or_was_stopped_by_the_clock(baseline):
    for record in baseline.records:
        assert record.status in (Status.OPTIMAL, Status.FEASIBLE, Status.NO_SOLUTION), record.run.label
        assert not used_clock(record), record.run.label
        if record.status is Status.NO_SOLUTION:
            assert record.measurement.bound is not None


def test_exact_methods_prove_the_optimum_there(plan, baseline):
    """So the figures are the problem's, not the solver's. The plan has loaded the methods."""
    for record in baseline.records:
        if REGISTRY[record.run.family, record.run.method].exact or record.run.method == "column-generation":
            assert record.status is Status.OPTIMAL, (record.run.label, record.run.instance)


def test_every_shipped_method_is_in_it(plan):
    families = {run.family for run in plan.runs.values()}
    load_methods(families)
    shipped = {
        name
        for (family, name), method in REGISTRY.items()
        if family in families and method.is_shipped and not name.startswith(MODELS)
    }
    assert shipped - {run.method for run in plan.runs.values()} == set()


def test_it_is_small_and_tells_no_machine(name):
    files = list((RESULTS / name).iterdir())
    assert sorted(path.name for path in files) == ["journal.jsonl", "plan.json"]
    assert sum(path.stat().st_size for path in files) < 500_000


def test_one_micro_dollar_more_is_seen(baseline):
    """Of whichever run; here of the last one that has a solution."""
    records = list(baseline.records)
    index = max(i for i, record in enumerate(records) if record.measurement.objective is not None)
    found = records[index].measurement
    worse = structs.replace(found, objective=found.objective + 1, solution_hash="another")
    records[index] = structs.replace(records[index], measurement=worse)
    found = compare_results(baseline, replace(baseline, records=tuple(records)))
    run = records[index].run
    assert [(f.kind, f.method, f.instance) for f in found.regressions] == [("objective", run.label, run.instance)]
    assert compare_results(baseline, baseline).verdict == "ok"
