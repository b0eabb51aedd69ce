"""The oracle, clusters to hold against it, and what the product says of them."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from fractions import Fraction
from math import inf
from pathlib import Path

import pytest

from schedgap.bench.plugins.discover import load_methods
from schedgap.instances.errors import InstanceError
from schedgap.instances.method import Status, find_method
from schedgap.instances.provisioning import kubernetes
from schedgap.instances.units import DOLLAR

load_methods(["provisioning"])
# So many random clusters are tried; `SCHEDGAP_ORACLE_CLUSTERS=2000` tries more.
NUMBER = int(os.environ.get("SCHEDGAP_ORACLE_CLUSTERS", "150"))


def _load(name):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


_load("kubernetes_rules")
ORACLE, CLUSTERS = _load("kubernetes_floor"), _load("clusters")
_load("cases")
CASES = [
    case
    for name in ("rules_of_pods", "rules_of_machines", "reported", "odd")
    for family in _load(name).FAMILIES
    for case in family()
]


def pytest_generate_tests(metafunc):
    """Give each test that takes a case the table, and each that takes a seed so many, or a third where no oracle is asked."""
    if "case" in metafunc.fixturenames:
        metafunc.parametrize("case", CASES, ids=[case.name for case in CASES])
    if "cluster_seed" in metafunc.fixturenames:
        step = 1 if "least_price" in metafunc.fixturenames else 3
        metafunc.parametrize("cluster_seed", range(0, NUMBER, step))


@pytest.fixture(scope="session")
def clusters():
    """The module `clusters.py`."""
    return CLUSTERS


@pytest.fixture(scope="session")
def least_price():
    """Return what the oracle says of objects and a price list."""

    def least_price(objects, prices):
        return ORACLE.least_price([CLUSTERS.document(objects)], CLUSTERS.rows(prices))

    return least_price


@pytest.fixture
def proven(tmp_path):
    """Return the exact optimum of what is imported, in dollars, infinite where pods cannot be placed; and the notes."""

    def proven(objects, prices):
        (tmp_path / "cluster.json").write_text(json.dumps(CLUSTERS.document(objects)))
        (tmp_path / "prices.csv").write_text(prices)
        try:
            instance = kubernetes(tmp_path / "cluster.json", catalogue=str(tmp_path / "prices.csv"))
        except InstanceError as error:
            if "no pod fits a machine" not in str(error):
                raise
            return inf
        outcome = find_method("provisioning", "consolidation-ilp").run(instance)
        if outcome.claimed_status is Status.INFEASIBLE or any("fit no machine" in note for note in instance.notes):
            return inf
        assert outcome.claimed_status is Status.OPTIMAL
        return Fraction(outcome.bound, DOLLAR)

    return proven
