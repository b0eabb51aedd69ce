"""Label expressions and tolerations, in three values: yes, no, and what is not known."""

import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.readers.kubernetes.constraints import (
    Constraint,
    Machine,
    Toleration,
    holds,
    may_run,
)
from schedgap.instances.provisioning.readers.kubernetes.objects import Expression, NodeTerms, SelectorTerm, Taint

MACHINE = Machine(
    {"a": frozenset("x"), "n": frozenset(("7",)), "open": frozenset("xy")},
    unknown=frozenset(("?", "kubernetes.io/hostname")),
)


@pytest.mark.parametrize(
    ("key", "operator", "values", "expected"),
    [
        *(("a", "In", "x", True), ("a", "In", "y", False), ("b", "In", "x", False), ("?", "In", "x", None)),
        *(
            ("a", "NotIn", "x", False),
            ("a", "NotIn", "y", True),
            ("b", "NotIn", "x", True),
            ("open", "NotIn", "x", None),
        ),
        *(
            ("open", "In", "y", None),
            ("open", "In", "xy", True),
            ("open", "In", "z", False),
            ("open", "NotIn", "xy", False),
        ),
        *(
            ("a", "Exists", "", True),
            ("b", "Exists", "", False),
            ("a", "DoesNotExist", "", False),
            ("b", "DoesNotExist", "", True),
        ),
        *(("n", "Gt", "6", True), ("n", "Gt", "7", False), ("n", "Gte", "7", True), ("n", "Lt", "8", True)),
        *(("n", "Lt", "7", False), ("n", "Lte", "7", True), ("b", "Gt", "1", False), ("a", "Lt", "1", False)),
    ],
)
def test_operators(key, operator, values, expected):
    assert holds(Expression(key, operator, tuple(values)), MACHINE) is expected


@pytest.mark.parametrize(
    ("operator", "values", "message"),
    [
        ("Gt", ("x",), "one whole number"),
        ("Lt", (), "one whole number"),
    ],
)
def test_expressions_that_are_none(operator, values, message):
    with pytest.raises(InstanceError, match=message):
        holds(Expression("a", operator, values), MACHINE)


def terms(*given):
    """Terms, each of (key, value) pairs."""
    return NodeTerms(tuple(SelectorTerm(tuple(Expression(k, "In", (v,)) for k, v in term)) for term in given))


@pytest.mark.parametrize(
    ("affinity", "expected"),
    [
        (terms([("a", "y")], [("a", "x")]), True),
        (terms([("a", "x"), ("b", "x")]), False),
        (terms([("a", "x"), ("?", "x")]), None),
        (terms([("a", "y"), ("?", "x")]), False),
        (terms([("?", "x")], [("a", "x")]), True),
        (terms([]), False),
        (NodeTerms(), False),
        # A node by name: it may be the one.
        (NodeTerms((SelectorTerm((), (Expression("metadata.name", "In", ("a",)),)),)), None),
    ],
)
def test_terms_are_ored_and_expressions_anded(affinity, expected):
    assert may_run(Constraint((), (affinity,)), MACHINE) is expected
    assert may_run(Constraint((Expression("a", "In", ("y",)),), (affinity,)), MACHINE) is False


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        *(
            (Toleration("k", value="v"), True),
            (Toleration("k", "Equal", "w"), False),
            (Toleration("k", "Exists"), True),
        ),
        *((Toleration("", "Exists"), True), (Toleration("", "Equal", "v"), False), (Toleration("j", "Exists"), False)),
        (Toleration("k", "Exists", effect="NoExecute"), False),
        (Toleration("k", "Exists", effect="NoSchedule"), True),
        (Toleration("k", "Gt", "1"), False),
    ],
)
def test_tolerations(toleration, tolerated):
    tainted = Machine({}, (Taint("k", "NoSchedule", "v"), Taint("k", "PreferNoSchedule", "z")))
    assert may_run(Constraint(tolerations=(toleration,)), tainted) is tolerated
    assert may_run(Constraint(), Machine({}, (Taint("k", "PreferNoSchedule"),))) is True


def test_numbers_in_tolerations():
    more_than_4 = Constraint(tolerations=(Toleration("k", "Gt", "4"),))
    assert [may_run(more_than_4, Machine({}, (Taint("k", "NoExecute", value),))) for value in ("5", "4", "x")] == [
        True,
        False,
        False,
    ]
