import sys
from copy import copy

import pytest

from schedgap.instances import MethodError, Outcome, Status, find_method, method, parse_method
from schedgap.instances.method import REGISTRY, method_label, spelled


@pytest.fixture(autouse=True)
def clean_registry():
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


def test_a_plain_function_is_a_method():
    @method("ten-lines", family="test")
    def ten_lines(instance, depth=3):
        """Return the instance times depth."""
        return instance * depth

    found = find_method("test", "ten-lines")
    assert found.summary == "Return the instance times depth."
    assert found.run(7).solution == 21
    assert found.run(7, parameters={"depth": "2"}).solution == 14
    assert found.run(7).claimed_status is Status.FEASIBLE


def test_offers_reach_only_those_who_ask():
    @method("asks", family="test", stochastic=True)
    def asks(instance, *, rng, time_limit_s, threads, found):
        found(solution=3, bound=2)
        return (int(rng.integers(1000)), time_limit_s, threads)

    run = find_method("test", "asks").run
    assert run(0, seed=5, time_limit_s=2.0, threads=2).solution == run(0, seed=5, time_limit_s=2.0, threads=2).solution
    assert run(0, seed=5, time_limit_s=2.0).solution[1:] == (2.0, 1)


def test_unsupported_says_why_and_none_is_no_solution():
    @method("never", family="test", supports=lambda instance: "too odd" if instance % 2 else None)
    def never(instance):
        return None

    odd = find_method("test", "never").run(3)
    assert (odd.claimed_status, odd.details["reason"]) == (Status.UNSUPPORTED, "too odd")
    assert find_method("test", "never").run(2).claimed_status is Status.NO_SOLUTION
    assert Outcome(bound=3).claimed_status is Status.NO_SOLUTION


def renamed(func, other):
    func.__qualname__ = other.__qualname__
    return func


def test_refusals(monkeypatch):
    with pytest.raises(MethodError, match="'Bad Name' is not kebab-case"):
        method("Bad Name", family="test")(lambda instance: None)

    with pytest.raises(MethodError, match="parameter 'depth' has no default"):

        @method("no-default", family="test")
        def no_default(instance, depth):
            return None

    with pytest.raises(
        MethodError, match=r"method any-keyword: \*\*kw names no parameter; name each one, with a default"
    ):

        @method("any-keyword", family="test")
        def any_keyword(instance, **kw):
            return None

    @method("twice", family="test")
    def first(instance):
        return None

    with pytest.raises(MethodError, match="registered twice"):

        @method("twice", family="test")
        def second(instance):
            return None

    with pytest.raises(MethodError, match="registered twice"):
        # Of the same name, as in a loop.
        method("twice", family="test")(renamed(lambda instance: 1, first))

    # The module is loaded again.
    monkeypatch.setattr(sys.modules[__name__], "__spec__", copy(__spec__))
    method("twice", family="test")(renamed(lambda instance: 2, first))
    assert find_method("test", "twice").run(1).solution == 2

    with pytest.raises(MethodError, match="did you mean twice"):
        find_method("test", "twise")
    with pytest.raises(MethodError, match=r"family tset has no method 'twice'; did you mean twice of family test\?"):
        find_method("tset", "twice")
    with pytest.raises(
        MethodError,
        match=r"has no method 'quite-other'; `schedgap list methods` names ours, `--plugin FILE` brings others\.$",
    ):
        find_method("test", "quite-other")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"width": 1}, "has no parameter 'width'; it has: depth, fast, pause"),
        ({"depth": "x"}, "takes a whole number, not 'x'"),
        ({"pause": "inf"}, "takes a finite number, not 'inf'"),
        ({"pause": float("nan")}, "takes a finite number, not 'nan'"),
        ({"fast": "maybe"}, "takes true or false, not 'maybe'"),
    ],
)
def test_wrong_parameters(parameters, message):
    @method("typed", family="test")
    def typed(instance, depth=3, fast=False, pause=0.5):
        return None

    with pytest.raises(MethodError, match=message):
        find_method("test", "typed").run(1, parameters=parameters)


def test_choices():
    @method("chooses", family="test", choices={"order": ("size", "price")})
    def chooses(instance, order="size", depth=1, title="any text"):
        return order

    found = find_method("test", "chooses")
    assert found.choices == {"order": ("size", "price")}
    assert found.checked({"order": "price", "title": "own"}) == {"order": "price", "title": "own"}
    with pytest.raises(MethodError, match=r"^method chooses: parameter 'order' is one of size, price, not 'weight'\.$"):
        found.checked({"order": "weight"})


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"colour": ("red",)}, "choices for 'colour', which is no parameter of it"),
        ({"order": ("price",)}, "the default 'size' of 'order' is none of price"),
    ],
)
def test_choices_that_do_not_fit(choices, message):
    with pytest.raises(MethodError, match=message):

        @method("misfit", family="test", choices=choices)
        def misfit(instance, order="size"):
            return order


def test_labels_round_trip():
    assert parse_method("a-b[x=1,y=two]") == ("a-b", {"x": "1", "y": "two"})
    assert method_label("a-b", {"y": "two", "x": 1}) == "a-b[x=1,y=two]"
    assert parse_method("plain") == ("plain", {})
    for bad in ("a b", "a[x", "a[x]"):
        with pytest.raises(MethodError):
            parse_method(bad)


def test_parameters_have_one_spelling():
    """A suite's reference may write `60` where the label has `60.0`."""
    assert spelled({"a": 60, "b": "60.0", "c": True, "d": "Paper"}) == {
        "a": "60.0",
        "b": "60.0",
        "c": "true",
        "d": "paper",
    }
    assert spelled({"c": "True"}) == {"c": "true"}
