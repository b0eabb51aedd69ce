"""Instances whose throughputs are no products of pairs, which bounds refuse."""

import pytest

from schedgap.formulations.reconfiguration import work_bound as progress_bound
from schedgap.formulations.reconfiguration import work_prices
from schedgap.formulations.reconfiguration.contents import products_of_pairs
from schedgap.instances.method import Status, find_method
from schedgap.instances.reconfiguration.generators import eva_synthetic


def test_stored_sets_are_refused():
    assert products_of_pairs(eva_synthetic(3)) is None
    assert products_of_pairs(eva_synthetic(3, interference="none")) is None
    reason = products_of_pairs(eva_synthetic(3, interference="artifact-sets"))
    assert reason.startswith("has stored_sets, whose throughputs may exceed the products of pairs")


BOUNDS = {
    "bound-work": work_prices.bound_work,
    "bound-progress": progress_bound.bound_progress,
    "bound-presence": progress_bound.bound_presence,
}


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_refuse_them(name):
    outcome = find_method("reconfiguration", name).run(eva_synthetic(3, interference="artifact-sets"))
    assert outcome.status == Status.UNSUPPORTED
    assert outcome.details["reason"].startswith("has stored_sets")
