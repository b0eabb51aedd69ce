"""Models as methods: estimates, the cheapest number of machines, and what they refuse."""

import numpy as np
import pytest

from schedgap.formulations.waiting.model_methods import estimate
from schedgap.instances.errors import MethodError
from schedgap.instances.method import Status, find_method
from schedgap.instances.units import HOUR_US, SECOND_US
from schedgap.instances.waiting import mms

RATES = {"arrival_rate": 0.2, "service_rate": 0.002}
NAMES = ("ajw", "njw", "ajw-t", "sww", "ljw", "compound")


def model(name):
    return find_method("waiting", f"model-{name}").func


@pytest.fixture(name="baseline")
def baseline_fixture():
    return mms(50, seed=1).replace(horizon_us=26_280 * HOUR_US)


def test_njw_of_the_baseline(baseline):
    found = model("njw")(baseline, **RATES)
    assert found.status is Status.NO_SOLUTION
    assert found.details["machines"] == 108
    assert round(float(found.details["cost"])) == 117_804


@pytest.mark.parametrize("name", NAMES)
def test_every_model_has_the_measures_names(baseline, name):
    details = find_method("waiting", f"model-{name}").run(baseline).details
    assert {"machines", "mean_wait_s", "on_demand_share", "normalised_price", "cost"} <= set(details)
    assert all(np.isfinite(float(value)) for value in details.values())


def test_the_cheapest_number_is_cheaper_than_its_neighbours(baseline):
    for name in ("njw", "sww", "compound"):
        run = find_method("waiting", f"model-{name}").func
        best = run(baseline, **RATES).details
        for other in (best["machines"] - 1, best["machines"] + 1):
            assert run(baseline, machines=other, **RATES).details["normalised_price"] > best["normalised_price"]


def test_the_longer_jobs_wait_the_fewer_machines_are_best(baseline):
    """Figure 4: from No Jobs Wait's 108 machines down, at ever lower prices."""
    best = [model("ajw-t")(baseline, wait_limit_s=limit, **RATES).details for limit in (0.0, 60.0, 300.0, 900.0)]
    machines, prices = ([found[key] for found in best] for key in ("machines", "normalised_price"))
    assert machines[0] == 108
    assert machines == sorted(set(machines), reverse=True)
    assert prices == sorted(set(prices), reverse=True)


def test_always_waiting_takes_the_first_number_above_the_load(baseline):
    assert model("ajw")(baseline, **RATES).details["machines"] == 101
    assert model("ljw")(baseline, **RATES).details["machines"] == 95


def test_too_few_machines_for_jobs_that_always_wait(baseline):
    with pytest.raises(MethodError, match=r"100 machines run 100 jobs at a time.*100 on average"):
        model("ajw")(baseline, machines=100, **RATES)


def test_estimates():
    """Two jobs of 1 and 3 cores, 2 h and 1 h, an hour apart; the machine has 5 cores: 5 / (5 / 3) = 3 mean jobs."""
    instance = mms(2, seed=1).replace(
        submit_us=[0, HOUR_US],
        runtime_us=[2 * HOUR_US, HOUR_US],
        cores=[1, 3],
        memory_mib=[0, 0],
        machine_cores=5,
        fixed_price=300,
        rented_cores=[4],
        rented_price=[200],
        horizon_us=3 * HOUR_US,
    )
    found = estimate(instance)
    assert found.arrival_rate == pytest.approx(1 / 3600)
    assert found.service_rate == pytest.approx(1 / 5400)
    assert found.servers_per_machine == pytest.approx(3)
    assert found.discount == pytest.approx(300 / 3 / 200)
    assert found.servers(np.array([1.0, 2.0])).tolist() == [3.0, 6.0]


def test_refuses_nonsense(baseline):
    with pytest.raises(MethodError, match="machines is -2"):
        model("njw")(baseline, machines=-2)
    with pytest.raises(MethodError, match="rates are -1"):
        model("njw")(baseline, arrival_rate=-1.0)


@pytest.mark.parametrize("name", ["njw", "sww", "compound"])
def test_spot_machines_take_their_share_of_the_jobs(baseline, name):
    """The policy sees half the arrivals; the others cost 0.1 of the rent. In all (P / 2 + 0.05) of what renting would."""
    half = model(name)(baseline, machines=50, arrival_rate=0.1, service_rate=0.002).details
    found = model(name)(baseline, machines=50, spot_share=0.5, spot_price=0.1, **RATES).details
    paid = half["normalised_price"] / 2 + 0.05
    assert found["normalised_price"] == pytest.approx(paid / 0.55)
    assert found["mean_wait_s"] == pytest.approx(half["mean_wait_s"] / 2)
    assert found["on_demand_share"] == pytest.approx(half["on_demand_share"] / 2 + 0.5)
    assert found["cost"] == pytest.approx(half["cost"] + 0.05 * 100 * 0.096 * 26_280)


@pytest.mark.parametrize("given", [{"spot_share": 1.0}, {"spot_share": -0.1}, {"spot_price": 0.0}])
def test_shares_and_prices_of_spot_machines_that_cannot_be(baseline, given):
    with pytest.raises(MethodError, match="give a share from 0 to less than 1 and a positive price"):
        model("njw")(baseline, **RATES, **given)


WORKLOAD = find_method("waiting", "workload")


def test_what_jobs_are_like():
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


def test_what_one_job_is_like():
    assert WORKLOAD.run(mms(1)).details["gaps_to_1_second"] == 1


def test_a_negative_threshold_of_short_jobs():
    with pytest.raises(MethodError, match="short_s is -1; give seconds, 0 or more"):
        WORKLOAD.run(mms(3), parameters={"short_s": -1})
