"""Instances as files: what is written is read back, what is wrong is said."""

import json

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.sharing.files import read_instance, write_instance
from schedgap.instances.sharing.generators import macro, micro, random_jobs

JOB = {"arrival_s": 0, "work_s": 2, "demand": [1, 4]}


@pytest.mark.parametrize(
    "instance",
    [
        micro(),
        micro(tasks=20, random_durations=True, notion="tsf"),
        random_jobs(6, seed=2, own_performance=True),
        macro(jobs=40, machines=20, tasks=800, warm_up_jobs=3),
    ],
)
def test_round_trip(tmp_path, instance):
    write_instance(instance, tmp_path / "i.json")
    again = read_instance(tmp_path / "i.json")
    assert (again.digest, again.name) == (instance.digest, instance.name)
    assert not (tmp_path / "i.arrays.npz").exists()


@pytest.mark.parametrize("names", [None, ("a", "b", "c", "d")])
def test_many_tasks_go_beside(tmp_path, names):
    instance = micro(tasks=2501, random_durations=True).replace(job_names=names)
    write_instance(instance, tmp_path / "i.json")
    assert read_instance(tmp_path / "i.json").digest == instance.digest
    assert (tmp_path / "i.arrays.npz").exists()
    assert "jobs" not in json.loads((tmp_path / "i.json").read_text())


def written(tmp_path, **changes):
    """Write a document of one machine class and one job, with changes."""
    document = {
        "schema": "schedgap/sharing/1",
        "name": "made",
        "notion": "eunomia",
        "resources": ["cpu", "ram_gib"],
        "machine_classes": [
            {"name": "slow", "count": 2, "capacity": [4, 16]},
            {"name": "fast", "capacity": [8, 16], "performance": 1.5},
        ],
        "jobs": [JOB],
    }
    path = tmp_path / "i.json"
    path.write_text(json.dumps({key: v for key, v in (document | changes).items() if v is not None}))
    return path


def test_numbers_as_people_write_them(tmp_path):
    jobs = [
        {"arrival_s": 0, "work_s": 0.25, "tasks": 3, "demand": [0.5, 1], "weight": 2},
        {"arrival_s": 1.5, "work_s": [1, 2], "demand": [1, 0], "allowed": ["fast"], "performance": {"fast": 3}},
    ]
    instance = read_instance(written(tmp_path, jobs=jobs, warm_up_jobs=1))
    assert instance.machine_count.tolist() == [2, 1]
    assert instance.capacity.tolist() == [[4000, 16384], [8000, 16384]]
    assert instance.arrival_ms.tolist() == [0, 1500]
    assert instance.demand.tolist() == [[500, 1024], [1000, 0]]
    assert instance.weight.tolist() == [2000, 1000]
    assert instance.performance.tolist() == [[1000, 1500], [1000, 3000]]
    assert instance.allowed.tolist() == [[True, True], [False, True]]
    assert instance.first_task.tolist() == [0, 3, 5]
    assert instance.work_ms.tolist() == [250, 250, 250, 1000, 2000]
    assert (instance.warm_up_jobs, instance.job_names) == (1, None)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"jobs": None}, "give either 'jobs' or 'jobs_file'"),
        ({"jobs_file": "x.npz"}, "give either 'jobs' or 'jobs_file'"),
        ({"jobs": None, "jobs_file": "x.npz"}, "x.npz: cannot be read .*; keep it beside this file"),
        ({"jobs": []}, "there are no jobs"),
        ({"notion": "none"}, "notion: input should be 'eunomia', 'tsf', 'cmmf' or 'drf'"),
        ({"jobs": [JOB | {"allowed": ["quick"]}]}, "job 0 is allowed on machine class 'quick'; there are slow, fast"),
        ({"jobs": [JOB | {"demand": [1]}]}, "job 0 has 1 demands for the 2 resources cpu, ram_gib"),
        ({"jobs": [JOB | {"work_s": [1, 2], "tasks": 3}]}, "job 0 has 3 tasks and 2 numbers in work_s"),
        ({"jobs": [JOB | {"work_s": 0.0001}]}, "jobs.work_s of '[a-z0-9]+': 0.0001 is not a whole number of 1/1000"),
        ({"jobs": [JOB | {"name": "a"}, JOB]}, "jobs.1 has no name, others have"),
        ({"jobs": [JOB | {"tasks": 0}]}, "jobs.0.tasks: input should be greater than or equal to 1"),
        ({"jobs": [JOB | {"taks": 3}]}, "jobs.0.taks: unknown field"),
        ({"jobs": [JOB | {"arrival_s": 5}, JOB]}, "job job-1 arrives at 0 ms, before job job-0 at 5000 ms"),
        ({"jobs": [JOB | {"demand": [9, 4]}]}, "no machine class that job job-0 is allowed on fits one of its tasks"),
    ],
)
def test_a_malformed_instance(tmp_path, changes, message):
    with pytest.raises(InstanceError, match=f"i.json: .*{message}"):
        read_instance(written(tmp_path, **changes))


def test_arrays_that_are_not_all_there(tmp_path):
    write_instance(micro(tasks=2501), tmp_path / "i.json")
    np.savez(tmp_path / "i.arrays.npz", arrival_ms=np.arange(3))
    with pytest.raises(InstanceError, match="no array 'demand'; write the instance anew"):
        read_instance(tmp_path / "i.json")
