"""The co-location throughput table: look-ups, what counts as an observation, and to whom a slow job is put down."""

import numpy as np
import pytest

from schedgap.heuristics.reconfiguration.monitor import ThroughputMonitor
from schedgap.instances.errors import MethodError

DEMAND = [(1,), (1,), (1,), (1,)]


def learned(*observations, **given):
    monitor = ThroughputMonitor(**given)
    for observation in observations:
        monitor.observe(observation)
    return monitor


def test_before_anything_is_seen_each_task_beside_one_costs_the_default():
    monitor = ThroughputMonitor(0.5)
    assert [monitor.throughput(0, beside) for beside in ([], [1], [1, 2], [0, 0, 0])] == [1.0, 0.5, 0.25, 0.125]


def test_a_recorded_set_is_looked_up_and_others_are_products_of_pairs(make_observation):
    pair = make_observation(DEMAND, [(0, 0), (1, 0)], [0], rate=[0.75, 0.5])
    triple = make_observation(DEMAND, [(0, 0), (1, 0), (1, 0)], [0], rate=[0.25, 1, 1])
    monitor = learned(pair, default=0.5)
    assert [monitor.throughput(0, beside) for beside in ([1], [2], [1, 1], [1, 2])] == [0.75, 0.5, 0.5625, 0.375]
    assert monitor.throughput(1, [0]) == 0.5
    monitor.observe(triple)
    assert monitor.throughput(0, [1, 1]) == 0.25
    assert monitor.throughput(1, [0, 1]) == monitor.throughput(1, [1, 0]) == 1.0


def test_a_value_is_the_mean_of_what_was_seen_or_in_paper_the_largest(make_observation):
    observations = [make_observation(DEMAND, [(0, 0), (1, 0)], [0], rate=[rate, 1]) for rate in (0.5, 0.75, 0.25, 0.5)]
    assert learned(*observations).throughput(0, [1]) == 0.5
    assert learned(*observations, semantics="paper").throughput(0, [1]) == 0.75


def test_the_mean_of_equal_values_is_that_value_and_changes_nothing(make_observation):
    observation = make_observation(DEMAND, [(0, 0), (1, 0)], [0], rate=[0.1, 0.7])
    monitor = learned(observation)
    changes = monitor.changes
    for _ in range(10):
        monitor.observe(observation)
    assert monitor.throughput(0, [1]) == 0.1
    assert monitor.changes == changes


@pytest.mark.parametrize(
    "hidden",
    [{"rate": [0.5, -1.0]}, {"running": [False], "rate": [0.5, 0.5]}, {"held": [-1, -1], "rate": [0.5, 0.5]}],
)
def test_a_machine_with_a_task_that_shows_nothing_or_that_boots_shows_nothing(make_observation, hidden):
    observation = make_observation(DEMAND, [(0, 0), (1, 0)], [0], **hidden)
    assert learned(observation).throughput(0, [1]) == 0.95


def test_a_throughput_of_0_counts_and_one_above_1_is_1(make_observation):
    monitor = learned(make_observation(DEMAND, [(0, 0), (1, 0)], [0], rate=[0.0, 1.5]))
    assert (monitor.throughput(0, [1]), monitor.throughput(1, [0])) == (0.0, 1.0)


class TestJobsOfSeveralTasks:
    """Job of class 0 on machines 0 (beside class 1) and 1 (beside classes 2 and 3)."""

    def observation(self, make_observation, rate):
        tasks = [(0, 0), (0, 1), (1, 0), (2, 1), (3, 1)]
        return make_observation(DEMAND, tasks, [0, 0], sizes=[2, 1, 1, 1], rate=[rate, rate, 1, 1, 1])

    def seen(self, make_observation, rate, beside):
        """A task of class 0 alone in its job beside some classes."""
        tasks = [(0, 0), *((c, 0) for c in beside)]
        return make_observation(DEMAND, tasks, [0], rate=[rate, *(1 for _ in beside)])

    def test_with_nothing_recorded_the_task_among_the_most_is_the_straggler(self, make_observation):
        monitor = learned(self.observation(make_observation, 0.5))
        assert (monitor.throughput(0, [1]), monitor.throughput(0, [2, 3])) == (0.95, 0.5)

    def test_a_recorded_value_above_what_is_seen_leaves_it_to_the_unrecorded_one(self, make_observation):
        monitor = learned(self.seen(make_observation, 0.75, [1]), self.observation(make_observation, 0.5))
        assert (monitor.throughput(0, [1]), monitor.throughput(0, [2, 3])) == (0.75, 0.5)

    def test_a_recorded_value_as_low_as_what_is_seen_explains_it(self, make_observation):
        monitor = learned(self.seen(make_observation, 0.5, [1]), self.observation(make_observation, 0.75))
        # The mean of 0.5 and 0.75; (0, {2, 3}) stays unrecorded: 0.95 x 0.95.
        assert monitor.throughput(0, [1]) == 0.625
        assert monitor.throughput(0, [2, 3]) == 0.95 * 0.95

    def test_if_all_are_recorded_the_lowest_is_updated(self, make_observation):
        known = (self.seen(make_observation, 0.75, [1]), self.seen(make_observation, 0.5, [2, 3]))
        monitor = learned(*known, self.observation(make_observation, 0.25))
        assert (monitor.throughput(0, [1]), monitor.throughput(0, [2, 3])) == (0.75, 0.375)

    def test_nothing_is_put_down_while_one_machine_shows_nothing(self, make_observation):
        tasks = [(0, 0), (0, 1), (1, 0), (2, 1)]
        observation = make_observation(DEMAND, tasks, [0, 0], sizes=[2, 1, 1], rate=[0.5, 0.5, 1, -1])
        monitor = learned(observation)
        assert (monitor.throughput(0, [1]), monitor.throughput(0, [2])) == (0.95, 0.95)
        assert monitor.throughput(1, [0]) == 1.0


def test_a_table_that_grows_keeps_what_it_knows(make_observation):
    rng = np.random.default_rng(7)
    monitor, known = ThroughputMonitor(), {}
    for _ in range(600):
        classes = rng.integers(0, 40, rng.integers(2, 6))
        rates = rng.choice([0.25, 0.5, 0.75], classes.size)
        # Observed once only, so that a value is what was seen last.
        if any((c, tuple(sorted(np.delete(classes, i)))) in known for i, c in enumerate(classes)):
            continue
        if np.unique(classes).size < classes.size:
            continue
        monitor.observe(
            make_observation([(1,)] * 40, [(int(c), 0) for c in classes], [0], capacity=[(9,)], price=[1], rate=rates)
        )
        for i, c in enumerate(classes):
            known[c, tuple(sorted(np.delete(classes, i)))] = rates[i]
    assert len(known) > 1000
    assert all(monitor.throughput(c, beside) == rate for (c, beside), rate in known.items())


def test_bad_parameters_and_unknown_classes_are_refused():
    with pytest.raises(MethodError, match=r"tau is 1.5; give a throughput from 0 to 1."):
        ThroughputMonitor(1.5)
    with pytest.raises(MethodError, match="semantics is 'new'; it is one of artifact, paper"):
        ThroughputMonitor(semantics="new")
    with pytest.raises(MethodError, match="task class 99 has not been seen"):
        ThroughputMonitor().throughput(0, [99])
