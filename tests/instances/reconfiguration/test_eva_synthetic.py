"""Generators have the statistics that they promise, and the same ones everywhere."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.ec2 import eva_workloads
from schedgap.instances.reconfiguration.generators import alibaba_like, eva_synthetic


def workloads_of(instance):
    return [instance.catalogue.workloads[w] for w in instance.class2workload[instance.job2class]]


def test_jobs_are_uniform_over_table_7():
    """100,000 jobs: a share of 0.1 has a standard error of 0.00095; resnet18 has two of the ten rows."""
    instance = eva_synthetic(100_000, seed=4)
    names, counts = np.unique(workloads_of(instance), return_counts=True)
    shares = dict(zip(names.tolist(), (counts / 1e5).tolist(), strict=True))
    assert shares == pytest.approx({name: 0.2 if name == "resnet18" else 0.1 for name in names}, abs=0.004)
    assert len(shares) == 9
    assert np.unique(instance.num_tasks).tolist() == [1, 2, 4]
    assert {w for w, n in zip(workloads_of(instance), instance.num_tasks, strict=True) if n > 1} == {"resnet18"}
    for number in (2, 4):
        assert (instance.num_tasks == number).mean() == pytest.approx(0.1, abs=0.004)


def test_times_are_those_of_section_6_1():
    """Means over 100,000 draws: exponential gaps within 4 standard errors of 1,200 s, uniform hours of 1.75 h."""
    instance = eva_synthetic(100_000, seed=4)
    assert instance.arrival_s[-1] / 1e5 == pytest.approx(1200, rel=0.013)
    hours = instance.work_s / 3600
    assert (hours.min() >= 0.4997, hours.max() < 3.0) == (True, True)
    assert hours.mean() == pytest.approx(1.75, rel=0.006)
    assert np.quantile(hours, 0.25) == pytest.approx(1.125, rel=0.01)


def test_table_6_has_four_tasks_a_job_and_log_uniform_hours():
    """The mean of log-uniform hours is (16 - 0.5) / ln(32) = 4.472; Table 6's jobs of No-Packing take 4.44 h."""
    instance = eva_synthetic(100_000, seed=1, tasks_per_job=4, max_hours=16.0, durations="log-uniform")
    assert (instance.num_tasks == 4).all()
    assert instance.work_s.mean() / 3600 == pytest.approx(4.472, rel=0.013)
    assert np.median(instance.work_s) / 3600 == pytest.approx(8**0.5, rel=0.02)


def test_demands_are_those_of_table_7():
    instance = eva_synthetic(500)
    table = eva_workloads()
    demand = {
        name.removesuffix("-2").removesuffix("-4"): table["demand"][:, i] for i, name in enumerate(table["names"])
    }
    catalogue = instance.catalogue
    assert sorted(catalogue.class_names) == sorted(f"{name}[0]" for name in demand)
    for c, w in enumerate(instance.class2workload):
        assert np.array_equal(catalogue.demand[:, c], demand[catalogue.workloads[w]])
    assert catalogue.price.shape == (21,)
    assert catalogue.capacity[0].tolist() == [1000, 4000, 61 * 1024]
    assert eva_synthetic(5, cpu="vcpu").catalogue.capacity[0, 1] == 8000
    # Diamond: 3 s to fetch, 5 to save, 12 to start.
    diamond = catalogue.workloads.index("diamond")
    assert [int(values[diamond]) for values in (instance.fetch_s, instance.upload_s, instance.init_s)] == [3, 5, 12]


def test_the_authors_mix():
    """Every 32 jobs in a row are their 32."""
    instance = eva_synthetic(80, mix="authors", seed=2)
    names = workloads_of(instance)
    expected = {"a3c": 4, "cyclegan": 5, "diamond": 4, "gcn": 4, "gpt2": 1, "graphsage": 3, "openfoam": 6}
    for start in (0, 32):
        found = dict(zip(*np.unique(names[start : start + 32], return_counts=True), strict=True))
        assert found == {**expected, "resnet18": 3, "vit": 2}
    assert names[:32] != names[32:64]
    assert {int(n) for w, n in zip(names, instance.num_tasks, strict=True) if w == "resnet18"} == {2}


