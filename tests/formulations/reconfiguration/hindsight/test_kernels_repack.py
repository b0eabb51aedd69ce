"""One plan's packing: who is nowhere is put somewhere, and a wasteful machine is emptied where that pays."""

import numpy as np
import pytest

from schedgap.formulations.reconfiguration.hindsight.kernels_repack import MOST_GONE, Draft, Moment, Work, repack


@pytest.mark.parametrize(("price", "machines"), [(10.0, 1), (8.5, 2)])
def test_a_move_has_to_pay(price, machines):
    # Two tasks on a machine each, of a price; a move costs a period of a task, 8, and 1 of the machine that it leaves.
    def ints(*values):
        return np.array(values, np.int64)

    moment = Moment(
        demand=ints(1).reshape(1, 1, 1), capacity=ints(2).reshape(1, 1), type2family=ints(0), boot=ints(60),
        price=np.array([price]), task_class=ints(0, 0), end=ints(3000, 3000), leave=ints(30, 30), start=ints(0, 0),
        origin=ints(0, 1), value=np.array([8.0, 8.0]), period=300, horizon=1,
    )  # fmt: skip
    rows = 7
    draft = Draft(
        *np.zeros((3, rows), np.int64), np.repeat([1.0, 0.0], [2, 5]), np.full(rows, -1), np.zeros((rows, 1), np.int64),
        np.zeros(rows),
        *np.full((3, 2), -1), *np.zeros((2, rows), np.int64), ints(6, 5, 4, 3, 2, 0, 0), ints(0, 5, 2),
    )  # fmt: skip
    work = Work(*np.zeros((4, 2), np.int64), np.zeros(2), np.zeros(MOST_GONE, np.int64))
    random = np.array([1], np.uint64)
    for rounds in (0, 50):
        repack(moment, draft, work, rounds, 100, random)
    # That is 9 in all, for one period of the machine.
    assert np.unique(draft.place).size == machines
