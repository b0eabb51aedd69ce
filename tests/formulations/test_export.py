import numpy as np
import pytest
from scipy.sparse import csc_array

from schedgap.formulations import export
from schedgap.formulations.backends import solve
from schedgap.formulations.export import find_model_builder, model_builder, write_lp, write_model, write_mps
from schedgap.formulations.linear_model import LinearModel
from schedgap.instances.errors import MethodError

highspy = pytest.importorskip("highspy")
INF = np.inf


def mixed(**changes):
    fields = {
        "name": "mixed bag",
        "cost": [3.06, 0.1 + 0.2, -2.25, 0.1323, 0],
        "matrix": csc_array(np.array([[3.0, 2, 0, 1, 0], [1, 0, 2, 1 / 3, 0], [1, 1, 1, 0, 0], [0, 0, 1, -1, 0]])),
        "row_lower": [7, 5, -INF, 1],
        "row_upper": [INF, 9, 6, 1],
        "lower": [0, -INF, 0, -2.5, 1],
        "upper": [5, INF, 5, INF, 1],
        "integral": [True, False, True, False, True],
        "offset": 1.5,
        "variable_names": ("x[gcn, p3.2xlarge]", "x[gcn,_p3.2xlarge]", "e9", "5th", "unused"),
        "row_names": ("cover 1", "range", "cap<=6", "equal"),
    }
    return LinearModel(**{**fields, **changes})


def read_back(path):
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("mip_rel_gap", 0.0)
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    solver.run()
    assert solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return solver


@pytest.mark.parametrize("file_format", ["mps", "lp"])
def test_highs_reads_the_same_optimum_back(tmp_path, file_format):
    path = tmp_path / f"model.{file_format}"
    write_model(mixed(), path, file_format, "$/h: the objective times 0.5")
    assert path.read_text().splitlines()[0][1:] == " $/h: the objective times 0.5"
    solver = read_back(path)
    assert solver.getInfo().objective_function_value == pytest.approx(solve(mixed()).objective, abs=1e-9)
    lp = solver.getLp()
    assert lp.col_cost_[1] == 0.1 + 0.2
    assert lp.col_lower_[3] == -2.5
    assert [int(kind) for kind in lp.integrality_] == [1, 0, 1, 0, 1]


def test_mps_keeps_names_without_spaces_and_apart(tmp_path):
    write_mps(mixed(), tmp_path / "model.mps")
    solver = read_back(tmp_path / "model.mps")
    assert solver.getLp().col_names_ == ["x[gcn,_p3.2xlarge]", "x[gcn,_p3.2xlarge]_1", "e9", "5th", "unused"]
    assert solver.getLp().row_names_ == ["cover_1", "range", "cap<=6", "equal"]
    assert 1 / 3 in list(solver.getLp().a_matrix_.value_)


def test_lp_names_are_those_that_every_reader_takes(tmp_path):
    write_lp(mixed(), tmp_path / "model.lp")
    names = read_back(tmp_path / "model.lp").getLp().row_names_
    assert names == ["cover_1", "range", "range_upper", "cap__6", "equal"]


def test_without_names_rows_and_variables_are_numbered(tmp_path):
    write_mps(mixed(), tmp_path / "model.mps", names=False)
    lp = read_back(tmp_path / "model.mps").getLp()
    assert lp.col_names_ == ["x0", "x1", "x2", "x3", "x4"]
    assert lp.row_names_ == ["r0", "r1", "r2", "r3"]


def test_unknown_formats_and_formulations_are_refused(tmp_path):
    with pytest.raises(MethodError, match="mps or lp, not as 'xml'"):
        write_model(mixed(), tmp_path / "model.xml", "xml")
    with pytest.raises(MethodError, match="no exportable formulation 'none'"):
        find_model_builder("provisioning", "none")


def test_a_name_is_registered_once(monkeypatch):
    """A model's own module may be imported again; another function of its name is a mistake."""
    monkeypatch.setattr(export, "MODEL_BUILDERS", {})

    def build(instance):
        return mixed()

    assert model_builder("twice", family="test")(build) is build
    model_builder("twice", family="test")(build)
    with pytest.raises(MethodError, match="model twice of family test is registered twice"):
        model_builder("twice", family="test")(mixed)
