import numpy as np

from schedgap.formulations.linear_model import Rows


def test_blocks_are_stacked_without_zeros():
    rows = Rows(3)
    at = np.array([0, 1, 1])
    rows.add("a", (at, np.array([0, 1, 2]), np.array([5, 0, 7])), lower=np.zeros(2), upper=9.0)
    rows.add("b", (0, np.array([2]), 1.5), (np.array([0]), np.array([0]), 1.5), upper=np.array([4.0]))
    model = rows.model("m", np.ones(3), np.ones(3), 10, integral=False)
    assert model.matrix.toarray().tolist() == [[5, 0, 0], [0, 0, 7], [1.5, 0, 1.5]]
    assert model.matrix.nnz == 4
    assert model.row_names == ("a(0)", "a(1)", "b(0)")
    assert model.row_lower.tolist() == [0, 0, -np.inf]
    assert model.row_upper.tolist() == [9, 9, 4]
    assert (rows.num_rows, model.objective_scale) == (3, 10)
    assert (model.lower.tolist(), model.upper.tolist(), model.integral.any()) == ([0, 0, 0], [1, 1, 1], False)
