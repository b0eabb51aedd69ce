"""Proofs by spells: what they prove is computed by hand, and each way to overstate it is found."""

import json
from copy import deepcopy

import numpy as np
import pytest

from schedgap.bench.certify.nodes import check_file
from schedgap.bench.certify.problem import read_certificate
from schedgap.formulations.reconfiguration.work_bound import bound_presence
from schedgap.instances.errors import InstanceError, SolutionError
from schedgap.instances.reconfiguration import alibaba_like, cluster_week, write_instance

# Two machines at $0.10 and $0.30 an hour; a web task of 1 core is there from 300 s on for an hour, a database of 5 from 0 on.
INSTANCE = {
    "schema": "schedgap/reconfiguration/1",
    "name": "two",
    "period_s": 300,
    "terminate_s": 0,
    "resources": ["cpu"],
    "machine_types": [
        {"name": "small", "family": "m", "capacity": [2], "price": 0.1, "acquire_s": 0, "setup_s": 60},
        {"name": "large", "family": "m", "capacity": [8], "price": 0.3, "acquire_s": 0, "setup_s": 60},
    ],
    "workloads": [{"name": "pod", "fetch_s": 0, "build_s": 0, "kill_s": 0, "upload_s": 30, "init_s": 0}],
    "tasks": [
        {"name": "db", "demand": {"any": [5]}, "workload": "pod"},
        {"name": "web", "demand": {"any": [1]}, "workload": "pod"},
    ],
    "jobs": {"arrival_s": [0, 200, 250], "work_s": [3600, 3600, 3600], "task": ["db", "web", "web"]},
}
# The database is worth its machine; with it there, web is worth nothing; afterwards both of web are worth a small one.
PROOF = {
    "window_s": 300,
    "spells": [
        {"from_s": 0, "until_s": 3600, "classes": [0], "prices": [300_000_000]},
        {"from_s": 3600, "until_s": 3900, "classes": [1], "prices": [50_000_000]},
    ],
}
# $0.30 for an hour, and $0.10 for 300 s, rounded up to a micro-dollar.
BOUND = 0.308334


@pytest.fixture
def checked(tmp_path):
    def check(instance=INSTANCE, proof=PROOF, bound=BOUND):
        (tmp_path / "two.json").write_text(json.dumps(instance))
        given = {"schema": "schedgap/certificate/1", "instance": "two", "bound": bound, "proof": proof}
        (tmp_path / "c.json").write_text(json.dumps(given))
        return check_file(tmp_path / "two.json", read_certificate(tmp_path / "c.json"))[1]

    return check


def test_what_the_spells_prove(checked):
    found = checked()
    assert (found.reason, found.bound, found.nodes) == (None, 308_334, 2)


def test_jobs_in_a_file_beside(checked, tmp_path):
    beside = {key: value for key, value in INSTANCE.items() if key != "jobs"} | {"jobs_file": "two.npz"}
    with pytest.raises(InstanceError, match="FileNotFoundError"):
        checked(beside)
    numbers = {"arrival_s": [0, 200, 250], "work_s": [3600, 3600, 3600], "task": [0, 1, 1], "num_tasks": [1, 1, 1]}
    np.savez(tmp_path / "two.npz", **numbers)
    found = checked(beside)
    assert (found.reason, found.bound, found.nodes) == (None, 308_334, 2)
    # With less to do less is proven.
    np.savez(tmp_path / "two.npz", **numbers | {"work_s": [300, 300, 300]})
    assert "the spells prove" in checked(beside).reason


def test_a_bound_above_it(checked):
    assert checked(bound=0.308335).reason == "the spells prove 0.308334, not the 0.308335 that are claimed."


def test_prices_that_a_content_exceeds(checked):
    proof = deepcopy(PROOF)
    proof["spells"][1]["prices"] = [50_000_001]
    assert checked(proof=proof).reason == "proof.spells.1: a content of machine type 0 is worth more than the machine."
    # Both of web fit beside the database.
    proof["spells"][0] |= {"classes": [0, 1], "prices": [300_000_000, 1]}
    assert checked(proof=proof).reason == "proof.spells.0: a content of machine type 1 is worth more than the machine."


