"""Job logs and generators, and what a schedule costs."""

from pathlib import Path

from schedgap.instances import waiting as w

assert w.mms(20, seed=1).num_jobs == w.bursty(20, seed=1).num_jobs == 20
Path("log.csv").write_text("submit_time,runtime,num_cores,total_MB_req\n0,3600,1,1024\n60,3600,1,1024\n")
Path("log.swf").write_text(
    "1 0 -1 3600 1 -1 1024 1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n2 60 -1 3600 1 -1 1024 1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
)
Path("sacct.txt").write_text(
    "JobID|State|Submit|Start|ElapsedRaw|AllocCPUS|NNodes|ReqMem\n1|COMPLETED|0|0|3600|1|1|1G\n2|COMPLETED|60|60|3600|1|1|1G\n"
)
for instance in (w.lsf_csv("log.csv"), w.swf("log.swf"), w.slurm("sacct.txt")):
    # Both jobs on one machine of a core: the second waits for an hour less a minute.
    schedule = w.WaitingSchedule(1, [0, 0], [0, instance.runtime_us[0]])
    assert w.measures(instance, schedule)["machines"] == 1
    assert w.measures(instance, schedule)["mean_wait_s"] == 1770
    assert w.paid_us(instance, schedule) == 2 * w.HOUR_US
    parts = w.costs(instance, schedule)
    # Nothing is rented, waiting is free: micro-dollars an hour times microseconds, rounded up to micro-dollars.
    assert w.rounded_up(parts.fixed) == parts.objective == w.verify(instance, schedule)
