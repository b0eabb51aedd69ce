import numpy as np

from schedgap.instances.harvest import NO_CHECKPOINTS, quick, shrink, verify
from schedgap.instances.harvest.simulator.simulator import Simulator


def test_the_first_jobs_and_vms_are_kept():
    instance = quick(20, 10, "5-9", seed=3, checkpoint_s=30.0, objective="tasks", kills="newest")
    small = shrink(instance)
    assert small.name == f"{instance.name}-shrunk"
    assert (small.num_jobs, small.num_tasks) == (4, 12)
    assert (small.objective, small.kills) == ("tasks", "newest")
    assert small.arrival_ms.tolist() == instance.arrival_ms[:4].tolist()
    assert small.checkpoint_ms.tolist() == [30_000] * 4
    for j in range(4):
        own = small.runtime_ms[small.first_task[j] : small.first_task[j + 1]]
        assert own.tolist() == instance.runtime_ms[instance.first_task[j] :][:3].tolist()
    assert 6 <= small.num_vms <= 10
    events = slice(*small.first_event[5:7])
    kept = slice(*instance.first_event[5:7])
    assert small.event_ms[events].tolist() == instance.event_ms[kept].tolist()
    simulator = Simulator(small)
    assert simulator.run_plain()
    assert verify(small, simulator.schedule()) > 0


def test_what_is_small_already_stays_as_it_is(trio, pool):
    assert shrink(trio).digest == trio.digest
    assert shrink(pool).digest == pool.digest


def test_each_kind_of_job_stays():
    kinds = [NO_CHECKPOINTS] * 6 + [0] * 2 + [60_000]
    names = tuple(f"j{j}" for j in range(9))
    instance = quick(3, 9, "1-2", seed=1).replace(checkpoint_ms=kinds, job_names=names)
    small = shrink(instance)
    assert small.checkpoint_ms.tolist() == [*[NO_CHECKPOINTS] * 4, 0, 60_000]
    assert small.job_names == ("j0", "j1", "j2", "j3", "j6", "j8")


def test_a_vm_stays_that_fits_in_the_end_and_is_not_on_a_buffer_server(pool):
    """Nine VMs that the provider may lease: the eighth alone is large enough, but for the first, on a buffer server."""
    count = 9
    many = pool.replace(
        first_event=np.arange(count + 1),
        event_ms=np.zeros(count),
        event_cores=[8, 2, 2, 2, 2, 2, 2, 8, 2],
        min_cores=np.ones(count),
        memory_mib=np.full(count, 4096),
        leased=np.arange(count) == 8,
        buffer=np.arange(count) == 0,
        vm_names=tuple("abcdefghi"),
    )
    small = shrink(many)
    assert small.vm_names == ("b", "c", "d", "e", "f", "h", "i")
    assert small.leased.tolist() == [False] * 6 + [True]
    assert not small.buffer.any()
