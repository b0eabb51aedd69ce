"""Stands in for BenchExec's `runexec`: takes its options, runs the command, prints what it prints.

The variable FAKE_RUNEXEC says what goes wrong: `no-cgroups`, or `memory` and `cputime` for the limit that is passed.
"""

import argparse
import os
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
for option in ("--memlimit", "--walltimelimit", "--output", "--dir"):
    parser.add_argument(option, required=True)
parser.add_argument("--timelimit")
for option in ("--read-only-dir", "--full-access-dir"):
    parser.add_argument(option, action="append", default=[])
parser.add_argument("command", nargs="+")
asked = parser.parse_args()
assert asked.memlimit.endswith("B") and int(asked.memlimit[:-1]) >= 256 << 20
assert int(asked.walltimelimit) >= 30
is_probe = asked.command == ["true"]
mode = os.environ.get("FAKE_RUNEXEC", "")
if mode == "no-cgroups" or (mode == "no-cgroups-later" and not is_probe):
    sys.exit("2026-01-01 00:00:00,000 - CRITICAL - Cgroup subsystem memory is not available. Please make sure it is.")
if mode in ("memory", "cputime") and not is_probe:
    print(f"terminationreason={mode}\nexitsignal=9\nwalltime=1.5s\ncputime=1.4s\nmemory=268435456B")
    sys.exit(0)
start = time.monotonic()
with open(asked.output, "wb") as log:
    process = subprocess.run(asked.command, stdout=log, stderr=log, cwd=asked.dir, start_new_session=True, check=False)
code = process.returncode
print(f"exitsignal={-code}" if code < 0 else f"returnvalue={code}")
print(f"walltime={time.monotonic() - start}s\ncputime=0.5s\ncputime-cpu0=0.5s\nmemory=123731968B")
