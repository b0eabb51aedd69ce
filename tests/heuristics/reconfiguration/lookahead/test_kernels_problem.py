"""What machines of a draft hold and lose, against plain Python."""

import numpy as np
import pytest

from schedgap.heuristics.reconfiguration.lookahead.kernels_problem import loss_on, put


@pytest.mark.parametrize("seed", range(5))
def test_tasks_take_room_and_slow_each_other_down(random_problem, seed):
    p, d = random_problem(seed)
    on = [t for t in range(5) if p.origin[t] == 0]
    for t in on:
        put.py_func(p, d, 0, t)
    assert d.content[0, : d.size[0]].tolist() == on
    assert (d.used[0] == p.demand[p.type2family[d.kind[0]], p.task_class[on]].sum(axis=0)).all()
    # `alone` is high enough for the machine to pay; then too low, and the work is made up at the slow pace.
    rates = [np.prod([p.rate[p.workload[t], p.workload[u]] for u in on if u != t]) for t in on]
    lost = sum(p.weight[t] * (1 - rate) for t, rate in zip(on, rates, strict=True))
    assert loss_on.py_func(p._replace(alone=np.full(5, 100.0)), d, 0) == pytest.approx(lost)
    p = p._replace(alone=np.full(5, 0.9), weight=np.full(5, 1e-3))
    overrun = sum(0.9 * (1 / rate - 1) for rate in rates)
    assert loss_on.py_func(p, d, 0) == pytest.approx(overrun)
