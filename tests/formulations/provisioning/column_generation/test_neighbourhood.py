import time

import numpy as np

from schedgap.formulations.provisioning.column_generation.neighbourhood import Neighbourhood
from schedgap.heuristics.provisioning.no_packing import no_packing
from schedgap.instances.provisioning import distinct, verify
from schedgap.instances.provisioning.running import Running


def test_running_machines_are_no_part_of_a_neighbourhood():
    instance = distinct(20, seed=1)
    machine = Running.from_contents(["old"], [0], np.ones((1, instance.num_classes), np.int64))
    instance = instance.replace(running=machine)
    alone = no_packing(instance)
    search = Neighbourhood(instance, alone, np.zeros(instance.num_classes, np.int64))
    for _ in range(5):
        search.step(time.perf_counter() + 1.0)
    assert verify(instance, search.solution()) < verify(instance, alone)
