"""Stratus: run-time classes, groups for new machines, and machines that are given up."""

import pytest

from schedgap.heuristics.reconfiguration.observation import EXECUTING, MIGRATING, QUEUED
from schedgap.heuristics.reconfiguration.rules import stratus

BIG, SMALL = 0, 1


def shown(plan):
    return plan.machine.tolist(), plan.new_types.tolist()


class TestPlacing:
    """Machines of classes 6, 9 and 3 (100, 1000 and 10 s), 4, 5 and 4 CPUs free; a new task of 3 CPUs."""

    @pytest.mark.parametrize(
        ("seconds", "machine"),
        [
            (120, 0),
            (12, 2),
            # Class 8: the higher one. Class 10: of the lower ones, the one with the most room.
            (300, 1),
            (2000, 1),
        ],
    )
    def test_same_class_then_higher_then_lower(self, make_observation, seconds, machine):
        tasks = [(1, 0), (2, 1), (1, 2), (0, -1)]
        observation = make_observation([(3,), (6,), (5,)], tasks, [BIG] * 3, job_duration_s=[100, 1000, 10, seconds])
        assert shown(stratus(observation)) == ([0, 1, 2, machine], [])

    def test_in_its_class_the_closest_run_time(self, make_observation):
        observation = make_observation([(3,), (6,)], [(1, 0), (1, 1), (0, -1)], [BIG] * 2, job_duration_s=[100, 70, 84])
        assert shown(stratus(observation)) == ([0, 1, 1], [])
        observation = make_observation([(3,), (6,)], [(1, 0), (1, 1), (0, -1)], [BIG] * 2, job_duration_s=[100, 70, 86])
        assert shown(stratus(observation)) == ([0, 1, 0], [])

    def test_a_machine_counts_by_its_longest_task_and_an_empty_one_as_class_0(self, make_observation):
        observation = make_observation(
            [(3,)], [(0, 0), (0, 0), (0, 1), (0, 1), (0, -1)], [BIG] * 3, job_duration_s=[70, 9, 9, 9, 80]
        )
        assert shown(stratus(observation))[0][-1] == 0
        observation = make_observation([(5,)], [(0, 0), (0, -1)], [BIG] * 2, job_duration_s=[9, 1])
        assert shown(stratus(observation))[0][-1] == 1

    def test_a_booting_machine_takes_nothing(self, make_observation):
        observation = make_observation(
            [(3,), (6,)], [(1, 0), (0, -1)], [BIG], job_duration_s=[100, 100], running=[False],
            phase=[MIGRATING, QUEUED], held=[-1, -1], rate=[-1, -1],
        )  # fmt: skip
        assert shown(stratus(observation)) == ([0, 1], [SMALL])

    def test_in_paper_a_run_time_is_what_is_left(self, make_observation):
        given = {"job_duration_s": [1000, 500, 100], "job_attained_s": [0.0, 400.0, 0.0]}
        tasks = [(1, 0), (1, 1), (0, -1)]
        # 100 s: class 6. What is left of machine 1 is 100 s; in the artifact it has class 8, and 9 is as high: first.
        assert shown(stratus(make_observation([(3,), (6,)], tasks, [BIG] * 2, **given), semantics="paper"))[0][-1] == 1
        assert shown(stratus(make_observation([(3,), (6,)], tasks, [BIG] * 2, **given)))[0][-1] == 0


class TestNewMachines:
    def test_tasks_by_falling_run_time_in_groups_of_1_2_3(self, make_observation):
        observation = make_observation([(5,)], [(0, -1)] * 4, job_duration_s=[10, 40, 30, 20])
        assert shown(stratus(observation)) == ([2, 0, 1, 1], [SMALL, BIG, SMALL])

    def test_a_group_ends_before_it_fits_no_type(self, make_observation):
        observation = make_observation([(6,)], [(0, -1)] * 3, job_duration_s=[10, 10, 10])
        assert shown(stratus(observation)) == ([0, 1, 2], [BIG] * 3)

    @pytest.mark.parametrize(("semantics", "rented"), [("artifact", 0), ("paper", 1)])
    def test_the_artifact_compares_gpus_with_a_type_that_has_none(self, make_observation, semantics, rented):
        # Types of 4 GPUs and of 1, and the cheapest of all, without; the first type whose GPUs are the tightest wins.
        # It is then less than half used, given up, and rented once more.
        observation = make_observation(
            [[(1, 3)], [(1, 3)]], [(0, -1)], capacity=[(4, 16), (1, 4), (0, 8)], price=[12, 3, 1], family=[0, 0, 1],
            job_duration_s=[10],
        )  # fmt: skip
        assert shown(stratus(observation, semantics=semantics)) == ([0], [rented])


class TestGivingUp:
    def test_tasks_of_a_machine_less_than_half_used_move(self, make_observation):
        observation = make_observation([(2,), (5,)], [(0, 0), (0, 0), (1, 1)], [BIG, BIG], job_duration_s=[10, 10, 10])
        assert shown(stratus(observation)) == ([1, 1, 1], [])

    def test_half_is_enough_to_stay(self, make_observation):
        observation = make_observation([(5,)], [(0, 0), (0, 1)], [BIG, BIG], job_duration_s=[10, 10])
        assert shown(stratus(observation)) == ([0, 1], [])

    def test_a_lone_task_on_its_own_type_stays(self, make_observation):
        observation = make_observation([(2,)], [(0, 0)], [SMALL], job_duration_s=[10])
        assert shown(stratus(observation)) == ([0], [])

    def test_nobody_leaves_a_machine_that_a_task_migrates_to(self, make_observation):
        observation = make_observation(
            [(2,), (5,)], [(0, 0), (0, 0), (1, 1)], [BIG, BIG], job_duration_s=[10, 10, 10],
            phase=[MIGRATING, EXECUTING, EXECUTING], held=[-1, 0, 1], rate=[-1, 1, 1],
        )  # fmt: skip
        assert shown(stratus(observation)) == ([0, 0, 1], [])

    @pytest.mark.parametrize(("semantics", "expected"), [("artifact", [0, 0, 1]), ("paper", [1, 1, 1])])
    def test_a_machine_without_gpus_is_never_given_up_in_the_artifact(self, make_observation, semantics, expected):
        observation = make_observation(
            [(0, 2), (0, 5)], [(0, 0), (0, 0), (1, 1)], [BIG, BIG], capacity=[(0, 10), (0, 5)],
            job_duration_s=[10, 10, 10],
        )  # fmt: skip
        assert shown(stratus(observation, semantics=semantics))[0] == expected
