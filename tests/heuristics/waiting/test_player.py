"""Playing policies: nothing of the future is shown, wrong actions are refused, the compiled policies are reproduced."""

import inspect
import textwrap
from unittest import mock

import numpy as np
import pytest

import schedgap.heuristics.waiting.player as module
import schedgap.heuristics.waiting.policies  # noqa: F401 - registers the compiled ones
from schedgap.heuristics.player import play as play_with
from schedgap.heuristics.waiting import Buy, Player, Rent, Start, policy
from schedgap.instances.errors import MethodError
from schedgap.instances.method import REGISTRY, find_method
from schedgap.instances.waiting import FAMILY, RENTED, WaitingInstance, bursty, verify

SECOND = 1_000_000


def play(instance, decide, knows=()):
    return play_with(Player(instance, frozenset(knows)), decide)


def in_turn(machines, wait_limit_s=float("inf")):
    """First fit, first come, first served: the head of the queue starts, or all wait behind it."""

    def decide(observation):
        if observation.num_machines is None:
            return Buy(machines, wait_limit_s)
        machine = observation.first_fit(0)
        return Start(observation.job[0], machine) if machine >= 0 else None

    return decide


def nobody_waits(machines):
    """Start all that fit and rent for all others, in one answer."""

    def decide(observation):
        if observation.num_machines is None:
            return Buy(machines)
        cores, memory, actions = observation.free_cores.copy(), observation.free_memory_mib.copy(), []
        for i, job in enumerate(observation.job):
            roomy = np.flatnonzero((cores >= observation.cores[i]) & (memory >= observation.memory_mib[i]))
            if roomy.size:
                cores[roomy[0]] -= observation.cores[i]
                memory[roomy[0]] -= observation.memory_mib[i]
            actions.append(Start(job, roomy[0]) if roomy.size else Rent(job))
        return actions

    return decide


@pytest.mark.parametrize(
    ("name", "parameters", "decide"),
    [
        ("njw", {}, nobody_waits),
        ("njw", {}, lambda machines: in_turn(machines, 0)),
        ("ajw", {}, in_turn),
        ("ajw-t", {"wait_limit_s": 4}, lambda machines: in_turn(machines, 4)),
        ("ajw-t", {"wait_limit_s": 11}, lambda machines: in_turn(machines, 11)),
    ],
)
def test_the_compiled_policies_are_reproduced_job_by_job(make_trace, name, parameters, decide):
    waited = 0
    for seed in range(40):
        machines = 1 + seed % 4
        for instance in (make_trace(seed, "mixed", SECOND), bursty(60, seed=seed, machine_cores=16)):
            own = play(instance, decide(machines)).solution
            ours = find_method(FAMILY, name).run(instance, parameters={"machines": machines, **parameters}).solution
            assert own.num_machines == ours.num_machines
            assert own.machine.tolist() == ours.machine.tolist()
            assert own.start_us.tolist() == ours.start_us.tolist()
            verify(instance, own)
            waited += int((own.start_us > instance.submit_us).sum())
    assert (waited > 100) == (name != "njw")


def test_an_observation_is_the_present(make_trace):
    for seed in range(20):
        instance = make_trace(seed, "mixed", SECOND)
        placed = {}

        def decide(observation, instance=instance, placed=placed):
            if observation.num_machines is None:
                assert (observation.now_us, observation.job.size, observation.free_cores.size) == (0, 0, 0)
                return Buy(2, 9)
            now = observation.now_us
            free = np.tile([4, 8], (2, 1))
            for job, (machine, start) in placed.items():
                if start <= now < start + instance.runtime_us[job]:
                    free[machine] -= [instance.cores[job], instance.memory_mib[job]]
            assert np.column_stack((observation.free_cores, observation.free_memory_mib)).tolist() == free.tolist()
            jobs = observation.job
            assert jobs.size
            assert jobs.tolist() == sorted({*jobs.tolist()} - {*placed})
            assert instance.fits_fixed()[jobs].all()
            assert (observation.num_machines, observation.limit_us) == (2, 9 * SECOND)
            assert observation.waited_us.tolist() == (now - instance.submit_us[jobs]).tolist()
            assert (observation.waited_us >= 0).all()
            assert (observation.waited_us <= 9 * SECOND).all()
            assert observation.runtime_us.tolist() == instance.runtime_us[jobs].tolist()
            assert observation.rent.tolist() == instance.rent()[jobs].tolist()
            assert observation.cores.tolist() == instance.cores[jobs].tolist()
            action = in_turn(2)(observation)
            if action is not None:
                placed[int(action.job)] = (action.machine, now)
            return action

        solution = play(instance, decide, knows=("runtimes",)).solution
        verify(instance, solution)
        assert {j: (solution.machine[j], solution.start_us[j]) for j in placed} == placed
        assert (solution.machine >= 0).sum() == len(placed)


