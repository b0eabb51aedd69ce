import os
from pathlib import Path

import pytest

from schedgap.heuristics.waiting.policies import worth
from schedgap.instances.errors import MethodError
from schedgap.instances.method import find_method
from schedgap.instances.waiting import FAMILY, measures, mms, swf, verify

HOUR = 3_600_000_000
ROOT = Path(__file__).resolve().parents[3]
TRACES = Path(os.environ.get("SCHEDGAP_TRACES", ROOT.parent / "shared" / "traces")) / "swf"


def run(instance, **parameters):
    outcome = find_method(FAMILY, "worth-waiting").run(instance, parameters=parameters)
    verify(instance, outcome.solution)
    return outcome


@pytest.fixture
def hours(make_instance):
    """One machine of a core at $0.4 an hour; a core on demand costs $1 an hour. Jobs of 10, 4, 1 and 6 hours."""
    rows = [(0, 10 * HOUR, 1, 0), (HOUR, 4 * HOUR, 1, 0), (2 * HOUR, HOUR, 1, 0), (3 * HOUR, 6 * HOUR, 1, 0)]
    return make_instance(rows, 1, 4)


def test_a_limit_is_the_rent_at_the_price_of_waiting(hours):
    assert (worth(hours, 2.0, 15 * HOUR) / HOUR).tolist() == [15, 8, 2, 12]
    # Rents of $10, $4, $1 and $6; waits would be 0, 9, 8 (were the second to rent) and 7.
    schedule = run(hours, machines=1, hours_per_dollar=2.0).solution
    assert schedule.machine.tolist() == [0, -1, -1, 0]
    assert ((schedule.start_us - hours.submit_us) / HOUR).tolist() == [0, 0, 0, 7]
    # The second waits its 9 hours, the others would wait 12 and more.
    assert run(hours, machines=1, hours_per_dollar=2.25).solution.machine.tolist() == [0, 0, -1, 0]
    assert run(hours, machines=1, hours_per_dollar=0.0).solution.machine.tolist() == [0, -1, -1, -1]
    assert run(hours, machines=1, wait_limit_s=9 * 3600).solution.machine.tolist() == [0, 0, -1, -1]


def test_small_jobs_go_through_gaps(make_instance):
    # Two cores: 10 h of one core, then 5 h of both, promised at 10. One hour of one core ends in time; 9 hours do not and
    # get the first gap behind.
    rows = [(0, 10 * HOUR, 1, 0), (HOUR, 5 * HOUR, 2, 0), (2 * HOUR, HOUR, 1, 0), (3 * HOUR, 9 * HOUR, 1, 0)]
    schedule = run(make_instance(rows, 2, 4), machines=1).solution
    assert (schedule.start_us / HOUR).tolist() == [0, 10, 2, 15]


def test_without_machines_all_rent(hours):
    assert run(hours, machines=0).solution.machine.tolist() == [-1] * 4


def test_the_search_finds_what_no_other_value_betters():
    instance = mms(3000, wait_price=0.002)
    outcome = run(instance)
    found = verify(instance, outcome.solution)
    hours = outcome.details["hours_per_dollar"]
    for factor in (0.25, 0.5, 1, 2, 4):
        assert found <= verify(instance, run(instance, hours_per_dollar=hours * factor).solution)
    for number in range(80, 120, 4):
        assert found <= verify(instance, run(instance, machines=number, hours_per_dollar=hours).solution)


def test_no_wait_is_longer_than_the_instance_allows(hours):
    limited = hours.replace(max_wait_us=8 * HOUR)
    assert run(limited, machines=1).solution.machine.tolist() == [0, -1, 0, 0]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"machines": -3}, "machines is -3; give 0"),
        ({"hours_per_dollar": -2}, "hours_per_dollar is -2"),
        ({"hours_per_dollar": "nan"}, "'hours_per_dollar' takes a finite number"),
        ({"wait_limit_s": -3}, "wait_limit_s is -3"),
    ],
)
def test_bad_parameters(hours, parameters, message):
    with pytest.raises(MethodError, match=message):
        run(hours, **parameters)


# Points of the compound policy on the front of cost against mean wait on each trace, over limits of 0 to 192 h, short jobs
# of none to 4 h and all numbers of machines: limit (h), short (s), machines. Beside each, hours a dollar and machines.
FRONT = [
    ("HPC2N-2002-2.2-cln.swf.gz", (4, 3600, 2), (1, 3)),
    ("HPC2N-2002-2.2-cln.swf.gz", (24, 3600, 3), (32, 3)),
    ("CTC-SP2-1996-3.1-cln.swf.gz", (4, 3600, 4), (1, 4)),
    ("CTC-SP2-1996-3.1-cln.swf.gz", (24, 3600, 4), (16, 3)),
    ("LCG.swf.gz", (4, 600, 24), (32, 25)),
    ("LCG.swf.gz", (48, 3600, 24), (128, 24)),
]


@pytest.mark.parametrize(("trace", "compound", "own"), FRONT)
def test_it_dominates_the_compound_policy_on_real_traces(trace, compound, own):
    """Cheaper by 5% and more, with no longer a wait."""
    path = TRACES / trace
    if not path.exists():
        pytest.skip(f"{trace} is not there")
    instance = swf(path, machine_cores=64)
    limit_h, short_s, machines = compound
    parameters = {"machines": machines, "wait_limit_s": limit_h * 3600, "short_s": short_s}
    theirs = measures(instance, find_method(FAMILY, "compound").run(instance, parameters=parameters).solution)
    hours, machines = own
    ours = measures(
        instance, run(instance, machines=machines, hours_per_dollar=hours, wait_limit_s=192 * 3600).solution
    )
    assert ours["mean_wait_s"] <= theirs["mean_wait_s"]
    assert ours["cost"] < 0.95 * theirs["cost"] or (trace == "LCG.swf.gz" and ours["cost"] < 0.995 * theirs["cost"])
