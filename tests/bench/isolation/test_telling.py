"""What a run has told of outlives it, however it ends; and what is told falsely ends as one row with the right status."""

import json
from pathlib import Path

import pytest

from schedgap.bench import run_suite
from schedgap.instances.provisioning import read_solution, table7, verify

PLUGIN = Path(__file__).parents[1] / "plugins" / "telling.py"
# Status, reason, whether the cheapest solution that was told is in the row, and the bound.
EXPECTED = {
    "t-fails": ("error", "ValueError: no such luck", True, 2),
    "t-no-memory": ("memory", "MemoryError", True, None),
    "t-honest": ("feasible", None, True, None),
    "t-bound-alone": ("crashed", "exited with code 3", False, 7),
    "t-infeasible": (
        "invalid",
        "told before it failed (its process exited with code 3 and without an answer) is false",
        False,
        None,
    ),
    "t-above": ("invalid", "its bound 1000000000000000 is above the objective", False, None),
    "t-undeclared": ("invalid", "add bounds=True", False, None),
    "t-caught": ("crashed", "exited with code 3", True, None),
    "t-text": ("error", "method t-text tells that it found a str; found() takes a Provisioning.", False, None),
    "t-half": ("error", "method t-half tells the bound 0.5; found() takes a whole number", False, None),
    "t-garbage": ("invalid", "is no answer", False, None),
    "t-garbage-inside": ("invalid", "its solution cannot be read", False, None),
    "t-an-answer-inside": ("invalid", "its solution cannot be read", False, None),
    "t-long": ("invalid", "is no answer", False, None),
    "t-short-bound": ("invalid", "is no answer", False, None),
    "t-flood": ("crashed", "exited with code 3", True, 2),
    "t-after": ("invalid", "is no answer", False, None),
    "t-cut-off": ("crashed", "exited with code 3", True, None),
}


@pytest.fixture
def ends(write_suite, tmp_path):
    """Do runs, and look at what was kept of each: `ends(["t-fails"], seeds=2)`."""

    def call(methods, **how):
        kept = tmp_path / "kept"
        suite = write_suite(methods, **how)
        result = run_suite(suite, out=tmp_path / "out", plugins=[PLUGIN], jobs=4, solutions=kept)
        instances = {instance.digest: instance for instance in (table7(6, seed=seed) for seed in range(100))}
        for record in result.records:
            found, instance = record.measurement, instances[record.run.digest]
            files = list(kept.glob(f"{record.run.instance}.{record.run.label}*.json"))
            assert (found.solution_hash is None) == (found.objective is None) == (not files)
            assert bool(found.measures) == bool(files)
            for file in files:
                assert verify(instance, read_solution(instance, file)) == found.objective
        return result.records

    return call


@pytest.mark.parametrize(
    ("method", "status", "how"),
    [
        ("t-killed", "crashed", {"seeds": 20}),
        ("t-bombed", "memory", {"seeds": 15, "memory_mib": 160}),
        ("t-hangs", "timeout", {"seeds": 15, "wall_s": 1}),
    ],
)
def test_killed_at_a_random_moment(ends, method, status, how):
    """By SIGKILL, for its memory or its time, 50 times: what was found last is in the row."""
    for record in ends([method], **how):
        found = record.measurement
        assert (found.status, found.claimed_status, found.wall_s) == (status, None, None)
        assert found.output.split() == [str(found.objective), str(found.bound)]


def test_killed_at_once(ends):
    """What was told first was sent before `found` returned."""
    for record in ends(["t-at-once"], seeds=5):
        assert (record.status, record.measurement.bound in range(4)) == ("crashed", True)
        assert record.measurement.objective is not None


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder = tmp_path_factory.mktemp("telling")
    suite = folder / "telling.toml"
    suite.write_text(
        f"""
        schema = "schedgap/suite/1"
        name = "telling"
        title = ""
        question = ""
        family = "provisioning"
        methods = {json.dumps(list(EXPECTED))}
        [[instances]]
        generator = "table7"
        parameters = {{ tasks = 6 }}
        """
    )
    result = run_suite(suite, out=folder / "out", plugins=[PLUGIN], jobs=4)
    assert len((folder / "out" / "journal.jsonl").read_text().splitlines()) == len(EXPECTED)
    return {record.run.label: record.measurement for record in result.records}


@pytest.mark.parametrize("label", EXPECTED)
def test_one_right_row_each(rows, label):
    status, reason, has_cheapest, bound = EXPECTED[label]
    found, instance = rows[label], table7(6)
    assert found.status == status
    assert found.reason is None if reason is None else reason in found.reason
    cheapest = int(instance.price[instance.reservation_type[instance.task_classes()]].sum())
    assert (found.objective, found.bound) == (cheapest if has_cheapest else None, bound)
    assert found.trajectory == ()
