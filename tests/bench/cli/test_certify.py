"""`schedgap certify`."""

import json

import pytest
from typer.testing import CliRunner

from schedgap.bench.cli.app import app
from schedgap.formulations.placement.node_patterns import bound_node_patterns
from schedgap.instances import placement
from schedgap.instances.errors import InstanceError, SolutionError
from schedgap.instances.provisioning import vbp, write_instance

TEXT = "1\n10\n3\n6 1\n4 2\n7 1\n"
LEAF = {"scale": 1, "prices": [10**6, 0, 10**6]}


@pytest.fixture
def certify(tmp_path):
    (tmp_path / "x.vbp").write_text(TEXT)
    instance = vbp(tmp_path / "x.vbp", name="y")
    write_instance(instance, tmp_path / "y.json")
    given = {"schema": "schedgap/certificate/1", "instance": "y", "digest": instance.digest, "bound": 2, "proof": LEAF}

    def certify(*arguments, **changes):
        (tmp_path / "c.json").write_text(json.dumps({**given, **changes}))
        files = [str(tmp_path / name) if "." in name else name for name in ("c.json", *arguments)]
        return CliRunner().invoke(app, ["certify", *files])

    return certify


@pytest.mark.parametrize(("instance", "name"), [("x.vbp", "x"), ("y.json", "y")])
def test_a_proof_that_holds(certify, instance, name):
    """It is told of the file that was read, by its name."""
    done = certify(instance)
    assert done.exit_code == 0
    assert done.output.startswith(f"proven: no solution of {name} is below 2; 1 nodes, 1 leaves, ")
    assert json.loads(certify(instance, "--json").output)["instance"] == name


def test_the_instance_is_looked_for_beside(certify):
    assert certify().exit_code == 0
    with pytest.raises(InstanceError, match="no file of its instance 'z' is beside it"):
        raise certify(instance="z").exception


def test_a_proof_that_does_not_hold(certify):
    done = certify(bound=3)
    assert (done.exit_code, done.output) == (3, "not proven: proof: proves 2, not the 3 that are claimed.\n")
    said = json.loads(certify("--json", proof={**LEAF, "prices": [10**6, 10**6, 10**6]}).output)
    assert (said["proven"], said["bound"], said["leaves"]) == (True, 2.0, 1)


def test_another_instance(certify):
    with pytest.raises(SolutionError, match=r"digest 0000\.\.\., y.json has"):
        raise certify(digest="0000").exception


def test_without_a_digest_the_name_tells(certify, tmp_path):
    content = json.loads((tmp_path / "y.json").read_text())
    (tmp_path / "z.json").write_text(json.dumps({**content, "name": "z"}))
    assert certify("z.json").exit_code == 0
    given = json.loads((tmp_path / "c.json").read_text())
    (tmp_path / "d.json").write_text(json.dumps({key: value for key, value in given.items() if key != "digest"}))
    done = CliRunner().invoke(app, ["certify", str(tmp_path / "d.json"), str(tmp_path / "x.vbp")])
    assert done.exit_code == 0
    done = CliRunner().invoke(app, ["certify", str(tmp_path / "d.json"), str(tmp_path / "z.json")])
    with pytest.raises(SolutionError, match=r"d\.json: is of instance 'y', z\.json is 'z'; give the instance"):
        raise done.exception


def test_a_bound_on_a_placement(tmp_path):
    instance = placement.random_pods(seed=1)
    placement.write_instance(instance, tmp_path / "i.json")
    proof = bound_node_patterns(instance).certificate
    about = {"schema": "schedgap/certificate/1", "instance": instance.name, "digest": instance.digest}
    (tmp_path / "c.json").write_text(json.dumps({**about, **proof}))
    done = CliRunner().invoke(app, ["certify", str(tmp_path / "c.json"), str(tmp_path / "i.json")])
    assert done.exit_code == 0, done.output
    assert done.output.startswith(f"proven: no solution of {instance.name} is below {proof['bound']}; ")
