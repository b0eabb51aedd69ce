"""`schedgap new`: what it writes works as written."""

import importlib.util
import subprocess
import sys

import pytest

from schedgap.bench.plugins.discover import load_families, load_methods
from schedgap.bench.suites.suite import read_suite
from schedgap.instances.family import FAMILIES
from schedgap.instances.method import REGISTRY, find_method

load_families()
OWN = sorted(name for name, family in FAMILIES.items() if family.verify.__module__.startswith("schedgap."))
DECIDE_OVER_TIME = ["harvest", "placement", "reconfiguration", "sharing", "waiting"]


@pytest.fixture
def forgotten():
    """Forget the method that a test registers."""
    yield
    for key in [key for key in REGISTRY if key[1] == "my-own"]:
        del REGISTRY[key]


def first_instance(path):
    suite, folder = read_suite(path)
    return next(iter(suite.sources(suite.instances[0], None, folder))).build()


@pytest.mark.parametrize(
    ("kind", "family"),
    [*(("method", family) for family in OWN), *(("policy", family) for family in DECIDE_OVER_TIME)],
)
def test_what_is_written_has_a_verified_solution(schedgap, tmp_path, forgotten, kind, family):
    code, out, _ = schedgap("new", kind, "my-own", "--family", family, "--out", tmp_path / "made")
    assert code == 0
    written = [tmp_path / "made" / name for name in ("my_own.py", "my_own.toml", "test_my_own.py")]
    assert out == f"wrote {', '.join(map(str, written))}\n"
    spec = importlib.util.spec_from_file_location(f"my_own_{kind}_{family}", written[0])
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    instance = first_instance(written[1])
    solution = find_method(family, "my-own").run(instance).solution
    assert FAMILIES[family].verify(instance, solution) > 0
    assert read_suite(written[1])[0].methods[0] == "my-own"


@pytest.mark.parametrize("family", OWN)
def test_suites_name_a_method_that_proves_bounds(schedgap, tmp_path, family):
    assert schedgap("new", "suite", "tiny", "--family", family, "--out", tmp_path)[0] == 0
    load_methods([family])
    names = [text.partition("[")[0] for text in read_suite(tmp_path / "tiny.toml")[0].methods]
    assert [find_method(family, name).bounds for name in names] == [False, True]


def test_all_of_it_is_clean_and_its_tests_pass(schedgap, tmp_path):
    """Those of the family are run by `test_contributing.py`."""
    for kind, family in (("method", "provisioning"), ("policy", "sharing"), ("suite", "provisioning")):
        assert schedgap("new", kind, f"a-{kind}", "--family", family, "--out", tmp_path)[0] == 0
    assert schedgap("new", "family", "a-family", "--out", tmp_path)[0] == 0
    chosen = ["--isolated", "--no-cache", "--select", "E4,E7,E9,F,B,UP,RUF"]
    checked = subprocess.run([sys.executable, "-m", "ruff", "check", *chosen, tmp_path], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "test_a_method.py", "test_a_suite.py"]
    done = subprocess.run([sys.executable, *tests], cwd=tmp_path, capture_output=True, text=True)
    assert "2 passed" in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["family", "waiting"], "there is a family 'waiting' already; choose another name"),
        (["family", "numpy"], "'numpy' cannot be a Python module, or there is one already; choose another name"),
        (["family", "class"], "'class' cannot be a Python module"),
        (["method", "my_own", "--family", "waiting"], "name 'my_own' is not kebab-case; write it like"),
        (["policy", "mine", "--family", "fairness"], "there is no beginning of a policy for family fairness: a method"),
        (["method", "mine", "--family", "nothing"], "there is no family 'nothing'"),
    ],
)
def test_mistakes(schedgap, tmp_path, given, message):
    code, out, err = schedgap("new", *given, "--out", tmp_path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert not list(tmp_path.iterdir())


def test_nothing_is_written_over(schedgap, tmp_path):
    (tmp_path / "test_mine.py").write_text("mine")
    arguments = ["new", "method", "mine", "--family", "waiting", "--out", tmp_path]
    code, _, err = schedgap(*arguments)
    assert (code, [path.name for path in tmp_path.iterdir()]) == (2, ["test_mine.py"])
    assert "test_mine.py exists and is not written over" in err
    assert schedgap(*arguments, "--force")[0] == 0
    assert schedgap(*arguments, "--force")[0] == 0
