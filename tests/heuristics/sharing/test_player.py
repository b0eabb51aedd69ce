"""Playing policies: nothing of the future in an observation, wrong answers refused, the compiled ones reproduced."""

import inspect
import textwrap
from unittest import mock

import numpy as np
import pytest

import schedgap.heuristics.sharing.player as module
from schedgap.heuristics.player import play as play_with
from schedgap.heuristics.sharing import Player, policy
from schedgap.heuristics.sharing.policies import choosy, drf, eunomia, tsf
from schedgap.instances.errors import MethodError
from schedgap.instances.method import REGISTRY, find_method
from schedgap.instances.sharing import FAMILY, SharingInstance, verify


def play(instance, decide, shares="eunomia", knows=()):
    return play_with(Player(instance, frozenset(knows), shares), decide)


def first(observation):
    return observation.job[observation.fitting[0]]


def poorest(observation):
    return observation.job[observation.fitting[np.argmin(observation.share[observation.fitting])]]


@pytest.mark.parametrize(("notion", "compiled"), {"eunomia": eunomia, "tsf": tsf, "cmmf": choosy, "drf": drf}.items())
def test_the_lowest_share_first_in_python_is_the_compiled_one(drawn, notion, compiled):
    for seed in range(25):
        instance = drawn(seed)
        own = play(instance, poorest, notion)
        ours = compiled(instance)
        assert own.solution.machine.tolist() == ours.machine.tolist()
        assert own.solution.start_ms.tolist() == ours.start_ms.tolist()
        assert own.details == {"decisions": instance.num_tasks}


def test_an_observation_is_the_present(drawn):
    for seed in range(20):
        instance = drawn(seed)
        serves = instance.serves()
        log = []

        def decide(observation, instance=instance, serves=serves, log=log):
            task2job = instance.task2job()
            starts = np.array([task for task, *_ in log], np.int64)
            ended = np.array([end <= observation.now_ms for *_, end in log], bool)
            held = np.array([m for _, m, _, _ in log], np.int64)
            # A task that ends now and whose machine is offered after this one's still runs.
            sure = np.array([end > observation.now_ms for *_, end in log], bool)
            free = np.repeat(instance.capacity, instance.machine_count, axis=0)
            np.subtract.at(free, held[sure], instance.demand[task2job[starts[sure]]])
            assert (observation.free <= free).all()
            assert (observation.free[observation.machine] >= 0).all()
            assert observation.arrival_ms.max() <= observation.now_ms
            assert observation.job.tolist() == sorted(observation.job.tolist())
            started = np.bincount(task2job[starts], minlength=instance.num_jobs)[observation.job]
            assert observation.to_start.tolist() == (observation.num_tasks - started).tolist()
            assert observation.running.sum() >= len(log) - ended.sum()
            fits = (observation.demand <= observation.free[observation.machine]).all(axis=1)
            fits &= serves[observation.job, observation.machine_class] & (observation.to_start > 0)
            assert observation.fitting.tolist() == np.flatnonzero(fits).tolist()
            for i, job in enumerate(observation.job.tolist()):
                tasks = slice(instance.first_task[job] + started[i], instance.first_task[job + 1])
                work = instance.work_ms[tasks].tolist()
                assert observation.work_to_start_ms[i] == sum(work)
                assert observation.next_work_ms[i] == (work[0] if work else 0)
            job = int(first(observation))
            task = int(instance.first_task[job] + started[observation.job.tolist().index(job)])
            end = observation.now_ms + int(instance.duration_ms(task, observation.machine_class))
            log.append((task, observation.machine, observation.now_ms, end))
            return job

        solution = play(instance, decide, knows=("durations",)).solution
        verify(instance, solution)
        for task, machine, start_ms, _ in log:
            assert (solution.machine[task], solution.start_ms[task]) == (machine, start_ms)


