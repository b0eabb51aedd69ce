"""Where instances come from."""

import pytest

from schedgap.bench.suites.source import Source, converted, family_of_file
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning import table7, write_instance


def maker(size: int = 3, share: float = 0.5, big: bool = False, kind: str = "a"):
    return size, share, big, kind


def test_text_becomes_what_the_default_is():
    given = {"size": "7", "share": "1", "big": "true", "kind": "7"}
    assert converted(maker, "maker", given) == {"size": 7, "share": 1.0, "big": True, "kind": "7"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"size": "1.5"}, "maker: parameter 'size' takes a whole number, not '1.5'"),
        ({"share": "inf"}, "maker: parameter 'share' takes a finite number, not 'inf'"),
        ({"big": "yes"}, "maker: parameter 'big' takes true or false, not 'yes'"),
        ({"sise": "1"}, r"maker has no parameter 'sise'; did you mean size\? it has: size, share, big, kind"),
    ],
)
def test_wrong_parameters(given, message):
    with pytest.raises(InstanceError, match=message):
        converted(maker, "maker", given)


def test_generated_and_read_back(tmp_path):
    instance = Source("provisioning", "generator", "table7", None, {"tasks": 5, "seed": 3}).build()
    assert instance.digest == table7(5, seed=3).digest
    path = tmp_path / "i.json"
    write_instance(instance, path)
    assert family_of_file(path) == "provisioning"
    assert Source("provisioning", "file", path=path).build().digest == instance.digest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"i.json: no JSON"),
        (
            "{}",
            r"i.json: it names no schema; known are schedgap/fairness/1, schedgap/harvest/1, schedgap/placement/1",
        ),
        ('{"schema": "schedgap/knitting/1"}', r"its schema is 'schedgap/knitting/1'"),
        ("[1]", r"it names no schema"),
        ('{"kind": "List"}', r"its kind is 'List', so give `schedgap floor` a price list by --catalogue, or import it"),
        ("[" * 100_000, r"no JSON"),
    ],
    ids=["torn", "empty", "foreign", "list", "kubectl", "deep"],
)
def test_files_of_no_family(tmp_path, text, message):
    (tmp_path / "i.json").write_text(text)
    with pytest.raises(InstanceError, match=message):
        family_of_file(tmp_path / "i.json")


def test_missing_file(tmp_path):
    with pytest.raises(InstanceError, match="No such file"):
        family_of_file(tmp_path / "i.json")


@pytest.mark.parametrize("parameters", [{"tasks": 10**21}, {"tasks": 10**15}])
def test_parameters_that_no_array_can_have(parameters):
    with pytest.raises(
        InstanceError, match=r"generator table7 makes no instance of tasks=10+ \(.*; choose other values"
    ):
        Source("provisioning", "generator", "table7", None, parameters).build()
