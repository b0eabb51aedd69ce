"""What a cluster could hold, from arithmetic to what methods find and prove."""

import numpy as np
import pytest

from schedgap.bench.capacity import Point, Question, capacity
from schedgap.instances.placement import moves, random_pods, verify
from schedgap.instances.placement.model import NOWHERE
from tests.instances.placement.test_stranded import cluster
from tests.oracles.placement import optimum

HOST = [(99, 8)] * 3


def of_three_hosts(waits):
    """volcano#3948: three nodes of 8 GPUs with 7, 6 and 7 used by single ones; a job of 4 waits."""
    used = [(0, n, 1 << g) for n, number in enumerate((7, 6, 7)) for g in range(number)]
    return cluster(HOST, [(1, 1, 1000), (1, 4, 1000)], [*used, *[(1, NOWHERE, 0)] * waits])


def test_a_job_of_four_after_two_moves():
    """Two leave the node with 6; one move is proven not to be enough."""
    found = capacity(of_three_hosts(1), time_limit_s=30)
    best, is_least = found.pending.least()
    assert (best.found, best.moves, best.at_most, is_least) == (1, 2, 1, True)
    assert [(p.max_moves, p.found, p.at_most) for p in found.pending.rows if p.max_moves in (0, 1, 2)] == [
        (0, 0, 0),
        (1, 0, 0),
        (2, 1, 1),
    ]
    question, point, done = found.plan()
    assert verify(question.instance, point.plan) == 0
    assert moves(question.instance, point.plan) == 2
    assert [step["pod"] for step in done][-1] == "pod-20"
    assert not found.problems


def test_more_of_a_shape_with_few_moves():
    """Of pods of 4 GPUs none fits; one does after two moves, and with one move none does, proven."""
    # As the instance says where nothing else is asked for.
    found = capacity(of_three_hosts(0).replace(max_moves=1), shape=1, time_limit_s=30)
    assert (found.shapes[0].fits, found.shapes[0].at_most) == (0, 1)
    assert found.more.point(1).at_most == 0
    assert found.pending is None
    assert found.more.name == "pods of 4 GPU, 1 cpu"


def test_nodes_that_are_cleared():
    """Two pods of one GPU each on two nodes: one move clears one, none clears both."""
    found = capacity(cluster([(9, 2), (9, 2)], [(1, 1, 1000)], [(0, 0, 1), (0, 1, 1)]), time_limit_s=20)
    assert found.wide == 2
    assert [(p.found, p.at_most) for p in found.cleared.rows if p.max_moves in (0, 1, None)] == [(0, 0), (1, 1), (1, 1)]


@pytest.mark.parametrize("seed", range(3))
def test_against_trying_everything(seed):
    """What is found of random clusters is possible, what is proven is true, and small ones are closed."""
    instance = random_pods(seed=seed, nodes=2, pods=6, classes=3, running=0.6)
    found = capacity(instance, time_limit_s=20)
    for point in found.pending.rows:
        asked = found.pending.instance
        if asked is None:
            break
        limited = asked.replace(max_moves=-1 if point.max_moves is None else point.max_moves)
        number = int((~asked.is_running).sum())
        assert point.found == point.at_most == number - optimum(limited) // 1000


def test_tasks_of_thirty_and_fifty_cores():
    """volcano#1297: 53 and 31 cores idle, tasks of 30 and 50: the greedy order fails, the other fits. Nothing moves."""
    tasks = [(0, NOWHERE, 0), (1, NOWHERE, 0)]
    found = capacity(cluster([(53, 0), (31, 0)], [(30, 0, 0), (50, 0, 0)], tasks), max_moves=0, time_limit_s=10)
    best, _ = found.pending.least()
    assert (best.found, best.moves) == (2, 0)


def test_two_pods_of_one_gpu_and_one_of_two():
    """kueue#4474: nodes with 2, 1 and 1 free GPUs; all three fit, the small ones on the small nodes."""
    pods = [(0, NOWHERE, 0), (0, NOWHERE, 0), (1, NOWHERE, 0)]
    found = capacity(cluster([(9, 2), (9, 1), (9, 1)], [(1, 1, 1000), (1, 2, 1000)], pods), time_limit_s=10)
    best, _ = found.pending.least()
    assert (best.found, best.at_most) == (3, 3)


def test_twenty_of_nineteen_ten_and_ten():
    """kueue#10574: a gang of 20 on nodes with room for 19, 10 and 10: there is a place, and 20 of what is left of 39."""
    pods = [(0, NOWHERE, 0)] * 20
    instance = cluster([(19, 0), (10, 0), (10, 0)], [(1, 0, 0)], pods).replace(gang=np.zeros(20, np.int64))
    best, _ = capacity(instance, max_moves=0, time_limit_s=10).pending.least()
    assert best.found == 20


def test_pods_that_ask_for_nothing_are_no_shape():
    found = capacity(cluster([(9, 0)], [(0, 0, 0)], [(0, 0, 0), (0, NOWHERE, 0)]), time_limit_s=10)
    assert (found.shapes, found.more) == ([], None)
    assert found.pending.least()[0].found == 1


def test_points_tell_of_each_other():
    """A plan of 2 moves is one for 5; what is proven for 5 moves is proven for 1."""
    plan = object()
    question = Question("x", None, 9, {5: Point(5, 3, 4, 2, plan), None: Point(None, 3, 6), 0: Point(0, 1, 1)})
    assert question.point(2) == Point(2, 3, 4, 2, plan)
    assert question.point(1) == Point(1, 1, 4)
    assert question.point(0) == Point(0, 1, 1)
    assert question.point(9).at_most == 6
    assert question.least() == (Point(None, 3, 6, 2, plan), False)
