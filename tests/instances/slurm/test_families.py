"""The same log as an instance of each family that reads it."""

import pytest

from schedgap.instances import reconfiguration, waiting
from schedgap.instances.errors import InstanceError


def test_waiting(sacct, tmp_path):
    """The two-node job is left out; 1011 waits from 09:00, when its dependency ended, and so comes last."""
    instance = waiting.slurm(sacct(), machine_cores=8)
    assert (instance.submit_us / 1e6).tolist() == [0, 300, 300, 600, 750, 900, 1320, 1320, 2585, 3600]
    assert (instance.runtime_us / 1e6).tolist() == [3600, 600, 700, 1800, 600, 7200, 600, 600, 7200, 1200]
    assert instance.cores.tolist() == [4, 1, 1, 8, 2, 8, 4, 16, 8, 2]
    assert instance.memory_mib.tolist() == [16384, 2000, 2000, 32768, 4096, 65536, 8192, 16384, 32768, 7680]
    # Waits: 10, 20, 20, 60, 30, 60, 180, 180, 415 and 5 s.
    assert instance.notes[-4:] == (
        "sacct: left out, on several nodes, with 64.0 of 108.7 core-hours: 1 (1009).",
        "sacct: relaxed, GPUs are dropped: 1 (1008).",
        "sacct: its 10 jobs waited 98.0 s on average from eligible to start.",
        "sacct: 2 of the 10 jobs taken, with 41.8% of the core-hours, are larger than a fixed machine of 8 cores and can "
        "only rent; machine_cores=16 holds all but 1% of the core-hours.",
    )
    # 64 of 108.67 core-hours; whoever reads the instance from its file is told as well.
    assert instance.left_out == (("jobs on several machines", pytest.approx(64 / (326 / 3), abs=2e-3)),)
    waiting.write_instance(instance, tmp_path / "kept.json")
    kept = waiting.read_instance(tmp_path / "kept.json")
    assert (kept.left_out, kept.digest) == (instance.left_out, instance.digest)
    assert instance.replace(left_out=()).digest == instance.digest
    submitted = waiting.slurm(sacct(), eligible=False)
    assert (submitted.submit_us / 1e6).tolist() == [0, 300, 300, 600, 750, 900, 1200, 1320, 1320, 2465]
    assert waiting.slurm(sacct(), skip=1, jobs=2).name == "sacct-1+2"
    with pytest.raises(
        InstanceError,
        match=r"all 1 jobs that ran were on several nodes, .*; --family reconfiguration machines=PATH takes",
    ):
        waiting.slurm(sacct([sacct.rows[14]]))
    with pytest.raises(InstanceError, match=r"sacct job 1001: the job needs .* MiB, more than 2305843009213693952"):
        waiting.slurm(sacct([sacct.rows[0].replace("16G", "999999999999999P")]))


def test_reconfiguration(sacct, machines):
    """The two-node job is two tasks; every type is as the list has it."""
    instance = reconfiguration.slurm(sacct(), machines=machines(), move_s=60, start_s=5, acquire_s=40, setup_s=100)
    catalogue = instance.catalogue
    assert catalogue.type_names == ("small", "large", "gpu")
    assert catalogue.capacity.tolist() == [[0, 8000, 32768], [0, 64_000, 262_144], [4000, 16_000, 131_072]]
    assert catalogue.price.tolist() == [200_000, 1_500_000, 3_000_000]
    assert instance.arrival_s.tolist() == [0, 300, 300, 600, 750, 900, 1080, 1320, 1320, 2585, 3600]
    assert instance.work_s.tolist() == [3600, 600, 700, 1800, 600, 7200, 3600, 600, 600, 7200, 1200]
    assert instance.num_tasks.tolist() == [1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1]
    demand = catalogue.demand[0, instance.job2class]
    assert demand[[5, 6]].tolist() == [[2000, 8000, 65_536], [0, 32_000, 65_536]]
    # Both array tasks, and both runs of the requeued job, are of one class each.
    assert instance.job2class.tolist() == [0, 1, 1, 2, 3, 4, 5, 6, 7, 2, 8]
    delays = (instance.fetch_s, instance.upload_s, instance.init_s, instance.build_s, instance.acquire_s)
    assert [delay.tolist() for delay in delays] == [[60], [60], [5], [0], [40, 40, 40]]
    assert catalogue.throughput is None
    assert (
        "on several nodes, each with an equal part of the job, 64.0 of 108.7 core-hours: 1 (1009)" in instance.notes[-1]
    )


