"""Tables for other tools: every column, exact numbers, both files, nothing replaced unasked."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest

from schedgap.bench.records.runs import Limits, Measurement, Run
from schedgap.bench.statistics.export_table import POINT_COLUMNS, RUN_COLUMNS, frame, points, write_table
from schedgap.bench.suites.results import Results
from schedgap.instances.errors import ReportError
from schedgap.instances.method import Status


@pytest.fixture
def results(tmp_path, make_record):
    records = (
        make_record(
            "exact",
            source={"tasks": 5, "name": "ü"},
            objective=2**62 + 1,
            bound=2**62 - 1,
            wall_s=2.0,
            trajectory=((1.0, None, 5), (2.0, 2**62 + 1, 2**62 - 1)),
            details={"nodes": 3},
        ),
        make_record("greedy", objective=2**62 + 3, wall_s=0.5),
        make_record("wrong", objective=1, bound=2**62, status=Status.INVALID, reason="it lies"),
        make_record("other", status=Status.UNSUPPORTED),
    )
    return Results(tmp_path, None, (), records, len(records), {})


def test_half_a_character_is_replaced(tmp_path, make_record):
    """What a method reports may hold what UTF-8 cannot; the journal has it escaped."""
    record = make_record("a", objective=5, details={"note": "x\ud800"}, reason="y\udfff")
    write_table(Results(tmp_path, None, (), (record,), 1, {}), tmp_path / "runs.csv")
    (row,) = pd.read_csv(tmp_path / "runs.csv").to_dict("records")
    assert (row["details"], row["reason"]) == ('{"note":"x?"}', "y?")


def test_figures_of_a_failed_run_are_those_of_its_instance_only(tmp_path, make_record):
    """What it had found before is among the best known, and in no column of its own."""
    record = make_record("a", objective=5, bound=4, measures={"machines": 2.0}, status=Status.TIMEOUT)
    (row,) = frame(Results(tmp_path, None, (), (record,), 1, {})).to_dict("records")
    assert (row["best_objective"], row["best_bound"], row["measures"], row["failed"]) == (5, 4, "{}", True)
    assert [pd.isna(row[name]) for name in ("objective", "bound", "gap", "objective_shown")] == [True] * 4


def test_runs(results):
    exact, greedy, wrong, other = frame(results).to_dict("records")
    assert (exact["instance"], exact["method"], exact["status"], exact["unit"]) == ("i", "exact", "feasible", "$/h")
    assert (exact["objective"], exact["bound"], exact["best_bound"]) == (2**62 + 1, 2**62 - 1, 2**62 - 1)
    assert exact["gap"] == 2 / (2**62 + 1)
    assert exact["objective_shown"] == (2**62 + 1) / 10**6
    assert json.loads(exact["source"]) == {"tasks": 5, "name": "ü"}
    assert exact["source"] == '{"name":"ü","tasks":5}'
    assert json.loads(exact["details"]) == {"nodes": 3}
    assert (exact["limits_wall_s"], exact["limits_memory_mib"]) == (100.0, 4096)
    assert np.isnan(exact["limits_cpu_s"])
    # One second of nothing, one of no solution.
    assert exact["primal_integral_s"] == 2.0
    assert exact["ended_at"] == pd.Timestamp("2030-01-01T00:00:00Z")
    assert (greedy["objective"], greedy["best_objective"]) == (2**62 + 3, 2**62 + 1)
    assert pd.isna(greedy["bound"])
    assert [row["failed"] for row in (exact, greedy, wrong, other)] == [False, False, True, False]
    # Figures of a failed run count nowhere.
    assert (wrong["proven_optimal"], wrong["reason"]) == (False, "it lies")
    assert pd.isna([wrong["objective"], wrong["bound"], other["proven_optimal"], other["objective"]]).all()
    assert np.isnan(other["primal_integral_s"])


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_what_64_bits_do_not_hold_is_text(tmp_path, make_record, suffix):
    records = (make_record("a", objective=2**70, bound=2**63 - 1, trajectory=((1.0, -(2**64), 5),)), make_record("b"))
    write_table(Results(tmp_path, None, (), records, 2, {}), tmp_path / f"runs{suffix}")
    read = {".csv": partial(pd.read_csv, dtype="string"), ".parquet": pd.read_parquet}[suffix]
    large, nothing = read(tmp_path / f"runs{suffix}").to_dict("records")
    assert (large["objective"], int(large["bound"])) == (str(2**70), 2**63 - 1)
    assert pd.isna(nothing["objective"])
    assert read(tmp_path / f"runs.points{suffix}")["objective"].tolist() == [str(-(2**64))]


def test_points(results):
    first, last = points(results).to_dict("records")
    assert (first["label"], first["point"], first["elapsed_s"], first["bound"]) == ("exact", 0, 1.0, 5)
    assert pd.isna(first["objective"])
    assert (last["point"], last["objective"], last["bound"]) == (1, 2**62 + 1, 2**62 - 1)
    assert first["key"] == results.records[0].key
    assert first["bound_shown"] == 5e-6


def test_every_field_of_the_journal_has_a_column():
    known = set(RUN_COLUMNS)
    missing = {*Run.__struct_fields__, *Measurement.__struct_fields__} - known
    assert missing == {"limits", "trajectory"}
    assert {f"limits_{name}" for name in Limits.__struct_fields__} <= known


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_files_hold_the_same(results, tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    write_table(results, path)
    for file, table, columns in (
        (path, frame(results), RUN_COLUMNS),
        (tmp_path / f"table.points{suffix}", points(results), POINT_COLUMNS),
    ):
        if suffix == ".csv":
            dates = [name for name, kind in columns.items() if kind.startswith("datetime")]
            kinds = {name: kind for name, kind in columns.items() if name not in dates}
            read = pd.read_csv(file, dtype=kinds, parse_dates=dates, keep_default_na=False, na_values=[""])
            # An empty text and none at all are the same in a CSV file.
            table = table.replace("", pd.NA).astype({name: table[name].dtype for name in columns})
            read = read.astype({name: table[name].dtype for name in columns})
        else:
            read = pd.read_parquet(file)
            assert read.attrs == {"schema": "schedgap/table/1"}
        pd.testing.assert_frame_equal(read, table)
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([path.name, f"table.points{suffix}"])


def test_of_nothing(tmp_path):
    nothing = Results(tmp_path, None, (), (), 0, {})
    assert frame(nothing).dtypes.map(str).to_dict() == RUN_COLUMNS
    assert points(nothing).shape == (0, len(POINT_COLUMNS))
    write_table(nothing, tmp_path / "t.parquet")
    assert pd.read_parquet(tmp_path / "t.parquet").shape == (0, len(RUN_COLUMNS))


def test_a_family_that_is_not_installed_has_no_unit(results, monkeypatch):
    monkeypatch.setattr("schedgap.bench.statistics.export_table.FAMILIES", {})
    row = frame(results).to_dict("records")[0]
    assert row["objective"] == 2**62 + 1
    assert pd.isna([row["unit"], row["objective_shown"]]).all()


def test_nothing_is_replaced_unasked(results, tmp_path):
    path, beside = tmp_path / "t.csv", tmp_path / "t.points.csv"
    for there in (path, beside):
        there.write_text("mine")
        with pytest.raises(ReportError, match=f"{there.name} exists and is not written over"):
            write_table(results, path)
        assert there.read_text() == "mine"
        assert len(list(tmp_path.iterdir())) == 1
        there.unlink()
    path.write_text("mine")
    write_table(results, path, force=True)
    assert path.read_text().startswith("key,family,")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("t.xlsx", r"t\.xlsx: a table ends in \.csv or \.parquet, not '\.xlsx'"),
        ("table", r"table: a table ends in \.csv or \.parquet, not ''"),
        ("mine/t.csv", r"mine/t\.csv: cannot be written"),
    ],
)
def test_what_cannot_be_written(results, tmp_path, name, message):
    (tmp_path / "mine").write_text("a file, no folder")
    with pytest.raises(ReportError, match=message):
        write_table(results, tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
