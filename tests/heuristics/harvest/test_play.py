"""Playing policies: nothing of the future in a view, wrong answers refused, the compiled rule reproduced."""

import numpy as np
import pytest

from schedgap.heuristics.harvest.play import play
from schedgap.heuristics.harvest.view import Decision
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.cluster import Cluster
from schedgap.instances.harvest.verify import verify

MINUTE_MS = 60_000


class Drawing:
    """The plain rule in Python, with the compiled one's random numbers (splitmix64)."""

    def __init__(self, seed):
        self.random = int(np.random.default_rng(seed).integers(2**64, size=1, dtype=np.uint64)[0])

    def below(self, bound):
        self.random = x = (self.random + 0x9E3779B97F4A7C15) % 2**64
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
        return (x ^ (x >> 31)) % bound

    def __call__(self, view):
        free, free_memory, starts = view.free.copy(), view.free_memory.copy(), []
        for job in np.unique(view.task_job).tolist():
            cores, memory = view.job_cores[job], view.job_memory[job]
            fitting = np.flatnonzero((free >= cores) & (free_memory >= memory)).tolist()
            for task in view.task[view.task_job == job].tolist():
                if fitting:
                    k = self.below(len(fitting))
                    i = fitting[k]
                    free[i] -= cores
                    free_memory[i] -= memory
                    starts.append((task, view.vm[i]))
                    if free[i] < cores or free_memory[i] < memory:
                        fitting[k] = fitting[-1]
                        fitting.pop()
        return starts


def test_the_plain_rule_in_python_is_the_compiled_one(busy):
    for seed in range(40):
        instance = busy(seed, interruptible=0.5)
        memory = np.random.default_rng(seed).integers(0, 2000, instance.num_jobs)
        instance = instance.replace(task_memory_mib=memory, memory_mib=np.full(instance.num_vms, 4000))
        own = play(instance, Drawing(0))
        cluster = Cluster(instance, seed=0)
        assert cluster.run_plain()
        ours = cluster.schedule()
        for key in ours.__slots__:
            assert getattr(own.solution, key).tolist() == getattr(ours, key).tolist()
        assert verify(instance, ours) > 0


def test_a_view_is_the_present(busy, first_fit):
    for seed in range(15):
        instance = busy(seed)
        placed = {}

        def decide(view, instance=instance, placed=placed):
            now = view.now_ms
            events = [slice(*instance.first_event[v : v + 2].tolist()) for v in range(instance.num_vms)]
            past = [int(np.searchsorted(instance.event_ms[e], now, side="right")) for e in events]
            size = [int(instance.event_cores[e][k - 1]) if k else 0 for e, k in zip(events, past, strict=True)]
            assert view.vm.tolist() == [v for v in range(instance.num_vms) if size[v]]
            assert view.cores.tolist() == [size[v] for v in view.vm]
            used = [sum(instance.cores[instance.task2job()[view.run_task[view.run_vm == v]]]) for v in view.vm]
            assert (view.free + used).tolist() == view.cores.tolist()
            assert view.changed_ms.tolist() == [int(instance.event_ms[events[v]][past[v] - 1]) for v in view.vm]
            # All changes until now but those from 0 cores.
            before = [
                np.concatenate(([0], instance.event_cores[e][:-1]))[:k] for e, k in zip(events, past, strict=True)
            ]
            assert view.log_ms.size == sum(int((b > 0).sum()) for b in before)
            assert view.log_ms.max(initial=0) <= now
            jobs = int(np.searchsorted(instance.arrival_ms, now, side="right"))
            assert view.job_arrival_ms.tolist() == instance.arrival_ms[:jobs].tolist()
            assert view.job_tasks.tolist() == np.diff(instance.first_task)[:jobs].tolist()
            assert set(view.task.tolist()).isdisjoint(view.run_task.tolist())
            assert view.task.tolist() == sorted(view.task.tolist())
            assert view.left_ms.tolist() == instance.estimate_ms[view.task].tolist()
            assert view.true_left_ms.tolist() == instance.runtime_ms[view.task].tolist()
            assert view.kills.tolist() == [max(placed.get(task, 0), 0) for task in view.task.tolist()]
            answer = first_fit(view)
            for task, _ in answer:
                placed[int(task)] = placed.get(int(task), 0) + 1
            return answer

        verify(instance, play(instance, decide, ("runtimes",)).solution)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            "start",
            r"^at 10 s the policy returned str; return a list of \(task, vm\) or \(task, vm, checkpoint_every_ms\), a",
        ),
        (7, r"the policy returned int; return a list of"),
        ([7], r"the policy returned int; return a list of"),
        ([(0, 0, 0, 0)], r"returned an entry of 4 numbers; return a list of"),
        ([(0,)], r"returned an entry of 1 numbers"),
        ([(0, 0.0)], r"the policy returned float; return a list of"),
        ([(True, 0)], r"the policy returned bool; return a list of"),
        ([(9, 0)], r"starts task 9, which is not there; start one of view\.task\."),
        ([(-1, 0)], r"starts task -1, which is not there"),
        ([(3, 0)], r"starts task 3, which is not there"),
        ([(0, 0), (0, 1)], r"starts task 0 \(job job-0\), it has just started; start one of view\.task, once\."),
        ([(0, 7)], r"starts task 0 \(job job-0\) on VM 7, which there is not; choose one of view\.vm\."),
        ([(0, 2)], r"starts task 0 \(job job-0\) on VM vm-2, which is not there now; choose one of view\.vm\."),
        (
            [(0, 0), (2, 0)],
            r"task 2 \(job job-1\) on VM vm-0: it needs 2 cores and 8 MiB, and 1 cores and 59 MiB are free there",
        ),
        (
            [(0, 0), (1, 0)],
            r"task 1 \(job job-0\) on VM vm-0: it needs 1 cores and 5 MiB, and 1 cores and 3 MiB are free",
        ),
        (
            [(0, 0, -5)],
            r"starts task 0 \(job job-0\) with checkpoint_every_ms -5; give 1 to \d+, or 0 for no checkpoints",
        ),
        ([(2, 1, 5)], r"starts task 2 \(job job-1\) with checkpoints, which tasks of that job cannot take; give 0\."),
        (Decision(request=1), r"requested 1 VMs, and the pool of VMs is fixed; leave it as it is\."),
        (Decision(request=-1), r"returned request -1; give 0 to"),
        (Decision(decommission=[0]), r"gives back VM vm-0, and the pool of VMs is fixed; leave it as it is\."),
        (Decision(decommission=[9]), r"gives back VM 9, which there is not"),
        (Decision(ask_again_ms=0.5), r"returned float; return as Decision\.ask_again_ms a whole number\."),
    ],
)
def test_a_wrong_answer_is_a_sentence(by_hand, answer, sentence):
    # Two tasks and one, all there at 10 s, and one later; the third VM comes later too.
    tight = answer == [(0, 0), (1, 0)]
    instance = by_hand(
        [[(0, 2)], [(0, 2)], [(1, 2)]],
        [(0, 1, [1, 1]), (0, 2, [1]), (2, 1, [1])],
        arrival_ms=[10_000, 10_000, 120_000],
        task_memory_mib=[5, 8, 1],
        memory_mib=[8 if tight else 64, 64, 64],
        checkpoint_ms=[0, -1, -1],
    )
    with pytest.raises(MethodError, match=sentence):
        play(instance, lambda view: answer)


