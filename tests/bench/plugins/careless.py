"""Methods that answer well when they are asked once; each breaks one promise."""

import os
import time

import numpy as np

from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.provisioning import Provisioning

FAMILY = "provisioning"
KEPT = {}
CALLS = []


def alone(instance, first=0):
    """Every task on a machine of its own, numbered from the task `first` on."""
    types = np.roll(instance.reservation_type[instance.task_classes()], -first)
    return Provisioning.from_tasks(instance, types, (np.arange(instance.num_tasks) - first) % instance.num_tasks)


@method("c-honest", family=FAMILY)
def honest(instance):
    return alone(instance)


@method("c-silent", family=FAMILY)
def silent(instance):
    return None


@method("c-kept", family=FAMILY)
def kept(instance):
    """The first solution of as many tasks that this process has found."""
    return KEPT.setdefault(instance.num_tasks, alone(instance))


@method("c-counts", family=FAMILY)
def counts(instance):
    CALLS.append(instance.name)
    return alone(instance, len(CALLS) % instance.num_tasks)


@method("c-draws", family=FAMILY)
def draws(instance, *, rng):
    return alone(instance, int(rng.integers(instance.num_tasks)))


@method("c-address", family=FAMILY)
def by_address(instance, salt=int.from_bytes(os.urandom(8), "little")):  # noqa: B008
    """What differs from one process to the next, as addresses do: the order of the machines."""
    order = np.random.default_rng(salt).permutation(instance.num_tasks)
    types = np.empty_like(order)
    types[order] = instance.reservation_type[instance.task_classes()]
    return Provisioning.from_tasks(instance, types, order)


@method("c-liar", family=FAMILY, bounds=True)
def liar(instance):
    """A bound above what others find, and nothing to be caught with."""
    return Outcome(bound=10**12)


@method("c-boaster", family=FAMILY, bounds=True)
def boaster(instance):
    return Outcome(alone(instance), bound=0, status=Status.OPTIMAL)


@method("c-nowhere", family=FAMILY, supports=lambda instance: "only on Sundays")
def nowhere(instance):
    raise AssertionError


@method("c-clumsy", family=FAMILY)
def clumsy(instance):
    raise ValueError("no such luck")


@method("c-late", family=FAMILY)
def late(instance, *, time_limit_s=None):
    """In time on small instances; on a large one it builds for two seconds and looks at no clock."""
    if instance.num_tasks > 100:
        time.sleep(2.0)
    return alone(instance)


@method("c-in-time", family=FAMILY)
def in_time(instance, *, time_limit_s=None):
    """As long as it may take on a large instance, and no longer."""
    if instance.num_tasks > 100 and time_limit_s is not None:
        time.sleep(time_limit_s)
    return alone(instance)
