"""Playing policies: nothing of the future in an observation, broken plans refused, the same answer every time."""

import inspect
import json
import textwrap

import numpy as np
import pytest

import schedgap.heuristics.reconfiguration.player as player
from schedgap.heuristics.player import play
from schedgap.heuristics.reconfiguration import (
    eva,  # noqa: F401
    rules,  # noqa: F401
)
from schedgap.heuristics.reconfiguration.actions import Plan
from schedgap.heuristics.reconfiguration.observation import EXECUTING, MIGRATING
from schedgap.heuristics.reconfiguration.player import Player, policy
from schedgap.instances.errors import MethodError, VerifyError
from schedgap.instances.method import REGISTRY, Status, find_method
from schedgap.instances.reconfiguration import FAMILY, read_instance, verify

FIELDS = ("machine_type", "rented_s", "released_s", "move_s", "move_task", "move_machine")
POLICIES = [
    ("no-packing", {}),
    ("stratus", {}),
    ("stratus", {"semantics": "paper"}),
    ("synergy", {}),
    ("synergy", {"semantics": "paper", "tau": "0.6"}),
    ("owl", {}),
    ("eva", {}),
    ("eva", {"semantics": "paper", "tie_break": "paper"}),
    ("eva", {"mode": "full", "throughput_aware": "false"}),
    ("eva", {"mode": "partial", "multi_task": "false"}),
]


def alone(observation):
    draft = observation.draft()
    for task in np.flatnonzero(observation.task_machine < 0):
        draft.put(int(task), draft.rent(int(observation.reservation_type[observation.task_class[task]])))
    return draft.plan()


@pytest.mark.parametrize(("name", "parameters"), POLICIES)
def test_every_policy_keeps_the_rules_and_gives_the_same_schedule_again(make_instance, name, parameters):
    # Plans from scratch move some tasks every time, and would leave them no time to work in short rounds.
    period_s = 200 if parameters.get("mode") == "full" else 20
    for seed in range(6):
        instance = make_instance(seed, period_s=period_s)
        first, again = (find_method(FAMILY, name).run(instance, seed=seed, parameters=parameters) for _ in range(2))
        verify(instance, first.solution)
        for key in FIELDS:
            assert getattr(first.solution, key).tobytes() == getattr(again.solution, key).tobytes()
        assert first.details == again.details


def test_eva_tells_how_often_it_took_full_reconfiguration(make_instance):
    run = find_method(FAMILY, "eva").run
    assert 0 <= run(make_instance(0)).details["full_share"] < 1
    assert "full_share" not in run(make_instance(0), parameters={"mode": "partial"}).details


class TestBrokenPlans:
    def refused(self, make_instance, change, sentence, at=0):
        """Change the plan of one round; the play ends there, and `verify` says why."""
        rounds = []

        def decide(observation):
            rounds.append(observation.now_s)
            plan = alone(observation)
            return change(observation, plan) if len(rounds) > at else plan

        instance = make_instance(1)
        outcome = play(Player(instance), decide)
        with pytest.raises(VerifyError, match=sentence):
            verify(instance, outcome.solution)
        return rounds

    def test_a_machine_over_its_capacity(self, make_instance):
        def all_on_one(observation, plan):
            return Plan(np.full(observation.num_tasks, observation.num_machines), np.array([0]))

        rounds = self.refused(make_instance, all_on_one, r"plan at \d+ s: task \d+ of job \d+ overfills machine", at=1)
        assert len(rounds) == 2

    def test_a_task_left_out(self, make_instance):
        def none_for_the_last(observation, plan):
            return Plan(np.append(plan.machine[:-1], -1), plan.new_types)

        self.refused(make_instance, none_for_the_last, "is on no machine; a plan holds every task")

    def test_a_job_moved_while_it_migrates(self, make_instance):
        def all_anew(observation, plan):
            assert observation.job_phase[0] == MIGRATING
            types = observation.reservation_type[observation.task_class]
            return Plan(observation.num_machines + np.arange(observation.num_tasks), types)

        instance = make_instance(1, setup_s=[90] * 4)
        self.refused(lambda seed: instance, all_anew, "still migrates; wait until all of its tasks run", at=1)

    @pytest.mark.parametrize(
        ("plan", "sentence"),
        [
            (lambda observation: None, "the policy returned NoneType; return a Plan"),
            (
                lambda observation: Plan(np.zeros(observation.num_tasks + 1, np.int64)),
                r"machine has shape \(\d+,\) for \d+ tasks",
            ),
            (
                lambda observation: Plan(np.full(observation.num_tasks, 0.7), np.array([0])),
                "machine is of type float64; give int64",
            ),
            (
                lambda observation: Plan(np.full(observation.num_tasks, None), np.array([0])),
                "machine is of type object; give int64",
            ),
            (
                lambda observation: Plan(observation.task_machine, np.array(["0"])),
                "new_types is of type <U1; give int64",
            ),
            (
                lambda observation: Plan(observation.task_machine, np.array([0]), [1]),
                "keep is of type int64; give bool",
            ),
            (
                lambda observation: Plan(np.zeros(observation.num_tasks, np.int64), np.array([9])),
                r"new_types holds \[9\]; machine types",
            ),
            (
                lambda observation: Plan(
                    np.zeros(observation.num_tasks, np.int64), np.array([0]), np.ones(5, np.bool_)
                ),
                r"keep has shape \(5,\) for 0 machines",
            ),
        ],
    )
    def test_what_is_no_plan_for_the_observation_is_an_error(self, make_instance, plan, sentence):
        with pytest.raises(MethodError, match=sentence):
            play(Player(make_instance(1)), plan)


