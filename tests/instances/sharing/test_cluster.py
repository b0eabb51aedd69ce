"""The compiled cluster does what a plain one does, event by event, whatever the options; Eunomia's micro-benchmark."""

import numpy as np
import pytest

from schedgap.instances.fairness.shares import share_of_a_task, value_and_scale
from schedgap.instances.sharing import Timeline, as_users, ends_ms, micro, random_jobs, verify
from schedgap.instances.sharing.cluster import NODES, OFFERS, TIES, Cluster

NO_CHANGES = ()


class Plain:
    """The rules as they are told, with lists and sorts; `changes` are (moment, gain, scale, base), in order."""

    def __init__(self, instance, cluster, nodes, offers, by_class, changes):
        self.instance, self.nodes, self.batches, self.by_class = instance, nodes, offers == "batch", by_class
        self.rank, self.random = cluster.state.tie_rank.tolist(), int(cluster.state.random[0])
        self.changes = list(changes)
        self.serves, self.machine2class = instance.serves(), instance.machine2class()
        self.free = np.repeat(instance.capacity, instance.machine_count, axis=0)
        self.left = [list(range(a, b)) for a, b in zip(instance.first_task, instance.first_task[1:], strict=False)]
        self.running = []
        self.arrived = 0
        self.machine = np.full(instance.num_tasks, -1)
        self.start = np.full(instance.num_tasks, -1)

    def run(self):
        instance = self.instance
        while self.running or self.arrived < instance.num_jobs:
            times = [end for end, *_ in self.running]
            if self.arrived < instance.num_jobs:
                times.append(int(instance.arrival_ms[self.arrived]))
            self.now = min(times)
            while self.changes and self.changes[0][0] <= self.now:
                _, self.gain, self.scale, self.base = self.changes.pop(0)
            ending = sorted(item for item in self.running if item[0] == self.now)
            touched = []
            for item in ending:
                self.running.remove(item)
                task, m = item[2:]
                self.free[m] += instance.demand[instance.task2job()[task]]
                if not self.batches:
                    self.offer(m)
                elif m not in touched:
                    touched.append(m)
            before = self.arrived
            while self.arrived < instance.num_jobs and instance.arrival_ms[self.arrived] == self.now:
                self.arrived += 1
            for m in touched if self.arrived == before else self.line(before):
                self.offer(m)
        return self.machine, self.start

    def line(self, job):
        machines = list(range(self.instance.num_machines))
        if self.nodes == "fastest":
            machines.sort(key=lambda m: -self.instance.performance[job, self.machine2class[m]])
        if self.nodes == "random":
            for i in range(len(machines) - 1, 0, -1):
                j = self.draw(i + 1)
                machines[i], machines[j] = machines[j], machines[i]
        return machines

    def draw(self, below):
        mask = 2**64 - 1
        self.random = x = (self.random + 0x9E3779B97F4A7C15) & mask
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
        return (x ^ (x >> 31)) % below

    def offer(self, m):
        instance, k = self.instance, self.machine2class[m]
        while True:
            waiting = [
                job
                for job in range(self.arrived)
                if self.left[job] and self.serves[job, k] and (instance.demand[job] <= self.free[m]).all()
            ]
            if not waiting:
                return
            job = min(waiting, key=lambda job: (self.key(job, k), self.rank[job]))
            task = self.left[job].pop(0)
            self.machine[task], self.start[task] = m, self.now
            self.free[m] -= instance.demand[job]
            tie = m
            if self.nodes == "fastest":
                faster = instance.performance[job] > instance.performance[job, k]
                same = (instance.performance[job] == instance.performance[job, k])[:k]
                tie = (int(faster.sum() + same.sum()), m)
            elif self.nodes == "random":
                tie = self.draw(2**62)
            self.running.append((self.now + int(instance.duration_ms(task, k)), tie, task, m))

    def key(self, job, k):
        count = np.zeros(len(self.instance.machine_names), np.int64)
        for _, _, task, m in self.running:
            if self.instance.task2job()[task] == job:
                count[self.machine2class[m]] += 1
        if self.by_class:
            return (count[k] + 1) * self.gain[job, k]
        return self.base[job] + float((count * self.gain[job]).sum()) / self.scale[job]


def keys_of(instance, notion="eunomia"):
    users = as_users(instance, np.arange(instance.num_jobs), np.diff(instance.first_task))
    return (*value_and_scale(users, notion), np.zeros(instance.num_jobs))


def drawn(seed):
    """Return a small instance in which much happens at once."""
    rng = np.random.default_rng(seed)
    return random_jobs(
        int(rng.integers(1, 7)),
        seed=seed,
        machine_classes=int(rng.integers(1, 4)),
        most_machines=int(rng.integers(1, 4)),
        most_tasks=int(rng.integers(1, 7)),
        own_performance=bool(rng.integers(2)),
    )


def options():
    return [(nodes, ties, offers) for nodes in NODES for ties in TIES for offers in OFFERS]


@pytest.mark.parametrize(("nodes", "ties", "offers"), options())
def test_it_is_the_plain_cluster(nodes, ties, offers):
    waited = 0
    for seed in range(24):
        instance = drawn(seed)
        keys = keys_of(instance, ("eunomia", "tsf", "cmmf", "drf")[seed % 4])
        cluster = Cluster(instance, nodes=nodes, ties=ties, offers=offers, seed=seed)
        plain = Plain(instance, cluster, nodes, offers, False, [(0, *keys)])
        cluster.set_keys(*keys)
        cluster.run()
        schedule = cluster.schedule()
        machine, start = plain.run()
        assert schedule.machine.tolist() == machine.tolist()
        assert schedule.start_ms.tolist() == start.tolist()
        verify(instance, schedule)
        waited += int((start > instance.arrival_ms[instance.task2job()]).sum())
    assert waited > 100


