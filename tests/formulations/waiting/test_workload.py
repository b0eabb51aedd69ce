"""What jobs are like: shares of gaps, runtimes and work, counted by hand."""

import pytest

import schedgap.formulations.waiting.workload  # noqa: F401
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Status, find_method
from schedgap.instances.units import SECOND_US
from schedgap.instances.waiting import mms

WORKLOAD = find_method("waiting", "workload")


def test_a_few_jobs():
    """Gaps of 1, 15 and 200 s; runtimes of 180 s, 181 s, 6 h and 25 h on 2, 1, 1 and 1 cores."""
    instance = mms(4).replace(
        submit_us=[0, SECOND_US, 16 * SECOND_US, 216 * SECOND_US],
        runtime_us=[180 * SECOND_US, 181 * SECOND_US, 21_600 * SECOND_US, 90_000 * SECOND_US],
        cores=[2, 1, 1, 1],
    )
    outcome = WORKLOAD.run(instance)
    found = outcome.details
    assert outcome.status is Status.NO_SOLUTION
    assert found["arrival_rate"] == pytest.approx(3 / 216)
    assert found["mean_runtime_s"] == pytest.approx(111_961 / 4)
    shares = {key: found[key] for key in found if key.startswith("gaps")}
    assert shares == pytest.approx(
        {"gaps_to_1_second": 1 / 3, "gaps_of_1_to_15_seconds": 1 / 3, "gaps_over_3_minutes": 1 / 3}
    )
    assert found["longest_gap_h"] == pytest.approx(200 / 3600)
    assert [
        found[f"runtimes_{key}"] for key in ("to_3_minutes", "of_3_minutes_to_6_hours", "over_6_hours", "over_24_hours")
    ] == [
        0.25,
        0.5,
        0.25,
        0.25,
    ]
    assert found["short_share"] == 0.25
    assert found["short_work_share"] == pytest.approx(360 / 112_141)
    assert WORKLOAD.run(instance, parameters={"short_s": 181}).details["short_share"] == 0.5


def test_one_job():
    assert WORKLOAD.run(mms(1)).details["gaps_to_1_second"] == 1


def test_a_negative_threshold():
    with pytest.raises(MethodError, match="short_s is -1; give seconds, 0 or more"):
        WORKLOAD.run(mms(3), parameters={"short_s": -1})
