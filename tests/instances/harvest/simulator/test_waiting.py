"""The tree of waiting tasks against a Python set."""

import numpy as np
import pytest

from schedgap.instances.arrays import records
from schedgap.instances.harvest.simulator.leases import add_waiting, next_waiting, num_words, remove_waiting
from schedgap.instances.harvest.simulator.simulator import Simulator
from schedgap.instances.harvest.simulator.state import NOBODY, Task
from schedgap.instances.jit import lean_kernel

# Of one level, of two, of three, and of four, at the ends of words and beside them.
SIZES = [1, 2, 63, 64, 65, 200, 4095, 4096, 4097, 64**3 + 1]


@lean_kernel
def add(s, task):
    add_waiting(s, task)


@lean_kernel
def remove(s, task):
    remove_waiting(s, task)


@pytest.fixture
def state_of(tiny):
    def state_of(num_tasks):
        """The state of so many tasks, of which none waits."""
        state = Simulator(tiny(0)).state
        return state._replace(tasks=records(Task, num_tasks), waiting=np.zeros(num_words(num_tasks), np.uint64))

    return state_of


def assert_same(state, waiting, starts):
    """From each start on both know the same next task."""
    ordered = np.array(sorted(waiting), np.int64)
    wanted = np.append(ordered, NOBODY)[np.searchsorted(ordered, starts)].tolist()
    assert [next_waiting(state, start) for start in starts] == wanted
    assert state.clock[0].waiting == len(waiting)


def test_a_bit_a_task_and_a_bit_a_word_below():
    assert [num_words(size) for size in (1, 64, 65, 4096, 4097)] == [1, 1, 2 + 1, 64 + 1, 65 + 2 + 1]
    assert num_words(64**3 + 1) == 4097 + 65 + 2 + 1


@pytest.mark.parametrize("num_tasks", SIZES)
def test_few_waiting_tasks_are_a_set(num_tasks, state_of):
    state, waiting, rng = state_of(num_tasks), set(), np.random.default_rng(num_tasks)
    # The first and the last ones of words, on every level, and others.
    edges = [64**level * k + at for level in (0, 1, 2) for k in (1, 2, 63) for at in (-1, 0)]
    tasks = [task for task in (0, *edges, num_tasks - 1, *rng.integers(0, num_tasks, 20)) if task < num_tasks]
    for _ in range(300):
        task = int(rng.choice(tasks))
        (remove if task in waiting else add)(state, task)
        waiting ^= {task}
        assert_same(state, waiting, [int(rng.integers(num_tasks)), task, *rng.choice(tasks, 2).tolist()])
    for task in waiting:
        remove(state, task)
    assert not state.waiting.any()


@pytest.mark.parametrize("num_tasks", SIZES[:-1])
def test_all_wait_and_leave_one_by_one(num_tasks, state_of):
    state, waiting, rng = state_of(num_tasks), set(range(num_tasks)), np.random.default_rng(num_tasks)
    for task in rng.permutation(num_tasks).tolist():
        add(state, task)
    assert_same(state, waiting, range(num_tasks))
    for left, task in enumerate(rng.permutation(num_tasks).tolist()[::-1]):
        remove(state, task)
        waiting.remove(task)
        if left % 500 == 0 or num_tasks - left < 100:
            assert_same(state, waiting, rng.integers(0, num_tasks, 20).tolist())
    assert not state.waiting.any()
