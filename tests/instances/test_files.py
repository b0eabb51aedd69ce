from pathlib import Path

import pytest

from schedgap.instances.errors import InstanceError, SolutionError
from schedgap.instances.files import named_beside, naming_file, refuse_other_instance, to_units

PATH = Path("folder/s.json")


def test_the_solution_of_another_instance():
    refuse_other_instance(PATH, None, "small", "b" * 64)
    refuse_other_instance(PATH, "b" * 64, "small", "b" * 64)
    message = (
        r"^s\.json: solves instance a{12}\.\.\., not small \(b{12}\.\.\.\); give the instance that it was made for\.$"
    )
    with pytest.raises(SolutionError, match=message):
        refuse_other_instance(PATH, "a" * 64, "small", "b" * 64)


def test_errors_name_their_file_and_keep_their_class():
    with naming_file(PATH):
        pass
    for error in (InstanceError, SolutionError):
        with pytest.raises(error, match=r"^s\.json: no jobs\.$"), naming_file(PATH):
            raise error("no jobs.")
    with pytest.raises(ValueError, match=r"^else$"), naming_file(PATH):
        raise ValueError("else")


def test_a_named_file_lies_beside():
    assert named_beside(PATH, "jobs_file", "jobs.npz", InstanceError) == Path("folder/jobs.npz")
    for name in ("", "../jobs.npz", "/x/jobs.npz", "x/jobs.npz"):
        with pytest.raises(InstanceError, match=rf"^jobs_file is '{name}'; give the name of a file beside this one"):
            named_beside(PATH, "jobs_file", name, InstanceError)


def test_numbers_beyond_floats_are_refused_in_one_sentence():
    """Warnings are errors here: none comes before the sentence."""
    with pytest.raises(InstanceError, match=r"at_s of 0: 1e\+308 is too large to be exact"):
        to_units([1e308], 1000, "at_s", InstanceError)