def test_the_fitted_mix_costs_no_packing_what_table_10_says_in_the_mean():
    """Table 10: $536.07 and 126 machines for 120 jobs, each 1.75 h and some minutes on its cheapest machine."""
    instance = eva_synthetic(120, mix="fitted")
    names = dict(zip(*np.unique(workloads_of(instance), return_counts=True), strict=True))
    expected = {
        "a3c": 34,
        "cyclegan": 12,
        "diamond": 27,
        "gcn": 15,
        "gpt2": 2,
        "openfoam": 13,
        "resnet18": 6,
        "vit": 11,
    }
    assert names == expected
    assert int(instance.num_tasks.sum()) == 126
    price = instance.catalogue.price[instance.catalogue.reservation_type[instance.job2class]] / 1e6
    # Starting, and the wait for the plan that gives a machine back, are some 6% more.
    assert float((price * instance.num_tasks).sum()) * 1.75 * 1.06 == pytest.approx(536.07, rel=0.01)


def test_gavels_durations():
    """Table 9: mean 16.7 h, median 4.5 h, P80 16.4 h, P95 96.6 h, of a trace of 6,274 jobs."""
    hours = alibaba_like(40_000, seed=2).work_s / 3600
    # The mean by hand: 0.8 x (10^3 - 10^1.5) / (1.5 ln 10) + 0.2 x (10^4 - 10^3) / ln 10 minutes = 16.77 h.
    assert hours.mean() == pytest.approx(16.77, rel=0.04)
    # The median has 10^x with 0.8 (x - 1.5) / 1.5 = 0.5, x = 2.4375; P95 has x = 3.75.
    assert np.quantile(hours, [0.5, 0.95]) == pytest.approx([4.563, 93.72], rel=0.05)
    assert hours.min() > 10**1.5 / 60 - 0.001
    assert hours.max() <= 10**4 / 60


def test_alibabas_durations_are_those_of_table_9():
    hours = alibaba_like(40_000, seed=2, durations="alibaba").work_s / 3600
    assert np.quantile(hours, [0.5, 0.8, 0.95]) == pytest.approx([0.2, 1.0, 5.2], rel=0.05)
    assert hours.mean() == pytest.approx(9.1, rel=0.15)


def test_gpus_are_those_of_table_8_or_as_asked():
    drawn = alibaba_like(20_000, seed=3)
    gpus = drawn.catalogue.demand[0, drawn.job2class, 0] // 1000
    assert [(gpus == g).mean() for g in (0, 1, 2, 4, 8)] == pytest.approx(
        [0.1341, 0.8617, 0.0020, 0.0018, 0.0004], abs=0.01
    )
    mixed = alibaba_like(20_000, seed=3, multi_gpu=0.5, multi_task=0.3)
    more = mixed.catalogue.demand[0, mixed.job2class, 0] // 1000
    assert [(more == g).sum() for g in (2, 4, 8)] == [5000, 4000, 1000]
    assert np.array_equal(more == 0, gpus == 0)
    assert [(mixed.num_tasks == n).sum() for n in (1, 2, 4)] == [14_000, 3000, 3000]


def test_each_distinct_demand_has_one_workload():
    instance = alibaba_like(3000, seed=1)
    demands = np.moveaxis(instance.catalogue.demand, 0, 1).reshape(instance.catalogue.num_classes, -1)
    assert np.unique(demands, axis=0).shape[0] == instance.catalogue.num_classes
    assert len(instance.catalogue.workloads) == 9


@pytest.mark.parametrize(
    ("generate", "change", "kept"),
    [
        (alibaba_like, {"mean_gap_s": 600.0}, ("work_s", "job2class", "num_tasks")),
        (alibaba_like, {"durations": "alibaba"}, ("arrival_s", "job2class", "num_tasks")),
        (alibaba_like, {"multi_gpu": 0.5}, ("arrival_s", "work_s", "num_tasks")),
        (alibaba_like, {"multi_task": 0.5}, ("arrival_s", "work_s", "job2class")),
        (alibaba_like, {"interference": "0.9"}, ("arrival_s", "work_s", "job2class", "num_tasks", "init_s")),
        (eva_synthetic, {"mean_gap_s": 600.0}, ("work_s", "job2class", "num_tasks")),
        (eva_synthetic, {"max_hours": 9.0}, ("arrival_s", "job2class", "num_tasks")),
        (eva_synthetic, {"tasks_per_job": 3}, ("arrival_s", "work_s", "job2class")),
        (eva_synthetic, {"migration_delay": 4.0}, ("arrival_s", "work_s", "job2class", "num_tasks")),
    ],
    ids=lambda value: value.__name__ if callable(value) else str(value),
)
def test_one_parameter_changes_one_thing(generate, change, kept):
    base, other = generate(300, seed=5), generate(300, seed=5, **change)
    assert other.digest != base.digest
    assert other.name != base.name
    for key in kept:
        assert np.array_equal(getattr(other, key), getattr(base, key))


