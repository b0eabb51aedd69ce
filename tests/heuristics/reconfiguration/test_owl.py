"""Owl: at most two tasks on a machine, best pairs first. Tasks of 5 CPUs, worth $6 each; a pair needs big, $10."""

import numpy as np

from schedgap.heuristics.reconfiguration.observation import MIGRATING, QUEUED
from schedgap.heuristics.reconfiguration.rules import owl

BIG, SMALL = 0, 1
# Pairs (0, 2): 12 / 10; (0, 1): 10.8 / 10; (1, 2): 9.6 / 10; of one class: 9 / 10.
THROUGHPUT = np.array([[0.75, 0.9, 1.0], [0.9, 0.75, 0.8], [1.0, 0.8, 0.75]])


def planned(make_observation, tasks, machines=(), **given):
    plan = owl(make_observation([(5,)] * 3, tasks, machines, throughput=THROUGHPUT, **given))
    return plan.machine.tolist(), plan.new_types.tolist()


def test_the_best_pair_comes_first_and_a_pair_worth_less_than_two_machines_never(make_observation):
    assert planned(make_observation, [(0, -1), (1, -1), (2, -1)]) == ([0, 1, 0], [BIG, SMALL])
    assert planned(make_observation, [(1, -1), (2, -1), (0, -1), (0, -1)]) == ([1, 0, 0, 1], [BIG, BIG])
    assert planned(make_observation, [(0, -1), (0, -1)]) == ([0, 1], [SMALL, SMALL])


def test_a_lone_task_stays_until_a_partner_comes(make_observation):
    assert planned(make_observation, [(0, 0)], [SMALL]) == ([0], [])
    assert planned(make_observation, [(0, 0), (2, -1)], [SMALL]) == ([1, 1], [BIG])


def test_of_one_class_a_new_task_is_paired_first_then_the_one_on_the_oldest_machine(make_observation):
    assert planned(make_observation, [(0, 0), (0, -1), (2, -1)], [SMALL]) == ([0, 1, 1], [BIG])
    assert planned(make_observation, [(0, 1), (0, 0), (2, -1)], [SMALL, SMALL]) == ([1, 2, 2], [BIG])


def test_a_task_whose_partner_has_ended_leaves_the_larger_machine(make_observation):
    assert planned(make_observation, [(0, 0)], [BIG]) == ([1], [SMALL])


def test_pairs_stay_and_so_do_tasks_beside_a_migrating_one(make_observation):
    assert planned(make_observation, [(0, 0), (1, 0), (2, -1)], [BIG]) == ([0, 0, 1], [SMALL])
    observation = {"phase": [MIGRATING, QUEUED], "held": [-1, -1], "rate": [-1, -1]}
    assert planned(make_observation, [(0, 0), (2, -1)], [SMALL], **observation) == ([0, 1], [SMALL])
