"""What a cluster shows at any moment; Eunomia's micro-benchmark."""

import numpy as np
import pytest

from schedgap.instances.fairness.shares import share_of_a_task
from schedgap.instances.sharing import Timeline, as_users, ends_ms, micro, random_jobs, verify
from schedgap.instances.sharing.simulator.simulator import TIES, Simulator


def test_stopping_changes_nothing_and_shows_the_moment(drawn, keys_of):
    for seed in range(20):
        instance = drawn(seed)
        whole, parts = Simulator(instance), Simulator(instance)
        for simulator in (whole, parts):
            simulator.set_keys(*keys_of(instance))
        whole.run()
        timeline = Timeline(instance, whole.schedule())
        last = int(timeline.end_ms.max())
        for ms in range(1, last + 1, 250):
            parts.run_until(ms)
            # Before the events of a moment it looks as it did just before.
            seen = timeline.at(ms - 1)
            due = instance.arrival_ms == ms
            assert parts.admitted.tolist() == seen.jobs.tolist()
            assert parts.present.tolist() == sorted(seen.jobs.tolist() + np.flatnonzero(due).tolist())
            assert parts.running[seen.jobs].tolist() == seen.running.tolist()
            assert parts.num_unfinished[seen.jobs].tolist() == seen.unfinished.tolist()
            assert parts.running.sum() == seen.running.sum()
            events = timeline.end_ms[timeline.start_ms < ms], instance.arrival_ms
            assert parts.next_ms == min((int(t) for at in events for t in at if t >= ms), default=None)
        parts.run()
        assert parts.next_ms is None
        assert parts.present.size == 0
        assert not parts.num_to_start.any()
        assert parts.schedule().machine.tobytes() == whole.schedule().machine.tobytes()
        assert parts.schedule().start_ms.tobytes() == whole.schedule().start_ms.tobytes()


def test_keys_of_some_jobs_can_be_set(keys_of):
    instance = micro(tasks=20)
    one, two = Simulator(instance), Simulator(instance)
    value, scale, base = keys_of(instance)
    one.set_keys(value, scale, base)
    two.set_keys(value[[0, 2]], scale[[0, 2]], base[[0, 2]], np.array([0, 2]))
    two.set_keys(value[[1, 3]], scale[[1, 3]], jobs=np.array([1, 3]))
    for simulator in (one, two):
        simulator.run()
    assert one.schedule().start_ms.tolist() == two.schedule().start_ms.tolist()
    assert one.schedule().machine.tolist() == two.schedule().machine.tolist()


def thirds():
    """Eunomia's micro-benchmark (Tables III and IV) with work of 6 s for 2 s, so that tasks take whole milliseconds."""
    instance = micro()
    return instance.replace(work_ms=instance.work_ms * 3)


@pytest.fixture
def micro_run(keys_of):
    def micro_run(notion, **options):
        """Return when the jobs end, in ms (3,000 for 1 s of the paper), and mean progress shares until the first does."""
        instance = thirds()
        simulator = Simulator(instance, **options)
        simulator.set_keys(*keys_of(instance, notion))
        simulator.run()
        schedule = simulator.schedule()
        verify(instance, schedule)
        end_ms, job = ends_ms(instance, schedule), instance.task2job()
        ends = end_ms.reshape(4, -1).max(axis=1)
        gain = share_of_a_task(as_users(instance, np.arange(4), np.full(4, 1000)), "eunomia")
        held = np.minimum(end_ms, ends.min()) - np.minimum(schedule.start_ms, ends.min())
        shares = np.bincount(job, held * gain[job, instance.machine2class()[schedule.machine]]) / ends.min()
        return ends.tolist(), [round(share, 3) for share in shares.tolist()]

    return micro_run


class TestMicroBenchmark:
    def test_tsf(self, micro_run):
        # 20 slots of performance 3 do 30 tasks a second: job 4 ends after 33.33 s. Figure 3: it has 60/150 till then.
        ends, shares = micro_run("tsf")
        assert ends == [162_000, 162_000, 162_000, 100_000]
        assert shares == [0.197, 0.2, 0.203, 0.4]

    def test_eunomia(self, micro_run):
        # Figure 4: all have a quarter, and end at about the same time; 4,000 tasks on 75 a second are 53.33 s.
        ends, shares = micro_run("eunomia")
        assert ends == [156_000, 162_000, 162_000, 164_000]
        assert shares == [0.256, 0.25, 0.253, 0.24]

    def test_the_options_move_results(self, micro_run):
        # Batched, machines that become free together are shared out together.
        assert micro_run("eunomia", offers="batch")[0][3] == 160_000
        assert micro_run("tsf", nodes="fastest")[0] == [159_000, 160_000, 162_000, 102_000]

    def test_a_seed_is_a_schedule(self, micro_run):
        runs = [micro_run("tsf", nodes="random", ties="random", seed=seed) for seed in (3, 3, 4)]
        assert runs[0] == runs[1] != runs[2]

    @pytest.mark.parametrize("ties", TIES)
    def test_what_is_random_does_not_depend_on_jobs_to_come(self, ties):
        few, more = (Simulator(random_jobs(jobs=jobs), nodes="random", ties=ties, seed=5).state for jobs in (20, 30))
        assert np.argsort(few.jobs.tie_rank[:-1]).tolist() == [
            job for job in np.argsort(more.jobs.tie_rank[:-1]) if job < 20
        ]
        assert few.clock[0].random == more.clock[0].random
