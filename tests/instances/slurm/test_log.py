"""Runs of a sacct log to the last unit, its report, and the sentences for malformed lines."""

import gzip
from random import Random

import pytest

from schedgap.instances.errors import InstanceError
from schedgap.instances.slurm import core_hours, read_log


def runs(log):
    """Return job, state, seconds since the first submission, elapsed seconds, cores, nodes, MiB, GPUs."""
    begin_s = log.jobs[0].submit_s
    return [
        (
            *(job.job_id, job.state, *(time - begin_s for time in (job.submit_s, job.eligible_s, job.start_s))),
            *(job.elapsed_s, job.cores, job.nodes, job.memory_mib, job.gpus),
        )
        for job in log.jobs
    ]


def test_a_day_to_the_last_unit(sacct):
    log = read_log(sacct())
    assert runs(log) == [
        ("1001", "COMPLETED", 0, 0, 10, 3600, 4, 1, 16 * 1024, 0),
        ("1002_1", "COMPLETED", 300, 300, 320, 600, 1, 1, 2000, 0),
        ("1002_2", "FAILED", 300, 300, 320, 700, 1, 1, 2000, 0),
        ("1005", "NODE_FAIL", 600, 600, 660, 1800, 8, 1, 32 * 1024, 0),
        ("1007", "CANCELLED", 750, 750, 780, 600, 2, 1, 4 * 1024, 0),
        ("1008", "TIMEOUT", 900, 900, 960, 7200, 8, 1, 64 * 1024, 2),
        ("1009", "COMPLETED", 1080, 1080, 1800, 3600, 64, 2, 128 * 1024, 0),
        ("1011", "COMPLETED", 1200, 3600, 3605, 1200, 2, 1, 7680, 0),
        ("1012+0", "COMPLETED", 1320, 1320, 1500, 600, 4, 1, 8 * 1024, 0),
        ("1012+1", "COMPLETED", 1320, 1320, 1500, 600, 16, 1, 16 * 1024, 0),
        ("1005", "COMPLETED", 2465, 2585, 3000, 7200, 8, 1, 32 * 1024, 0),
    ]
    assert core_hours([job for job in log.jobs if job.nodes == 1]) * 3600 == 160_900
    assert log.notes == (
        "sacct: left out, lines of job steps: 5 (1001.batch, 1001.extern, 1001.0, ...).",
        "sacct: left out, pending: 4 (1002_[3-6%2]).",
        "sacct: runs of requeued jobs, each submitted when it was requeued: 1 (1005).",
        "sacct: left out, never started: 1 (1006).",
        "sacct: left out, still running: 1 (1010).",
        "sacct: ran for less time than from start to end (suspended, or the clock was changed), of which the former "
        "counts: 1 (1011).",
        "sacct: relaxed, parts of heterogeneous jobs need not start together: 2 (1012+0, 1012+1).",
        "sacct: left out, ended within a second: 1 (1014).",
    )


def test_other_spellings_of_the_same(sacct, tmp_path):
    """Packed; exported twice into one file; seconds since 1970; Elapsed and NCPUS and AllocNodes for their likes."""
    whole = read_log(sacct())
    (tmp_path / "day.gz").write_bytes(gzip.compress(sacct().read_bytes()))
    assert read_log(tmp_path / "day.gz").jobs == whole.jobs
    twice = read_log(sacct([*sacct.rows, *sacct.rows]))
    assert twice.jobs == whole.jobs
    assert any(": left out, the same run once more: " in note for note in twice.notes)
    # 2026-03-02 is day 20,514 since 1970.
    columns = ["JobID", "State", "Submit", "Eligible", "Start", "Elapsed", "NCPUS", "AllocNodes", "ReqMem"]
    begin_s = 20_514 * 86_400
    rows = [f"1001|COMPLETED|{begin_s + 28_800}|Unknown|{begin_s + 28_810}|01:00:00|4|1|16G"]
    assert runs(read_log(sacct(rows, columns))) == runs(whole)[:1]
    assert read_log(sacct(rows, columns)).jobs[0].submit_s == whole.jobs[0].submit_s


def test_what_follows_a_change_of_size_comes_as_it_starts(sacct):
    """Both have the first submission in some releases; after the second, the job is requeued."""
    log = read_log(
        sacct(
            [
                sacct.row("3", "08:00:00", "08:00:00", "08:01:00", "08:31:00", 1800, 8, "16G", "RESIZING"),
                sacct.row("3", "08:00:00", "08:00:00", "08:31:00", "09:01:00", 1800, 4, "8G", "NODE_FAIL"),
                sacct.row("3", "09:01:00", "09:03:00", "09:04:00", "09:05:00", 60, 4, "8G", "COMPLETED"),
            ]
        )
    )
    assert [run[2:5] for run in runs(log)] == [(0, 0, 60), (1860, 1860, 1860), (3660, 3780, 3840)]
    assert log.notes == (
        "sacct: relaxed, what follows a change of a job's size is a job of its own, submitted as it starts: 1 (3).",
        "sacct: runs of requeued jobs, each submitted when it was requeued: 1 (3).",
    )