@pytest.mark.parametrize("by_class", [False, True])
def test_keys_can_change_on_the_way(by_class):
    changed = 0
    for seed in range(40):
        instance = drawn(seed)
        rng = np.random.default_rng(seed)
        shape = (instance.num_jobs, len(instance.machine_names))
        moments = np.sort(rng.integers(0, 20, 4)) * 500
        moments[0] = 0
        # Gains in quarters: their sums are exact in whatever order they are added.
        changes = [
            (
                int(ms),
                rng.integers(0, 9, shape) / 4,
                2.0 ** rng.integers(0, 3, shape[0]),
                rng.integers(0, 3, shape[0]) / 2,
            )
            for ms in moments
        ]
        cluster = Cluster(instance, by_class=by_class)
        once = Cluster(instance, by_class=by_class)
        plain = Plain(instance, cluster, "index", "each", by_class, changes)
        once.set_keys(*changes[0][1:])
        once.run()
        for ms, *keys in changes:
            cluster.run_until(ms)
            assert cluster.now_ms == ms
            cluster.set_keys(*keys)
        cluster.run()
        machine, start = plain.run()
        assert cluster.schedule().machine.tolist() == machine.tolist()
        assert cluster.schedule().start_ms.tolist() == start.tolist()
        changed += cluster.schedule().start_ms.tolist() != once.schedule().start_ms.tolist()
    assert changed > 5


def test_stopping_changes_nothing_and_shows_the_moment():
    for seed in range(20):
        instance = drawn(seed)
        whole, parts = Cluster(instance), Cluster(instance)
        for cluster in (whole, parts):
            cluster.set_keys(*keys_of(instance))
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


def test_keys_of_some_jobs_can_be_set():
    instance = micro(tasks=20)
    one, two = Cluster(instance), Cluster(instance)
    value, scale, base = keys_of(instance)
    one.set_keys(value, scale, base)
    two.set_keys(value[[0, 2]], scale[[0, 2]], base[[0, 2]], np.array([0, 2]))
    two.set_keys(value[[1, 3]], scale[[1, 3]], jobs=np.array([1, 3]))
    for cluster in (one, two):
        cluster.run()
    assert one.schedule().start_ms.tolist() == two.schedule().start_ms.tolist()
    assert one.schedule().machine.tolist() == two.schedule().machine.tolist()


def thirds():
    """Eunomia's micro-benchmark (Tables III and IV) with work of 6 s for 2 s, so that tasks take whole milliseconds."""
    instance = micro()
    return instance.replace(work_ms=instance.work_ms * 3)


def micro_run(notion, **options):
    """Return when the jobs end, in ms (3,000 for 1 s of the paper), and mean progress shares until the first does."""
    instance = thirds()
    cluster = Cluster(instance, **options)
    cluster.set_keys(*keys_of(instance, notion))
    cluster.run()
    schedule = cluster.schedule()
    verify(instance, schedule)
    end_ms, job = ends_ms(instance, schedule), instance.task2job()
    ends = end_ms.reshape(4, -1).max(axis=1)
    gain = share_of_a_task(as_users(instance, np.arange(4), np.full(4, 1000)), "eunomia")
    held = np.minimum(end_ms, ends.min()) - np.minimum(schedule.start_ms, ends.min())
    shares = np.bincount(job, held * gain[job, instance.machine2class()[schedule.machine]]) / ends.min()
    return ends.tolist(), [round(share, 3) for share in shares.tolist()]


class TestMicroBenchmark:
    def test_tsf(self):
        # 20 slots of performance 3 do 30 tasks a second: job 4 ends after 33.33 s. Figure 3: it has 60/150 till then.
        ends, shares = micro_run("tsf")
        assert ends == [162_000, 162_000, 162_000, 100_000]
        assert shares == [0.197, 0.2, 0.203, 0.4]

    def test_eunomia(self):
        # Figure 4: all have a quarter, and end at about the same time; 4,000 tasks on 75 a second are 53.33 s.
        ends, shares = micro_run("eunomia")
        assert ends == [156_000, 162_000, 162_000, 164_000]
        assert shares == [0.256, 0.25, 0.253, 0.24]

    def test_the_options_move_results(self):
        # Batched, machines that become free together are shared out together.
        assert micro_run("eunomia", offers="batch")[0][3] == 160_000
        assert micro_run("tsf", nodes="fastest")[0] == [159_000, 160_000, 162_000, 102_000]

    def test_a_seed_is_a_schedule(self):
        runs = [micro_run("tsf", nodes="random", ties="random", seed=seed) for seed in (3, 3, 4)]
        assert runs[0] == runs[1] != runs[2]

    @pytest.mark.parametrize("ties", TIES)
    def test_what_is_random_does_not_depend_on_jobs_to_come(self, ties):
        few, more = (Cluster(random_jobs(jobs=jobs), nodes="random", ties=ties, seed=5).state for jobs in (20, 30))
        assert np.argsort(few.tie_rank).tolist() == [job for job in np.argsort(more.tie_rank) if job < 20]
        assert few.random.tolist() == more.random.tolist()