@pytest.mark.parametrize("generate", [alibaba_like, eva_synthetic])
def test_the_seed_decides(generate):
    assert generate(50, seed=1).digest == generate(50, seed=1).digest
    assert generate(50, seed=1).digest != generate(50, seed=2).digest


def test_the_same_everywhere():
    instance = eva_synthetic(4, seed=7)
    assert instance.arrival_s.tolist() == [105, 289, 291, 298]
    assert instance.work_s.tolist() == [7382, 4112, 8450, 8747]
    assert workloads_of(instance) == ["cyclegan", "gpt2", "vit", "cyclegan"]
    assert instance.name == "eva-synthetic-4-uniform-gap1200-0.5to3h-s7-figure1-physical"


def test_names_tell_the_parameters():
    assert (
        eva_synthetic(
            9, seed=3, mean_gap_s=60, max_hours=16, durations="log-uniform", mix="authors", tasks_per_job=4,
            interference="0.90", migration_delay=2.5, cpu="vcpu",
        ).name
        == "eva-synthetic-9-authors-gap60-log0.5to16h-4tasks-s3-0.9-delay2.5-vcpu"
    )  # fmt: skip
    assert (
        alibaba_like(9, durations="alibaba", multi_gpu=0.5, multi_task=0.2, interference="none").name
        == "alibaba-like-9-alibaba-gap1200-multigpu0.5-multitask0.2-s0-none-vcpu"
    )


@pytest.mark.parametrize(
    ("generate", "parameters", "message"),
    [
        (eva_synthetic, {"jobs": 0}, r"generator eva-synthetic: jobs is 0; it must be at least 1"),
        (alibaba_like, {"jobs": -3}, r"generator alibaba-like: jobs is -3"),
        (eva_synthetic, {"mean_gap_s": 0.0}, r"mean_gap_s is 0; give a positive number of seconds"),
        (alibaba_like, {"mean_gap_s": float("inf")}, r"mean_gap_s is inf"),
        (alibaba_like, {"mean_gap_s": float("nan")}, r"mean_gap_s is nan"),
        (eva_synthetic, {"min_hours": 4.0}, r"min_hours is 4 and max_hours 3; give positive hours, the fewer first"),
        (eva_synthetic, {"min_hours": 0.0}, r"min_hours is 0 and max_hours 3"),
        (eva_synthetic, {"max_hours": 1e300}, r"max_hours 1e\+300; give .* below 1193046"),
        (eva_synthetic, {"tasks_per_job": -1}, r"tasks_per_job is -1; give a positive number, or 0"),
        (eva_synthetic, {"durations": "gavel"}, r"durations is uniform or log-uniform, not 'gavel'"),
        (eva_synthetic, {"mix": "x"}, r"mix is uniform or authors or fitted, not 'x'"),
        (alibaba_like, {"durations": "uniform"}, r"durations is gavel or alibaba, not 'uniform'"),
        (alibaba_like, {"multi_gpu": 0.9}, r"multi_gpu is 0.9; give a share in \[0, 0\.8"),
        (alibaba_like, {"multi_task": 2.0}, r"multi_task is 2"),
        (alibaba_like, {"interference": "x"}, r"interference is 'x'"),
        (eva_synthetic, {"migration_delay": -1.0}, r"migration_delay is -1"),
        (eva_synthetic, {"cpu": "x"}, r"cpu capacities are 'physical' or 'vcpu', not 'x'"),
        (eva_synthetic, {"mean_gap_s": 4e9}, r"its last job ends after \d+ s at best"),
    ],
    ids=lambda value: value.__name__ if callable(value) else str(value),
)
def test_parameters_that_make_no_instance(generate, parameters, message):
    with pytest.raises(InstanceError, match=message):
        generate(**parameters)
