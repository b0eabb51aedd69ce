"""Misspelt names in what a suite shows of its runs."""

import pytest
from msgspec.structs import replace

from schedgap.bench.plan import plan_suite
from schedgap.bench.statistics.headlines.registry import unknown_measures
from schedgap.bench.suites.suite import read_suite
from schedgap.instances.errors import SuiteError
from schedgap.instances.method import Status

GOOD = """
[[setting]]
measure = "machines"
method = "full-reconfiguration[downsizing=false]"
groups = ["tiny"]
most = 3
why = "section 4"

[[reference]]
method = "no-packing"
name = "No-Packing"
group = "tiny"

[[sweep]]
title = "a sweep"
x = "tasks"
y = "waste"
methods = ["no-packing"]
price = "tasks"

[[map]]
title = "a map"
x = "tasks"
y = "seed"
measure = "waste"
methods = ["full-reconfiguration[downsizing=False]"]
"""
METHODS = ["no-packing", "full-reconfiguration[downsizing=False]"]


def suite_of(write_suite, text):
    path = write_suite(METHODS)
    path.write_text(path.read_text() + text)
    return read_suite(path)


def test_all_names_are_there(write_suite):
    assert len(plan_suite(*suite_of(write_suite, GOOD)).runs) == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'method = "full-',
            'method = "ful-',
            "setting: there is no method 'ful-reconfiguration[downsizing=false]' in this",
        ),
        (
            'groups = ["tiny"]',
            'groups = ["tiny", "tinny"]',
            "setting: there is no group 'tinny' in this suite; did you mean",
        ),
        (
            'group = "tiny"',
            'group = "tin"',
            "reference: there is no group 'tin' in this suite; did you mean tiny? it has: tiny.",
        ),
        (
            'methods = ["no-packing"]',
            'methods = ["no-pack"]',
            "sweep: methods: there is no method 'no-pack' in this suite; did",
        ),
        (
            'price = "tasks"',
            'price = "task"',
            "sweep: price: there is no parameter of instances 'task' in this suite; did you",
        ),
        (
            'y = "seed"',
            'y = "sead"',
            "map: there is no parameter of instances 'sead' in this suite; did you mean seed?",
        ),
        (
            "=False]",
            "=True]",
            "map: methods: there is no method 'full-reconfiguration[downsizing=True]' in this suite; did",
        ),
    ],
)
def test_a_name_that_is_not(write_suite, old, new, message):
    assert old in GOOD
    with pytest.raises(SuiteError) as caught:
        plan_suite(*suite_of(write_suite, GOOD.replace(old, new)))
    assert f"little: {message}" in str(caught.value)


def test_measures_that_no_run_has(write_suite, make_record):
    """Told once there are measures; a ratio is there where both of its runs are."""
    suite, _ = suite_of(write_suite, GOOD)
    suite = suite.model_copy(update={"measures": ["waste/no-packing"]})
    record = make_record("no-packing", objective=5, measures={"wasted": 1.0, "machines": 2.0}, source={"tasks": 6})
    assert unknown_measures(suite, [record]) == [
        "No run has the measure 'waste/no-packing'.",
        "No run has the measure 'waste'; did you mean wasted?",
    ]
    right = replace(record, measurement=replace(record.measurement, measures={"waste": 1.0, "machines": 2.0}))
    assert unknown_measures(suite, [record, right]) == []
    failed = replace(right, measurement=replace(right.measurement, status=Status.INVALID))
    assert unknown_measures(suite, [failed]) == []


def test_a_seed_beside_seeds(write_suite):
    path = write_suite(METHODS)
    path.write_text(path.read_text().replace("tasks = 6", "tasks = 6, seed = 3"))
    with pytest.raises(SuiteError, match="give 'seeds' or the parameter 'seed', not both"):
        read_suite(path)