class TestTheFuture:
    SECRETS = SECRET_ARRIVAL, SECRET_WORK, SECRET_DEMAND, SECRET_WEIGHT = 39_916, 27_644, 937, 4_937

    def instance(self):
        """Two jobs of many tasks early, one of its own kind much later."""
        return SharingInstance(
            name="later",
            notion="eunomia",
            resources=("cpu",),
            machine_names=("one", "two"),
            machine_count=[1, 1],
            capacity=[[2000], [1000]],
            arrival_ms=[0, 5000, self.SECRET_ARRIVAL],
            demand=[[1000], [1000], [self.SECRET_DEMAND]],
            weight=[1000, 1000, self.SECRET_WEIGHT],
            performance=[[1000, 2000]] * 3,
            allowed=np.ones((3, 2), bool),
            first_task=[0, 30, 60, 61],
            work_ms=[4000] * 60 + [self.SECRET_WORK],
            job_names=("a", "b", "secret"),
        )

    @pytest.mark.parametrize("knows", [(), ("durations",)])
    def test_nothing_that_a_view_leads_to_has_it(self, knows, leads_to):
        instance = self.instance()
        found = []

        def decide(observation):
            secret = leads_to(observation, self.SECRETS)
            found.append((observation.now_ms >= self.SECRET_ARRIVAL, 2 in observation.job.tolist(), secret))
            return first(observation)

        verify(instance, play(instance, decide, knows=knows).solution)
        before = [secret for arrived, _, secret in found if not arrived]
        assert len(before) > 10
        assert not any(before)
        # Once the job is there, the same search finds it.
        assert all(secret for _, there, secret in found if there)
        assert any(there for _, there, _ in found)

    def test_durations_are_given_only_to_who_declares_them(self):
        for knows in ((), ("durations",)):
            seen = set()

            def decide(observation, seen=seen):
                seen.add((observation.work_to_start_ms is not None, observation.next_work_ms is not None))
                return first(observation)

            play(self.instance(), decide, knows=knows)
            assert seen == {(bool(knows), bool(knows))}

    def test_an_observation_cannot_be_written_and_who_unlocks_it_changes_nothing_but_his_view(self):
        names = ("free", "fitting", "job", "demand", "performance", "serves", "to_start", "running", "share")

        def decide(observation):
            answer = int(first(observation))
            for name in names:
                with pytest.raises(ValueError, match="read-only"):
                    getattr(observation, name)[...] = 0
            for values in (
                *(getattr(observation, name) for name in names),
                observation.machines.capacity,
                observation.machines.machine2class,
            ):
                values.setflags(write=True)
                values[...] = 1
            return answer

        instance = self.instance()
        digest = instance.replace().digest
        changed, own = play(instance, decide).solution, play(instance, first).solution
        assert changed.start_ms.tolist() == own.start_ms.tolist()
        assert changed.machine.tolist() == own.machine.tolist()
        assert instance.replace().digest == digest


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("a", r"offer of machine 0 at 0 s: the policy returned str; return a job or None\."),
        (0.0, r"the policy returned float; return a job or None\."),
        (True, r"the policy returned bool; return a job or None\."),
        (7, r"the policy returned job 7, which is not there; return one of observation\.job\."),
        (-1, r"the policy returned job -1, which is not there"),
        (3, r"the policy returned job 3, which is not there"),
        (0, r"the policy returned job job-0, which class one does not serve; return one of observation"),
        (2, r"the policy returned job job-2, whose tasks need 2 cpu; 1 cpu are free; return one of"),
    ],
)
def test_a_wrong_answer_is_a_sentence(answer, sentence):
    instance = SharingInstance(
        name="wrong",
        notion="tsf",
        resources=("cpu",),
        machine_names=("one", "two"),
        machine_count=[1, 1],
        capacity=[[1000], [2000]],
        arrival_ms=[0, 0, 0, 5],
        demand=[[1000], [1000], [2000], [1000]],
        weight=[1000] * 4,
        performance=[[1000, 1000]] * 4,
        allowed=[[False, True], [True, True], [False, True], [True, True]],
        first_task=[0, 1, 2, 3, 4],
        work_ms=[10] * 4,
    )
    if answer == 2:
        # On the machine of class two, after one task there.
        def decide(observation):
            if observation.machine == 0:
                return None
            return 0 if observation.to_start[0] else 2
    else:

        def decide(observation):
            return answer

    with pytest.raises(MethodError, match=sentence):
        play(instance, decide)


