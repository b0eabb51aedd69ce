"""Methods for clusters: one that takes its time and tells where its file is, and one that ends its worker."""

import os
import signal
import time
from pathlib import Path

import numpy as np
import psutil

from schedgap.instances.method import Outcome, method
from schedgap.instances.provisioning import Provisioning


@method("x-slow", family="provisioning")
def slow(instance, pause_s=0.1):
    """On the small instance at once. A test whose folder is named is told that a run has begun, and may end all pauses."""
    if instance.num_tasks > 5:
        folder, end = os.environ.get("SCHEDGAP_TEST", ""), time.monotonic() + pause_s
        if folder:
            Path(folder, f"begun-{os.environ['SLURM_JOB_ID']}").touch()
        while time.monotonic() < end and not (folder and Path(folder, "go").exists()):
            time.sleep(min(0.05, pause_s))
    types = instance.reservation_type[instance.task_classes()]
    solution = Provisioning.from_tasks(instance, types, np.arange(instance.num_tasks))
    return Outcome(solution, details={"file": __file__})


@method("x-worker-killer", family="provisioning")
def worker_killer(instance):
    """Its parents are the server, the spawner and the worker."""
    os.kill(psutil.Process().parents()[2].pid, signal.SIGKILL)
    time.sleep(10)