def test_the_night_in_which_the_clock_is_set_back(sacct):
    """Half past two comes twice: what ran says ElapsedRaw, and nobody waited for less than nothing."""
    rows = [
        sacct.row("1", "02:40:00", "02:40:00", "02:50:00", "02:10:00", 1200, 1, "1G", "COMPLETED"),
        sacct.row("2", "02:40:00", "02:40:00", "02:50:00", "03:00:00", 4200, 1, "1G", "COMPLETED"),
        sacct.row("3", "02:50:00", "02:55:00", "02:05:00", "02:15:00", 600, 1, "1G", "COMPLETED"),
    ]
    log = read_log(sacct(rows))
    assert [run[0:1] + run[2:6] for run in runs(log)] == [
        ("3", 0, 0, 0, 600),
        ("1", 2100, 2100, 2700, 1200),
        ("2", 2100, 2100, 2700, 4200),
    ]
    assert log.notes == (
        "sacct: ran for more time than from start to end (the clock was set back), of which the former counts: 2 (1, 2).",
        "sacct: relaxed, started before they were submitted or eligible, and are taken to come as they start: 1 (3).",
    )
    with pytest.raises(InstanceError, match="End is '2026-03-02T02:09:59'; it is before Start"):
        read_log(sacct([rows[0].replace("02:10:00", "02:09:59")]))


@pytest.mark.parametrize("column", ["Submit", "Eligible", "Start", "End"])
def test_times_of_two_forms(sacct, column):
    fields = sacct.rows[0].split("|")
    place = ("Submit", "Eligible", "Start", "End").index(column) + 2
    fields[place] = "1772438400"
    # The first time of a log says what its form is.
    first, found = (
        ("1772438400", "Eligible is '2026-") if place == 2 else ("2026-03-02T08:00:00", f"{column} is '1772438400")
    )
    with pytest.raises(InstanceError, match=rf"line 2: {found}.*'; line 2 has '{first}': give one form of times"):
        read_log(sacct(["|".join(fields)]))


@pytest.mark.parametrize(
    ("requested", "mib"),
    [
        ("2000M", 2000),
        ("7.50G", 7680),
        ("4Gn", 2 * 4096),
        ("2000Mc", 8 * 2000),
        ("1T", 2**20),
        ("0.5P", 2**29),
        ("512K", 1),
        ("0", 0),
        ("0n", 0),
        ("", 0),
    ],
)
@pytest.mark.parametrize("tres", ["cpu=8", "cpu=8,mem=0"])
def test_requested_memory(sacct, requested, mib, tres):
    """Eight cores on two nodes; K is rounded up to whole MiB; nothing and 0 are unknown, which is said."""
    job = sacct.row("1", "08:00:00", "08:00:00", "08:00:00", "08:01:00", 60, 8, requested, "FAILED", nodes=2, tres=tres)
    log = read_log(sacct([job]))
    assert log.jobs[0].memory_mib == mib
    expected = {0: ("sacct: relaxed, memory is unknown and taken as 0: 1 (1).",)}
    expected[1] = ("sacct: memory is rounded up to whole MiB: 1 (1).",)
    assert log.notes == expected.get(mib, ())


@pytest.mark.parametrize(
    ("tres", "gpus", "noted"),
    [
        ("cpu=1,gres/gpu=2,gres/gpu:a=2,mem=1G", 2, False),
        ("cpu=1,gres/gpu:a=2,gres/gpu:b=1,mem=1G", 3, False),
        ("mem=1G,license/x=1", 0, True),
    ],
)
def test_gpus_and_other_resources(sacct, tres, gpus, noted):
    log = read_log(sacct([sacct.row("1", *["08:00:00"] * 3, "08:01:00", 60, 1, "", "COMPLETED", tres=tres)]))
    assert log.jobs[0].gpus == gpus
    expected = "sacct: relaxed, other resources are dropped, such as license/x: 1 (1)."
    assert log.notes == ((expected,) if noted else ())


