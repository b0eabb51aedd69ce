"""Programs among the methods that a harness can ask for: what they are registered as, and which names are taken."""

import pytest

from schedgap.bench.catalogue import load_catalogue
from schedgap.bench.executors.execute import close_pools
from schedgap.bench.programs.program import MODULE, Program
from schedgap.instances.errors import MethodError
from schedgap.instances.method import REGISTRY, find_method


@pytest.fixture
def make(alone):
    """Make a program; those that are registered meanwhile are forgotten afterwards."""
    yield lambda name="mine", **more: Program.make(name, alone, **more)
    for key in [key for key, method in REGISTRY.items() if method.module == MODULE]:
        del REGISTRY[key]


def test_a_program_is_a_method_of_each_family(make):
    load_catalogue(["provisioning", "sharing"], [make(stochastic=True)])
    methods = [find_method(family, "mine") for family in ("provisioning", "sharing")]
    assert [(method.family, method.stochastic, method.is_shipped) for method in methods] == [
        ("provisioning", True, False),
        ("sharing", True, False),
    ]


def test_another_program_of_the_name_takes_its_place(make):
    for stochastic in (True, False):
        load_catalogue(["provisioning"], [make(stochastic=stochastic)])
        assert find_method("provisioning", "mine").stochastic is stochastic


def test_names_of_shipped_methods_are_taken(make, alone):
    with pytest.raises(MethodError) as caught:
        load_catalogue(["provisioning"], [make("no-packing")])
    assert str(caught.value) == (
        f"family provisioning has a method 'no-packing' already; give the method another name, by NAME={alone}."
    )
    assert find_method("provisioning", "no-packing").is_shipped


def test_names_of_a_plug_in_beside_it_are_taken(make, hostile):
    """Where the plug-in is not given, its names are free again."""
    try:
        with pytest.raises(MethodError, match="family provisioning has a method 'x-honest' already"):
            load_catalogue(["provisioning"], [str(hostile), make("x-honest")])
        load_catalogue(["provisioning"], [make("x-honest")])
        assert find_method("provisioning", "x-honest").summary.startswith("method: ")
    finally:
        close_pools()
        REGISTRY.pop(("provisioning", "x-honest"), None)


def test_a_policy_where_nothing_is_decided_over_time(make):
    load_catalogue(["sharing"], [make(kind="policy")])
    assert find_method("sharing", "mine").wants == ()
    with pytest.raises(MethodError, match=r"in family provisioning nothing is decided over time, .* by --program"):
        load_catalogue(["provisioning"], [make("other", kind="policy")])
    assert ("provisioning", "other") not in REGISTRY
