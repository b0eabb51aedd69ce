import highspy
import numpy as np
import pytest

from schedgap.formulations.backends.highs import run
from schedgap.formulations.backends.highs_lp import GrowingLp
from schedgap.instances.errors import BackendError

INF = np.inf


def two_rows():
    """Minimise 3a + 2b, a + b >= 4, a <= 3 as a row, by columns added one after the other."""
    lp = GrowingLp([4.0, -INF], [INF, 3.0])
    lp.add_columns([3.0], np.array([[1.0, 1.0]]))
    return lp


def test_grows_and_stays_solved():
    lp = two_rows()
    # Alone, a would have to be 4.
    assert lp.solve() is None
    lp.add_columns([5.0], np.array([[1.0, 0.0]]))
    first = lp.solve()
    assert first.x.tolist() == [3, 1]
    assert (first.objective, first.row_duals.tolist()) == (14, [5, -2])
    lp.add_columns([2.0, 9.0], np.array([[1.0, 0.0], [0.0, 0.0]]))
    second = lp.solve()
    assert (second.objective, second.x.tolist(), lp.num_columns) == (8, [0, 0, 4, 0], 4)


def test_no_columns_are_no_change():
    lp = two_rows()
    lp.add_columns([], np.zeros((0, 2)))
    assert lp.num_columns == 1


def test_bounds_of_rows_and_columns_change():
    lp = two_rows()
    lp.set_row_bounds(0, 2.0, INF)
    assert lp.solve().x.tolist() == [2]
    lp.set_column_upper(np.array([0]), np.array([1.0]))
    assert lp.solve() is None
    lp.set_row_bounds(0, 0.5, INF)
    assert lp.solve().x.tolist() == [0.5]
    lp.set_column_upper(np.zeros(0, np.int64), np.zeros(0))
    assert lp.solve().objective == 1.5


def test_no_time_or_no_bottom_is_no_solution():
    lp = two_rows()
    lp.set_row_bounds(0, 2.0, INF)
    assert lp.solve(0.0) is None
    assert lp.solve(-1.0) is None
    assert lp.solve().objective == 6
    lp.add_columns([-1.0], np.array([[1.0, 0.0]]))
    assert lp.solve() is None


def test_the_limit_counts_one_solve_only():
    lp = two_rows()
    lp.set_row_bounds(0, 2.0, INF)
    for _ in range(50):
        assert lp.solve(5.0).objective == 6


def knapsack():
    """Minimise 5a + 4b + 3c, 2a + 3b + c >= 5 (whole: a = 1, b = 1 or b = 1, c = 2 cost 9 and 10; b = 2: 8)."""
    lp = GrowingLp([5.0], [INF])
    lp.add_columns([5.0, 4.0, 3.0], np.array([[2.0], [3.0], [1.0]]))
    return lp


def test_whole_solutions_leave_the_linear_program_as_it_is():
    lp = knapsack()
    assert lp.solve().objective == pytest.approx(20 / 3, abs=1e-9)
    assert lp.solve_integer(10.0).tolist() == [0, 2, 0]
    assert lp.solve().x.tolist() == pytest.approx([0, 5 / 3, 0], abs=1e-9)


@pytest.mark.parametrize(("cutoff", "found"), [(8.5, True), (8.0, False), (7.5, False), (INF, True)])
def test_only_what_is_below_the_cutoff_counts(cutoff, found):
    assert (knapsack().solve_integer(10.0, cutoff=cutoff) is not None) == found


def test_without_time_nothing_is_found():
    assert knapsack().solve_integer(0.0) is None


def test_columns_of_the_wrong_length_are_refused():
    lp = two_rows()
    with pytest.raises(BackendError, match="HiGHS refuses columns"):
        lp.add_columns([1.0], np.array([[1.0, 1.0, 1.0]]))


def test_solves_with_other_numbers_of_threads_may_come_between():
    """HiGHS refuses to run with another number than before, and its status stays that of the run before."""
    lp = knapsack()
    for threads in (2, 1, 2):
        assert lp.solve_integer(10.0, threads=threads).tolist() == [0, 2, 0]
        before = lp.solve().objective
        lp.set_column_upper(np.array([1]), np.array([float(threads)]))
        assert lp.solve().objective >= before - 1e-9
        assert lp.solve().x[1] <= threads + 1e-9
        lp.set_column_upper(np.array([1]), np.array([INF]))
        assert lp.solve().objective == before


def test_a_row_is_added_to_columns_that_are_there():
    lp = GrowingLp([1.0], [np.inf], is_dual=True)
    lp.add_columns([1.0, 3.0], np.ones((2, 1)))
    assert lp.solve().objective == 1
    # At most a quarter of the first column.
    assert lp.add_row(-np.inf, 0.25, np.array([0]), np.array([1.0])) == 1
    solution = lp.solve()
    assert solution.x.tolist() == [0.25, 0.75]
    assert solution.row_duals.tolist() == [3, -2]


class Refusing:
    """A solver that refuses to run so many times."""

    def __init__(self, times):
        self.times, self.cleared = times, 0

    def run(self):
        self.times -= 1
        return highspy.HighsStatus.kError if self.times >= 0 else highspy.HighsStatus.kOk

    def getModelStatus(self):
        return highspy.HighsModelStatus.kNotset

    def clearSolver(self):
        self.cleared += 1


def test_a_run_that_is_refused_begins_anew_once():
    once = Refusing(1)
    run(once)
    assert once.cleared == 1
    with pytest.raises(BackendError, match="refuses to run"):
        run(Refusing(2))
