"""Results made of nothing: two groups of instances, four methods, a paper's figures, a failure, and hostile names."""

from __future__ import annotations

import tomllib
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from schedgap.bench.plugins.discover import load_families
from schedgap.bench.records.pictures import append_picture
from schedgap.bench.report.page import write_page
from schedgap.bench.suites.collection import Map
from schedgap.bench.suites.results import Results
from schedgap.bench.suites.suite import Suite
from schedgap.instances.method import Status, method_label
from schedgap.instances.picture import RUNS, WAITS, Bar, Curve, Loss, Part, Picture, Spans, Split, timetable

HOSTILE = "</script><script>document.title='owned'</script><b>&\"'"
SUITE = """
schema = "schedgap/suite/1"
name = "little"
title = "A little suite"
question = "Is <b>this</b> safe?"
family = "provisioning"
headline = "normalised-cost"
source = "Their table 1"
methods = ["exact", "near", "far", "broken"]
[[instances]]
generator = "table7"
[[reference]]
method = "near"
group = "small"
name = "Near"
mean = 1.5
std = 0.25
time_s = 2.0
"""
# Two tasks of 2 gpu and 8 cpu on each of three machines of 4 gpu and 16 cpu.
PICTURE = Picture(("gpu", "cpu"), (Bar("it1", 3, (4.0, 16.0), (Part("tau1", 2, (2.0, 8.0)),)),), left_out=1)
DOLLAR = 1_000_000


@pytest.fixture(scope="session", autouse=True)
def families() -> None:
    load_families()


@pytest.fixture(scope="session")
def suite() -> Suite:
    return Suite.model_validate(tomllib.loads(SUITE))


@pytest.fixture(scope="session")
def records(make_record):
    """On four instances the bound is $10; `near` pays $10 or $12.50, `far` $20, so gaps are 0, 20 % and 50 %."""
    made = []
    for number in range(4):
        name, group = f"i{number}", "small" if number < 2 else HOSTILE
        path = ((0.125, 20 * DOLLAR, 0), (0.25, 10 * DOLLAR, 10 * DOLLAR))
        made += [
            make_record("exact", name, group=group, status=Status.OPTIMAL, objective=10 * DOLLAR, bound=10 * DOLLAR,
                        wall_s=0.5, trajectory=path, measures={"machines": 3.0}),
            make_record("near", name, group=group, objective=(10 if number % 2 else 12.5) * DOLLAR, wall_s=0.01),
            make_record("far", name, group=group, objective=20 * DOLLAR, wall_s=0.001),
            make_record("broken[why=<i>]", name, group=group, status=Status.CRASHED, reason=f"it said {HOSTILE}",
                        output=HOSTILE),
        ]  # fmt: skip
    return tuple(made)


@pytest.fixture(scope="session")
def results(records, suite, tmp_path_factory) -> Results:
    """The records with the suite, and pictures of two solutions of the first instance."""
    directory = tmp_path_factory.mktemp("results")
    append_picture(directory, records[0].key, PICTURE)
    append_picture(directory, records[2].key, PICTURE)
    command = ("schedgap", "run", "my suite.toml")
    return Results(directory, suite, command, records, len(records) + 2, {"host": {"processor": "Abacus <1>"}})


@pytest.fixture
def here(monkeypatch, results) -> Path:
    """The same results by a relative path, so that pages do not depend on where the test runs."""
    monkeypatch.chdir(results.directory.parent)
    return Path(results.directory.name)


MEASURES = """
schema = "schedgap/suite/1"
name = "waits"
title = "How long jobs wait"
question = "Do models predict the waits?"
family = "provisioning"
headline = "measures"
measures = ["mean_wait_s", "price"]
methods = ["a"]
[[instances]]
generator = "table7"
[[reference]]
method = "a[limit=60.0,s=2]"
name = "A, section 3"
measures = { mean_wait_s = 5 }
[[reference]]
method = "a[s=9]"
name = "of no line"
measures = { mean_wait_s = 7 }
[[sweep]]
title = "Waits & <b>machines</b>"
x = "s"
y = "mean_wait_s"
methods = ["a", "b", "model-a"]
log_y = true
[[sweep]]
title = "Price"
x = "s"
y = "price"
[[sweep]]
title = "Of nothing"
x = "s"
y = "speed"
"""


@pytest.fixture(scope="session")
def make_run(make_record):
    """Make a record of a method with parameters: `make_run("a", {"s": 1}, "instance", measures={...})`."""

    def make(method, given, instance="i", **figures):
        record = make_record(method_label(method, given), instance, **figures)
        run = replace(record.run, method=method, given=given, parameters=given)
        return replace(record, key=run.key, run=run)

    return make