def test_a_task_that_runs_or_is_complete_is_refused(by_hand, first_fit):
    instance = by_hand([[(0, 2)]], [(0, 1, [2]), (1, 1, [2]), (5, 1, [1])])

    def decide(view):
        return [(0, 0)] if view.now_ms < 5 * MINUTE_MS else [(0, 0), (1, 0)]

    with pytest.raises(
        MethodError, match=r"^at 60 s the policy starts task 0 \(job job-0\), which runs already; start one"
    ):
        play(instance, decide)
    with pytest.raises(
        MethodError, match=r"^at 300 s the policy starts task 0 \(job job-0\), which is complete; start one"
    ):
        play(instance, lambda view: first_fit(view) if view.now_ms < 5 * MINUTE_MS else [(0, 0)])


class TestWaiting:
    def test_who_waits_is_asked_again_when_something_happens(self, by_hand, first_fit):
        asked = []

        def decide(view):
            asked.append(view.now_ms // MINUTE_MS)
            return first_fit(view) if view.now_ms >= 5 * MINUTE_MS else None

        outcome = play(by_hand([[(0, 2), (3, 1), (5, 2)]], [(1, 1, [2])]), decide)
        assert asked == [1, 3, 5]
        assert outcome.solution.start_ms.tolist() == [5 * MINUTE_MS]
        assert outcome.details == {"asked": 3, "kills": 0}

    def test_who_wants_to_is_asked_again_though_nothing_happens(self, by_hand, first_fit):
        asked = []

        def decide(view):
            asked.append(view.now_ms // MINUTE_MS)
            return Decision(first_fit(view)) if view.now_ms >= 10 * MINUTE_MS else Decision(ask_again_ms=4 * MINUTE_MS)

        assert play(by_hand([[(0, 2)]], [(1, 1, [2])]), decide).solution.end_ms.tolist() == [15 * MINUTE_MS]
        assert asked == [1, 5, 9, 13]

    def test_who_waits_for_ever_is_told(self, by_hand):
        instance = by_hand([[(0, 2), (7, 1)]], [(1, 1, [2])])
        with pytest.raises(
            MethodError,
            match=r"^task 0 \(job job-0\) waits for ever: the policy was asked for the last time at 420 s; have it start",
        ):
            play(instance, lambda view: None)
        with pytest.raises(
            MethodError, match=r"^task 0 \(job job-0\) waits for ever: the policy was asked for the last time"
        ):
            play(instance, lambda view: Decision(ask_again_ms=10 * MINUTE_MS))
