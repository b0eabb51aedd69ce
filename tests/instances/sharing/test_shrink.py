from schedgap.instances.sharing import macro, shrink, verify
from schedgap.instances.sharing.simulator.simulator import Simulator


def test_the_first_jobs_are_kept_with_their_first_tasks():
    instance = macro(jobs=40)
    small = shrink(instance)
    assert small.name == f"{instance.name}-shrunk"
    assert (small.num_jobs, small.warm_up_jobs) == (6, 0)
    assert small.arrival_ms.tolist() == instance.arrival_ms[:6].tolist()
    for j in range(6):
        own, all_ = (
            small.work_ms[small.first_task[j] : small.first_task[j + 1]],
            instance.work_ms[instance.first_task[j] :],
        )
        assert 1 <= own.shape[0] <= 3
        assert own.tolist() == all_[: own.shape[0]].tolist()
    simulator = Simulator(small)
    simulator.run()
    assert verify(small, simulator.schedule()) > 0


def test_what_is_small_already_stays_as_it_is(pair):
    assert shrink(pair).replace(name="pair").digest == pair.digest
