import numpy as np
import pytest

from schedgap.instances.sharing import SharingInstance


@pytest.fixture
def pair():
    """Two jobs on three machines; cores count, seconds are easy.

    Machines 0 and 1 of class slow (2 cpu, 4 GiB, performance 1), machine 2 of class fast (4 cpu, 2 GiB, performance 2).
    Job a, from 0 s: three tasks of 4 s, 1 cpu and 1 GiB, anywhere. Job b, from 1 s: two tasks of 3 s, 2 cpu and 2 GiB, on
    slow alone, and on fast it has no performance.
    """
    return SharingInstance(
        name="pair",
        notion="eunomia",
        resources=("cpu", "ram_gib"),
        machine_names=("slow", "fast"),
        machine_count=[2, 1],
        capacity=[[2000, 4096], [4000, 2048]],
        arrival_ms=[0, 1000],
        demand=[[1000, 1024], [2000, 2048]],
        weight=[1000, 1000],
        performance=[[1000, 2000], [1000, 0]],
        allowed=np.ones((2, 2), bool),
        first_task=[0, 3, 5],
        work_ms=[4000, 4000, 4000, 3000, 3000],
        job_names=("a", "b"),
    )
