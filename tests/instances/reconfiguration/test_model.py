"""What an instance refuses, and how it numbers classes and workloads."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.model import ProvisioningInstance
from schedgap.instances.provisioning.running import Running
from schedgap.instances.reconfiguration import RECONFIGURATION
from schedgap.instances.reconfiguration.model import MAX_TIME_S, ReconfigurationInstance

WORKLOADS = ("gcn", "vit", "a3c")
# Throughput of workload i beside workload j: no two alike, so that a wrong order shows.
THROUGHPUT = np.array([[901, 902, 903], [911, 912, 913], [921, 922, 923]])


def catalogue(**changes):
    """One family, one type of 8 cores at $1; classes a, b, c of 1, 2 and 3 cores and workloads vit, gcn, a3c."""
    fields = {
        "resources": ("cpu",),
        "families": ("m",),
        "type_names": ("m8",),
        "type2family": [0],
        "capacity": [[8000]],
        "price": [1_000_000],
        "demand": [[[1000], [2000], [3000]]],
        "counts": [1, 1, 1],
        "class_names": ("a", "b", "c"),
        "workloads": WORKLOADS,
        "class2workload": [1, 0, 2],
        "throughput": THROUGHPUT,
    }
    return ProvisioningInstance(name="small", **{**fields, **changes})


def instance(**changes):
    """Jobs of the classes c, a, b, c."""
    fields = {
        "catalogue": catalogue(),
        "acquire_s": [7],
        "setup_s": [100],
        "fetch_s": [1, 2, 3],
        "build_s": [10, 10, 10],
        "kill_s": [1, 1, 1],
        "upload_s": [4, 5, 6],
        "init_s": [28, 143, 10],
        "arrival_s": [0, 300, 301, 900],
        "work_s": [10, 20, 30, 40],
        "job2class": [2, 0, 1, 2],
        "num_tasks": [1, 2, 3, 4],
    }
    return ReconfigurationInstance("small", **{**fields, **changes})


def test_classes_and_workloads_are_numbered_by_their_first_jobs():
    made = instance()
    assert made.job2class.tolist() == [0, 1, 2, 0]
    assert made.catalogue.class_names == ("c", "a", "b")
    assert made.catalogue.demand.ravel().tolist() == [3000, 1000, 2000]
    assert made.catalogue.counts.tolist() == [1 + 4, 2, 3]
    assert made.catalogue.workloads == ("a3c", "vit", "gcn")
    assert made.class2workload.tolist() == [0, 1, 2]
    assert (made.fetch_s.tolist(), made.init_s.tolist()) == ([3, 2, 1], [10, 143, 28])
    assert made.throughput.tolist() == [[923, 922, 921], [913, 912, 911], [903, 902, 901]]


def test_the_order_of_classes_and_workloads_is_no_content():
    other = catalogue(
        demand=[[[3000], [1000], [2000]]],
        class_names=("c", "a", "b"),
        workloads=("vit", "gcn", "a3c"),
        class2workload=[2, 0, 1],
        throughput=THROUGHPUT[np.ix_([1, 0, 2], [1, 0, 2])],
    )
    delays = {"fetch_s": [2, 1, 3], "upload_s": [5, 4, 6], "init_s": [143, 28, 10]}
    assert instance(catalogue=other, job2class=[0, 1, 2, 0], **delays).digest == instance().digest


@pytest.mark.parametrize(
    "changes",
    [
        {"period_s": 301},
        {"terminate_s": 2},
        {"acquire_s": [8]},
        {"init_s": [28, 143, 11]},
        {"work_s": [10, 20, 30, 41]},
        {"num_tasks": [1, 2, 3, 5]},
        {"catalogue": catalogue(price=[999_999])},
        {"catalogue": catalogue(throughput=None)},
    ],
    ids=lambda changes: str(list(changes)),
)
def test_the_digest_is_of_the_content(changes):
    assert instance(**changes).digest != instance().digest


def test_replacing_validates_anew():
    made = instance()
    assert made.replace(period_s=301).digest == instance(period_s=301).digest
    assert made.replace().digest == made.digest
    with pytest.raises(InstanceError, match="period_s is 0"):
        made.replace(period_s=0)


def test_the_digest_is_not_of_names_and_notes():
    assert instance().replace(name="other", notes=("said",)).digest == instance().digest


def test_tasks_and_first_plans():
    made = instance()
    assert made.num_jobs == 4
    assert made.first_task().tolist() == [0, 1, 3, 6, 10]
    # Arrivals at 0, 300, 301 and 900 s; plans at multiples of 300 s.
    assert made.first_plan_s().tolist() == [0, 300, 600, 900]


def test_without_interference_everything_runs_at_full_speed():
    made = instance(catalogue=catalogue(throughput=None))
    assert made.catalogue.throughput is None
    assert made.throughput.tolist() == [[1000] * 3] * 3


def test_arrays_are_locked_copies():
    arrival_s = np.array([0, 300, 301, 900])
    made = instance(arrival_s=arrival_s)
    arrival_s[0] = 5
    assert made.arrival_s[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        made.work_s[0] = 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"work_s": [10, 20, 30]}, r"work_s has shape \(3,\) for 4 jobs"),
        ({"acquire_s": [7, 7]}, r"acquire_s has shape \(2,\) for 1 machine types"),
        ({"kill_s": [1]}, r"kill_s has shape \(1,\) for 3 workloads"),
        (
            {"arrival_s": [], "work_s": [], "job2class": [], "num_tasks": []},
            r"small: there are no jobs; give at least one",
        ),
        ({"arrival_s": [-1, 0, 0, 0]}, r"job 0 arrives at -1; give a time that is not negative"),
        ({"work_s": [10, 0, 30, 40]}, r"job 1 has work of 0; give a positive number of seconds"),
        ({"work_s": [10, 20, -5, 40]}, r"job 2 has work of -5; give a positive"),
        ({"num_tasks": [1, 2, 3, 0]}, r"job 3 has tasks 0; give at least 1"),
        ({"job2class": [2, 0, 1, 3]}, r"job 3 has task class 3; give one of 0\.\.2"),
        ({"job2class": [2, 0, 1, -1]}, r"job 3 has task class -1; give one of 0\.\.2"),
        ({"arrival_s": [0, 300, 299, 900]}, r"job 2 arrives at 299 s, before job 1 at 300 s; give the jobs in order"),
        ({"job2class": [2, 0, 0, 2]}, r"no job has tasks of class b; remove the class"),
        ({"catalogue": catalogue(class2workload=[1, -1, 2])}, r"task class b has no workload; name one"),
        ({"catalogue": catalogue(class2workload=[1, 1, 2])}, r"no task has workload gcn; remove it"),
        ({"upload_s": [4, -5, 6]}, r"upload_s holds -5; give seconds that are not negative"),
        ({"setup_s": [-1]}, r"setup_s holds -1"),
        ({"period_s": 0}, r"period_s is 0 and terminate_s 1; the first must be positive"),
        ({"terminate_s": -1}, r"period_s is 300 and terminate_s -1; .* the second not negative"),
        (
            {"work_s": [10, 20, 30, MAX_TIME_S]},
            rf"its last job ends after \d+ s at best; give times below {MAX_TIME_S} s",
        ),
        ({"terminate_s": 2**53}, r"its last job ends after \d+ s at best"),
        ({"num_tasks": [1, 1, 1, 2**24]}, r"its jobs have 16777219 tasks in all; give at most 16777216"),
        ({"num_tasks": [2**62] * 4}, r"its jobs have 18446744073709551616 tasks in all"),
    ],
    ids=lambda value: None if isinstance(value, str) else str(sorted(value)),
)
def test_refusals(changes, message):
    with pytest.raises(InstanceError, match=message) as caught:
        instance(**changes)
    assert "\n" not in str(caught.value)


def test_times_up_to_the_last_allowed_second():
    """900 s + work + 7 + 100 + 3 + 10 + 1 + 6 + 143 + 300 + 1: the delays at their largest, a period, termination."""
    spare = MAX_TIME_S - 900 - 571
    assert instance(work_s=[10, 20, 30, spare]).num_jobs == 4
    with pytest.raises(InstanceError, match=f"ends after {MAX_TIME_S + 1} s at best"):
        instance(work_s=[10, 20, 30, spare + 1])


def test_a_class_that_fits_no_type_is_named():
    with pytest.raises(
        InstanceError, match=r"small: task b needs 9 cpu on family m, the largest type there has 8 cpu; drop the task"
    ):
        catalogue(demand=[[[1000], [9000], [3000]]])


def test_scalars_of_numpy_are_those_of_python(two_jobs):
    """The same content and digest; sums of them do not wrap."""
    instance = two_jobs()
    same = instance.replace(period_s=np.int64(instance.period_s), terminate_s=np.int32(instance.terminate_s))
    assert (type(same.period_s), type(same.terminate_s)) == (int, int)
    assert same.digest == instance.digest
    with pytest.raises(InstanceError, match="give times below"):
        instance.replace(terminate_s=np.int64(2**63 - 1))


def test_machines_that_run_in_the_catalogue_are_refused(two_jobs):
    instance = two_jobs()
    running = Running.from_contents(("a",), (0,), np.array([[0, 0]]))
    with pytest.raises(InstanceError, match="the catalogue has 1 running machines, with tasks of classes on them"):
        instance.replace(catalogue=instance.catalogue.replace(running=running, max_disruption=1))


def test_a_stock_is_a_feature(two_jobs):
    instance, features = two_jobs(), RECONFIGURATION.features
    assert not features(instance)
    for stock, asked in (([-1], set()), ([2], {"stock"})):
        assert features(instance.replace(catalogue=instance.catalogue.replace(stock=stock))) == asked
