"""What controllers look at over time: in files and the digest, and what does not fit together."""

import json

import numpy as np
import pytest

from schedgap.instances.documents import inline_up_to
from schedgap.instances.errors import InstanceError
from schedgap.instances.provisioning.running import HELD, Budget, Disruption, Guard, Pool, Running
from schedgap.instances.provisioning.windows import Window
from schedgap.instances.reconfiguration import eva_synthetic, read_instance, shrink, write_instance
from schedgap.instances.reconfiguration.upkeep import ALWAYS, OF_JOBS, SEVERAL, Upkeep

POOLS = (Pool("a", (Budget(0, False, window=Window("0 9 * * *", 60)),), consolidate_after_s=30), Pool("b"))
GUARDS = (Guard("web", 50, True, is_least=True), Guard("db", 1, False, is_least=False))


def plain():
    """Three jobs, the first of which runs on one of two machines."""
    instance = eva_synthetic(3, seed=1, tasks_per_job=1)
    kind = int(np.flatnonzero(instance.catalogue.fits()[:, instance.job2class[0]])[0])
    content = [[1, 0, 0], [0, 0, 0]]
    arrival_s = instance.arrival_s - instance.arrival_s[0]
    return instance.replace(arrival_s=arrival_s, running=Running.from_contents(("m", "n"), (kind, kind), content))


def given(**changes):
    instance = plain()
    machines = Disruption(POOLS, [0, -1], [0, HELD], [1], [5, 60], 1_700_000_000)
    new_pool = np.where(np.arange(instance.catalogue.num_types) < 2, 1, -1)
    more = {
        "held_s": [0, ALWAYS, 60],
        "age_s": [7, 0, 0],
        "kept": [0, 1, 0],
        "guard": [0, 1, SEVERAL],
        "guards": GUARDS,
    }
    upkeep = Upkeep.of(**({"machines": machines, "new_pool": new_pool, "num_jobs": 3} | more | changes))
    return instance.replace(upkeep=upkeep)


@pytest.mark.parametrize("inline", [10_000, -1])
def test_files_keep_all_of_it(tmp_path, inline):
    instance = given()
    with inline_up_to(inline):
        write_instance(instance, tmp_path / "i.json")
    again = read_instance(tmp_path / "i.json")
    assert again.digest == instance.digest
    assert (again.upkeep.machines.pools, again.upkeep.guards) == (POOLS, GUARDS)
    assert again.upkeep.guard.tolist() == [0, 1, SEVERAL]
    assert again.upkeep.machines.quiet_s.tolist() == [5, 60]
    assert again.running.disruption is None


def test_what_nobody_says_is_not_written(tmp_path):
    instance = plain().replace(upkeep=Upkeep.of(Disruption.of(2), np.full(plain().catalogue.num_types, -1), 3))
    write_instance(instance, tmp_path / "i.json")
    document = json.loads((tmp_path / "i.json").read_text())
    assert document["upkeep"] == {}
    assert set(document["jobs"]) == {"arrival_s", "work_s", "task"}
    assert read_instance(tmp_path / "i.json").digest == instance.digest != plain().digest


def test_each_part_is_in_the_digest():
    parts = [
        plain(),
        given(),
        given(held_s=[0, 0, 60]),
        given(age_s=[8, 0, 0]),
        given(kept=[0, 0, 0]),
        given(guard=[0, 1, -1]),
        given(weight=[2**26] * 3),
        given(guards=(GUARDS[0], Guard("db", 1, True, is_least=False))),
        given(new_pool=np.full(plain().catalogue.num_types, 1)),
        given(machines=Disruption(POOLS, [0, -1], [0, HELD], [1], [5, 60], 1_700_000_001)),
    ]
    assert len({instance.digest for instance in parts}) == len(parts)


def test_some_jobs_have_what_is_said_of_them():
    few = given().upkeep.of_jobs(np.array([2, 0]))
    assert (few.held_s.tolist(), few.guard.tolist()) == ([60, 0], [SEVERAL, 0])
    assert shrink(given()).upkeep.held_s.shape == (3,)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"held_s": [0, -2, 0]}, "held_s.1 is -2; give -1 or more"),
        ({"kept": [0, 2, 0]}, "kept.1 is 2; give 0 to 1"),
        ({"weight": [0, -1, 0]}, "weight.1 is -1; give 0 to"),
        ({"guard": [2, 0, 0]}, "guard.0 is 2; give -2 to 1"),
        ({"age_s": [0, 0]}, "held_s, age_s, kept, guard, weight have shapes"),
        ({"new_pool": [1]}, "upkeep is of 1 machine types, there are"),
        ({"machines": Disruption(POOLS, [0], [0], [])}, "upkeep is of 1 running machines, there are 2"),
        ({"machines": Disruption(POOLS, [0, 0], [0, 0], [999])}, "machine type 999 is spare capacity"),
        (
            {"num_jobs": 4} | {key: [0] * 4 for key in OF_JOBS},
            "of 4 jobs, there are 3",
        ),
        ({"guards": (GUARDS[0], Guard("db", -1, False, is_least=False))}, "guard 'db' has -1"),
    ],
)
def test_what_does_not_fit_together_is_refused(changes, message):
    with pytest.raises(InstanceError, match=message):
        given(**changes)


def test_jobs_of_a_class_weigh_the_same():
    upkeep = Upkeep.of(Disruption.of(0), [-1], 3, weight=[5, 7, 5])
    upkeep.check("i", 1, np.array([1, 0, 1]), 0)
    assert upkeep.of_classes(np.array([1, 0, 1]), 3).tolist() == [7, 5, 2**27]
    with pytest.raises(InstanceError, match="job 0 has weight 5, others of its class have not"):
        upkeep.check("i", 1, np.array([0, 0, 1]), 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["upkeep"]["machines"].pop(), "upkeep.machines has 1 entries, 2 machines run"),
        (lambda d: d["upkeep"]["machines"][0].update(pool="c"), "'c' is not in upkeep.pools"),
        (lambda d: d["upkeep"]["new_pools"].update(x="a"), "names type 'x' and pool 'a'; both must be in the file"),
        (lambda d: d["upkeep"]["guards"][0].update(most_away="1"), "guard 'web' of upkeep: give either"),
        (lambda d: d["upkeep"]["guards"][0].update(least_well="x"), "least_well"),
        (lambda d: d.pop("upkeep"), "jobs.held_s is what controllers look at, and there is no upkeep"),
    ],
)
def test_files_that_are_wrong_are_refused(tmp_path, change, message):
    write_instance(given(), tmp_path / "i.json")
    document = json.loads((tmp_path / "i.json").read_text())
    change(document)
    (tmp_path / "i.json").write_text(json.dumps(document))
    with pytest.raises(InstanceError, match=message):
        read_instance(tmp_path / "i.json")
