"""What Python prints of instances and solutions: a short line, whatever they hold."""

import re

import numpy as np
import pytest

from schedgap.bench.plugins.discover import load_families
from schedgap.instances.family import FAMILIES
from schedgap.instances.provisioning import Provisioning, table3
from schedgap.instances.sharing import SharingSchedule

load_families()


def test_an_instance_and_its_solution():
    instance = table3()
    assert repr(instance) == "<ProvisioningInstance table3: 4 classes, 4 tasks, 4 types>"
    solution = Provisioning.from_tasks(instance, instance.reservation_type, np.arange(4))
    assert repr(solution) == "<Provisioning: 4 machines>"


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_every_family(name):
    make = next(iter(FAMILIES[name].generators.values()))
    assert re.fullmatch(rf"<\w+Instance {re.escape(make().name)}: \d[\w, ]+>", repr(make()))


def test_without_counts_the_shapes():
    schedule = SharingSchedule(machine=[0, 0], start_ms=[0, 5])
    assert repr(schedule) == "<SharingSchedule: machine (2,), start_ms (2,)>"
