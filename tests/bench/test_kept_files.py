"""The verified solutions and the certificates that `run_suite` and `gap` write, each under a name of its own."""

import json

import pytest

from schedgap.bench import gap, run_suite
from schedgap.instances.provisioning import read_solution, table3, table7, verify

CERTIFYING = """
import numpy as np
from schedgap.instances import Outcome, method
from schedgap.instances.provisioning import Provisioning


@method("x-certifying", family="provisioning", bounds=True)
def certifying(instance, *, alone=False, broken=False):
    types = instance.reservation_type[instance.task_classes()]
    solution = None if alone else Provisioning.from_tasks(instance, types, np.arange(instance.num_tasks))
    leaf = {"scale": 1, "prices": [0] * instance.num_classes}
    certificate = {"bound": 0, "proof": leaf} if not broken else {"bound": 0}
    return Outcome(solution, bound=0, certificate=certificate)
"""


@pytest.fixture
def certifying(tmp_path):
    (tmp_path / "certifying.py").write_text(CERTIFYING)
    return tmp_path / "certifying.py"


def test_solutions_and_certificates_are_kept_for_whoever_asks(tmp_path, write_suite, certifying):
    suite, kept = write_suite(["x-certifying"], seeds=2), tmp_path / "kept"
    run_suite(suite, out=tmp_path / "a", plugins=[certifying])
    assert not kept.exists()
    result = run_suite(suite, out=tmp_path / "b", plugins=[certifying], solutions=kept)
    names = {f"{record.run.instance}.x-certifying" for record in result.records}
    assert {path.name for path in kept.iterdir()} == {
        f"{name}{end}" for name in names for end in (".json", ".certificate.json")
    }
    record = result.records[0]
    given = json.loads((kept / f"{record.run.instance}.x-certifying.certificate.json").read_text())
    assert (given["schema"], given["instance"], given["digest"]) == (
        "schedgap/certificate/1",
        record.run.instance,
        record.run.digest,
    )
    assert given["proof"]["scale"] == 1
    # What is recorded is not run again, and nothing is written for it.
    run_suite(suite, out=tmp_path / "b", plugins=[certifying], solutions=tmp_path / "again")
    assert list((tmp_path / "again").iterdir()) == []


def test_instances_of_one_name_have_files_of_their_own_whoever_does_them(tmp_path):
    """The generator leaves the price of waiting out of the name; shards name files as the whole suite does."""
    suite = tmp_path / "swept.toml"
    suite.write_text(
        'schema = "schedgap/suite/1"\nname = "swept"\ntitle = "T"\nquestion = "Q?"\nfamily = "waiting"\nmethods = ["njw"]\n'
        '[[instances]]\ngroup = "g"\ngenerator = "bursty"\nparameters = { jobs = 9, wait_price = [0.001, 0.1] }\nseeds = 1\n'
    )
    result = run_suite(suite, out=tmp_path / "whole", solutions=tmp_path / "kept")
    (name,) = {record.run.instance for record in result.records}
    kept = {path.name for path in (tmp_path / "kept").iterdir()}
    assert kept == {f"{name}.njw.{record.run.digest[:8]}.json" for record in result.records}
    for part in ("1/2", "2/2"):
        run_suite(suite, out=tmp_path / part, solutions=tmp_path / "parts", shard=part)
    assert {path.name for path in (tmp_path / "parts").iterdir()} == kept


def test_a_bound_alone_keeps_its_certificate_and_a_broken_one_is_refused(tmp_path, certifying):
    labels = ["x-certifying[alone=true]", "x-certifying[broken=true]"]
    result = gap(table3(), labels, plugins=[certifying], solutions=tmp_path / "kept")
    assert [str(record.status) for record in result.records] == ["no_solution", "invalid"]
    assert "other fields than bound and proof" in result.records[1].measurement.reason
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["x-certifying[alone=True].certificate.json"]


def test_gap_keeps_solutions(tmp_path, hostile):
    instance = table7(6)
    result = gap(instance, ["x-honest"], plugins=[hostile], bound="x-honest", solutions=tmp_path)
    solution = read_solution(instance, tmp_path / "x-honest.json")
    assert verify(instance, solution) == result.best.objective
