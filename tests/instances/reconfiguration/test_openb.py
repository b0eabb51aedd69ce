"""The authors' recipe, bit for bit, and what may be changed about its trace."""

import csv

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.reconfiguration.readers import eva_csv, openb

HEADER = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time"
PODS = [
    "p0,11900,16384,1,1000,,LS,Running,0,100,10",
    "p1,6000,12289,1,460,,LS,Failed,5,50,5",
    "p2,8000,16384,0,0,,BE,Pending,7,90,",
    "p3,999000,16384,0,0,,BE,Running,7,90,8",
    "p4,12000,15361,1,1000,,LS,Succeeded,80,80,80",
]


@pytest.fixture
def pods(tmp_path):
    def write(lines=PODS):
        path = tmp_path / "pods.csv"
        path.write_text("\n".join([HEADER, *lines]) + "\n")
        return path

    return write


@pytest.fixture(scope="module")
def whole(alibaba_csv):
    return openb(alibaba_csv, whole_iterations=False)


@pytest.fixture(scope="module")
def authors_csv(alibaba_csv):
    path = alibaba_csv.parent.parent / "eva" / "alibaba_6274_jobs.csv"
    if not path.exists():
        pytest.skip(f"the trace of Table 14 is not there ({path})")
    return path


def test_every_job_is_that_of_the_authors_trace(whole, authors_csv):
    with authors_csv.open(newline="") as file:
        rows = list(csv.DictReader(file))
    catalogue = whole.catalogue
    called = {"graphsage": "sage", "diamond": "seq"}
    made = []
    for j, c in enumerate(whole.job2class.tolist()):
        name, number = catalogue.class_names[c].split("[")
        gpu, cpu, mib = catalogue.demand[0, c].tolist()
        made.append(
            {
                "job": str(j),
                "workload": f"{called.get(name, name)}[{number}",
                "arrival_seconds": str(whole.arrival_s[j]),
                "duration_seconds": str(whole.work_s[j]),
                "gpu": str(gpu // 1000),
                "cpu": str(cpu // 1000),
                "ram_gib": str(mib // 1024),
            }
        )
    assert len(rows) == 6274
    assert made == rows
    assert (np.diff(catalogue.demand, axis=0) == 0).all()
    assert (whole.num_tasks == 1).all()
    assert whole.catalogue.num_classes == 94


def test_both_importers_make_the_same_instance(whole, authors_csv):
    assert eva_csv(authors_csv).digest == whole.digest
    assert eva_csv(authors_csv, jobs=200, interference="0.9").catalogue.num_classes == 36


def no_packing_pays(instance):
    """Return micro-dollars per hour times seconds, and the mean hours from a job's arrival to its end."""
    kind = instance.catalogue.reservation_type[instance.job2class]
    w = instance.class2workload[instance.job2class]
    launch_s = instance.fetch_s[w] + instance.build_s[w] + instance.init_s[w]
    rented_s = instance.first_plan_s()
    end_s = rented_s + instance.acquire_s[kind] + instance.setup_s[kind] + launch_s + instance.work_s
    released_s = end_s // 300 * 300 + 300
    seconds = released_s + 1 - rented_s - instance.acquire_s[kind]
    return int((instance.catalogue.price[kind] * seconds).sum()), (end_s - instance.arrival_s).mean() / 3600


def test_no_packing_pays_what_the_authors_simulator_says(alibaba_csv):
    """Each job alone on its cheapest machine: Table 14 has $831,227 and 16.81 h; of 200 jobs it is $35,858.34854.

    A machine is paid from its acquisition until a second after the plan that finds its job gone, which is the second
    one where the job ends at a plan.
    """
    paid = [no_packing_pays(each) for each in (openb(alibaba_csv), openb(alibaba_csv, jobs=200, cpu="physical"))]
    assert paid[0][0] == 831_227_275_015 * 3600
    assert round(float(paid[0][1]), 2) == 16.81
    assert paid[1][0] == 35_858_348_540 * 3600


def test_the_trace_of_table_13(alibaba_csv, whole):
    """Table 9: mean 9.1 h, median 0.2 h, P80 1.0 h, P95 5.2 h; all but the durations is Table 14's trace."""
    lived = openb(alibaba_csv, durations="trace", whole_iterations=False)
    hours = lived.work_s / 3600
    figures = [hours.mean(), *np.quantile(hours, [0.5, 0.8, 0.95])]
    assert [round(float(value), 1) for value in figures] == [9.1, 0.2, 1.0, 5.2]
    assert np.array_equal(lived.arrival_s, whole.arrival_s)
    assert np.array_equal(lived.job2class, whole.job2class)


def test_durations_dealt_anew_are_those_of_table_13(alibaba_csv, whole):
    """No-Packing's published cost to the dollar, $480,130: the recipe's jobs, with the pods' lifetimes shuffled."""
    dealt = openb(alibaba_csv, durations="trace", shuffle_seed=2)
    assert round(no_packing_pays(dealt)[0] / 3600e6) == 480_130
    own = openb(alibaba_csv, durations="trace")
    assert round(no_packing_pays(own)[0] / 3600e6) == 442_334
    lived, anew = (
        openb(alibaba_csv, durations="trace", whole_iterations=False, **p) for p in ({}, {"shuffle_seed": 2})
    )
    assert sorted(lived.work_s.tolist()) == sorted(anew.work_s.tolist())
    assert np.array_equal(lived.arrival_s, anew.arrival_s)
    assert np.array_equal(lived.job2class, whole.job2class)


def test_the_first_jobs(alibaba_csv, whole):
    """The authors' short trace: 200 jobs of 36 vectors."""
    short = openb(alibaba_csv, jobs=200, whole_iterations=False)
    assert (short.num_jobs, short.catalogue.num_classes) == (200, 36)
    assert np.array_equal(short.work_s, whole.work_s[:200])
    assert short.catalogue.class_names == whole.catalogue.class_names[:36]


def test_physical_cores_leave_out_three_jobs(alibaba_csv, whole):
    physical = openb(alibaba_csv, cpu="physical", whole_iterations=False)
    assert (physical.num_jobs, physical.catalogue.num_classes) == (6271, 93)
    large = whole.catalogue.demand[0, whole.job2class, 1] > 48_000
    for key in ("arrival_s", "work_s"):
        kept = getattr(whole, key)[~(large & (whole.catalogue.demand[0, whole.job2class, 0] > 0))]
        assert np.array_equal(getattr(physical, key), kept)


def test_other_mixes_leave_the_rest_as_it_is(alibaba_csv, whole):
    mixed = openb(alibaba_csv, multi_gpu=0.3, multi_task=0.5, whole_iterations=False)
    gpus, base = (each.catalogue.demand[0, each.job2class, 0] // 1000 for each in (mixed, whole))
    # 30% of 6,274 are 1,882 jobs: 188 times 5:4:1 and two more, of 2 and 4 GPUs; 50% are 3,137.
    assert [(gpus == g).sum() for g in (2, 4, 8)] == [941, 753, 188]
    assert np.array_equal(gpus == 0, base == 0)
    assert [(mixed.num_tasks == n).sum() for n in (2, 4)] == [1569, 1568]
    for key in ("arrival_s", "work_s"):
        assert np.array_equal(getattr(mixed, key), getattr(whole, key))
    assert np.array_equal(
        *(np.array(each.catalogue.workloads)[each.class2workload[each.job2class]] for each in (mixed, whole))
    )


def test_arrivals_scale_with_the_mean_gap(alibaba_csv, whole):
    faster = openb(alibaba_csv, mean_gap_s=600.0, whole_iterations=False)
    assert np.abs(faster.arrival_s * 2 - whole.arrival_s).max() <= 1
    assert np.array_equal(faster.work_s, whole.work_s)


def test_a_small_list(pods):
    """p1 failed and p3 fits no type; p0 and p4 are equal after rounding up; p4 lived less than a second."""
    instance = openb(pods(), durations="trace", whole_iterations=False)
    assert instance.work_s.tolist() == [100, 83, 1]
    assert instance.job2class.tolist() == [0, 1, 0]
    assert instance.catalogue.demand[0].tolist() == [[1000, 12_000, 16_384], [0, 8000, 16_384]]
    assert instance.name == "openb-trace-gap1200-s3-artifact-vcpu"
    assert openb(pods()).name == "openb-gavel-iterations-gap1200-s3-artifact-vcpu"
    named = openb(pods(), jobs=2, mean_gap_s=60, multi_task=0.5, interference="0.9", migration_delay=2, seed=4)
    assert named.name == "openb-gavel-iterations-2-gap60-multitask0.5-s4-0.9-delay2-vcpu"
    dealt = openb(pods(), durations="trace", shuffle_seed=2)
    assert dealt.name == "openb-trace-shuffled2-iterations-gap1200-s3-artifact-vcpu"
    sets = openb(pods(), interference="artifact-sets")
    assert sets.name == "openb-gavel-iterations-gap1200-s3-artifact-sets-vcpu"
    assert sets.stored_sets.num_workloads == len(sets.catalogue.workloads)
    assert sets.replace(stored_sets=None).digest == openb(pods()).digest
    assert openb(pods(), seed=4).digest != openb(pods()).digest


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"durations": "alibaba"}, r"durations is 'gavel' or 'trace', not 'alibaba'"),
        ({"mean_gap_s": 0.0}, r"mean_gap_s is 0; give a positive number of seconds"),
        ({"mean_gap_s": 1e300}, r"mean_gap_s is 1e\+300; give a positive number of seconds, below"),
        ({"jobs": 4}, r"pods.csv: jobs is 4; give 0 for all, or one of 1\.\.3"),
        ({"jobs": -1}, r"jobs is -1; give 0 for all"),
        ({"shuffle_seed": -2}, r"shuffle_seed is -2; give a seed that is not negative, or -1"),
        ({"seed": -1}, r"seed is -1; the recipe's generators take 0\.\.4294967295"),
        ({"seed": 2**32}, r"seed is 4294967296"),
        ({"multi_gpu": 0.9}, r"multi_gpu is 0.9; give a share in \[0, 0.6667\]"),
        ({"multi_task": -0.5}, r"multi_task is -0.5"),
        ({"interference": "2"}, r"interference is '2'"),
        ({"cpu": "cores"}, r"cpu capacities are 'physical' or 'vcpu', not 'cores'"),
    ],
    ids=str,
)
def test_parameters_out_of_range(pods, parameters, message):
    with pytest.raises(InstanceError, match=message):
        openb(pods(), **parameters)


def test_pods_that_make_no_trace(pods):
    with pytest.raises(
        InstanceError, match=r"pods.csv: no pod is left that did not fail and fits a machine type with v"
    ):
        openb(pods([PODS[1], PODS[3]]))
    with pytest.raises(InstanceError, match=r"fits a machine type with physical"):
        openb(pods([PODS[0].replace("11900", "64000")]), cpu="physical")
    backwards = [PODS[0], PODS[2].replace("7,90,", "97,90,")]
    with pytest.raises(InstanceError, match=r"pod p2 is deleted at 90 s, before its creation at 97 s; mend or remove"):
        openb(pods(backwards), durations="trace")
    assert openb(pods(backwards)).num_jobs == 2
    with pytest.raises(InstanceError, match=r"pods.csv line 2: memory_mib is -1"):
        openb(pods([PODS[0].replace("16384", "-1")]))