def test_machines_are_kept_without_tasks_only_if_the_plan_says_so(make_instance):
    instance = make_instance(1, jobs=4, arrival_s=[0, 0, 0, 0], work_s=[40, 40, 40, 4000])
    costs = []
    for keeps in (False, True):

        def decide(observation, keeps=keeps):
            plan = alone(observation)
            return Plan(plan.machine, plan.new_types, np.full(observation.num_machines, keeps))

        costs.append(verify(instance, play(Player(instance), decide).solution))
    assert costs[0] < costs[1]


def test_a_job_that_never_goes_on_has_no_schedule(make_instance):
    instance = make_instance(1, jobs=4, arrival_s=[0] * 4, num_tasks=[1] * 4, work_s=[10**6] * 4, period_s=2**29)
    instance = instance.replace(catalogue=instance.catalogue.replace(throughput=np.zeros_like(instance.throughput)))
    demand = np.ones_like(instance.catalogue.demand)
    instance = instance.replace(catalogue=instance.catalogue.replace(demand=demand))

    def together(observation):
        new = np.zeros(1 - min(observation.num_machines, 1), np.int64)
        return Plan(np.zeros(observation.num_tasks, np.int64), new)

    outcome = play(Player(instance), together)
    assert (outcome.status, outcome.solution) == (Status.NO_SOLUTION, None)
    assert "job 0 has not ended by 4294967296 s" in outcome.details["reason"]


class TestOwnPolicies:
    def test_the_ten_lines_of_the_documentation_work(self, make_instance):
        lines = inspect.getdoc(player).split("\n")
        start = next(i for i, line in enumerate(lines) if "@policy" in line)
        space = {"policy": policy, "np": np}
        try:
            exec(textwrap.dedent("\n".join(lines[start:])), space)
            instance = make_instance(2)
            own, ours = (find_method(FAMILY, name).run(instance) for name in ("one-machine-each", "no-packing"))
            assert verify(instance, own.solution) == verify(instance, ours.solution)
        finally:
            REGISTRY.pop((FAMILY, "one-machine-each"), None)

    def test_parameters_and_random_numbers_reach_it(self, make_instance):
        drawn = []
        try:

            @policy("test-own", stochastic=True)
            def own(observation, rng, number: int = 3):
                """Draw numbers."""
                drawn.append((number, int(rng.integers(1 << 40))))
                return alone(observation)

            found = find_method(FAMILY, "test-own")
            assert (dict(found.parameters), found.stochastic, found.summary) == ({"number": 3}, True, "Draw numbers.")
            for seed in (1, 1, 2):
                found.run(make_instance(1, jobs=4), seed=seed, parameters={"number": "5"})
            third = len(drawn) // 3
            assert drawn[:third] == drawn[third : 2 * third] != drawn[2 * third :]
            assert {number for number, _ in drawn} == {5}
        finally:
            REGISTRY.pop((FAMILY, "test-own"), None)

    def test_what_cannot_be_registered(self):
        with pytest.raises(MethodError, match="policy a knows 'future'; a policy may know durations, throughput"):
            policy("a", knows=("future",))
        with pytest.raises(MethodError, match="policy a: 'time_limit_s' is not offered to policies"):
            policy("a")(lambda observation, time_limit_s: None)


