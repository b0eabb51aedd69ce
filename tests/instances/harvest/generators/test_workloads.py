"""Jobs have the sizes, runtimes, arrivals and errors that their parameters say."""

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest.generators.workloads import HISTORY_MS, WORKLOADS, Workload, draw_jobs, named_workload
from schedgap.instances.units import HOUR_MS, MINUTE_MS

LARGE = Workload(jobs=2000, tasks="5-15", runtime_min=60.0)


@pytest.fixture(scope="module")
def large():
    return draw_jobs(LARGE, 1)


def test_named_workloads():
    assert named_workload("light") == Workload(50, "20-120", "2", "uniform", 75.0, 6.0, 0.5)
    assert named_workload("heavy") == Workload(50, "15-80", "4", "uniform", 120.0, 9.0, 0.5)
    with pytest.raises(InstanceError, match=r"workload is 'none'; choose one of light, heavy\."):
        named_workload("none")


def test_sizes_are_even_over_the_range(large):
    sizes = np.diff(large.first_task)
    counts = np.bincount(sizes)[5:]
    # 2,000 jobs over 11 sizes: 182 each, standard deviation 13.
    assert (sizes.min(), sizes.max(), counts.size) == (5, 15, 11)
    assert np.abs(counts - 2000 / 11).max() < 4 * 13
    assert large.work() == int((2 * large.runtime_ms).sum())


@pytest.mark.parametrize(
    ("runtimes", "least", "most"), [("uniform", 1, 60), ("gaussian", 1, 60), ("bounded-pareto", 12, 120)]
)
def test_all_runtimes_have_half_of_the_longest_as_mean(runtimes, least, most):
    minutes = draw_jobs(LARGE.replace(runtimes=runtimes), 1).runtime_ms / MINUTE_MS
    # 20,000 draws with a standard deviation of at most 20 minutes; the jobs' means of the Gaussian ones, 2,000 with 10.
    assert minutes.mean() == pytest.approx(30, abs=1.4)
    assert least <= minutes.min() <= minutes.max() <= most


def test_uniform_and_pareto_quantiles(large):
    quarters = [0.25, 0.5, 0.75]
    assert np.quantile(large.runtime_ms, quarters) / MINUTE_MS == pytest.approx([15.75, 30.5, 45.25], abs=0.6)
    pareto = draw_jobs(LARGE.replace(runtimes="bounded-pareto"), 1).runtime_ms / MINUTE_MS
    # F(x) = (1 - 12 / x) / 0.9.
    assert np.quantile(pareto, quarters) == pytest.approx([12 / (1 - 0.9 * q) for q in quarters], rel=0.03)


def test_gaussian_ranges_differ_between_jobs():
    jobs = draw_jobs(LARGE.replace(runtimes="gaussian", tasks="50"), 3)
    by_job = jobs.runtime_ms.reshape(2000, 50) / MINUTE_MS
    assert by_job.std(axis=1).mean() == pytest.approx(6, rel=0.05)
    assert by_job.mean(axis=1).std() == pytest.approx(10, rel=0.07)


def test_arrivals_are_poisson_after_a_day(large):
    gaps = np.diff(large.arrival_ms, prepend=HISTORY_MS) / MINUTE_MS
    assert gaps.min() >= 0
    # 2,000 exponential numbers of mean 6: standard errors 0.13, and 0.02 of the ratio.
    assert gaps.mean() == pytest.approx(6, abs=0.55)
    assert gaps.std() / gaps.mean() == pytest.approx(1, abs=0.1)


