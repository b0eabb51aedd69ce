import pytest

from schedgap.instances.harvest.verify import run_name, seconds


def test_tasks_and_runs_have_names(trio, runs):
    assert [trio.task_name(task) for task in range(3)] == ["task 0 of job x", "task 1 of job x", "task 0 of job y"]
    assert trio.replace(job_names=None).task_name(2) == "task 0 of job job-1"
    assert run_name(trio, runs((2, 0, 10, 60), (1, 0, 0, 40)), 1) == "run 1 (task 1 of job x)"


@pytest.mark.parametrize(
    ("ms", "text"), [(0, "0 s"), (1500, "1.5 s"), (2**50 + 1, "1125899906842.625 s"), (-1, "-0.001 s")]
)
def test_moments_to_the_millisecond(ms, text):
    assert seconds(ms) == text