class TestTheFuture:
    SECRETS = (7_919_000_000, 104_729, 23, 6_133)

    def instance(self):
        """Jobs of one core early, one of its own kind much later."""
        submit, runtime, cores, memory = self.SECRETS
        return WaitingInstance(
            name="later",
            submit_us=np.array([0, 10, 20, 30, submit]),
            runtime_us=np.array([100, 100, 100, 100, runtime]),
            cores=np.array([1, 1, 1, 1, cores]),
            memory_mib=np.array([0, 0, 0, 0, memory]),
            machine_cores=40,
            machine_memory_mib=8192,
            fixed_price=400_000,
            rented_cores=np.array([64]),
            rented_memory_mib=np.array([16_384]),
            rented_price=np.array([1_000_000]),
            horizon_us=submit,
        )

    @pytest.mark.parametrize("knows", [(), ("runtimes",)])
    def test_nothing_that_an_observation_leads_to_has_it(self, knows, leads_to):
        instance, found = self.instance(), []

        def decide(observation):
            found.append((observation.now_us >= self.SECRETS[0], leads_to(observation, self.SECRETS)))
            assert (observation.runtime_us is not None) == bool(knows)
            return in_turn(1)(observation)

        verify(instance, play(instance, decide, knows).solution)
        assert [secret for arrived, secret in found if not arrived] == [set()] * 5
        # Once the job is there, the same search finds it.
        assert all(secret for arrived, secret in found if arrived)
        assert found[-1][0]

    def test_an_observation_cannot_be_written_and_who_unlocks_it_changes_nothing_else(self, make_trace):
        names = ("free_cores", "free_memory_mib", "job", "submit_us", "waited_us", "cores", "memory_mib", "rent")

        def decide(observation):
            action = in_turn(2, 5)(observation)
            for name in names:
                with pytest.raises(ValueError, match="read-only"):
                    getattr(observation, name)[...] = 0
            for values in (*(getattr(observation, name) for name in names), observation.terms.rented_price):
                values.setflags(write=True)
                values[...] = 1
            return action

        instance = make_trace(3, "mixed", SECOND)
        changed, own = play(instance, decide).solution, play(instance, in_turn(2, 5)).solution
        assert changed.machine.tolist() == own.machine.tolist()
        assert changed.start_us.tolist() == own.start_us.tolist()
        assert instance.replace().digest == instance.digest


# One machine of 2 cores and 4 MiB; a job of 2 cores runs when the second, of 1 core and 3 MiB, comes.
@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("rent", r"^decision at 1 s: the policy returned str; return Start, Rent, a list or None\.$"),
        (Buy(2), r"the policy buys 2 machines; it bought 1 before the first job, and buys once\. Return Start, Rent"),
        (Start(0, 0), r"^decision at 1 s: job 0 does not wait; choose one of observation\.job\.$"),
        (Rent(2), r"job 2 does not wait"),
        (Rent(1.0), r"job is 1\.0; give a whole number\."),
        (Start(1, True), r"machine is True; give a whole number\."),
        (Start(1, 1), r"starts job 1 on machine 1; there are 1, the first is 0\. Rent for the job or leave it\."),
        (Start(1, -1), r"starts job 1 on machine -1; there are 1"),
        (
            Start(1, 0),
            r"starts job 1, which needs 1 cores, on machine 0, where 0 are free; choose another machine, rent for the job",
        ),
        ([Rent(1), Rent(1)], r"job 1 does not wait"),
    ],
)
def test_a_wrong_action_is_a_sentence(make_instance, answer, sentence):
    instance = make_instance([(0, 9 * SECOND, 2, 0), (SECOND, 9 * SECOND, 1, 3), (2 * SECOND, 1, 1, 0)], 2, 4)

    def decide(observation):
        if observation.num_machines is None:
            return Buy(1)
        return Start(0, 0) if observation.now_us == 0 else answer

    with pytest.raises(MethodError, match=sentence):
        play(instance, decide)


