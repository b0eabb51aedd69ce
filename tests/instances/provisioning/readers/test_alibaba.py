import pytest

from schedgap.instances import InstanceError
from schedgap.instances.provisioning import alibaba

HEADER = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time"
GOOD = [
    "p0,11900,16384,1,1000,,LS,Running,0,100,10",
    "p1,6000,12289,1,460,,LS,Failed,5,50,5",
    "p2,8000,16384,0,0,,BE,Pending,7,90,",
    "p3,999000,16384,0,0,,BE,Running,7,90,8",
    "p4,12000,15361,1,1000,,LS,Succeeded,20,80,60",
]


@pytest.fixture
def trace(tmp_path):
    def write(lines, header=HEADER, end="\n"):
        path = tmp_path / "pods.csv"
        path.write_text("\n".join([header, *lines]) + end)
        return path

    return write


def test_counts_published_for_the_real_trace(alibaba_csv):
    """Eva's section 6.1 counts 6,274 jobs; its Table 8 is of the 8,111 that keep Failed pods."""
    assert (alibaba(alibaba_csv).num_tasks, alibaba(alibaba_csv).num_classes) == (6274, 94)
    physical = alibaba(alibaba_csv, cpu="physical")
    assert (physical.num_tasks, physical.num_classes) == (6271, 93)
    everyone = alibaba(alibaba_csv, pods="all")
    assert everyone.num_tasks == 8111
    gpus = everyone.demand[0, :, 0] // 1000
    shares = [round(100 * int(everyone.counts[gpus == g].sum()) / 8111, 2) for g in (0, 1, 2, 4, 8)]
    assert shares == [13.41, 86.17, 0.20, 0.18, 0.04]


def test_subsets_of_the_real_trace(alibaba_csv):
    subset = alibaba(alibaba_csv, tasks=200, seed=1)
    assert subset.num_tasks == 200
    assert subset.digest == alibaba(alibaba_csv, tasks=200, seed=1).digest
    assert subset.digest != alibaba(alibaba_csv, tasks=200, seed=2).digest


def test_demands_are_rounded_up_and_misfits_dropped(trace):
    instance = alibaba(trace(GOOD))
    # p1 is Failed, p3 fits no type; p0 and p4 are equal after rounding up: 1 GPU, 12 cores, 16 GiB.
    assert instance.task_names == ("p0", "p2", "p4")
    assert instance.class_names == ("1gpu-12cpu-16gib", "0gpu-8cpu-16gib")
    assert instance.counts.tolist() == [2, 1]
    assert instance.notes == (
        "Left out: 1 pods that fit no machine type.",
        "Left out: 1 pods that have failed, or run at another second.",
        "CPUs and memory are rounded up to whole cores and GiB, as in Eva.",
    )
    everyone = alibaba(trace(GOOD), pods="all", tasks=3)
    assert (everyone.num_tasks, everyone.notes[1]) == (3, "Left out: 1 pods that are not in the sample.")
    assert alibaba(trace(GOOD), pods="all").num_tasks == 4


@pytest.mark.parametrize(("at_s", "names"), [(10, ("p0",)), (9, None), (60, ("p0", "p4")), (80, ("p0",)), (100, None)])
def test_snapshot_of_what_runs(trace, at_s, names):
    path = trace(GOOD)
    if names is None:
        with pytest.raises(InstanceError, match=f"none of these is left .*at_s={at_s}"):
            alibaba(path, at_s=at_s)
    else:
        assert alibaba(path, at_s=at_s).task_names == names


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            [GOOD[0], "p1,6000,12289,1,460,,LS,Runn"],
            r"pods.csv line 3: 8 fields, the header has 11; the file is truncated",
        ),
        ([GOOD[0].replace("11900", "NaN")], r"line 2: cpu_milli is 'NaN', not a whole number"),
        ([GOOD[0].replace("16384", "-1")], r"line 2: memory_mib is -1; it must not be negative"),
        ([GOOD[0], GOOD[0]], r"pod p0 is listed twice \(pods 1 and 2\)"),
        ([], "the trace is empty"),
    ],
)
def test_malformed_lines_are_named(trace, lines, message):
    with pytest.raises(InstanceError, match=message):
        alibaba(trace(lines))


def test_missing_column_file_and_wrong_options(trace, tmp_path):
    with pytest.raises(InstanceError, match="line 1: no column 'memory_mib'"):
        alibaba(trace(GOOD, header=HEADER.replace("memory_mib", "mem")))
    with pytest.raises(InstanceError, match="cannot be read"):
        alibaba(tmp_path / "none.csv")
    with pytest.raises(InstanceError, match="5 tasks asked for, 3 are there"):
        alibaba(trace(GOOD), tasks=5)
    with pytest.raises(InstanceError, match="not 'some'"):
        alibaba(trace(GOOD), pods="some")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(InstanceError, match="no column 'name'"):
        alibaba(tmp_path / "empty.csv")


def test_a_byte_order_mark_is_no_matter(trace):
    path = trace(GOOD)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert alibaba(path).num_tasks == 3


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("16384", "9" * 30, r"pods.csv line 2: memory_mib is 9{30}; it must be at most 1125899906842624\.$"),
        ("16384", "9223372036854775807", r"line 2: memory_mib is 9223372036854775807; it must be at most"),
        ("16384", "x" * 1000, r"line 2: memory_mib is 'x{60}', not a whole number; mend or remove the line\.$"),
    ],
)
def test_numbers_that_are_none(trace, old, new, message):
    with pytest.raises(InstanceError, match=message):
        alibaba(trace([GOOD[0].replace(old, new, 1)]))


def test_a_column_named_twice(trace):
    with pytest.raises(InstanceError, match=r"line 1: column 'num_gpu' is there twice; remove one"):
        alibaba(trace(GOOD, header=HEADER.replace("gpu_milli", "num_gpu")))


@pytest.mark.parametrize(("parameter", "value"), [("tasks", -1), ("at_s", -2)])
def test_parameters_below_zero(trace, parameter, value):
    with pytest.raises(InstanceError, match=f"{parameter} is {value}; it must not be negative"):
        alibaba(trace(GOOD), **{parameter: value})


def test_no_pod_left_says_what_became_of_them(trace):
    """p1 failed and p3 fits no type."""
    with pytest.raises(
        InstanceError, match=r"of 2 pods 1 fit a machine type, and none of these is left with pods=not-f"
    ):
        alibaba(trace([GOOD[1], GOOD[3]]))