def test_reconfiguration_of_a_part(sacct, machines, tmp_path):
    """Types without GPUs and of two families; a count is a stock; uneven nodes are left out."""
    path = machines("name,price,cpu,ram_gib,family,count\na,0.25,8.5,64,x,3\nb,1,32,128,y,\n")
    uneven = sacct.rows[14].replace("|64|2|", "|63|2|")
    instance = reconfiguration.slurm(
        sacct([*sacct.rows[:14], uneven]), machines=path, jobs=3, interference="0.90", eligible=False
    )
    assert instance.name == "sacct-3-0.9"
    assert (instance.num_jobs, instance.catalogue.families) == (3, ("x", "y"))
    assert instance.catalogue.throughput.tolist() == [[900]]
    assert instance.notes[-2:] == (
        "sacct: left out, with cores or GPUs that do not divide evenly among their nodes, 63.0 of 103.7 core-hours: 1 (1009).",
        "sacct: left out, larger than every machine type, 16.0 of 103.7 core-hours: 1 (1008).",
    )
    assert instance.left_out == (
        ("jobs with cores or GPUs that do not divide evenly among their nodes", pytest.approx(63 / 103.67, abs=1e-3)),
        ("jobs larger than every machine type", pytest.approx(16 / 103.67, abs=1e-3)),
    )
    reconfiguration.write_instance(instance, tmp_path / "kept.json")
    assert reconfiguration.read_instance(tmp_path / "kept.json").left_out == instance.left_out
    assert instance.catalogue.stock.tolist() == [3, -1]


@pytest.mark.parametrize(
    ("parameters", "text", "message"),
    [
        ({"machines": ""}, None, "machines is ''; give machines=PATH, a CSV file of name, price, cpu, ram_gib"),
        ({"machines": "none.csv"}, None, r"none.csv: cannot be read .*; give the list of machines"),
        (
            {"interference": "artifact"},
            None,
            "interference is 'artifact', of Eva's workloads; give none, or one number",
        ),
        ({"interference": "2"}, None, r"interference is '2'; give none, or the throughput of every pair in \[0, 1\]"),
        ({"jobs": 12}, None, "jobs is 12, and 11 of 11 fit a machine type; give 0 for all that fit"),
        ({}, "name,price,cpu,ram_gib\na,1,1,1\n", "jobs is 0, and 0 of 11 fit a machine type"),
        ({}, "name,price,cpu,ram_gib\n", "no machine type after the header; give at least one"),
        ({}, "name,price,cpu,ram_gib,disk\na,1,1,1,1\n", "line 1: unknown column 'disk'; known are name, price, cpu"),
        ({}, "name,price,cpu,ram_gib\na,1,1,1\na,1,1,1\n", "line 3: name is 'a'; give each type its own"),
        ({}, "name,price,cpu,ram_gib\na,1e3,1,1\n", "line 2: price is '1e3', not a decimal number such as 0.25"),
        (
            {},
            "name,price,cpu,ram_gib\na,0.0000001,1,1\n",
            "line 2: price is 0.0000001; give a whole number of 1/1000000",
        ),
        (
            {},
            "name,price,cpu,ram_gib\na,1,9999999999999999,1\n",
            "line 2: cpu is 9999999999999999; give a whole number",
        ),
    ],
)
def test_what_makes_no_instance(sacct, machines, parameters, text, message):
    given = {"machines": machines(text) if text else machines(), **parameters}
    with pytest.raises(InstanceError, match=message):
        reconfiguration.slurm(sacct(), **given)
