"""Logs in the Standard Workload Format: their fields, their unknowns, their faults; and two real ones where they are."""

import gzip
from pathlib import Path

import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.waiting import swf

TRACES = Path(__file__).parents[3] / "shared" / "traces" / "swf"
HEADER = "; Version: 2.2\n;  MaxProcs: 64\n\n"


def line(number, submit, runtime, allocated, used=-1, requested=-1, memory=-1, status=1):
    return f"{number} {submit} 7 {runtime} {allocated} 5.5 {used} {requested} 900 {memory} {status} 1 1 1 -1 -1 -1 -1\n"


def write(folder, *lines, name="log.swf"):
    (folder / name).write_text(HEADER + "".join(lines))
    return folder / name


def test_fields_and_what_stands_in_for_unknown_ones(tmp_path):
    """Job 2 has requested processors and memory only: 4 x 2,048 KB a processor are 8 MiB. Times begin at the first."""
    path = write(tmp_path, line(1, 100, 60, 2, used=1024), line(2, 160, 30, -1, requested=4, memory=2048))
    instance = swf(path)
    assert instance.name == "log"
    assert (instance.submit_us / 1e6).tolist() == [0, 60]
    assert (instance.runtime_us / 1e6).tolist() == [60, 30]
    assert instance.cores.tolist() == [2, 4]
    assert instance.memory_mib.tolist() == [2, 8]
    assert instance.notes == ()


