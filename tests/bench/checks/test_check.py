"""Methods that break one promise each are told which; the command says so by its exit code."""

import json
import re

import pytest

from schedgap.bench.checks import contract
from schedgap.bench.checks import contract as check
from schedgap.bench.checks.contract import Check, Checked, Result, check_methods
from schedgap.bench.checks.trials import default_instances, large_instances, small_instances
from schedgap.bench.plugins.discover import load_families
from schedgap.instances.family import FAMILIES
from schedgap.instances.provisioning import table7

AGAIN = "same answer in another process"
OTHERS = "same answer after other instances"
SEED = "depends on the seed as declared"
BROKEN = {
    "c-honest": {},
    "c-silent": {},
    "c-kept": {"answers verify": "(after others)"},
    "c-counts": {OTHERS: "another solution of the same objective"},
    "c-draws": {SEED: "declare stochastic=True"},
    "c-address": {AGAIN: "(again): another solution of the same objective"},
    "c-liar": {"bounds and solutions agree": "the bound 1000000000000 of c-liar is above a verified solution"},
    "c-boaster": {"claims are proven": "its bound 0 does not prove that"},
    "c-nowhere": {"says what it cannot take": "it takes none of 2 instances: only on Sundays"},
    "c-clumsy": {"ends with an answer": "error: ValueError: no such luck (and 1 more)"},
}
INSTANCES = [table7(23, seed=1), table7(23, seed=2)]


@pytest.fixture(scope="module")
def careless(hostile):
    return hostile.with_name("careless.py")


@pytest.fixture(scope="module")
def checked(careless):
    """All methods of the plug-in on two instances of equal size."""
    return {each.method: each for each in check_methods(list(BROKEN), plugins=[careless], instances=INSTANCES, jobs=2)}


@pytest.fixture
def two_instances(monkeypatch):
    monkeypatch.setattr(check, "small_instances", lambda family: INSTANCES)
    monkeypatch.setattr(check, "default_instances", lambda family: [])


@pytest.mark.parametrize("name", BROKEN)
def test_the_broken_promise_is_named(checked, name):
    failed = {each.check: each.detail for each in checked[name].checks if each.result == "failed"}
    if name == "c-counts":
        # How often a method is called to warm it up depends on how long it takes.
        failed.pop(AGAIN, None)
    assert failed.keys() == BROKEN[name].keys()
    for rule, detail in BROKEN[name].items():
        assert detail in failed[rule]
    assert checked[name].is_passed == (not BROKEN[name])


def test_what_was_looked_at_is_told(checked):
    """Two instances in five kinds of runs; one large instance."""
    told = {each.check: each.detail for each in checked["c-honest"].checks}
    assert told["ends with an answer"] == "11 runs"
    assert told["says what it cannot take"] == "takes 2 of 2 instances"
    assert told["bounds and solutions agree"] == "beside patterns"
    assert told[OTHERS] == "2 instances"
    assert told["keeps to the time limit"] == "it takes no time_limit_s"


def test_large_instances_tell_who_is_late(careless, monkeypatch):
    """Half a second on 400 tasks, and as much again for a busy machine: two seconds are late, half a second is not."""
    monkeypatch.setattr(check, "large_instances", lambda family: [table7(400, seed=3)])
    monkeypatch.setattr(check, "SHORT_LIMIT_S", 0.5)
    monkeypatch.setattr(contract, "FACTOR", 1.0)
    monkeypatch.setattr(contract, "GRACE_S", 0.9)
    found = check_methods(["c-late", "c-in-time"], plugins=[careless], instances=INSTANCES, jobs=1)
    (late, in_time) = (next(c for c in each.checks if c.check == "keeps to the time limit") for each in found)
    assert late.result == "failed"
    assert re.search(r"table7-400\S* \(large\): 2\.\d s with a limit of 0\.5 s", late.detail)
    assert in_time.result == "passed"
    assert re.search(r"0\.\d s with a limit of 0\.5 s on table7-400", in_time.detail)


def test_large_instances_are_larger_than_the_ordinary():
    """At least one of them is, of every family that has generators; what is not known of is as large as by default."""
    load_families()
    for family in FAMILIES.values():
        assert family.large
        assert {name for name, _ in family.large} <= family.generators.keys()
    assert max(each.num_tasks for each in large_instances("provisioning")) == 60_000


def test_to_find_nothing_keeps_no_promise(checked):
    (verified,) = (each for each in checked["c-silent"].checks if each.check == "answers verify")
    assert (verified.result, verified.detail) == ("skipped", "it found no solution in any run")


def test_command(schedgap, careless, two_instances):
    code, out, err = schedgap("check", "c-draws", "--plugin", careless, "--json")
    document = json.loads(out)
    assert (code, err) == (1, "")
    assert document["passed"] is False
    assert document["instances"] == [instance.name for instance in INSTANCES]
    failed = [each for each in document["checks"] if each["result"] == "failed"]
    assert [each["check"] for each in failed] == [SEED]


def test_table(schedgap, monkeypatch):
    """Exit code 0 where nothing failed, skipped checks or not."""
    checks = (Check("ends", Result.PASSED, "11 runs"), Check("in time", Result.SKIPPED, "it takes no time_limit_s"))
    checked = Checked("tidy", "cooking", ("a", "b"), checks)
    monkeypatch.setattr("schedgap.bench.cli.check.check_methods", lambda *_, **__: [checked])
    code, out, _ = schedgap("check", "tidy", "--family", "cooking")
    assert code == 0
    lines = [line.rstrip() for line in out.splitlines()]
    assert lines == [
        "tidy of family cooking on 2 instances",
        "check    result   detail",
        "-------  -------  ------------------------",
        "ends     passed   11 runs",
        "in time  skipped  it takes no time_limit_s",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["c-hones"], "family provisioning has no method 'c-hones'"),
        (["no-packing", "--family", "cooking"], "there is no family 'cooking'"),
        (["patterns[backend=cplex]"], "parameter 'backend' is one of highs, "),
    ],
)
def test_usage(schedgap, arguments, message):
    code, out, err = schedgap("check", *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_small_instances_are_of_every_kind():
    """Those of suite smoke; of each generator what it makes, with and without interference, made small."""
    load_families()
    names = {instance.name for instance in small_instances("provisioning")}
    assert {"table3", "table7-12-vcpu-s1", "table7-200-physical-s0-shrunk"} <= names
    digests = {instance.digest for instance in small_instances("provisioning")}
    assert len(digests) == len(small_instances("provisioning")) == 17
    assert sum(instance.throughput is not None for instance in default_instances("provisioning")) == 1
