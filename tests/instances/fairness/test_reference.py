"""Fair shares are found by whoever registered last, and kept for a few instances."""

from collections import OrderedDict

import numpy as np
import pytest

from schedgap.instances.errors import VerifyError
from schedgap.instances.fairness import alice_bob, micro, random_users, reference
from schedgap.instances.fairness.reference import find_fair_point, finds_fair_point, keep_fair_shares, known_fair_shares


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(reference, "_finders", [])
    monkeypatch.setattr(reference, "_known", OrderedDict())


def test_the_last_finder_is_asked():
    with pytest.raises(VerifyError, match=r"the fair shares of micro are not known; import schedgap.formulations"):
        find_fair_point(micro())
    finds_fair_point(lambda instance: ("first", instance.name))
    assert finds_fair_point(second := lambda instance: ("second", instance.name)) is second
    assert find_fair_point(micro()) == ("second", "micro")


def test_the_last_eight_are_kept_by_content():
    instances = [random_users(3, seed=seed) for seed in range(9)]
    for seed, instance in enumerate(instances):
        keep_fair_shares(instance, np.full(3, float(seed)))
    assert known_fair_shares(instances[0]) is None
    assert known_fair_shares(instances[1].replace(name="another name")).tolist() == [1.0] * 3
    assert known_fair_shares(alice_bob()) is None
