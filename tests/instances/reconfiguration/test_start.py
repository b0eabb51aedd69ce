"""Machines that run at second 0: what an instance says of them, and what cannot be."""

import json

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.running import Running
from schedgap.instances.reconfiguration import RECONFIGURATION, alibaba_like
from schedgap.instances.reconfiguration.files import read_instance, write_instance


def starting(two_jobs, content=((2, 0), (0, 0)), kinds=(0, 0), **changes):
    """Machines a and b; job 0 has two tasks of 2 cores, which fill one, job 1 one of 1 core."""
    running = Running.from_contents(("a", "b")[: len(kinds)], kinds, np.array(content))
    return two_jobs(**{"num_tasks": [2, 1], "arrival_s": [0, 0], "running": running, **changes})


def test_tasks_of_a_job_are_on_its_machines_in_order(two_jobs):
    instance = starting(two_jobs, [[1, 1], [1, 0]])
    assert instance.is_running().tolist() == [True, True]
    assert instance.first_machine().tolist() == [0, 1, 0]
    half = starting(two_jobs, [[0, 0], [0, 1]])
    assert half.is_running().tolist() == [False, True]
    assert half.first_machine().tolist() == [-1, -1, 1]


def test_it_is_a_feature_and_part_of_the_digest(two_jobs):
    plain, features = two_jobs(num_tasks=[2, 1], arrival_s=[0, 0]), RECONFIGURATION.features
    nothing = plain.replace(running=Running.from_contents((), [], np.zeros((0, 2))))
    assert nothing.running is None and nothing.digest == plain.digest
    several = [plain, starting(two_jobs), starting(two_jobs, [[1, 0], [1, 0]]), starting(two_jobs, [[0, 0], [0, 0]])]
    assert len({instance.digest for instance in several}) == len(several)
    assert [features(instance) for instance in several[:2]] == [set(), {"running"}]


@pytest.mark.parametrize(
    ("content", "kinds", "changes", "sentence"),
    [
        (((2, 0), (0, 0)), (0, 1), {}, "two-jobs: a running machine names machine type 1; there are 1."),
        (((2, 0, 1),), (0,), {}, "two-jobs: a running machine names job 2; there are 2."),
        (
            ((2, 0), (1, 0)),
            (0, 0),
            {},
            "two-jobs: 3 tasks of job 0 are on running machines, the instance has 2; correct one of them.",
        ),
        (
            ((1, 0), (0, 0)),
            (0, 0),
            {},
            "two-jobs: 1 of the 2 tasks of job 0 are on running machines; put all there, or none.",
        ),
        (
            ((0, 1),),
            (0,),
            {"arrival_s": [0, 60]},
            "two-jobs: job 1 is on a running machine and arrives at 60 s; only jobs that arrive at second 0 can run then.",
        ),
        (((2, 1),), (0,), {}, "two-jobs: running machine a (four) holds 5 cpu, it has 4 cpu; take tasks off it."),
    ],
)
def test_what_cannot_be_is_refused(two_jobs, content, kinds, changes, sentence):
    with pytest.raises(InstanceError) as caught:
        starting(two_jobs, content, kinds, **changes)
    assert str(caught.value) == sentence


def test_a_family_on_which_a_class_may_not_run_is_refused(two_jobs):
    base = two_jobs().catalogue
    wider = base.replace(
        families=("x", "y"),
        type_names=("four", "other"),
        type2family=[0, 1],
        capacity=[[4000], [4000]],
        price=[3_600_000, 1],
        demand=[[[2000], [1000]], [[-1], [1000]]],
    )
    fields = {"catalogue": wider, "acquire_s": [3, 3], "setup_s": [7, 7]}
    starting(two_jobs, [[2, 0], [0, 1]], (0, 1), **fields)
    with pytest.raises(InstanceError) as caught:
        starting(two_jobs, [[0, 1], [2, 0]], (0, 1), **fields)
    assert str(caught.value) == (
        "two-jobs: running machine b holds tasks of job 0, whose class task-0 may not run on family y; put them elsewhere."
    )


def test_running_machines_are_among_those_that_can_be_had(two_jobs):
    catalogue = two_jobs().catalogue
    starting(two_jobs, catalogue=catalogue.replace(stock=[2]))
    with pytest.raises(InstanceError, match="2 machines of type four run, its count is 1; running machines are among"):
        starting(two_jobs, catalogue=catalogue.replace(stock=[1]))


@pytest.fixture
def document(tmp_path, two_jobs):
    """The file of an instance with machines a and b, and what it says."""
    path = tmp_path / "i.json"
    write_instance(starting(two_jobs), path)
    return path, json.loads(path.read_text())


def test_they_are_read_and_written(document, two_jobs):
    path, written = document
    assert written["running"] == [
        {"name": "a", "type": "four", "counts": {"0": 2}},
        {"name": "b", "type": "four", "counts": {}},
    ]
    assert read_instance(path).digest == starting(two_jobs).digest


def test_they_stay_beside_many_jobs(tmp_path, begun):
    instance = begun(alibaba_like(10_001), 1)
    assert instance.is_running().any()
    write_instance(instance, tmp_path / "many.json")
    assert "jobs_file" in json.loads((tmp_path / "many.json").read_text())
    assert read_instance(tmp_path / "many.json").digest == instance.digest


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        ({"type": "d", "counts": {}}, "running machine a names type 'd', which the file has not; add it."),
        ({"type": "four", "counts": {"3": 1}}, "running machine a names job '3', which the file has not"),
        ({"type": "four", "counts": {"0": 1}}, "1 of the 2 tasks of job 0 are on running machines; put all there"),
        ({"type": "four", "counts": {"0": 0}}, "running.0.counts.0"),
    ],
)
def test_files_of_what_cannot_be_are_refused(document, machine, message):
    path, written = document
    path.write_text(json.dumps({**written, "running": [{"name": "a", **machine}]}))
    with pytest.raises(InstanceError, match=message):
        read_instance(path)