def test_rates_change_every_six_hours():
    jobs = draw_jobs(LARGE.replace(jobs=5000, tasks="1", rates="1,4"), 0)
    hours = (jobs.arrival_ms - HISTORY_MS) / HOUR_MS
    whole = hours < 12 * (hours[-1] // 12)
    slow = hours % 12 < 6
    # Four of five jobs arrive in the quick halves of a day.
    assert np.mean(slow[whole]) == pytest.approx(0.2, abs=0.03)
    assert np.diff(hours).min() >= 0
    steady = draw_jobs(LARGE.replace(jobs=5000, tasks="1", rates="1"), 0)
    # Six hours at rate 1 are the same for both.
    early = (hours < 6).sum()
    assert jobs.arrival_ms[:early].tolist() == steady.arrival_ms[:early].tolist()


@pytest.mark.parametrize(("error", "least", "most"), [(0.3, 1.0, 1.3), (-0.3, 0.7, 1.0), (0.0, 1.0, 1.0)])
def test_errors_of_estimates(large, error, least, most):
    jobs = draw_jobs(LARGE.replace(error=error), 1)
    wrong = jobs.estimate_ms / jobs.runtime_ms
    assert jobs.runtime_ms.tolist() == large.runtime_ms.tolist()
    assert (wrong.min(), wrong.max()) == pytest.approx((least, most), abs=0.001)
    assert wrong.mean() == pytest.approx((least + most) / 2, abs=0.005)


def test_interruptible_jobs_and_checkpoints():
    jobs = draw_jobs(Workload(interruptible=0.5, checkpoint_s=60, restore_s=5), 0)
    assert (
        sorted(zip(jobs.checkpoint_ms.tolist(), jobs.restore_ms.tolist(), strict=True))
        == [(0, 0)] * 25 + [(60_000, 5000)] * 25
    )
    assert draw_jobs(Workload(), 0).checkpoint_ms.tolist() == [-1] * 50


def test_one_seed_differs_only_in_what_is_said():
    usual = draw_jobs(WORKLOADS["light"], 4)
    several = draw_jobs(WORKLOADS["light"].replace(cores="2,4", interarrival_min=3.0), 4)
    assert set(several.cores.tolist()) == {2, 4}
    assert several.task_memory_mib.tolist() == [256 * cores for cores in several.cores.tolist()]
    assert several.runtime_ms.tolist() == usual.runtime_ms.tolist()
    assert np.abs(2 * (several.arrival_ms - HISTORY_MS) - (usual.arrival_ms - HISTORY_MS)).max() <= 2


def test_times_on_a_grid():
    jobs = draw_jobs(Workload(error=-0.5, checkpoint_s=45, restore_s=1), 0, history_ms=0, grid_ms=60_000)
    for times in (jobs.arrival_ms, jobs.runtime_ms, jobs.estimate_ms, jobs.checkpoint_ms, jobs.restore_ms):
        assert (times % 60_000 == 0).all()
    fine = draw_jobs(Workload(error=-0.5), 0, history_ms=0)
    # Rounded up, by less than a minute.
    assert ((jobs.runtime_ms - fine.runtime_ms) // 60_000 == 0).all()
    assert (jobs.checkpoint_ms[0], jobs.restore_ms[0]) == (60_000, 60_000)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"runtimes": "zipf"}, r"runtimes is 'zipf'; choose one of uniform, gaussian, bounded-pareto\."),
        ({"tasks": "9-3"}, "tasks is '9-3' for 50 jobs; give a number from 1 up"),
        ({"tasks": "0"}, "tasks is '0' for 50 jobs"),
        ({"tasks": "1-2-3"}, "tasks is '1-2-3'; give a number, or a range"),
        ({"tasks": "many"}, "tasks is 'many'; give whole numbers such as 2 or 2-8"),
        ({"jobs": 10_000, "tasks": "1000000"}, "at most 20000000 tasks in all"),
        ({"cores": "2,0"}, "cores is '2,0'; give positive numbers"),
        ({"rates": "1,x"}, "rates is '1,x'; give numbers such as 1 or 1,2.5"),
        ({"rates": "1,nan"}, "rates is '1,nan'; give positive numbers"),
        ({"rates": "0"}, "rates is '0'; give positive numbers"),
        ({"jobs": 0}, "jobs is 0; give 1 to 1e"),
        ({"error": -1.0}, "error is -1; give -0.99 to 100"),
        ({"interruptible": 1.5}, "interruptible is 1.5; give 0 to 1"),
        ({"runtime_min": 0.5}, "runtime_min is 0.5; give 1 to"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    with pytest.raises(InstanceError, match=message):
        Workload(**parameters)
