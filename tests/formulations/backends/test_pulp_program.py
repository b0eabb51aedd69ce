import numpy as np
import pulp
import pytest

from schedgap.formulations.backends import solve
from schedgap.formulations.backends.pulp_models import give_values, read_program


@pytest.fixture
def problem():
    """Minimise 3 a - b + 4 with a + b >= 2, b - a <= 1 + 1, a = 2 c; a whole from -1 on, b up to 5, c free."""
    made = pulp.LpProblem("three", pulp.LpMinimize)
    a = made.add_variable("a", lowBound=-1, cat=pulp.LpInteger)
    b = made.add_variable("b", upBound=5)
    c = made.add_variable("c")
    made += 3 * a - b + 4, "cost"
    made += a + b >= 2, "together"
    made += b - a - 1 <= 1, "apart"
    made += a == 2 * c, "half"
    return made


def test_every_kind_of_row_and_bound(problem):
    model = read_program(problem, 7)
    assert (model.name, model.objective_scale, model.offset) == ("three", 7, 4.0)
    assert (model.variable_names, model.row_names) == (("a", "b", "c"), ("together", "apart", "half"))
    assert model.cost.tolist() == [3, -1, 0]
    assert model.matrix.toarray().tolist() == [[1, 1, 0], [-1, 1, 0], [1, 0, -2]]
    assert (model.row_lower.tolist(), model.row_upper.tolist()) == ([2, -np.inf, 0], [np.inf, 2, 0])
    assert (model.lower.tolist(), model.upper.tolist()) == ([-1, -np.inf, -np.inf], [np.inf, 5, np.inf])
    assert model.integral.tolist() == [True, False, False]


def test_values_go_back_to_the_variables(problem):
    """b - a <= 2 and a + b >= 2: a is 0 and b is 2, for 4 - 2 = 2."""
    result = solve(read_program(problem, 1))
    assert (result.status, result.objective) == ("optimal", pytest.approx(2))
    give_values(problem, result.x)
    assert {variable.name: variable.value() for variable in problem.variables()} == pytest.approx(
        {"a": 0, "b": 2, "c": 0}
    )
    assert pulp.value(problem.objective) == pytest.approx(2)
