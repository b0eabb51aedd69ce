"""A method against bounds: what runs beside it, under which limits, and what is refused before anything runs."""

import pytest

from schedgap.bench.testing.measure import measure_gap
from schedgap.instances.errors import InstanceError, MethodError
from schedgap.instances.provisioning import table3, table7, write_instance


def test_the_usual_method_proves_where_the_suite_has_none(tmp_path, write_suite):
    """`no-packing` proves nothing and costs $16.2 where `patterns` proves $12.8; the suite's other methods do not run."""
    write_instance(table3(), tmp_path / "table3.json")
    path = write_suite(["synergy"])
    text = path.read_text()
    path.write_text(text[: text.index("[[instances]]")] + '[[instances]]\nfile = "table3.json"\n')
    own, others = measure_gap("no-packing", directory=tmp_path / "kept", suite=path, time_limit_s=3)
    assert [(r.run.label, r.measurement.objective, r.run.limits.wall_s) for r in own] == [
        ("no-packing", 16_200_000, 16)
    ]
    assert [(r.run.label, r.measurement.bound, r.run.limits.wall_s) for r in others] == [("patterns", 12_800_000, 20)]


def test_the_method_that_is_measured_is_not_looked_up(tmp_path):
    """It proves its own bound, so nothing runs beside it, and nothing of it is kept."""
    own, others = measure_gap("patterns", directory=tmp_path / "kept", instances=[table3()])
    assert [str(record.status) for record in own] == ["optimal"]
    assert others == []
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("error", "problem", "given"),
    [
        (MethodError, "no-packing is not declared to prove bounds", {"bound": "no-packing", "instances": [table7(6)]}),
        (InstanceError, "no instances to measure on", {"instances": []}),
        (InstanceError, "7 is no instance; give objects", {"instances": [7]}),
        (InstanceError, "cannot be read", {"instances": ["nowhere.json"]}),
    ],
)
def test_what_cannot_be_measured_is_refused(tmp_path, error, problem, given):
    with pytest.raises(error, match=problem):
        measure_gap("patterns", directory=tmp_path / "kept", **given)
    assert not (tmp_path / "kept").exists()
