"""Tasks that should not all move: what a plan moves of them, and how files hold them."""

import json

import numpy as np
import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning import Provisioning, Running, read_instance, write_instance
from schedgap.instances.provisioning.cluster import plan_remarks
from schedgap.instances.provisioning.running import Restraint

N1, N2, A, C = 0, 1, 0, 2


@pytest.fixture
def cluster(two_families):
    """n1 and n2 run an a and a c each."""
    return two_families.replace(running=Running.from_contents(("n1", "n2"), [1, 1], [[1, 0, 1], [1, 0, 1]]))


def restrained(cluster, *restraints):
    running = cluster.running
    fields = (running.names, running.machine_type, running.indptr, running.task_class, running.count)
    return cluster.replace(running=Running(*fields, restraints=restraints))


@pytest.fixture
def plan():
    """n1 keeps its c; all else moves."""
    made = Provisioning.from_patterns([1, 2], [1, 1], [[0, 1, 2], [2, 0, 0]])
    return Provisioning(
        made.machine_type, made.repeat, made.indptr, made.task_class, made.count, keeps=np.array([N1, -1])
    )


def test_tasks_that_should_not_move_at_all(cluster, plan):
    marked = Restraint("do-not-disrupt", None, ((N1, A, 1), (N1, C, 1), (N2, C, 1)))
    assert plan_remarks(restrained(cluster, marked), plan) == (
        "The plan moves 2 tasks that say do-not-disrupt: a (1), c (1).",
    )
    assert plan_remarks(cluster, plan) == ()


@pytest.mark.parametrize(("at_once", "is_over"), [(1, True), (0, True), (2, False)])
def test_budgets(cluster, plan, at_once, is_over):
    """Both a move; budgets stand in one sentence, the first five by name."""
    budgets = [Restraint(f"shop/db{i}", at_once, ((N1, A, 1), (N2, A, 1))) for i in range(7)]
    named = ", ".join(f"shop/db{i} (2, {at_once} at once)" for i in range(5))
    said = f"The plan moves more tasks of 7 budgets than may go at once, so these go in turns: {named} and 2 more."
    assert plan_remarks(restrained(cluster, *budgets), plan) == ((said,) if is_over else ())


def test_files(cluster, tmp_path):
    given = (Restraint("do-not-disrupt", None, ((N1, A, 1),)), Restraint("shop/db", 0, ((N1, C, 1), (N2, C, 1))))
    instance = restrained(cluster, *given)
    path = tmp_path / "i.json"
    write_instance(instance, path)
    again = read_instance(path)
    assert again.running.restraints == given
    # They are no part of what is solved.
    assert again.digest == instance.digest == cluster.digest
    written = json.loads(path.read_text())
    assert written["restraints"][0] == {"name": "do-not-disrupt", "tasks": [{"machine": "n1", "counts": {"a": 1}}]}
    for change, sentence in (
        ({"machine": "n1", "counts": {"a": 2}}, "has 2 tasks of a on running machine n1, which holds 1"),
        ({"machine": "n3", "counts": {"a": 1}}, "on running machine n3, which holds 0"),
    ):
        path.write_text(json.dumps(written | {"restraints": [{"name": "x", "tasks": [change]}]}))
        with pytest.raises(InstanceError, match=sentence):
            read_instance(path)
    path.write_text(json.dumps({key: value for key, value in written.items() if key != "running"}))
    with pytest.raises(InstanceError, match="no machine runs"):
        read_instance(path)