def test_gzip_reads_the_same(tmp_path):
    path = write(tmp_path, line(1, 0, 60, 2))
    (tmp_path / "log.swf.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert swf(tmp_path / "log.swf.gz").digest == swf(path).digest


def test_unsorted_lines_are_put_in_order(tmp_path):
    instance = swf(write(tmp_path, line(1, 50, 1, 1), line(2, 10, 2, 1), line(3, 50, 3, 1)))
    assert (instance.submit_us / 1e6).tolist() == [0, 40, 40]
    assert (instance.runtime_us / 1e6).tolist() == [2, 1, 3]


def test_what_never_ran_is_left_out_and_counted(tmp_path):
    """Cancelled before it began: runtime -1 or 0, or no processors. Jobs too large for a machine stay, and are counted."""
    path = write(
        tmp_path, line(1, 0, 0, 1), line(2, 1, -1, 1, status=5), line(3, 2, 9, -1), line(4, 3, 9, 65), line(5, 4, 9, 1)
    )
    instance = swf(path, machine_cores=64)
    assert instance.cores.tolist() == [65, 1]
    assert instance.notes == (
        "log: 3 of 5 jobs left out, since they never ran.",
        # 65 of 66 cores for as long each.
        "log: 1 of the 2 jobs taken, with 98.5% of the core-hours, are larger than a fixed machine of 64 cores and can only "
        "rent; machine_cores=128 holds all but 1% of the core-hours.",
    )


def test_large_jobs_are_counted_among_those_taken(tmp_path):
    """Three of the log's four are large, one of the two taken."""
    cores = (65, 1, 65, 65)
    path = write(tmp_path, "".join(line(number, number, 9, wide) for number, wide in enumerate(cores)))
    (note,) = swf(path, jobs=2, machine_cores=64).notes
    assert note.startswith("log: 1 of the 2 jobs taken, with 98.5% of the core-hours, are larger than")


def test_machines_are_as_large_as_the_log_needs(tmp_path):
    """Jobs of 33 cores have 99 of 100 parts of the work, then one of 65 another: machines of 64 cores, or of 128."""
    most, rest = line(1, 0, 99, 33) * 65, line(2, 1, 33, 65)
    instance = swf(write(tmp_path, most, rest))
    assert instance.machine_cores == 64
    assert instance.notes == (
        "log: 1 of the 66 jobs taken, with 1.0% of the core-hours, are larger than a fixed machine of 64 cores and can only "
        "rent.",
    )
    assert swf(write(tmp_path, most, rest * 2)).machine_cores == 128
    # 33 GiB need nine cores' worth of memory, and so 16 cores.
    assert swf(write(tmp_path, line(1, 0, 9, 1, used=33 * 1024**2))).machine_cores == 16


def test_the_first_part_of_a_log_is_history(tmp_path):
    path = write(tmp_path, *(line(i, 10 * i, 9 + i, i) for i in range(1, 5)))
    instance = swf(path, split=0.5)
    assert (instance.name, instance.machine_cores) == ("log-after-2", 4)
    assert instance.cores.tolist() == [3, 4]
    assert (instance.submit_us / 1e6).tolist() == [0, 10]
    assert (instance.history_before_us / 1e6).tolist() == [20, 10]
    assert instance.history.cores.tolist() == [1, 2]
    assert (instance.history.submit_us / 1e6).tolist() == [0, 10]
    assert (instance.history.runtime_us / 1e6).tolist() == [10, 11]
    # The history lasts until the instance begins.
    assert instance.history.horizon_us == 20e6


def test_failed_and_cancelled_jobs_can_be_left_out(tmp_path):
    path = write(tmp_path, line(1, 0, 9, 1, status=0), line(2, 1, 9, 2, status=5), line(3, 2, 9, 4))
    assert swf(path).cores.tolist() == [1, 2, 4]
    assert swf(path, failed=False).cores.tolist() == [2, 4]
    assert swf(path, failed=False, cancelled=False).cores.tolist() == [4]
    assert swf(path, failed=False).notes == ("log: 1 of 3 jobs left out by their state.",)


def test_parts_of_a_run_are_no_further_jobs(tmp_path):
    """Job 1 was swapped out once: 100 s are 60 and 40. Later parts have no submission. Of job 2 there are parts alone."""
    parts = line(1, 0, 60, 4, status=2), line(1, -1, 40, 4, status=3)
    rest = line(2, 50, 30, 2, status=2), line(2, 90, 20, 2, status=4), line(3, 95, 9, 1)
    instance = swf(write(tmp_path, line(1, 0, 100, 4), *parts, *rest))
    assert (instance.runtime_us / 1e6).tolist() == [100, 30, 20, 9]
    assert instance.notes == ("log: 2 lines left out, parts of runs of jobs that have a line each.",)
    with pytest.raises(InstanceError, match="line 8: the job runs for 10000000000000 s"):
        swf(write(tmp_path, line(1, 0, 100, 4), *parts, line(4, 7, 9, 1), line(5, 7, 1e13, 1)))
    # A job whose number is unknown is not another of these.
    assert swf(write(tmp_path, line(-1, 0, 100, 4), line(-1, 0, 60, 4, status=2))).num_jobs == 2


def test_a_byte_order_mark_is_none_of_a_log(tmp_path):
    path = write(tmp_path, line(1, 0, 60, 2))
    text = path.read_text()
    for begin in (text, text.removeprefix(HEADER)):
        path.write_text("\ufeff" + begin)
        assert swf(path).num_jobs == 1


def test_a_part_of_a_log(tmp_path):
    path = write(tmp_path, *(line(i, i, 9, i) for i in range(1, 6)))
    part = swf(path, skip=1, jobs=2)
    assert part.cores.tolist() == [2, 3]
    assert part.name == "log-1+2"
    assert part.submit_us[0] == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2 3\n", "log.swf line 4: 3 fields, SWF has 18; mend or remove the line"),
        (
            line(1, 0, 9, 1) + "; note\n" + line(2, 0, 1e13, 1),
            "swf line 6: the job runs for 10000000000000 s, more than 2305",
        ),
        (line(1, 3e12, 9, 1), "line 4: the job is submitted at 3000000000000 s, more than 2305843009213; mend or"),
        (line(1, 0, 9, 1e30), r"line 4: the job needs 1e\+30 cores, more than 2305843009213693952; mend or"),
        (line(1, 0, 9, 1, used=1e30), r"line 4: the job needs 9.765625e\+26 MiB, more than"),
        (line(1, 0, 9, 1e18, used=1e300), "line 4: the job needs inf MiB, more than"),
        (line(1, "soon", 9, 1), "line 4: field 2 is 'soon', SWF has numbers only"),
        (line(1, 0, 9, 1) + line(2, -5, 9, 1), "line 5: submitted at -5; times are numbers from 0 on"),
        (line(1, 0, 9, 1) + line(2, "1_0", 9, 1), "line 5: field 2 is '1_0', SWF has numbers only"),
        (line(1, 0, 9, 1) + line(2, 0, "nan", 1), "line 5: field 4 is 'nan', SWF has numbers only"),
        (line(1, 0, 9, 1, memory="1e999"), "line 4: field 10 is '1e999', SWF has numbers only"),
        ("", "no job in it"),
        (line(1, 0, -1, 1), "no job is left of 1, 1 of which never ran"),
    ],
)
def test_a_faulty_log(tmp_path, text, message):
    with pytest.raises(InstanceError, match=message):
        swf(write(tmp_path, text))


def test_no_log(tmp_path):
    with pytest.raises(InstanceError, match=r"cannot be read .*; give an SWF file"):
        swf(tmp_path / "missing.swf")
    (tmp_path / "torn.swf.gz").write_bytes(gzip.compress(b"1 2 3")[:-5])
    with pytest.raises(InstanceError, match="cannot be read"):
        swf(tmp_path / "torn.swf.gz")
    with pytest.raises(InstanceError, match="skip is -1; give numbers that are not negative"):
        swf(write(tmp_path, line(1, 0, 9, 1)), skip=-1)


@pytest.mark.skipif(not TRACES.is_dir(), reason="the real logs are not here")
@pytest.mark.parametrize(
    ("name", "jobs", "never_ran", "large"),
    [("CTC-SP2-1996-3.1-cln", 77_205, 17, 1465), ("HPC2N-2002-2.2-cln", 202_871, 0, 540)],
)
def test_real_logs(name, jobs, never_ran, large):
    instance = swf(TRACES / f"{name}.swf.gz")
    assert instance.num_jobs == jobs
    assert sum(f"{never_ran} of" in note and "never ran" in note for note in instance.notes) == (never_ran > 0)
    assert f"{large} of" in instance.notes[-1]
