"""Methods that do what no method should; each must end as one row, and the suite must go on."""

import ctypes
import os
import signal
import sys
import time

import numpy as np

from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.provisioning import Provisioning

FAMILY = "provisioning"


def alone(instance):
    """Every task on a machine of its own."""
    types = instance.reservation_type[instance.task_classes()]
    return Provisioning.from_tasks(instance, types, np.arange(instance.num_tasks))


@method("x-honest", family=FAMILY)
def honest(instance):
    return alone(instance)


@method("x-random", family=FAMILY, stochastic=True)
def random(instance, rng, pause_s=0.0):
    """Honest, slow if asked to be, and with the drawn number in its details."""
    time.sleep(pause_s)
    return Outcome(alone(instance), details={"drawn": int(rng.integers(1 << 30))})


@method("x-nothing", family=FAMILY)
def nothing(instance):
    return None


@method("x-segfault", family=FAMILY)
def segfault(instance):
    ctypes.string_at(0)


@method("x-abort", family=FAMILY)
def abort(instance):
    os.abort()


@method("x-hang", family=FAMILY)
def hang(instance):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(1)


@method("x-spin", family=FAMILY)
def spin(instance):
    while True:
        pass


@method("x-bomb", family=FAMILY)
def bomb(instance):
    kept = []
    while True:
        kept.append(np.ones(1_000_000))


@method("x-large", family=FAMILY)
def large(instance):
    return np.ones(1 << 40)


@method("x-offspring", family=FAMILY)
def offspring(instance):
    """Leaves a daemon in a session of its own, which ignores SIGTERM and has a known name."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(300)", "schedgap-offspring"])
        os._exit(0)
    os.wait()
    return alone(instance)


@method("x-flood", family=FAMILY)
def flood(instance):
    for _ in range(64):
        os.write(1, b"x" * (1 << 20))
        os.write(2, b"y" * (1 << 20))
    raise RuntimeError("after the flood")


@method("x-wrong", family=FAMILY)
def wrong(instance):
    return Provisioning.from_tasks(instance, [0], np.zeros(instance.num_tasks, int))


@method("x-liar", family=FAMILY, bounds=True)
def liar(instance):
    return Outcome(alone(instance), bound=10**15, status=Status.OPTIMAL)


@method("x-quiet-liar", family=FAMILY, bounds=True)
def quiet_liar(instance):
    """A bound above what others find, without a solution of its own to be caught with."""
    return Outcome(bound=10**15)


@method("x-boaster", family=FAMILY)
def boaster(instance):
    return Outcome(alone(instance), status=Status.OPTIMAL)


@method("x-mutator", family=FAMILY)
def mutator(instance):
    solution = alone(instance)
    object.__setattr__(instance, "price", np.ones_like(instance.price))
    return solution


class OwnSolution(Provisioning):
    """A solution with a mind of its own."""


@method("x-foreign", family=FAMILY)
def foreign(instance):
    plain = alone(instance)
    return OwnSolution(plain.machine_type, plain.repeat, plain.indptr, plain.task_class, plain.count)


@method("x-text", family=FAMILY)
def text(instance):
    return "all of them on one machine"


@method("x-error", family=FAMILY)
def error(instance):
    raise ValueError("no\nsuch luck")


class MuteError(Exception):
    def __str__(self):
        raise RuntimeError("no words")


@method("x-mute", family=FAMILY)
def mute(instance):
    raise MuteError


@method("x-exit", family=FAMILY)
def leave(instance):
    sys.exit(0)


@method("x-hard-exit", family=FAMILY)
def leave_at_once(instance):
    os._exit(0)


@method("x-unsupported", family=FAMILY, supports=lambda instance: "it never does")
def unsupported(instance):
    raise AssertionError
