import numpy as np
import pytest

from schedgap.instances.units import HOUR_US
from schedgap.instances.waiting import WaitingInstance


@pytest.fixture
def make():
    """Make an instance: `make(submit_h=[0, 1], runtime_h=[2, 1])`, one core a job, $0.4 and $1 an hour, two cores."""

    def make(submit_h, runtime_h, cores=None, memory_mib=None, **changes):
        jobs = len(submit_h)
        fields = {
            "machine_cores": 2,
            "machine_memory_mib": 100,
            "fixed_price": 400_000,
            "rented_cores": np.array([1, 4]),
            "rented_memory_mib": np.array([100, 100]),
            "rented_price": np.array([1_000_000, 3_000_000]),
            "horizon_us": 10 * HOUR_US,
        } | changes
        return WaitingInstance(
            name="made",
            submit_us=np.array(submit_h) * HOUR_US,
            runtime_us=np.array(runtime_h) * HOUR_US,
            cores=np.ones(jobs, int) if cores is None else np.array(cores),
            memory_mib=np.zeros(jobs, int) if memory_mib is None else np.array(memory_mib),
            **fields,
        )

    return make
