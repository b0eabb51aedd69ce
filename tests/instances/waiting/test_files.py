"""Instances and schedules as files: what is written is read back, what is wrong is said."""

import json

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError, SolutionError
from schedgap.instances.waiting import (
    RENTED,
    WaitingSchedule,
    mms,
    read_instance,
    read_solution,
    verify,
    write_instance,
    write_solution,
)


@pytest.mark.parametrize("jobs", [3, 10_001])
def test_instance_round_trip(tmp_path, jobs):
    instance = mms(jobs, seed=1, wait_price=0.125, max_wait_h=2.5)
    write_instance(instance, tmp_path / "i.json")
    again = read_instance(tmp_path / "i.json")
    assert (again.digest, again.name) == (instance.digest, instance.name)
    assert (tmp_path / "i.arrays.npz").exists() == (jobs > 10_000)


def test_schedule_round_trip(tmp_path):
    instance = mms(4, seed=1)
    schedule = WaitingSchedule(1, [0, RENTED, RENTED, RENTED], instance.submit_us)
    write_solution(instance, schedule, tmp_path / "s.json")
    again = read_solution(instance, tmp_path / "s.json")
    assert again.num_machines == 1
    assert np.array_equal(again.machine, schedule.machine)
    assert verify(instance, again) == verify(instance, schedule)
    assert json.loads((tmp_path / "s.json").read_text())["machine"] == [0, None, None, None]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"jobs": None}, "give either 'jobs' or 'jobs_file'"),
        ({"jobs_file": "x.npz"}, "give either 'jobs' or 'jobs_file'"),
        ({"jobs": None, "jobs_file": "x.npz"}, "x.npz: cannot be read .*; keep it beside this file"),
        ({"horizon_s": 0}, "horizon_s: input should be greater than 0"),
        ({"horizon_s": 0.1234567}, "horizon_s: 0.1234567 is not a whole number of 1/1000000"),
        ({"rented": []}, "rented"),
        ({"mistake": 1}, "mistake: unknown field"),
    ],
)
def test_a_malformed_instance(tmp_path, change, message):
    write_instance(mms(3), tmp_path / "i.json")
    document = json.loads((tmp_path / "i.json").read_text()) | change
    (tmp_path / "i.json").write_text(json.dumps({k: v for k, v in document.items() if v is not None}))
    with pytest.raises(InstanceError, match=f"i.json: .*{message}"):
        read_instance(tmp_path / "i.json")


def test_arrays_that_are_not_all_there(tmp_path):
    write_instance(mms(10_001), tmp_path / "i.json")
    np.savez(tmp_path / "i.arrays.npz", submit_us=np.arange(3))
    with pytest.raises(InstanceError, match="no array 'runtime_us'; write the instance anew"):
        read_instance(tmp_path / "i.json")


def test_the_schedule_of_another_instance(tmp_path):
    instance, other = mms(2, seed=1), mms(2, seed=2)
    write_solution(instance, WaitingSchedule(0, [RENTED] * 2, instance.submit_us), tmp_path / "s.json")
    with pytest.raises(SolutionError, match="give the instance that it was made for"):
        read_solution(other, tmp_path / "s.json")