@pytest.mark.parametrize(
    "changes",
    [
        {"from_s": 3300},
        {"until_s": 3000},
        {"classes": [2]},
        {"classes": [1, 1], "prices": [1, 1]},
        {"classes": [0, 1]},
    ],
)
def test_spells_that_overlap_or_are_of_other_classes(checked, changes):
    proof = deepcopy(PROOF)
    proof["spells"][1] |= changes
    with pytest.raises(SolutionError, match=r"proof\.spells\.1: give spells in order, and one price for each class"):
        checked(proof=proof)


def test_only_so_much_of_each_period_counts(checked):
    """What is moved away progresses for 10 s more, at most 4 of which any task does: 294 of 300 s."""
    workloads = [{"name": "pod", "fetch_s": 0, "build_s": 0, "kill_s": 10, "upload_s": 0, "init_s": 20}]
    other = {**INSTANCE["workloads"][0], "name": "quick", "kill_s": 4, "init_s": 20}
    tasks = [INSTANCE["tasks"][0], {**INSTANCE["tasks"][1], "workload": "quick"}]
    given = INSTANCE | {"workloads": [*workloads, other], "tasks": tasks, "terminate_s": 5}
    # Both are there for 20 s more: the database at 13 plans, web at 14 of which one is in the second spell.
    proven = 0.3 * 12 * 294 / 3600 + 0.1 * 294 / 3600
    assert checked(given, bound=round(proven, 6)).reason is None
    assert checked(given, bound=round(proven + 1e-6, 6)).reason.startswith("the spells prove")


def test_what_ran_at_second_0_needs_no_start(checked):
    slow = INSTANCE | {"workloads": [{**INSTANCE["workloads"][0], "init_s": 300}]}
    proof = deepcopy(PROOF)
    proof["spells"][0]["until_s"] = 3900
    proof["spells"][1] |= {"from_s": 3900, "until_s": 4200}
    assert checked(slow, proof, 0.333334).reason is None
    ran = slow | {"running": [{"name": "n", "type": "large", "counts": {"0": 1}}]}
    assert checked(ran, proof, 0.333334).reason == "the spells prove 0.308334, not the 0.333334 that are claimed."


def test_machines_that_are_paid_late_are_refused(checked):
    types = [{**each, "acquire_s": 5} for each in INSTANCE["machine_types"]]
    with pytest.raises(InstanceError, match="a machine is paid later than it is ordered"):
        checked(INSTANCE | {"machine_types": types})


@pytest.mark.parametrize("seed", range(4))
def test_the_method_s_own_certificates_hold(tmp_path, seed):
    """Of jobs like a trace's on machines that are paid from their order on; a price more, and they do not.

    Whole machines, which no prices tell of, may prove more.
    """
    made = alibaba_like(jobs=20, seed=seed, **({"warm_h": 5.0} if seed % 2 else {}))
    instance = made.replace(acquire_s=np.zeros_like(made.acquire_s))
    assert (instance.running is not None) == (seed % 2 == 1)
    outcome = bound_presence(instance, num_spells=5)
    write_instance(instance, tmp_path / "i.json")
    given = {
        "schema": "schedgap/certificate/1",
        "instance": instance.name,
        "digest": instance.digest,
        **outcome.certificate,
    }

    def check():
        (tmp_path / "c.json").write_text(json.dumps(given))
        return check_file(tmp_path / "i.json", read_certificate(tmp_path / "c.json"))[1]

    found = check()
    assert found.reason is None
    assert 0 < found.bound <= outcome.bound
    spell = max(given["proof"]["spells"], key=lambda each: sum(each["prices"]))
    spell["prices"] = [2 * price for price in spell["prices"]]
    assert check().reason.endswith("is worth more than the machine.")


def test_a_cluster_s_day_needs_no_search(tmp_path):
    """On machines of many small pods prices of resources show it: no content is tried. A dearer task is found all the same."""
    instance = cluster_week(nodes=8, pods=60, days=0.1)
    outcome = bound_presence(instance)
    write_instance(instance, tmp_path / "i.json")
    given = {
        "schema": "schedgap/certificate/1",
        "instance": instance.name,
        "digest": instance.digest,
        **outcome.certificate,
    }

    def check():
        (tmp_path / "c.json").write_text(json.dumps(given))
        return check_file(tmp_path / "i.json", read_certificate(tmp_path / "c.json"))[1]

    found = check()
    assert (found.reason, found.contents) == (None, 0)
    assert 0 < found.bound <= outcome.bound
    spell = given["proof"]["spells"][0]
    spell["prices"][0] += int(instance.catalogue.price.max()) * 1000
    assert check().reason.endswith("is worth more than the machine.")
