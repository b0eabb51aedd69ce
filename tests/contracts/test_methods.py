"""What every registered method promises, on tiny instances of every kind; a new method is tested by being there."""

from __future__ import annotations

import pickle
from functools import cache

import numpy as np
import pytest

from schedgap.bench.discover import load_methods
from schedgap.instances.family import FAMILIES
from schedgap.instances.method import REGISTRY, Status
from schedgap.instances.provisioning import ProvisioningInstance, alibaba_like, distinct, table3, table7

TIME_LIMIT_S = 20.0
load_methods(["provisioning"])
METHODS = {
    f"{family}/{name}": method
    for (family, name), method in sorted(REGISTRY.items())
    if method.func.__module__.startswith("schedgap.")
}


def one_task() -> ProvisioningInstance:
    """The smallest instance there is."""
    return ProvisioningInstance(
        name="one-task",
        resources=("cpu",),
        families=("x",),
        type_names=("small",),
        type2family=np.array([0]),
        capacity=np.array([[1000]]),
        price=np.array([7]),
        demand=np.array([[[1000]]]),
        counts=np.array([1]),
    )


def zero_demand() -> ProvisioningInstance:
    """A class that asks for nothing, and a type that is cheaper for nobody."""
    return ProvisioningInstance(
        name="zero-demand",
        resources=("gpu", "cpu"),
        families=("x",),
        type_names=("small", "large"),
        type2family=np.array([0, 0]),
        capacity=np.array([[0, 2000], [1000, 4000]]),
        price=np.array([1_000_000, 3_000_000]),
        demand=np.array([[[0, 0], [0, 1500], [1000, 1000]]]),
        counts=np.array([3, 2, 1]),
    )


MAKERS = {
    "provisioning": {
        "one-task": one_task,
        "zero-demand": zero_demand,
        "table3": table3,
        "table7": lambda: table7(9, seed=1),
        "table7-vcpu": lambda: table7(9, seed=2, cpu="vcpu"),
        "interference": lambda: table7(5, seed=3, interference=True),
        "distinct": lambda: distinct(6, seed=4),
        "alibaba-like": lambda: alibaba_like(8, seed=5),
    }
}


@cache
def instance_of(family, kind):
    return MAKERS[family][kind]()


def is_supported(name, kind):
    return METHODS[name].supports(instance_of(METHODS[name].family, kind)) is None


PAIRS = [(name, kind) for name, method in METHODS.items() for kind in MAKERS[method.family]]
CASES = [pytest.param(*pair, id="-".join(pair)) for pair in PAIRS if is_supported(*pair)]
EXACT_CASES = [case for case in CASES if METHODS[str(case.values[0])].exact]
UNSUPPORTED = [pytest.param(*pair, id="-".join(pair)) for pair in PAIRS if not is_supported(*pair)]


@cache
def outcome_of(name, kind):
    """One run of a method: the outcome, and whether the instance is what it was."""
    method = METHODS[name]
    instance = instance_of(method.family, kind)
    before = pickle.dumps(instance)
    outcome = method.run(instance, seed=11, time_limit_s=TIME_LIMIT_S)
    return outcome, pickle.dumps(instance) == before


@cache
def best_objective(family, kind):
    """The least verified objective of all methods."""
    verify = FAMILIES[family].verify
    instance = instance_of(family, kind)
    outcomes = [outcome_of(name, kind)[0] for name, method in METHODS.items() if method.family == family]
    return min(verify(instance, o.solution) for o in outcomes if o.solution is not None)


def frozen(solution):
    return None if solution is None else pickle.dumps(solution)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_solution_verifies_and_claims_hold(name, kind):
    """Feasible, never below a bound; `optimal` only with a bound that proves it; no bound above any solution."""
    method = METHODS[name]
    outcome, unchanged = outcome_of(name, kind)
    assert unchanged
    status = outcome.claimed_status
    assert status in (Status.OPTIMAL, Status.FEASIBLE, Status.NO_SOLUTION)
    assert (outcome.solution is None) == (status is Status.NO_SOLUTION)
    best = best_objective(method.family, kind)
    assert outcome.bound is None or type(outcome.bound) is int
    assert outcome.bound is None or outcome.bound <= best
    assert outcome.bound is None or method.bounds
    if status is Status.OPTIMAL:
        assert FAMILIES[method.family].verify(instance_of(method.family, kind), outcome.solution) == outcome.bound


@pytest.mark.parametrize(("name", "kind"), EXACT_CASES)
def test_exact_methods_prove_tiny_instances(name, kind):
    outcome, _ = outcome_of(name, kind)
    assert outcome.claimed_status is Status.OPTIMAL
    assert outcome.bound == best_objective(METHODS[name].family, kind)


@pytest.mark.parametrize(("name", "kind"), UNSUPPORTED)
def test_what_is_unsupported_is_refused_with_a_reason(name, kind):
    outcome, _ = outcome_of(name, kind)
    assert (outcome.solution, outcome.bound, outcome.claimed_status) == (None, None, Status.UNSUPPORTED)
    assert outcome.details["reason"]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_same_seed_same_answer(name, kind):
    method = METHODS[name]
    first, _ = outcome_of(name, kind)
    again = method.run(instance_of(method.family, kind), seed=11, time_limit_s=TIME_LIMIT_S)
    assert (again.claimed_status, again.bound) == (first.claimed_status, first.bound)
    assert frozen(again.solution) == frozen(first.solution)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_no_time_at_all(name, kind):
    """NO_SOLUTION or a verified solution, and bounds that hold; never an exception, never zeros."""
    method = METHODS[name]
    instance = instance_of(method.family, kind)
    outcome = method.run(instance, seed=11, time_limit_s=0.0)
    if outcome.solution is None:
        assert outcome.claimed_status is Status.NO_SOLUTION
    else:
        assert FAMILIES[method.family].verify(instance, outcome.solution) >= best_objective(method.family, kind)
    assert outcome.bound is None or outcome.bound <= best_objective(method.family, kind)


@pytest.mark.parametrize("name", METHODS)
def test_has_a_summary_and_checked_parameters(name):
    method = METHODS[name]
    assert method.summary.endswith(".")
    assert method.checked(dict(method.parameters)) == dict(method.parameters)
