"""Fair shares are found by a formulation that nobody has to import, and kept for a few instances."""

import subprocess
import sys
from collections import OrderedDict

import numpy as np
import pytest

from schedgap.instances.fairness import alice_bob, random_users
from schedgap.instances.fairness import certificate as reference
from schedgap.instances.fairness.certificate import keep_fair_shares, known_fair_shares


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(reference, "_known", OrderedDict())


def test_fair_points_are_found_without_importing_a_formulation_first():
    """In a process of its own, which imports the lowest floor only."""
    code = (
        "from schedgap.instances.fairness import alice_bob\n"
        "from schedgap.instances.fairness.verify import fair_shares\n"
        "print(*fair_shares(alice_bob()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0.5 0.5\n"


def test_the_last_eight_are_kept_by_content():
    instances = [random_users(3, seed=seed) for seed in range(9)]
    for seed, instance in enumerate(instances):
        keep_fair_shares(instance, np.full(3, float(seed)))
    assert known_fair_shares(instances[0]) is None
    assert known_fair_shares(instances[1].replace(name="another name")).tolist() == [1.0] * 3
    assert known_fair_shares(alice_bob()) is None