@pytest.mark.parametrize(
    ("expression", "number"),
    [("7", 1), ("1-9", 9), ("1,3,5-7%2", 5), ("0-100:25", 5), ("1,2,3,...", 3)],
)
def test_array_tasks_that_wait(sacct, expression, number):
    row = sacct.row(f"5_[{expression}]", "08:00:00", "08:00:00", "Unknown", "Unknown", 0, 0, "1G", "PENDING")
    assert f"sacct: left out, pending: {number} (5_[{expression}])." in read_log(sacct([row, sacct.rows[0]])).notes


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1001|1001", "x|1001", r"sacct.txt line 2: JobID is 'x'; give one as sacct prints it, .*, or remove the line"),
        (
            "T08:00:00|2026",
            " 08:00:00|2026",
            r"line 2: Submit is '2026-03-02 08:00:00'; give YYYY-MM-DDTHH:MM:SS, or sec",
        ),
        ("T08:00:10", "T25:00:10", r"line 2: Start is '2026-03-02T25:00:10'"),
        ("T09:00:10", "T07:00:10", r"line 2: End is '2026-03-02T07:00:10'; it is before Start, '2026-03-02T08:00:10'"),
        ("|3600|", "|3600.5|", r"line 2: ElapsedRaw is '3600.5'; give a whole number, as sacct --noconvert does"),
        ("|4|1|", "|4K|1|", r"line 2: AllocCPUS is '4K'; give a whole number"),
        ("|4|1|", "|4|0|", r"line 2: NNodes is '0'; a job that ran has at least one node"),
        (
            "mem=16G",
            "mem=16X",
            r"line 2: AllocTRES is 'billing=4,cpu=4,mem=16X,node=1'; give memory as a number with K",
        ),
        ("cpu=4,mem", "gres/gpu=a,mem", r"line 2: AllocTRES is .*; gres/gpu is a whole number"),
        ("cpu=4,mem", "cpu,mem", r"line 2: AllocTRES is .*; give name=number pairs"),
        ("COMPLETED", "DONE", r"line 2: State is 'DONE'; known are BOOT_FAIL, CANCELLED"),
        ("|bio", "|bio|x", r"line 2: 16 fields, the header has 15"),
        ("JobID|", "Job|", r"line 1: no column 'JobID'; a log of sacct --parsable2, header line included, has JobID"),
        ("|ElapsedRaw|", "|Elapsed2|", r"line 1: no column 'ElapsedRaw'; ask sacct for JobID, State, Submit, Start"),
    ],
)
def test_malformed_lines(sacct, old, new, message):
    path = sacct()
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(InstanceError, match=message):
        read_log(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"jobs": []}', "JSON, no log of sacct --parsable2; run sacct --parsable2 without --json"),
        ("JobID;State\n12;COMPLETED\n", "fields with ';' between them, .*; run sacct --parsable2 without --delimiter"),
        (
            "JobID    State\n----- -----\n12 COMPLETED\n",
            "columns with spaces between them, .*; run sacct with --parsable2",
        ),
        ("\n12_3|COMPLETED\n", "a job, where the header should be, .*; run sacct without --noheader"),
        ("12.batch;COMPLETED\n", "a job, and ';' between fields, .*; run sacct without --noheader and --delimiter"),
    ],
)
def test_other_forms_of_what_sacct_prints(tmp_path, text, message):
    path = tmp_path / "sacct.txt"
    path.write_text(text)
    with pytest.raises(InstanceError, match=message):
        read_log(path)


def test_logs_without_runs_and_of_two_clocks(sacct, tmp_path):
    with pytest.raises(InstanceError, match=r"no job that ran is in it; .* sacct: left out, pending: 4 \(1002_"):
        read_log(sacct([sacct.rows[8]]))
    with pytest.raises(InstanceError, match="It is empty"):
        read_log(sacct([]))
    other = sacct.rows[0].replace("2026-03-02T08:00:00", "1772438400").replace("1001", "2001")
    with pytest.raises(
        InstanceError, match=r"line 3: Submit is '1772438400'; line 2 has '2026-03-02T08:00:00': give one"
    ):
        read_log(sacct([sacct.rows[0], other]))
    with pytest.raises(InstanceError, match="cannot be read"):
        read_log(tmp_path / "missing.txt")


def test_damaged_logs(sacct, mutation):
    """Whatever happens to the bytes: a log, or one sentence."""
    path = sacct()
    content = path.read_bytes()
    refused = 0
    for number in range(200):
        random = Random(number)
        damaged = mutation.damaged_bytes(content, random)
        packed = mutation.damaged_bytes(gzip.compress(content), random)
        path.write_bytes(random.choice((damaged, damaged, gzip.compress(damaged), packed)))
        try:
            assert read_log(path).jobs
        except InstanceError as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused > 60
