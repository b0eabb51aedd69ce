"""Instances as files: what is written is read back, what is wrong is said."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedgap.instances.documents import Stored
from schedgap.instances.errors import InstanceError
from schedgap.instances.harvest import HarvestInstance, quick, read_instance, write_instance
from schedgap.instances.harvest.files import INSTANCE

STORED = [part for part in INSTANCE.parts if isinstance(part, Stored)]

VM = {"events": [[0, 8], [60.5, 4], [120, 0], [180, 8]], "memory_gib": 4}
JOB = {"arrival_s": 0, "cores": 4, "runtime_s": 40}
NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=5)


@st.composite
def instances(draw):
    """Draw any pool and any jobs; the first VM is there from the start, and large enough in the end."""
    vms, jobs = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    fixed = draw(st.booleans())
    # Pools that are chosen last a million hours at most.
    bits = 50 if fixed else 39
    cores = [draw(st.integers(1, 2**31)) for _ in range(jobs)]
    memory = [draw(st.integers(0, 2**40)) for _ in range(jobs)]
    least = [draw(st.integers(1, 2**31)) for _ in range(vms)]
    event_ms, event_cores, first = [], [], [0]
    for v in range(vms):
        times = sorted(draw(st.sets(st.integers(1, 2 ** (bits - 1)), max_size=4)) | {0})
        sizes = [2**31]
        while len(sizes) < len(times):
            sizes.append(draw(st.sampled_from([0, least[v], 2**31]).filter(lambda c, last=sizes[-1]: c != last)))
        if sizes[-1] != 2**31:
            times, sizes = [*times, 2**bits], [*sizes, 2**31]
        event_ms, event_cores, first = event_ms + times, event_cores + sizes, [*first, first[-1] + len(times)]
    tasks = [draw(st.integers(1, 3)) for _ in range(jobs)]
    work = st.lists(st.integers(1, 2 ** (bits - 15)), min_size=sum(tasks), max_size=sum(tasks))
    leased = [v == 0 or fixed or draw(st.booleans()) for v in range(vms)]
    return HarvestInstance(
        name=draw(NAMES),
        objective=draw(st.sampled_from(["jobs", "tasks", "makespan"])),
        kills=draw(st.sampled_from(["oldest", "newest"])),
        allocation="fixed" if fixed else draw(st.sampled_from(["random", "balancing", "packing"])),
        max_leases=0 if fixed else draw(st.integers(sum(leased), 10)),
        base_price=draw(st.integers(0, 10**12)),
        extra_price=draw(st.integers(0, 10**12)),
        first_event=first,
        event_ms=event_ms,
        event_cores=event_cores,
        min_cores=least,
        memory_mib=np.full(vms, 2**40) - draw(st.integers(0, 2**40 - max(1, *memory, 1))),
        leased=np.array(leased),
        buffer=np.array([not fixed and draw(st.booleans()) for _ in range(vms)]),
        arrival_ms=sorted(draw(st.integers(0, 2**bits)) for _ in range(jobs)),
        cores=cores,
        task_memory_mib=memory,
        checkpoint_ms=[draw(st.integers(-1, 2**15)) for _ in range(jobs)],
        restore_ms=[draw(st.integers(0, 2 ** (bits - 4))) for _ in range(jobs)],
        first_task=np.cumsum([0, *tasks]),
        runtime_ms=draw(work),
        estimate_ms=draw(work),
        vm_names=draw(st.none() | st.just(tuple(f"vm {v}" for v in range(vms)))),
        job_names=draw(st.none() | st.lists(NAMES, min_size=jobs, max_size=jobs, unique=True).map(tuple)),
        notes=tuple(draw(st.lists(NAMES, max_size=2))),
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(instance=instances(), beside=st.booleans())
def test_round_trip(tmp_path, instance, beside):
    with pytest.MonkeyPatch.context() as patch:
        if beside:
            for part in STORED:
                patch.setattr(part, "inline", 2)
        write_instance(instance, tmp_path / "i.json")
    again = read_instance(tmp_path / "i.json")
    assert (again.digest, again.name, again.notes) == (instance.digest, instance.name, instance.notes)


def test_large_arrays_go_beside(tmp_path):
    instance = quick(3, 2, "6000", seed=1, stability=0.001).replace(vm_names=("a", "b", "c"))
    assert instance.event_ms.shape[0] > 10_000 < instance.num_tasks
    write_instance(instance, tmp_path / "i.json")
    document = json.loads((tmp_path / "i.json").read_text())
    assert document["vms_file"] == document["jobs_file"] == "i.arrays.npz"
    assert not {"vms", "jobs"} & document.keys()
    assert read_instance(tmp_path / "i.json").digest == instance.digest


def test_vms_may_be_beside_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(STORED[0], "inline", 2)
    instance = quick(3, 2, "2", seed=1)
    write_instance(instance, tmp_path / "i.json")
    document = json.loads((tmp_path / "i.json").read_text())
    assert "jobs" in document
    assert "vms" not in document
    assert read_instance(tmp_path / "i.json").digest == instance.digest


def written(tmp_path, **changes):
    """Write a document of one VM and one job, with changes."""
    document = {"schema": "schedgap/harvest/1", "name": "made", "vms": [VM], "jobs": [JOB]}
    path = tmp_path / "i.json"
    path.write_text(json.dumps({key: v for key, v in (document | changes).items() if v is not None}))
    return path


def test_what_is_not_given(tmp_path):
    instance = read_instance(written(tmp_path))
    assert (instance.objective, instance.kills, instance.allocation, instance.max_leases) == (
        "jobs",
        "oldest",
        "fixed",
        0,
    )
    assert (instance.base_price, instance.extra_price) == (0, 0)
    assert (instance.min_cores.tolist(), instance.leased.tolist(), instance.buffer.tolist()) == ([1], [True], [False])
    assert (instance.task_memory_mib.tolist(), instance.checkpoint_ms.tolist()) == ([0], [-1])
    assert (instance.restore_ms.tolist(), instance.estimate_ms.tolist()) == ([0], [40_000])
    assert (instance.vm_names, instance.job_names, instance.notes) == (None, None, ())


def test_numbers_as_people_write_them(tmp_path):
    jobs = [
        {"name": "x", "arrival_s": 0.5, "cores": 2, "tasks": 2, "runtime_s": 1.25, "memory_gib": 0.5},
        {
            "name": "y",
            "arrival_s": 2,
            "cores": 4,
            "runtime_s": [1, 2],
            "estimate_s": 3,
            "checkpoint_s": 0,
            "restore_s": 0.1,
        },
        {"name": "z", "arrival_s": 2, "cores": 1, "runtime_s": 7, "estimate_s": [6], "checkpoint_s": 60},
    ]
    vms = [VM | {"name": "a", "leased": True, "min_cores": 2}, VM | {"name": "b", "buffer": True, "memory_gib": 1.5}]
    pool = {"allocation": "packing", "max_leases": 2, "base_price": 0.05, "extra_price": 0.000001}
    rules = {"objective": "makespan", "kills": "newest", "notes": ["made up"]}
    instance = read_instance(written(tmp_path, vms=vms, jobs=jobs, **pool, **rules))
    assert instance.first_event.tolist() == [0, 4, 8]
    assert instance.event_ms.tolist() == [0, 60_500, 120_000, 180_000] * 2
    assert instance.event_cores.tolist() == [8, 4, 0, 8] * 2
    assert (instance.min_cores.tolist(), instance.memory_mib.tolist()) == ([2, 1], [4096, 1536])
    assert (instance.leased.tolist(), instance.buffer.tolist()) == ([True, False], [False, True])
    assert (instance.allocation, instance.max_leases) == ("packing", 2)
    assert (instance.base_price, instance.extra_price) == (50_000, 1)
    assert (instance.objective, instance.kills, instance.notes) == ("makespan", "newest", ("made up",))
    assert (instance.arrival_ms.tolist(), instance.cores.tolist()) == ([500, 2000, 2000], [2, 4, 1])
    assert instance.task_memory_mib.tolist() == [512, 0, 0]
    assert (instance.checkpoint_ms.tolist(), instance.restore_ms.tolist()) == ([-1, 0, 60_000], [0, 100, 0])
    assert instance.first_task.tolist() == [0, 2, 4, 5]
    assert instance.runtime_ms.tolist() == [1250, 1250, 1000, 2000, 7000]
    assert instance.estimate_ms.tolist() == [1250, 1250, 3000, 3000, 6000]
    assert (instance.vm_names, instance.job_names) == (("a", "b"), ("x", "y", "z"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"jobs": None}, "give either 'jobs' or 'jobs_file', not both and not neither"),
        ({"vms_file": "x.npz"}, "give either 'vms' or 'vms_file', not both and not neither"),
        ({"vms": None, "vms_file": "x.npz"}, "x.npz: cannot be read .*; keep it beside this file"),
        ({"vms": None, "vms_file": "a/x.npz"}, "vms_file is 'a/x.npz'; give the name of a file beside this one"),
        ({"jobs": []}, "there are no jobs; give at least one"),
        ({"vms": []}, "there are no VMs; give at least one"),
        ({"vms": [VM | {"events": []}]}, "vms.0.events: list should have at least 1 item"),
        (
            {"vms": [VM | {"events": [[0, 8], [1, -1]]}]},
            r"vms.0.events.1.1: input should be greater than or equal to 0 \(found -1\)",
        ),
        ({"vms": [VM | {"events": [[0, 8], [-1, 4]]}]}, r"vms.0.events.1.0: input should be .* \(found -1\)"),
        ({"vms": [VM | {"events": [[0, 8, 4]]}]}, "vms.0.events.0: .*"),
        ({"vms": [VM | {"events": [[0, 7.5]]}]}, r"vms.0.events.0.1: .*\(found 7.5\)"),
        ({"vms": [VM | {"events": [[5, 8], [2, 4]]}]}, "made: VM vm-0 has an event at 2000 ms after one at 5000 ms"),
        ({"vms": [VM | {"min_cores": 5}]}, "VM vm-0 has 4 cores from 60500 ms on, fewer than its minimum size of 5"),
        ({"vms": [VM | {"name": "a"}, VM]}, "vms.1 has no name, others have; name all of them or none"),
        ({"jobs": [JOB, JOB | {"name": "a"}]}, "jobs.0 has no name, others have; name all of them or none"),
        ({"vms": [VM | {"name": "a"}] * 2}, "VM 'a' is given twice; rename one"),
        ({"vms": [VM | {"leased": False}]}, "the pool is fixed, with max_leases 0, 0 of 1 VMs leased"),
        ({"max_leases": 2}, "the pool is fixed, with max_leases 2"),
        ({"allocation": "random", "max_leases": 1}, "0 VMs are leased at the start and max_leases is 1"),
        ({"allocation": "none"}, "allocation: input should be 'fixed', 'random', 'balancing' or 'packing'"),
        ({"kills": "none"}, "kills: input should be 'oldest' or 'newest'"),
        ({"jobs": [JOB | {"runtime_s": 0}]}, "jobs.0.runtime_s.*: input should be greater than 0"),
        ({"jobs": [JOB | {"runtime_s": 0.0001}]}, "jobs.runtime_s of '0': 0.0001 is not a whole number of 1/1000"),
        ({"jobs": [JOB | {"runtime_s": [1, 2], "tasks": 3}]}, "job 0 has 3 tasks and 2 numbers in runtime_s"),
        (
            {"jobs": [JOB | {"name": "a", "runtime_s": [1, 2], "estimate_s": [3]}]},
            "job a has 2 tasks and 1 numbers in estimate_s; give one number, or one each",
        ),
        ({"jobs": [JOB | {"checkpoint_s": -1}]}, "jobs.0.checkpoint_s: input should be greater than or equal to 0"),
        ({"jobs": [JOB | {"cores": 9}]}, "tasks of job job-0 need 9 cores and 0 MiB, and no VM has that"),
        ({"jobs": [JOB | {"core": 9}]}, "jobs.0.core: unknown field"),
        ({"base_price": 1e-7}, "base_price: 1e-07 is not a whole number of 1/1000000"),
    ],
)
def test_a_malformed_instance(tmp_path, changes, message):
    with pytest.raises(InstanceError, match=f"i.json: .*{message}"):
        read_instance(written(tmp_path, **changes))


def test_arrays_that_are_not_all_there(tmp_path):
    np.savez(tmp_path / "x.npz", first_event=np.arange(3))
    with pytest.raises(InstanceError, match=r"x\.npz: no array 'event_ms'; write the instance anew"):
        read_instance(written(tmp_path, vms=None, vms_file="x.npz"))