def test_memory_is_checked_too(make_instance):
    instance = make_instance([(0, 9, 1, 2), (0, 9, 1, 3)], 2, 4)

    def decide(observation):
        return Buy(1) if observation.num_machines is None else [Start(0, 0), Start(1, 0)]

    with pytest.raises(MethodError, match="job 1, which needs 3 MiB, on machine 0, where 2 are free"):
        play(instance, decide)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            None,
            r"^first decision: the policy returned NoneType; where observation\.num_machines is None, return Buy\(machi",
        ),
        (Buy(-1), "the policy buys -1 machines; buy 0 to 10000000"),
        (Buy(2.5), "first decision: machines is 2.5; give a whole number"),
        (Buy(1, -3.0), "wait_limit_s is -3; give seconds, 0 or more"),
    ],
)
def test_a_wrong_purchase_is_a_sentence(make_instance, answer, sentence):
    with pytest.raises(MethodError, match=sentence):
        play(make_instance([(0, 9, 1, 2)], 2, 4), lambda observation: answer)


class TestWaits:
    def test_who_leaves_a_job_for_ever_is_told(self, make_instance):
        instance = make_instance([(0, 9, 1, 2), (5, 9, 1, 0)], 2, 4)
        with pytest.raises(MethodError, match=r"^job 0 waits for ever: nothing runs on the 3 machines, and no job is"):
            play(instance, lambda observation: Buy(3) if observation.num_machines is None else None)

    def test_a_job_is_shown_at_its_limit_and_rents_if_it_is_left(self, make_instance):
        asked = []

        def decide(observation):
            if observation.num_machines is None:
                return Buy(0, 7)
            asked.append((observation.now_us // SECOND, observation.job.tolist()))
            return None

        instance = make_instance([(0, SECOND, 1, 0), (3 * SECOND, SECOND, 1, 0)], 1, 1)
        solution = play(instance, decide).solution
        assert (solution.machine.tolist(), solution.start_us.tolist()) == ([RENTED] * 2, [7 * SECOND, 10 * SECOND])
        assert asked == [(0, [0]), (3, [0, 1]), (7, [0, 1]), (7, [1]), (10, [1])]

    def test_the_instance_cuts_the_limit(self, make_instance):
        instance = make_instance([(0, SECOND, 1, 0)], 1, 1).replace(max_wait_us=2 * SECOND)
        solution = play(instance, lambda observation: Buy(1) if observation.num_machines is None else None).solution
        assert solution.start_us.tolist() == [2 * SECOND]
        verify(instance, solution)

    def test_a_job_larger_than_a_machine_rents_and_is_not_shown(self, make_instance):
        instance = make_instance([(0, 9, 5, 0), (0, 9, 1, 9)], 4, 8)
        outcome = play(instance, lambda observation: Buy(1) if observation.num_machines is None else [][0])
        assert (outcome.solution.machine.tolist(), outcome.solution.start_us.tolist()) == ([RENTED] * 2, [0, 0])
        assert outcome.details == {"decisions": 1, "machines": 1}


class TestOwnPolicies:
    def test_the_lines_of_the_documentation_work(self, make_trace):
        lines = inspect.getdoc(module).split("\n")
        start = next(i for i, line in enumerate(lines) if "@policy" in line)
        stop = next(i for i in range(start, len(lines)) if not lines[i].strip())
        assert stop - start <= 10
        instance = make_trace(2, "mixed", SECOND)
        with mock.patch.dict(REGISTRY):
            names = {"policy": policy, "Buy": Buy, "Rent": Rent, "Start": Start}
            exec(textwrap.dedent("\n".join(lines[start:stop])), names)
            found = find_method(FAMILY, "small-jobs-rent")
            assert dict(found.parameters) == {"machines": 4, "wait_limit_s": 3600.0, "small": 1}
            outcome = found.run(instance, parameters={"machines": 1, "wait_limit_s": 5})
            assert verify(instance, outcome.solution) > 0
            waits = outcome.solution.start_us - instance.submit_us
            assert (waits[instance.cores == 1] == 0).all()
            assert 0 < waits.max() <= 5 * SECOND

    def test_what_cannot_be_registered(self):
        with pytest.raises(MethodError, match="policy a knows 'future'; a policy may know runtimes"):
            policy("a", knows=("future",))
        with pytest.raises(MethodError, match="policy a: there is no option 'shares'; options are none"):
            policy("a", shares="drf")
