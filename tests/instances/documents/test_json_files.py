from pathlib import Path
from types import SimpleNamespace

import pytest

from schedgap.instances.documents.json_files import naming_file, refuse_other_instance
from schedgap.instances.errors import InstanceError, SolutionError
from schedgap.instances.provisioning import read_instance, read_solution, table3, write_instance

PATH = Path("folder/s.json")


def test_the_solution_of_another_instance():
    small = SimpleNamespace(name="small", digest="b" * 64)
    refuse_other_instance(PATH, None, small)
    refuse_other_instance(PATH, "b" * 64, small)
    message = (
        r"^s\.json: solves instance a{12}\.\.\., not small \(b{12}\.\.\.\); give the instance that it was made for\.$"
    )
    with pytest.raises(SolutionError, match=message):
        refuse_other_instance(PATH, "a" * 64, small)


def test_errors_name_their_file_and_keep_their_class():
    with naming_file(PATH):
        pass
    for error in (InstanceError, SolutionError):
        with pytest.raises(error, match=r"^s\.json: no jobs\.$"), naming_file(PATH):
            raise error("no jobs.")
    with pytest.raises(ValueError, match=r"^else$"), naming_file(PATH):
        raise ValueError("else")


def test_another_schema_is_told_before_fields_that_it_explains(tmp_path):
    instance = table3()
    write_instance(instance, tmp_path / "i.json")
    message = r"^i\.json: schema: input should be '[a-z/-]+-solution/1' \(found 'schedgap/provisioning/1'\)"
    with pytest.raises(SolutionError, match=message):
        read_solution(instance, tmp_path / "i.json")


def test_what_is_given_twice(tmp_path):
    """The later of the two would be taken, without a word."""
    path = tmp_path / "i.json"
    write_instance(table3(), path)
    path.write_text(path.read_text().replace('"price":', '"price": 1, "price":', 1))
    with pytest.raises(InstanceError, match=r"^i\.json: 'price' is given twice in one object; give it once\.$"):
        read_instance(path)
