"""What models share, in an instance of three jobs; each family's own tests have the checks in its instances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.model import JobsModel, check_firsts, check_names, check_order, check_shapes

if TYPE_CHECKING:
    from schedgap.instances.arrays import IntArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Jobs(JobsModel):
    """Jobs and nothing else."""

    name: str
    arrival_ms: IntArray
    first_task: IntArray
    job_names: tuple[str, ...] | None = None
    digest: str = ""


# Three jobs of 2, 1 and 2 tasks.
THREE = Jobs("three", np.array([0, 10, 10]), np.array([0, 2, 3, 5]))


def test_tasks_belong_to_the_job_that_has_their_number():
    assert THREE.num_jobs == 3
    assert THREE.task2job().tolist() == [0, 0, 1, 2, 2]
    assert (THREE.job_name(1), THREE.replace(job_names=("a", "b", "c")).job_name(1)) == ("job-1", "b")


def test_a_copy_has_its_digest_computed_anew():
    changed = THREE.replace(digest="of the old content").replace(name="other")
    assert isinstance(changed, Jobs)
    assert (changed.name, changed.digest) == ("other", "")


def test_equal_moments_are_in_order_and_earlier_ones_are_not():
    check_order("three", np.array([0, 10, 10]), "ms")
    with pytest.raises(
        InstanceError, match=r"^three: job 2 arrives at 9 s, before job 1 at 10 s; give the jobs in order"
    ):
        check_order("three", np.array([0, 10, 9]), "s")


@pytest.mark.parametrize(
    ("firsts", "message"),
    [
        ([1, 2, 5], "first_task goes from 1 to 5; let it go from 0 to 5, the number of tasks"),
        ([0, 2, 4], "first_task goes from 0 to 4; let it go from 0 to 5"),
        ([0, 5, 5], "job 1 has 0 tasks; give at least one"),
    ],
)
def test_every_job_has_tasks_and_every_task_a_job(firsts, message):
    with pytest.raises(InstanceError, match=f"^three: {message}"):
        check_firsts("three", "task", np.array(firsts), 5, lambda job: f"job {job}")


def test_names_are_one_each_and_different():
    with pytest.raises(InstanceError, match=r"^three: 2 names for 3 jobs; give one each"):
        check_names("three", "job", ("a", "b"), 3)
    with pytest.raises(InstanceError, match=r"^three: job 'b' is given twice; rename one"):
        check_names("three", "job", ("a", "b", "b"), 3)


def test_what_is_not_given_has_any_shape():
    check_shapes(THREE, {"arrival_ms": (3,), "job_names": (3,)})
    with pytest.raises(InstanceError, match=r"^three: arrival_ms has shape \(3,\), expected \(4,\)"):
        check_shapes(THREE, {"arrival_ms": (4,)})
