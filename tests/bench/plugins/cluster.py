"""Methods for clusters: one that takes its time and tells where its file is, and one that ends its worker."""

import os
import signal
import time

import numpy as np
import psutil

from schedgap.instances.method import Outcome, method
from schedgap.instances.provisioning import Provisioning


@method("x-slow", family="provisioning")
def slow(instance, pause_s=0.1):
    time.sleep(pause_s)
    types = instance.reservation_type[instance.task_classes()]
    solution = Provisioning.from_tasks(instance, types, np.arange(instance.num_tasks))
    return Outcome(solution, details={"file": __file__})


@method("x-worker-killer", family="provisioning")
def worker_killer(instance):
    """Its parents are the server, the spawner and the worker."""
    os.kill(psutil.Process().parents()[2].pid, signal.SIGKILL)
    time.sleep(10)