def test_an_arrival_after_a_pause_starts_a_new_cluster(make_instance):
    seen = []

    def decide(observation):
        seen.append(
            (observation.now_s, observation.num_machines, observation.ended.tolist(), observation.job_phase.tolist())
        )
        return alone(observation)

    instance = make_instance(1, jobs=4, arrival_s=[0, 0, 0, 5000], work_s=[30] * 4, num_tasks=[1] * 4)
    verify(instance, play(Player(instance), decide).solution)
    assert seen[0][0] == 0
    late = [row for row in seen if row[0] >= 5000]
    # The jobs that ended during the pause are told of at the next plan.
    assert late[0][:2] == (5000, 0)
    assert {job for row in seen for job in row[2]} == {0, 1, 2}
    assert EXECUTING in late[-1][3]


def test_a_registered_policy_that_gets_stuck_finds_no_solution(make_instance, monkeypatch):
    """Four jobs that stop each other on one machine: nothing happens any more, plan after plan."""
    monkeypatch.setattr(player, "STUCK_PLANS", 200)
    instance = make_instance(1, jobs=4, arrival_s=[0] * 4, num_tasks=[1] * 4, work_s=[10**6] * 4, period_s=1)
    instance = instance.replace(catalogue=instance.catalogue.replace(throughput=np.zeros_like(instance.throughput)))
    demand = np.ones_like(instance.catalogue.demand)
    instance = instance.replace(catalogue=instance.catalogue.replace(demand=demand))

    @policy("t-stuck")
    def together(observation):
        """Put everybody on one machine."""
        return Plan(np.zeros(observation.num_tasks, np.int64), np.zeros(1 - min(observation.num_machines, 1), np.int64))

    method = REGISTRY.pop((FAMILY, "t-stuck"))
    found = method.run(instance)
    assert (found.status, found.solution) == (Status.NO_SOLUTION, None)
    assert "no task has progressed for 200 plans" in found.details["reason"]


FOR_EVER = {
    "schema": "schedgap/reconfiguration/1",
    "name": "a GPU",
    "resources": ["gpu", "cpu"],
    "machine_types": [
        {"name": "g8", "family": "g", "capacity": [8, 64], "price": 10, "acquire_s": 60, "setup_s": 240},
        {"name": "g1", "family": "g", "capacity": [1, 8], "price": 1, "acquire_s": 60, "setup_s": 240},
        {"name": "c8", "family": "c", "capacity": [0, 8], "price": 0.1, "acquire_s": 60, "setup_s": 240},
    ],
    "workloads": [{"name": "w", "fetch_s": 0, "build_s": 0, "kill_s": 0, "upload_s": 0, "init_s": 0}],
    "tasks": [{"name": "t", "demand": {"any": [1, 4]}, "workload": "w"}],
    "jobs": {"arrival_s": [0], "work_s": [3600], "task": ["t"]},
}


def test_a_policy_that_moves_its_tasks_for_ever_finds_no_solution(tmp_path):
    """Stratus rents g8 whatever it costs, gives it up as less than half used, and rents it anew: ready at the next plan."""
    (tmp_path / "i.json").write_text(json.dumps(FOR_EVER))
    instance = read_instance(tmp_path / "i.json")
    outcome = find_method(FAMILY, "stratus").run(instance)
    assert (outcome.status, outcome.solution, outcome.details["decisions"]) == (Status.NO_SOLUTION, None, 1000)
    assert "the policy makes no progress, it moved tasks or rented machines in 1000" in outcome.details["reason"]
    verify(instance, find_method(FAMILY, "stratus").run(instance, parameters={"semantics": "paper"}).solution)
