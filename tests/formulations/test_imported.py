"""Answers of four solvers to an exported model, as their programs wrote them, and what they mean."""

import pytest

from schedgap.bench.plugins.discover import load_methods
from schedgap.formulations.backends import BACKENDS, solve
from schedgap.formulations.export import column_names, find_model_builder
from schedgap.formulations.imported import Answer, imported, read_answer
from schedgap.instances.errors import SolutionError
from schedgap.instances.family import find_family
from schedgap.instances.provisioning import table3, table7
from schedgap.instances.waiting import mms

# Of `patterns` of table7 with 6 tasks and seed 1, in units of $0.00015: by HiGHS 1.12, CBC 2.10, SCIP 10 and GLPK 5.0.
HIGHS = """Model status
Optimal

# Primal solution values
Feasible
Objective 265200
# Columns 6
p3.2xlarge_0 1
p3.8xlarge_1 0
p3.8xlarge_2 1
p3.8xlarge_3 0
p3.8xlarge_4 2
c7i.4xlarge_5 0
# Rows 4
cover_0 1
cover_1 2
cover_2 2
cover_3 2
"""
CBC = """Optimal - objective value 265200.00000000
      0 p3.2xlarge_0                1                   20400
      1 p3.8xlarge_1                0                   81600
**    2 p3.8xlarge_2                1                   81600
      4 p3.8xlarge_4                2                   81600
"""
SCIP = """solution status: optimal solution found
objective value:                               265200
p3.8xlarge_4                                        2 \t(obj:81600)
p3.8xlarge_2                                        1 \t(obj:81600)
p3.2xlarge_0                                        1 \t(obj:20400)
"""
GLPK = """Problem:    patterns-table7-6-physical-s1
Rows:       4
Columns:    6 (6 integer, 3 binary)
Non-zeros:  9
Status:     INTEGER OPTIMAL
Objective:  objective = 265200 (MINimum)

   No.   Row name        Activity     Lower bound   Upper bound
------ ------------    ------------- ------------- -------------
     1 cover_0                     1             1               
     2 cover_1                     2             2               

   No. Column name       Activity     Lower bound   Upper bound
------ ------------    ------------- ------------- -------------
     1 p3.2xlarge_0 *              1             0             1 
     3 p3.8xlarge_2 *              1             0             1 
     5 p3.8xlarge_4 *              2             0             2 
     6 c7i.4xlarge_5
                    *              0             0             1 

Integer feasibility conditions:

KKT.PE: max.abs.err = 0.00e+00 on row 0
"""  # noqa: W291
ANSWERS = {"HiGHS": HIGHS, "CBC": CBC, "SCIP": SCIP, "GLPK": GLPK}


@pytest.fixture(scope="module", autouse=True)
def _methods():
    load_methods(["provisioning", "waiting"])


@pytest.mark.parametrize("solver", ANSWERS)
def test_what_each_solver_writes(tmp_path, solver):
    (tmp_path / "answer").write_text(ANSWERS[solver])
    answer = read_answer(tmp_path / "answer")
    assert (answer.solver, answer.objective) == (solver, 265_200)
    some = {name: value for name, value in answer.values.items() if value}
    assert some == {"p3.2xlarge_0": 1, "p3.8xlarge_2": 1, "p3.8xlarge_4": 2}
    family, instance = find_family("provisioning"), table7(tasks=6, seed=1)
    # 265,200 x 150 micro-dollars.
    assert family.verify(instance, imported(family, "patterns", instance, answer)) == 39_780_000


def answered(model, file_format):
    """What a solver would say of a model that was written in a format."""
    found = solve(model)
    return Answer("HiGHS", found.objective, dict(zip(column_names(model, file_format), found.x.tolist(), strict=True)))


@pytest.mark.parametrize("name", ["patterns", "assignment", "assignment-symmetry", "assignment-pulp", "arc-flow"])
@pytest.mark.parametrize("file_format", ["mps", "lp"])
def test_every_model_is_read_back(name, file_format):
    family, instance = find_family("provisioning"), table3()
    model = find_model_builder("provisioning", name)(instance)
    solution = imported(family, name, instance, answered(model, file_format))
    assert family.verify(instance, solution) == 12_800_000
    assert "file" not in BACKENDS


def test_a_schedule_is_read_back():
    family, instance = find_family("waiting"), mms(20, seed=1, arrival_rate=0.01, step_s=600.0, max_wait_h=0.5)
    builder = find_model_builder("waiting", "time-indexed")
    solution = imported(family, "time-indexed", instance, answered(builder(instance), "mps"))
    assert solution.num_machines > 0
    assert family.verify(instance, solution) > 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Model status\nInfeasible\n\n# Primal solution values\nNone\n", "HiGHS found no solution; give it more time"),
        ("Infeasible - objective value 0.0\n", "CBC found no solution"),
        ("Stopped on time (no integer solution - continuous used) - objective value 3\n", "CBC found no solution"),
        ("solution status: infeasible\nno solution available\n", "SCIP found no solution"),
        (GLPK.replace("INTEGER OPTIMAL", "INTEGER EMPTY"), "GLPK found no solution"),
        (HIGHS.replace("p3.8xlarge_2 1", "p3.8xlarge_2 one"), "the values of variables are damaged; let HiGHS"),
        (HIGHS.replace("# Columns 6", ""), "the values of variables are damaged"),
        ("c of glpsol --write\ns mip 4 6 o 265200\n", "begins with 'c of glpsol --write': no answer of HiGHS"),
        ("", "begins with ''"),
    ],
)
def test_what_is_no_answer(tmp_path, text, message):
    (tmp_path / "answer").write_text(text)
    with pytest.raises(SolutionError, match=message):
        read_answer(tmp_path / "answer")


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        (
            "patterns",
            {"x9": 1.0},
            "has a variable 'x9', and patterns of table3 has none of that name; give the instance",
        ),
        ("patterns", {}, "mean no solution of table3|breaks|cannot be read back"),
        ("bound-assignment-lp", {}, "bound-assignment-lp is a bound of family provisioning"),
    ],
)
def test_answers_to_something_else(name, values, message):
    family, instance = find_family("provisioning"), table3()
    with pytest.raises(SolutionError, match=message):
        imported(family, name, instance, Answer("CBC", None, values))
    assert "file" not in BACKENDS
