"""A callable becomes a plug-in file that a fresh interpreter can load, and leaves nothing behind here."""

import subprocess
import sys
import threading
from functools import partial

import cloudpickle
import pytest

from schedgap.bench.catalogue import transported
from schedgap.bench.plugins.discover import load_methods
from schedgap.instances.errors import MethodError
from schedgap.instances.method import REGISTRY, find_method, method
from schedgap.instances.provisioning import FAMILY

THREE = 3


class BestFit:
    def __call__(self, instance, tries=1):
        return None


def two_names(instance):
    return None


@pytest.fixture(scope="module", autouse=True)
def methods():
    load_methods([FAMILY])


@pytest.fixture
def module():
    """This module, which a fresh interpreter cannot import."""
    return sys.modules[__name__]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (two_names, "two-names"),
        (lambda instance: None, "lambda"),
        (BestFit(), "best-fit"),
        (partial(BestFit(), tries=2), "best-fit"),
        (partial(partial(two_names)), "two-names"),
        (BestFit().__call__, "call"),
    ],
)
def test_names(tmp_path, module, given, name):
    before = dict(REGISTRY)
    with transported(given, FAMILY, tmp_path, [module]) as (label, files):
        assert label == name
        assert files == (str(tmp_path / f"{name}.py"),)
        assert find_method(FAMILY, name).func is given
    assert before == REGISTRY


def test_it_is_rebuilt_in_a_fresh_interpreter(tmp_path, module):
    """By value, with the global that it uses; `rng` makes it stochastic, what has a default is a parameter."""

    def adding(instance, rng, more=4):
        return instance + THREE + more

    code = (
        "import runpy, sys; runpy.run_path(sys.argv[1]);"
        "from schedgap.instances.method import find_method; m = find_method('provisioning', 'adding');"
        "print(m.func(10, None), m.stochastic, m.parameters)"
    )
    with transported(adding, FAMILY, tmp_path, [module]) as (_, files):
        answer = subprocess.run([sys.executable, "-P", "-c", code, *files], capture_output=True, text=True, check=True)
    assert answer.stdout == "17 True {'more': 4}\n"
    assert cloudpickle.list_registry_pickle_by_value() == set()


def test_what_cannot_be_rebuilt_is_a_sentence(tmp_path):
    """Without being told so, this module goes by name."""
    with transported(two_names, FAMILY, tmp_path) as (_, files):
        code = "import runpy, sys; sys.modules[sys.argv[2]] = None; runpy.run_path(sys.argv[1])"
        answer = subprocess.run([sys.executable, "-P", "-c", code, *files, __name__], capture_output=True, text=True)
    assert "MethodError: two-names cannot be rebuilt in a process of its own (" in answer.stderr


def test_shipped_methods_are_not_transported(tmp_path):
    with transported("full-reconfiguration[downsizing=false]", FAMILY, tmp_path) as found:
        assert found == ("full-reconfiguration[downsizing=False]", ())
    with transported(find_method(FAMILY, "full-reconfiguration").func, FAMILY, tmp_path) as found:
        assert found == ("full-reconfiguration", ())
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_taken_get_a_number(tmp_path, module):
    def full_reconfiguration(instance):
        return None

    with transported(full_reconfiguration, FAMILY, tmp_path, [module]) as (label, _):
        assert label == "full-reconfiguration-2"


def test_a_function_of_two_names_is_refused(tmp_path, module):
    for name in ("one-name", "other-name"):
        method(name, family=FAMILY)(two_names)
    try:
        with (
            pytest.raises(MethodError, match="is registered as 'one-name' and 'other-name'; give one"),
            transported(two_names, FAMILY, tmp_path, [module]),
        ):
            pass
    finally:
        del REGISTRY[FAMILY, "one-name"], REGISTRY[FAMILY, "other-name"]


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (7, "7 is no method; give a function"),
        (min, "does not tell its arguments; wrap it"),
        (lambda instance, much: None, "parameter 'much' has no default"),
        (partial(two_names, threading.Lock()), r"cannot be sent to a process of its own \(TypeError: .*lock"),
    ],
)
def test_what_is_no_method_is_refused(tmp_path, module, given, problem):
    before = dict(REGISTRY)
    with pytest.raises(MethodError, match=problem), transported(given, FAMILY, tmp_path, [module]):
        pass
    assert before == REGISTRY
