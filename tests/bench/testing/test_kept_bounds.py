"""Bounds that are proven once: what is done, in which order, and what is left out."""

import pytest

from schedgap.bench.catalogue import chosen_method
from schedgap.bench.plan import Plan, make_run, setting
from schedgap.bench.plugins.discover import load_methods
from schedgap.bench.records.journal import read_journal
from schedgap.bench.records.runs import Limits
from schedgap.bench.testing.measure import prove_bounds
from schedgap.instances.errors import JournalError
from schedgap.instances.provisioning import FAMILY, table3, table7


@pytest.fixture
def plan():
    """Two instances, each with a bound that proves nothing alone, then an optimum, then a second one."""
    load_methods([FAMILY])
    plan = Plan(setting(FAMILY, (), 1))
    for instance in (table3(), table7(6)):
        for text in ("bound-resource", "patterns", "column-generation"):
            plan.add(instance, make_run(instance, *chosen_method(FAMILY, text), Limits.from_time_limit(5.0)))
    return plan


def test_an_optimum_ends_the_search_and_nothing_is_done_twice(tmp_path, plan, monkeypatch):
    """Each method on all instances before the next; with one run at a time no second optimum is looked for."""
    first = prove_bounds(plan, plan.runs, tmp_path / "kept", jobs=1)
    labels = [record.run.label for record in first.values()]
    assert labels == ["bound-resource", "bound-resource", "patterns", "patterns"]
    monkeypatch.setattr("schedgap.bench.testing.measure.open_executor", None)
    assert prove_bounds(plan, plan.runs, tmp_path / "kept", jobs=1).keys() == first.keys()
    assert read_journal(tmp_path / "kept").keys() == first.keys()


def test_a_directory_that_cannot_be_made_is_told(tmp_path, plan):
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match=r"file/kept/lock: cannot be written \(Not a directory\)"):
        prove_bounds(plan, plan.runs, tmp_path / "file" / "kept", jobs=1)
