"""What a suite would take, by what it took."""

from pathlib import Path

import pytest

from schedgap.bench.forecast import forecast
from schedgap.bench.suites.results import read_results

ROOT = Path(__file__).parents[2]


def test_by_the_journal_in_results(tmp_path, monkeypatch):
    """Each run takes what it took there; two at a time take half of the sum, but no less than the longest."""
    monkeypatch.chdir(ROOT)
    alone = forecast("ci-fairness", out=tmp_path / "none", jobs=1)
    assert (alone.recorded, alone.known) == (0, alone.planned)
    assert alone.sources == (Path("results/ci-fairness"),)
    planned = {run.key for run in alone.runs}
    records = [each for each in read_results(ROOT / "results" / "ci-fairness").records if each.key in planned]
    assert alone.expected_s == pytest.approx(sum(record.measurement.wall_s for record in records), rel=1e-6)
    longest = max(record.measurement.wall_s for record in records)
    two = forecast("ci-fairness", out=tmp_path / "none", jobs=2)
    assert two.expected_s == pytest.approx(max(alone.expected_s / 2, longest))
    assert not (tmp_path / "none").exists()


def test_what_is_recorded_is_not_done_again(monkeypatch):
    monkeypatch.chdir(ROOT)
    done = forecast("ci-fairness", out="results/ci-fairness")
    assert done.recorded + len(done.runs) == done.planned
    few = forecast("ci-fairness", out="results/ci-fairness", fresh=True, only=["water"])
    assert {run.method for run in few.runs} == {"water-filling"}
    assert few.to_json()["planned"] == done.planned