@pytest.fixture(scope="session")
def measured(make_run, tmp_path_factory) -> Results:
    """Waits of `a` and `b` for s = 1 and 2 on two instances, what a model predicts of `a`, and nothing bounded.

    At s = 2 `a` waits 3 s and 5 s, the model says 4.4 s, the paper 5 s; `b` does not wait.
    """
    records, make = [], partial(make_run, family="waiting")
    for instance, more in (("i", 0.0), ("j", 2.0)):
        for s in (1, 2):
            waits = {"mean_wait_s": 10.0 - 7 * (s - 1) + more, "price": 0.5 * s}
            records += [
                make("a", {"s": s, "limit": 60.0}, instance, objective=s, wall_s=0.5, measures=waits),
                make("b", {"s": s}, instance, objective=s, wall_s=0.5, measures={**waits, "mean_wait_s": 0.0}),
            ]
    for s, wait in ((1, 12.0), (2, 4.4)):
        told = {"mean_wait_s": wait}
        records.append(make("model-a", {"s": s, "limit": 60.0, "rate": 0.2}, "m", wall_s=0.1, details=told))
    suite = Suite.model_validate(tomllib.loads(MEASURES))
    return Results(tmp_path_factory.mktemp("measured"), suite, (), tuple(records), len(records), {})


@pytest.fixture(scope="session")
def mapped(measured, make_record) -> Results:
    """The best of `a` and `b` at two prices of two makes; `b` is the best at one of them only, and nobody knows another."""
    records = tuple(
        make_record(method, f"{make}-{price}", source={"make": make, "price": price}, objective=1, wall_s=0.5,
                    measures={"mean_wait_s": wait, "price": 1.0})
        for make, price, waits in (("x", 2, (1.5, 3.0)), ("x", 10, (2.0, 4.0)), (HOSTILE, 2, (5.0, 2.25)))
        for method, wait in zip("ab", waits, strict=True)
    )  # fmt: skip
    chosen = {"title": "Who is best", "x": "price", "y": "make", "measure": "mean_wait_s"}
    suite = measured.suite.model_copy(update={"sweep": [], "reference": [], "map": [Map.model_validate(chosen)]})
    return Results(measured.directory, suite, (), records, len(records), {})


@pytest.fixture(scope="session")
def address(results, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(results, path)
    return path.as_uri()


@pytest.fixture
def page(browser, address, show):
    """The page as opened on a desk, in the light."""
    show(1280, 900, "light")
    # What the browser's own first page and the page before asked for and complained of does not count.
    browser.get("about:blank")
    browser.get_log("performance")
    browser.get_log("browser")
    browser.get(address)
    return browser


def _curved(*tops):
    """Return a picture of curves alone: a line from 0 to the first top over 2 hours, and steps from the second."""
    cost = Curve("Cost & <b>time</b>", "hours", "dollars", (0.0, 1.0, 2.0), (0.0, tops[0] / 4, tops[0]))
    machines = Curve("Machines", "hours", "machines", (0.0, 1.0, 2.0), (tops[1], 1.0, 0.0), is_step=True)
    return Picture((), (), curves=(cost, machines))


@pytest.fixture(scope="session")
def curved(make_record, tmp_path_factory) -> Results:
    """Curves of `a` and `b` on `i` and `j` of one group and `k` of another; nobody solved `h`, which comes first.

    On all of them `a` costs $20 and begins with 4 machines, `b` $10 and 2.
    """
    directory = tmp_path_factory.mktemp("curved")
    records = [make_record("a", "h", group="first", wall_s=1.0)]
    for instance, group in (("i", "first"), ("j", "first"), ("k", "second")):
        for method, tops in (("a", (20.0, 4.0)), ("b", (10.0, 2.0))):
            record = make_record(method, instance, group=group, objective=int(tops[0]), wall_s=1.0)
            append_picture(directory, record.key, _curved(*tops))
            records.append(record)
    return Results(directory, None, (), tuple(records), len(records), {})


@pytest.fixture(scope="session")
def timed(make_record, tmp_path_factory) -> Results:
    """Schedules of ten methods on one instance: method m runs job 0 from second 0 to m + 1, job 1 after it, which waits.

    The price is 10 (m + 1) dollars, of which machines lose half.
    """
    directory = tmp_path_factory.mktemp("timed")
    records = []
    for m in range(10):
        long = "[scheduling=conservative,estimates=user,threshold=24.0]" if m == 9 else ""
        record = make_record(f"m{m}{long}", "i", objective=10 * (m + 1) * DOLLAR, bound=5 * DOLLAR, wall_s=2.0**m)
        end = m + 1
        table = timetable(
            [
                Spans.of(np.array([0, 1]), np.array([0, end]), np.array([end, 2 * end]), RUNS, np.array([0, 1])),
                Spans.of(np.array([-1]), np.array([0]), np.array([end]), WAITS, np.array([1])),
            ],
            lambda row: "waiting" if row < 0 else f"machine <{row}>",
            lambda job: f"job & {job}",
            {RUNS: "runs", WAITS: "waits"},
        )
        split = Split("$/h", 5.0 * end, (Loss("it1", 2, 8.0 * end, 3.5 * end), Loss("it2", 1, 2.0 * end, 1.5 * end)))
        curve = Curve("Work done", "seconds", "jobs", (0.0, float(end)), (0.0, 1.0 + m), is_step=True)
        append_picture(directory, record.key, Picture((), (), curves=(curve,), timetable=table, split=split))
        records.append(record)
    return Results(directory, None, (), tuple(records), len(records), {})