def test_a_job_without_tasks_to_start_is_refused(drawn):
    instance = drawn(1, most_tasks=2)

    def decide(observation):
        done = observation.job[observation.to_start == 0]
        return done[0] if done.size else first(observation)

    with pytest.raises(
        MethodError, match=r"all of whose tasks have started; return one of observation\.job\[observation\.fitting\]\."
    ):
        play(instance, decide)


class TestIdleMachines:
    def test_who_declines_is_asked_again_at_the_next_arrival_or_end(self):
        instance = TestTheFuture().instance()
        asked = []

        def decide(observation):
            asked.append((observation.now_ms, observation.machine))
            return first(observation) if observation.now_ms >= 5000 else None

        solution = play(instance, decide).solution
        verify(instance, solution)
        assert asked[:2] == [(0, 0), (0, 1)]
        assert asked[2] == (5000, 0)
        assert solution.start_ms.min() == 5000

    def test_who_declines_for_ever_is_told(self):
        with pytest.raises(
            MethodError, match=r"^job a has 30 tasks that never start: the policy left the machines idle"
        ):
            play(TestTheFuture().instance(), lambda observation: None)


class TestOwnPolicies:
    def test_the_lines_of_the_documentation_work(self, drawn):
        lines = inspect.getdoc(module).split("\n")
        start = next(i for i, line in enumerate(lines) if "@policy" in line)
        stop = next(i for i in range(start, len(lines)) if not lines[i].strip())
        assert stop - start < 10
        instance = drawn(2)
        with mock.patch.dict(REGISTRY):
            exec(textwrap.dedent("\n".join(lines[start:stop])), {"policy": policy, "np": np})
            assert verify(instance, find_method(FAMILY, "most-to-do-first").run(instance).solution) > 0

    def test_parameters_and_random_numbers_reach_it(self, drawn):
        drawn_numbers = []
        try:

            @policy("test-own", stochastic=True)
            def own(observation, rng, number: int = 3):
                """Draw numbers."""
                drawn_numbers.append((number, int(rng.integers(1 << 40))))
                observation.memory["calls"] = observation.memory.get("calls", 0) + 1
                assert observation.memory["calls"] == (len(drawn_numbers) - 1) % drawn(3).num_tasks + 1
                return first(observation)

            found = find_method(FAMILY, "test-own")
            assert (dict(found.parameters), found.stochastic, found.summary) == ({"number": 3}, True, "Draw numbers.")
            for seed in (1, 1, 2):
                found.run(drawn(3), seed=seed, parameters={"number": "5"})
            third = len(drawn_numbers) // 3
            assert drawn_numbers[:third] == drawn_numbers[third : 2 * third] != drawn_numbers[2 * third :]
            assert {number for number, _ in drawn_numbers} == {5}
        finally:
            REGISTRY.pop((FAMILY, "test-own"), None)

    def test_what_cannot_be_registered(self):
        with pytest.raises(MethodError, match="policy a knows 'future'; a policy may know durations"):
            policy("a", knows=("future",))
        with pytest.raises(MethodError, match="policy a: shares is 'equal'; choose one of eunomia, tsf, cmmf, drf"):
            policy("a", shares="equal")
        with pytest.raises(MethodError, match="policy a: 'time_limit_s' is not offered to policies"):
            policy("a")(lambda observation, time_limit_s: None)
