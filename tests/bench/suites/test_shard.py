"""A suite in parts: which runs are whose, and what the parts make together."""

import json
from collections import Counter

import pytest

from schedgap.bench import run_suite
from schedgap.bench.plan import plan_suite
from schedgap.bench.records.pictures import read_pictures
from schedgap.bench.suites.merge import merge
from schedgap.bench.suites.results import Shard, read_results
from schedgap.bench.suites.suite import read_suite
from schedgap.instances.errors import SuiteError

# What another moment may change.
TIMES = {"wall_s", "cpu_s", "warm_s", "compile_s", "reference_s", "build_s", "solve_s", "extract_s", "ended_at"}
ELSEWHERE = TIMES | {"peak_memory_mib", "trajectory"}


def rows(folder):
    lines = (folder / "journal.jsonl").read_text().splitlines()
    return {row["key"]: {n: v for n, v in row.items() if n not in ELSEWHERE} for row in map(json.loads, lines)}


@pytest.mark.parametrize("count", [1, 2, 3, 7, 40])
def test_every_run_is_in_one_shard(write_suite, count):
    """Three methods on five instances: no shard has more than one run above another, nor of any method."""
    plan = plan_suite(*read_suite(write_suite(["no-packing", "full-reconfiguration", "patterns"], seeds=5)))
    shards = [Shard(number + 1, count).keys(plan.runs) for number in range(count)]
    assert sorted(key for shard in shards for key in shard) == sorted(plan.runs)
    for chosen in (
        plan.runs,
        *({k for k, r in plan.runs.items() if r.method == m} for m in ("no-packing", "patterns")),
    ):
        sizes = Counter(sum(key in chosen for key in shard) for shard in shards)
        assert max(sizes) - min(sizes) <= 1


def test_the_order_of_the_suite_changes_no_shard(write_suite):
    methods = ["no-packing", "full-reconfiguration"]
    plans = [plan_suite(*read_suite(write_suite(order, seeds=3))) for order in (methods, methods[::-1])]
    one, two = (Shard(2, 3).keys(plan.runs) for plan in plans)
    assert sorted(one) == sorted(two)


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "1/0", "a/b", "-1/3", "1/3/5", "1 / 3", "١/٣"])
def test_what_is_no_shard(schedgap, write_suite, tmp_path, text):
    with pytest.raises(SuiteError, match="is no shard; give its number, from 1, and how many there are, as in 3/40"):
        Shard.parse(text)
    code, out, err = schedgap("run", write_suite(["no-packing"]), "--out", tmp_path / "out", f"--shard={text}")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def directories(tmp_path_factory, hostile):
    """One run of 21 runs on seven instances, and the same in forty shards, of which nineteen have nothing to do."""
    folder = tmp_path_factory.mktemp("shards")
    (folder / "little.toml").write_text("""
        schema = "schedgap/suite/1"
        name = "little"
        title = "Little"
        question = "?"
        family = "provisioning"
        methods = ["no-packing", "x-random", "x-error"]
        limits = { time_limit_s = 1, memory_mib = 512 }
        [[instances]]
        generator = "table7"
        parameters = { tasks = 6 }
        seeds = 7
        """)
    run_suite(folder / "little.toml", out=folder / "whole", plugins=[hostile])
    parts = [folder / f"part-{number}" for number in range(1, 41)]
    for number, part in enumerate(parts, start=1):
        result = run_suite(folder / "little.toml", out=part, plugins=[hostile], jobs=1, shard=f"{number}/40")
        assert len(result.records) == (1 if number <= 21 else 0)
    return folder, parts


def test_forty_shards_are_one_run(directories, tmp_path):
    folder, parts = directories
    merged = merge(parts, tmp_path / "merged")
    assert (merged.runs, merged.planned, merged.sources) == (21, 21, 40)
    assert rows(tmp_path / "merged") == rows(folder / "whole")
    results, whole = read_results(tmp_path / "merged"), read_results(folder / "whole")
    assert [record.key for record in results.records] == [record.key for record in whole.records]
    assert (results.suite, results.planned, results.missing, results.shard) == (whole.suite, 21, 0, "")
    assert (results.command, results.hosts) == (whole.command, whole.hosts)
    keys = {record.key for record in whole.records}
    assert read_pictures(tmp_path / "merged", keys) == read_pictures(folder / "whole", keys) != {}


def test_the_order_of_directories_changes_no_byte(directories, tmp_path):
    _, parts = directories
    merge(parts, tmp_path / "one")
    merge(parts[::-1], tmp_path / "two")
    for name in ("journal.jsonl", "pictures.jsonl", "plan.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_some_shards_are_no_whole_run(directories, tmp_path, schedgap, hostile):
    """Merged in two steps, and finished by a run without a shard."""
    folder, parts = directories
    code, out, err = schedgap("merge", *parts[:10], "--out", tmp_path / "ten")
    assert (code, err) == (3, "")
    assert out == (
        f"10 of 21 runs, from 10 directories, in {tmp_path / 'ten'}; 11 are still to be done: "
        f"`schedgap run SUITE --out {tmp_path / 'ten'}` does them.\n"
    )
    assert merge([tmp_path / "ten", *parts[9:20]], tmp_path / "twenty").runs == 20
    result = run_suite(folder / "little.toml", out=tmp_path / "twenty", plugins=[hostile], retry="none")
    assert (result.measured_now, len(result.records)) == (1, 21)
    assert rows(tmp_path / "twenty") == rows(folder / "whole")


def test_a_shard_says_that_it_is_one(directories, tmp_path, schedgap):
    folder, parts = directories
    _, out, _ = schedgap("report", parts[0])
    assert "20 of 21 still to be done (shard 1/40 only: `schedgap merge` joins all)" in " ".join(out.split())
    _, _, err = schedgap("report", parts[0], "--html", tmp_path / "page.html")
    assert "20 of 21 runs are not done (shard 1/40 only: `schedgap merge` joins all).\n" in err
    assert "<dt>runs</dt><dd>1 of 21 (shard 1/40)</dd>" in (tmp_path / "page.html").read_text()
    missing = next(part for part in parts if '"no-packing"' in (part / "journal.jsonl").read_text())
    _, out, _ = schedgap("compare", folder / "whole", missing)
    assert "NEW is not complete: 20 of its 21 runs are not done (shard" in " ".join(out.split())


def test_a_shard_without_runs_is_no_fault(directories, tmp_path, schedgap, hostile):
    folder, _ = directories
    code, out, err = schedgap("run", folder / "little.toml", "--plugin", hostile, "--shard", "40/40", "--out", tmp_path)
    assert (code, out) == (0, "")
    assert "shard 40/40: 0 of the suite's 21 runs; `schedgap merge` joins the shards." in " ".join(err.split())
