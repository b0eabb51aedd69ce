"""Playing policies: nothing of the future in an observation, wrong answers refused."""

import numpy as np
import pytest

from schedgap.heuristics import player
from schedgap.heuristics.harvest import Decision
from schedgap.heuristics.harvest.player import Player
from schedgap.instances.errors import MethodError
from schedgap.instances.harvest.verify import verify

MINUTE_MS = 60_000


def play(instance, decide, knows=(), **options):
    return player.play(Player(instance, frozenset(knows), **options), decide)


def test_a_view_is_the_present(busy, first_fit):
    for seed in range(15):
        instance = busy(seed)
        placed = {}

        def decide(observation, instance=instance, placed=placed):
            now = observation.now_ms
            events = [slice(*instance.first_event[v : v + 2].tolist()) for v in range(instance.num_vms)]
            past = [int(np.searchsorted(instance.event_ms[e], now, side="right")) for e in events]
            size = [int(instance.event_cores[e][k - 1]) if k else 0 for e, k in zip(events, past, strict=True)]
            assert observation.vm.tolist() == [v for v in range(instance.num_vms) if size[v]]
            assert observation.cores.tolist() == [size[v] for v in observation.vm]
            used = [
                sum(instance.cores[instance.task2job()[observation.run_task[observation.run_vm == v]]])
                for v in observation.vm
            ]
            assert (observation.free + used).tolist() == observation.cores.tolist()
            assert observation.changed_ms.tolist() == [
                int(instance.event_ms[events[v]][past[v] - 1]) for v in observation.vm
            ]
            # All changes until now but those from 0 cores.
            before = [
                np.concatenate(([0], instance.event_cores[e][:-1]))[:k] for e, k in zip(events, past, strict=True)
            ]
            assert observation.log_ms.size == sum(int((b > 0).sum()) for b in before)
            assert observation.log_ms.max(initial=0) <= now
            jobs = int(np.searchsorted(instance.arrival_ms, now, side="right"))
            assert observation.job_arrival_ms.tolist() == instance.arrival_ms[:jobs].tolist()
            assert observation.job_tasks.tolist() == np.diff(instance.first_task)[:jobs].tolist()
            assert set(observation.task.tolist()).isdisjoint(observation.run_task.tolist())
            assert observation.task.tolist() == sorted(observation.task.tolist())
            assert observation.left_ms.tolist() == instance.estimate_ms[observation.task].tolist()
            assert observation.true_left_ms.tolist() == instance.runtime_ms[observation.task].tolist()
            assert observation.kills.tolist() == [max(placed.get(task, 0), 0) for task in observation.task.tolist()]
            answer = first_fit(observation)
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
        ([(9, 0)], r"starts task 9, which is not there; start one of observation\.task\."),
        ([(-1, 0)], r"starts task -1, which is not there"),
        ([(3, 0)], r"starts task 3, which is not there"),
        ([(0, 0), (0, 1)], r"starts task 0 \(job job-0\), it has just started; start one of observation\.task, once\."),
        ([(0, 7)], r"starts task 0 \(job job-0\) on VM 7, which there is not; choose one of observation\.vm\."),
        ([(0, 2)], r"starts task 0 \(job job-0\) on VM vm-2, which is not there now; choose one of observation\.vm\."),
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
        play(instance, lambda observation: answer)


def test_a_task_that_runs_or_is_complete_is_refused(by_hand, first_fit):
    instance = by_hand([[(0, 2)]], [(0, 1, [2]), (1, 1, [2]), (5, 1, [1])])

    def decide(observation):
        return [(0, 0)] if observation.now_ms < 5 * MINUTE_MS else [(0, 0), (1, 0)]

    with pytest.raises(
        MethodError, match=r"^at 60 s the policy starts task 0 \(job job-0\), which runs already; start one"
    ):
        play(instance, decide)
    with pytest.raises(
        MethodError, match=r"^at 300 s the policy starts task 0 \(job job-0\), which is complete; start one"
    ):
        play(instance, lambda observation: first_fit(observation) if observation.now_ms < 5 * MINUTE_MS else [(0, 0)])


class TestWaiting:
    def test_who_waits_is_asked_again_when_something_happens(self, by_hand, first_fit):
        asked = []

        def decide(observation):
            asked.append(observation.now_ms // MINUTE_MS)
            return first_fit(observation) if observation.now_ms >= 5 * MINUTE_MS else None

        outcome = play(by_hand([[(0, 2), (3, 1), (5, 2)]], [(1, 1, [2])]), decide)
        assert asked == [1, 3, 5]
        assert outcome.solution.start_ms.tolist() == [5 * MINUTE_MS]
        assert outcome.details == {"decisions": 3, "kills": 0}

    def test_who_wants_to_is_asked_again_though_nothing_happens(self, by_hand, first_fit):
        asked = []

        def decide(observation):
            asked.append(observation.now_ms // MINUTE_MS)
            return (
                Decision(first_fit(observation))
                if observation.now_ms >= 10 * MINUTE_MS
                else Decision(ask_again_ms=4 * MINUTE_MS)
            )

        assert play(by_hand([[(0, 2)]], [(1, 1, [2])]), decide).solution.end_ms.tolist() == [15 * MINUTE_MS]
        assert asked == [1, 5, 9, 13]

    def test_who_waits_for_ever_is_told(self, by_hand):
        instance = by_hand([[(0, 2), (7, 1)]], [(1, 1, [2])])
        with pytest.raises(
            MethodError,
            match=r"^task 0 \(job job-0\) waits for ever: the policy was asked for the last time at 420 s; have it start",
        ):
            play(instance, lambda observation: None)
        with pytest.raises(
            MethodError, match=r"^task 0 \(job job-0\) waits for ever: the policy was asked for the last time"
        ):
            play(instance, lambda observation: Decision(ask_again_ms=10 * MINUTE_MS))
