"""Jobs from a CSV file, and the lines that it refuses."""

import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.reconfiguration.readers import eva_csv

HEADER = "job,workload,arrival_seconds,duration_seconds,gpu,cpu,ram_gib"
JOBS = [
    "0,resnet18[0],960,12430,1,12,16",
    "1,sage[0],2438,15276,1,6,12",
    "2,sage[1],2438,60,1,12,16",
    "3,seq,2500,7,0,8,9",
]


@pytest.fixture
def trace(tmp_path):
    def write(lines=JOBS, header=HEADER, end="\n"):
        path = tmp_path / "jobs.csv"
        path.write_text("\n".join([header, *lines]) + end)
        return path

    return write


def test_jobs_and_classes(trace):
    instance = eva_csv(trace())
    assert instance.name == "jobs-artifact-vcpu"
    assert instance.arrival_s.tolist() == [960, 2438, 2438, 2500]
    assert instance.work_s.tolist() == [12_430, 15_276, 60, 7]
    assert instance.catalogue.class_names == ("resnet18[0]", "graphsage[0]", "graphsage[1]", "diamond[0]")
    assert instance.catalogue.workloads == ("resnet18", "graphsage", "diamond")
    assert instance.catalogue.demand[2].tolist() == [
        [1000, 12_000, 16 * 1024],
        [1000, 6000, 12 * 1024],
        [1000, 12_000, 16 * 1024],
        [0, 8000, 9 * 1024],
    ]
    assert instance.init_s.tolist() == [80, 160, 12]


def test_classes_are_numbered_anew(trace):
    """By their first jobs, whatever number a workload has, or without any, or by Figure 1's name."""
    lines = [
        line.replace("sage[0]", "sage[7]").replace("sage[1]", "graphsage").replace("seq", "diamond[2]") for line in JOBS
    ]
    assert eva_csv(trace(lines)).digest == eva_csv(trace()).digest


def test_the_first_jobs_and_the_parameters(trace):
    instance = eva_csv(trace(), jobs=1, interference="none", migration_delay=2.0, cpu="physical")
    assert (instance.num_jobs, instance.name) == (1, "jobs-1-none-delay2-physical")
    assert instance.catalogue.throughput is None
    assert instance.init_s.tolist() == [160]
    assert instance.stored_sets is None
    assert eva_csv(trace(), interference="artifact-sets").stored_sets.num_workloads == 3
    whole = eva_csv(trace(), whole_iterations=True)
    # Diamond's iterations take 120 s: in 7 s there is none, and a second is left.
    assert (whole.work_s[3], whole.name) == (1, "jobs-iterations-artifact-vcpu")
    assert eva_csv(trace(["", *JOBS, ""])).digest == eva_csv(trace()).digest


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1,sage[0],2438,15276,1,6", r"jobs.csv line 3: 6 fields, the header has 7; mend or remove the line"),
        ("1,bert[0],2438,15276,1,6,12", r"line 3: workload is 'bert\[0\]'; known are resnet18, graphsage, "),
        ("1,sage[x],2438,15276,1,6,12", r"line 3: workload is 'sage\[x\]'"),
        ("1,sage[0],,15276,1,6,12", r"line 3: arrival_seconds is '', not a whole number; give one"),
        ("1,sage[0],-5,15276,1,6,12", r"line 3: arrival_seconds is -5; it must lie in 0\.\.4294967295"),
        ("1,sage[0],2438,0,1,6,12", r"line 3: duration_seconds is 0; it must lie in 1\.\."),
        ("1,sage[0],2438,-15276,1,6,12", r"line 3: duration_seconds is -15276; it must lie in 1\.\."),
        ("1,sage[0],2438,15276,1,6.5,12", r"line 3: cpu is '6.5', not a whole number"),
        ("1,sage[0],2438,15276,1,6," + "9" * 30, r"line 3: ram_gib is 9{30}; it must lie in"),
        ("1,sage[0],959,15276,1,6,12", r"line 3: arrives at 959 s, the line before at 960 s; put the jobs in order"),
        (
            "1,sage[0],2438,15276,9,6,12",
            r"line 3: 9 GPUs, 6 cores and 12 GiB fit no machine type with vcpu capacities; remove",
        ),
        ("1,sage[0],2438,15276,0,193,12", r"line 3: 0 GPUs, 193 cores and 12 GiB fit no machine type"),
    ],
)
def test_lines_that_are_no_jobs(trace, line, message):
    with pytest.raises(InstanceError, match=message):
        eva_csv(trace([JOBS[0], line]))


def test_files_that_are_none(trace, tmp_path):
    with pytest.raises(InstanceError, match=r"none.csv: cannot be read \(No such file or directory\); give a CSV file"):
        eva_csv(tmp_path / "none.csv")
    with pytest.raises(InstanceError, match=r"jobs.csv: no jobs after the header"):
        eva_csv(trace([]))
    with pytest.raises(InstanceError, match=r"jobs.csv line 1: the columns are job,work; give job,workload,arrival_"):
        eva_csv(trace(header="job,work"))
    with pytest.raises(InstanceError, match=r"jobs is 5; jobs.csv has 4: give 0 for all, or one of 1\.\.4"):
        eva_csv(trace(), jobs=5)
    (tmp_path / "jobs.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InstanceError, match=r"cannot be read as a UTF-8 CSV file"):
        eva_csv(tmp_path / "jobs.csv")
