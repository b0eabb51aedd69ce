"""A real Slurm on this machine: munged, slurmctld and two nodes, in a private folder, for as long as these tests run."""

import os
import shutil
import signal
import socket
import subprocess
import time

import psutil
import pytest

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scontrol")
# No cgroups and no accounting: what may be missing where containers run. KillWait is how long SIGTERM is before SIGKILL.
CONFIG = """
ClusterName=schedgap
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
KillWait=2
ReturnToService=2
JobRequeue=1
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=8 RealMemory=100000 State=UNKNOWN
NodeName=two NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=8 RealMemory=100000 State=UNKNOWN
PartitionName=short Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def ask(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout


def jobs(*states):
    """The ids of the jobs in these states; by default of those that have not ended."""
    chosen = [f"--states={','.join(states)}"] if states else []
    return ask("squeue", "--noheader", "--format=%i", *chosen).split()


@pytest.fixture(scope="session")
def wait_until():
    """As elsewhere; who asks Slurm more often takes the processors from its jobs."""

    def wait(condition, seconds=120):
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.2)

    return wait


class Slurm:
    """What tests do to it. A node that is taken away comes back with `restore`."""

    jobs = staticmethod(jobs)
    ask = staticmethod(ask)

    def __init__(self, folder):
        self.folder = folder

    def start(self):
        folder = self.folder
        for name in ("state", "spool-one", "spool-two"):
            (folder / name).mkdir()
        sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
        ports = [each.getsockname()[1] for each in sockets]
        for each in sockets:
            each.close()
        (folder / "slurm.conf").write_text(CONFIG.format(host=socket.gethostname(), folder=folder, ports=ports))
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        places = {"socket": "munge.socket", "key-file": key.name, "pid-file": "munged.pid", "log-file": "munged.log"}
        options = [f"--{name}={folder / file}" for name, file in {**places, "seed-file": "munged.seed"}.items()]
        ask("munged", "--force", *options)
        ask("slurmctld")
        self.restore("one")
        self.restore("two")

    def start_again(self, *again):
        """Have jobs that are in the queue again start at once; Slurm itself waits for two minutes."""
        deadline = time.monotonic() + 60
        while not set(again) <= set(jobs("PENDING")):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        # The credential of a start in the second in which the last one was revoked counts as revoked too.
        time.sleep(2)
        for job in again:
            ask("scontrol", "update", f"jobid={job}", "starttime=now")

    def kill(self, node):
        os.kill(int((self.folder / f"slurmd-{node}.pid").read_text()), signal.SIGKILL)

    def restore(self, node):
        ask("slurmd", "-N", node)

    def is_ready(self):
        return ask("sinfo", "--noheader", "--Node", "--format=%T").split() == ["idle", "idle"]

    def close(self):
        subprocess.run(["scancel", "--state=RUNNING"], check=False, timeout=30)
        subprocess.run(["scancel", "--state=PENDING"], check=False, timeout=30)
        for name in ("slurmctld", "slurmd-one", "slurmd-two", "munged"):
            try:
                process = psutil.Process(int((self.folder / f"{name}.pid").read_text()))
                process.terminate()
                process.wait(20)
            except psutil.TimeoutExpired:
                process.kill()
            except (OSError, ValueError, psutil.Error):
                continue


@pytest.fixture(scope="session")
def slurm(tmp_path_factory):
    if os.geteuid() != 0:
        pytest.skip("only root starts Slurm's daemons")
    if missing := [name for name in PROGRAMS if shutil.which(name) is None]:
        pytest.skip(f"{', '.join(missing)} missing: apt-get install slurm-wlm munge")
    folder = tmp_path_factory.mktemp("slurm")
    before = os.environ.get("SLURM_CONF")
    os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
    started = Slurm(folder)
    try:
        try:
            started.start()
            deadline = time.monotonic() + 30
            while not started.is_ready():
                assert time.monotonic() < deadline
                time.sleep(0.1)
        except (subprocess.SubprocessError, AssertionError) as error:
            pytest.skip(f"Slurm does not start here: {error}")
        yield started
    finally:
        started.close()
        os.environ.pop("SLURM_CONF")
        if before is not None:
            os.environ["SLURM_CONF"] = before
