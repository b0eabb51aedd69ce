"""A day of a small cluster as sacct prints it, every form of line in it."""

import pytest

COLUMNS = (
    *("JobID", "JobIDRaw", "Submit", "Eligible", "Start", "End", "ElapsedRaw", "TimelimitRaw", "AllocCPUS", "NNodes"),
    *("ReqMem", "AllocTRES", "State", "Partition", "Account"),
)
DAY = "2026-03-02T"


def row(job, submit, eligible, start, end, elapsed, cores, memory, state, *, nodes=1, more="", raw=None, tres=None):
    """One line; times are of one day. tres : of what was held, by default what the other columns say."""
    if tres is None:
        tres = f"billing={cores},cpu={cores},{more}mem={memory},node={nodes}" if cores else ""
    times = [time if time in ("None", "Unknown") else DAY + time for time in (submit, eligible, start, end)]
    return "|".join(map(str, (job, raw or job, *times, elapsed, 60, cores, nodes, memory, tres, state, "cpu", "bio")))


# After Slurm's manual: steps, an array, a requeue, suspension, heterogeneous parts, and jobs that never held anything.
ROWS = [
    row("1001", "08:00:00", "08:00:00", "08:00:10", "09:00:10", 3600, 4, "16G", "COMPLETED"),
    row("1001.batch", "08:00:10", "08:00:10", "08:00:10", "09:00:10", 3600, 4, "", "COMPLETED"),
    row("1001.extern", "08:00:10", "08:00:10", "08:00:10", "09:00:10", 3600, 4, "", "COMPLETED"),
    row("1001.0", "08:00:12", "08:00:12", "08:00:12", "09:00:08", 3596, 4, "", "COMPLETED"),
    row("1002_1", "08:05:00", "08:05:00", "08:05:20", "08:15:20", 600, 1, "2000M", "COMPLETED", raw="1003"),
    row("1002_1.batch", "08:05:20", "08:05:20", "08:05:20", "08:15:20", 600, 1, "", "COMPLETED"),
    row("1002_2", "08:05:00", "08:05:00", "08:05:20", "08:17:00", 700, 1, "2000M", "FAILED", raw="1004"),
    row("1002_2.batch", "08:05:20", "08:05:20", "08:05:20", "08:17:00", 700, 1, "", "FAILED"),
    row("1002_[3-6%2]", "08:05:00", "08:05:00", "Unknown", "Unknown", 0, 0, "2000M", "PENDING"),
    row("1005", "08:10:00", "08:10:00", "08:11:00", "08:41:00", 1800, 8, "32G", "NODE_FAIL"),
    row("1005", "08:41:05", "08:43:05", "08:50:00", "10:50:00", 7200, 8, "32G", "COMPLETED"),
    row("1006", "08:12:00", "08:12:00", "None", "08:20:00", 0, 0, "4G", "CANCELLED by 1001"),
    row("1007", "08:12:30", "08:12:30", "08:13:00", "08:23:00", 600, 2, "4G", "CANCELLED by 1001"),
    row(
        "1008",
        "08:15:00",
        "08:15:00",
        "08:16:00",
        "10:16:00",
        7200,
        8,
        "64G",
        "TIMEOUT",
        more="gres/gpu:x=2,gres/gpu=2,",
    ),
    row("1009", "08:18:00", "08:18:00", "08:30:00", "09:30:00", 3600, 64, "128G", "COMPLETED", nodes=2),
    row("1010", "08:19:00", "08:19:00", "08:21:40", "Unknown", 9500, 1, "1G", "RUNNING"),
    row("1011", "08:20:00", "09:00:00", "09:00:05", "09:25:05", 1200, 2, "7.50G", "COMPLETED"),
    row("1012+0", "08:22:00", "08:22:00", "08:25:00", "08:35:00", 600, 4, "8G", "COMPLETED"),
    row("1012+1", "08:22:00", "08:22:00", "08:25:00", "08:35:00", 600, 16, "16G", "COMPLETED"),
    row("1014", "08:24:00", "08:24:00", "08:24:05", "08:24:05", 0, 1, "512M", "OUT_OF_MEMORY"),
]


@pytest.fixture
def sacct(tmp_path):
    """Write a log of these rows and columns: `sacct(rows)`."""

    def write(rows=ROWS, columns=COLUMNS):
        path = tmp_path / "sacct.txt"
        path.write_text("\n".join(["|".join(columns), *rows]) + "\n")
        return path

    write.rows, write.row = ROWS, row
    return write


@pytest.fixture
def machines(tmp_path):
    """Write a list of machines: `machines()`, by default three types."""

    def write(text="name,price,cpu,ram_gib,gpu\nsmall,0.2,8,32,0\nlarge,1.5,64,256,\ngpu,3,16,128,4\n"):
        path = tmp_path / "machines.csv"
        path.write_text(text)
        return str(path)

    return write
