"""What something else has touched beside us: one sentence, a picture less, or the same as before; never a traceback."""

import json
from dataclasses import replace
from random import Random

import pytest
from msgspec import structs

from schedgap.bench.comparison.comparison import compare
from schedgap.bench.comparison.output import render
from schedgap.bench.records.journal import read_journal
from schedgap.bench.records.pictures import append_picture, read_pictures
from schedgap.bench.report.page import build_content, render_page
from schedgap.bench.statistics.export_table import frame, points
from schedgap.bench.statistics.headlines.registry import suite_json
from schedgap.bench.suites.results import read_results, write_plan
from schedgap.bench.suites.suite import read_suite
from schedgap.instances.errors import SchedgapError
from schedgap.instances.method import Status
from schedgap.instances.picture import Bar, Curve, Part, Picture

DAMAGED = 120
PICTURE = Picture(("gpu", "cpu"), (Bar("it1", 3, (4.0, 16.0), (Part("tau1", 2, (2.0, 8.0)),)),), 1)
CURVES = (Curve("Cost over time", "hours", "dollars", (0.0, 0.1, 2.0), (0.0, 1e-7, 12.5)),)


@pytest.fixture
def directory(tmp_path, make_record):
    """A directory of results with everything that one may have."""
    folder = tmp_path / "whole"
    folder.mkdir()
    trajectory = ((0.5, 7_000_000, None), (1.0, 5_000_000, 3_000_000))
    figures = {"wall_s": 0.25, "build_s": 0.1, "reference_s": 1e-4, "cpu_s": 0.3, "peak_memory_mib": 100.5}
    records = [
        make_record("a", name, objective=5_000_000, bound=3_000_000, trajectory=trajectory, **figures)
        for name in ("i", "j")
    ]
    records += [make_record("b", "i", objective=6_000_000, measures={"machines": 3.0}, details={"n": 3}, **figures)]
    records += [make_record("b", "j", status=Status.ERROR, reason="ValueError: no", output="a\nb")]
    run = structs.replace(records[0].run, parameters={"x": 1.5, "y": "z"}, given={"x": 1.5}, plugin="ab", group="g")
    records += [structs.replace(records[0], run=run, key=run.key)]
    (folder / "journal.jsonl").write_text("".join(json.dumps(record.to_row()) + "\n" for record in records))
    write_plan(folder, read_suite("smoke")[0], ["schedgap", "run", "smoke"], [record.key for record in records])
    for record in records:
        append_picture(folder, record.key, replace(PICTURE, curves=CURVES))
    (folder / "hosts").mkdir()
    (folder / "hosts" / "host.json").write_text(
        '{"schema": "schedgap/host/1", "name": "n", "packages": {"numpy": "2"}}'
    )
    return folder


def look(folder, whole, *, page):
    """Do what `report` and `compare` do."""
    results = read_results(folder)
    read_pictures(folder, {record.key for record in results.records})
    if results.records:
        json.dumps(suite_json(results.suite, results.records), allow_nan=False)
        frame(results)
        points(results)
        if page:
            render_page(build_content(results))
    for sides in ((folder, whole), (whole, folder)):
        render(compare(*sides), "json")


@pytest.mark.parametrize("name", ["journal.jsonl", "plan.json", "pictures.jsonl", "hosts/host.json"])
def test_damaged_files(directory, tmp_path, mutation, name):
    """One file at a time; all that `report` and `compare` compute is computed."""
    content = {path.relative_to(directory): path.read_bytes() for path in directory.rglob("*.json*")}
    folder = tmp_path / "damaged"
    (folder / "hosts").mkdir(parents=True)
    ends = {"read": 0, "refused": 0}
    for number in range(DAMAGED // 4):
        random = Random(f"{name} {number}")
        for path, text in content.items():
            (folder / path).write_bytes(text)
        target = folder / name
        if random.random() < 0.25:
            target.write_bytes(mutation.damaged_bytes(target.read_bytes(), random))
        else:
            lines = target.read_bytes().splitlines()
            chosen = random.randrange(len(lines)) if name.endswith("l") else slice(None)
            before = lines[chosen] if name.endswith("l") else b"\n".join(lines)
            after = mutation.damaged_json(before, random)
            lines[chosen] = after if name.endswith("l") else [after]
            target.write_bytes(b"\n".join(lines) + b"\n")
        try:
            look(folder, directory, page=number % 15 == 0)
            ends["read"] += 1
        except SchedgapError as error:
            assert "\n" not in str(error)
            ends["refused"] += 1
    assert ends["refused"] == 0 if name == "pictures.jsonl" else ends["refused"] > 3


@pytest.mark.parametrize(
    "damage",
    [
        lambda line: line.replace(b'"repeat":3', b'"repeat":"3"'),
        lambda line: line.replace(b"[4.0,16.0]", b"[4.0]"),
        lambda line: line.replace(b"[4.0,16.0]", b"[4.0,NaN]"),
        lambda line: line.replace(b'"parts":', b'"party":'),
        lambda line: line.replace(b"[0.0,0.1,2.0]", b"[0.0,0.1]"),
        lambda line: line.replace(b"it1", b"it\xff"),
        lambda line: b"[]\n",
        lambda line: b"[" * 10_000 + b"\n",
    ],
)
def test_a_damaged_picture_is_left_out(directory, damage):
    keys = list(read_journal(directory))
    path = directory / "pictures.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    damaged = damage(lines[0])
    assert damaged != lines[0]
    path.write_bytes(b"".join([damaged, *lines[1:]]))
    assert list(read_pictures(directory, set(keys))) == keys[1:]


def test_half_a_surrogate_pair_in_a_reason(directory, tmp_path, schedgap):
    """An exception may say anything; JSON can hold it, UTF-8 cannot."""
    path = directory / "journal.jsonl"
    path.write_text(path.read_text().replace("ValueError: no", "ValueError: \\ud800"))
    page = tmp_path / "page.html"
    for arguments in (
        (),
        ("--html", page),
        ("--figures", tmp_path / "f"),
        ("--table", tmp_path / "t.csv"),
        ("--json",),
    ):
        code, _, err = schedgap("report", directory, *arguments)
        assert (code, err) == (0, "")
    assert "ValueError: ?" in page.read_text()
