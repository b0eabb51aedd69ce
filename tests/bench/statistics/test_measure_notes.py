import pytest

from schedgap.bench.plugins.discover import load_families
from schedgap.bench.statistics.measure_rows import measure_note
from schedgap.instances.family import find_family


@pytest.fixture(scope="module", autouse=True)
def families():
    load_families()


@pytest.mark.parametrize(
    ("family", "name", "told"),
    [
        ("waiting", "on_demand_share", "of jobs that rent"),
        ("waiting", "steady_mean_wait_s", "the same of the jobs left when a tenth is trimmed at each end"),
        ("reconfiguration", "p95_jct_h", "hours from a job's arrival to its end"),
        ("reconfiguration", "gpu_allocation", "share of a resource held by tasks, of what was paid for"),
        ("harvest", "makespan_s", "from the first arrival to the last end"),
    ],
)
def test_notes_are_those_of_the_families(family, name, told):
    assert measure_note(find_family(family), name).startswith(told)


def test_nobody_knows_what_is_not_documented():
    assert measure_note(find_family("waiting"), "speed") == ""
    assert measure_note(None, "speed") == ""
