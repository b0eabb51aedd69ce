"""The throughput table against a dictionary of what was seen, with tables that grow."""

import numpy as np
import pytest

from schedgap.heuristics.reconfiguration.monitor import ThroughputMonitor

DEMAND = [(1,)] * 3


@pytest.mark.parametrize("semantics", ["artifact", "paper"])
def test_entries_are_means_or_maxima_of_what_sets_of_tasks_showed(make_observation, semantics):
    rng = np.random.default_rng(7)
    monitor, seen = ThroughputMonitor(0.5, semantics), {}
    for _ in range(60):
        classes = rng.integers(0, 3, int(rng.integers(1, 5))).tolist()
        rate = rng.integers(1, 9, len(classes)) / 8
        monitor.observe(make_observation(DEMAND, [(c, 0) for c in classes], [0], rate=rate))
        for t, c in enumerate(classes):
            beside = tuple(sorted(classes[:t] + classes[t + 1 :]))
            seen.setdefault((c, beside), []).append(rate[t])

    def entry(c, beside):
        values = seen[c, tuple(sorted(beside))]
        return max(values) if semantics == "paper" else sum(values) / len(values)

    for c, beside in seen:
        assert monitor.throughput(c, beside) == pytest.approx(entry(c, beside))
    unseen = [0] * 5
    assert monitor.throughput(1, unseen) == pytest.approx(entry(1, [0]) ** 5)
