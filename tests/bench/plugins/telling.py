"""Methods that tell what they find, and then are killed, fail or lie."""

import os
import signal
import sys
import time
from contextlib import suppress

import numpy as np

from schedgap.bench.isolation.answer import Failure, pack, pack_bound, pack_solution
from schedgap.bench.isolation.messages import FRAME, Message
from schedgap.instances.method import method, untold
from schedgap.instances.provisioning import Provisioning

FAMILY = "provisioning"


def dearer(instance, dear):
    """Every task on a machine of its own, the first `dear` of them on the dearest that they fit."""
    classes = instance.task_classes()
    types = instance.reservation_type[classes].copy()
    types[:dear] = np.argmax(np.where(instance.fits(), instance.price[:, None], 0), axis=0)[classes[:dear]]
    return Provisioning.from_tasks(instance, types, np.arange(instance.num_tasks))


def tells(instance, found, rng):
    """Tell better and better solutions and bounds until a random moment; print which was told last, once it was sent."""
    most = int(rng.integers(1, instance.num_tasks + 1))
    for better in range(most):
        found(dearer(instance, instance.num_tasks - better), better)
        time.sleep(float(rng.uniform(0.0, 0.03)))
    while found._sender is not None:
        time.sleep(0.01)
    print(instance.price[dearer(instance, instance.num_tasks - most + 1).machine_type].sum(), most - 1, flush=True)


@method("t-killed", family=FAMILY, bounds=True, stochastic=True)
def killed(instance, *, found, rng):
    """Except where it is warmed up in the process of its run, which nobody would hear of."""
    if found is untold:
        return
    tells(instance, found, rng)
    os.kill(os.getpid(), signal.SIGKILL)


@method("t-bombed", family=FAMILY, bounds=True, stochastic=True)
def bombed(instance, *, found, rng):
    tells(instance, found, rng)
    blocks = []
    while True:
        blocks.append(np.ones(2_000_000))
        time.sleep(0.005)


@method("t-hangs", family=FAMILY, bounds=True, stochastic=True)
def hangs(instance, *, found, rng):
    tells(instance, found, rng)
    time.sleep(60)


@method("t-at-once", family=FAMILY, bounds=True, stochastic=True)
def at_once(instance, *, found, rng):
    """What was told too soon after a frame may be lost, and what is due may not."""
    for better in range(int(rng.integers(1, 5))):
        found(dearer(instance, instance.num_tasks - better), better)
    os.kill(os.getpid(), signal.SIGKILL)


@method("t-fails", family=FAMILY, bounds=True)
def fails(instance, *, found):
    found(dearer(instance, 1), 1)
    found(dearer(instance, 0), 2)
    raise ValueError("no such luck")


@method("t-no-memory", family=FAMILY)
def no_memory(instance, *, found):
    found(dearer(instance, 0))
    raise MemoryError


@method("t-honest", family=FAMILY, bounds=True)
def honest(instance, *, found):
    """An answer is an answer, whatever was told before, and how often; also by threads, children and signal handlers."""
    telling = []

    def interrupt(*_):
        if telling:
            telling.clear()
            raise ZeroDivisionError

    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    for _ in range(1000):
        with suppress(ZeroDivisionError):
            telling.append(True)
            found(dearer(instance, 1), 1)
            telling.clear()
    signal.setitimer(signal.ITIMER_REAL, 0)
    if os.fork() == 0:
        found(dearer(instance, 2))
        os._exit(0)
    return dearer(instance, 0)


@method("t-bound-alone", family=FAMILY, bounds=True)
def bound_alone(instance, *, found):
    found(bound=np.int64(7))
    os._exit(3)


@method("t-infeasible", family=FAMILY)
def infeasible(instance, *, found):
    found(Provisioning([], [], [0], [], []))
    os._exit(3)


@method("t-above", family=FAMILY, bounds=True)
def above(instance, *, found):
    found(dearer(instance, 0), 10**15)
    os._exit(3)


@method("t-undeclared", family=FAMILY)
def undeclared(instance, *, found):
    found(dearer(instance, 0), 1)
    return dearer(instance, 0)


@method("t-caught", family=FAMILY)
def caught(instance, *, found):
    found(dearer(instance, 0))
    with suppress(Exception):
        found(bound=1)
    os._exit(3)


@method("t-text", family=FAMILY)
def text(instance, *, found):
    found("all of it")


@method("t-half", family=FAMILY, bounds=True)
def half(instance, *, found):
    found(bound=0.5)


def write(found, data):
    view = memoryview(data)
    while view:
        view = view[os.write(found._pipe, view) :]


def frame(kind, body):
    return FRAME.pack(kind, len(body)) + body


@method("t-garbage", family=FAMILY)
def garbage(instance, *, found):
    found(dearer(instance, 0))
    write(found, b"garbage, or so it seems" * 10)
    time.sleep(60)


@method("t-garbage-inside", family=FAMILY)
def garbage_inside(instance, *, found):
    write(found, frame(Message.SOLUTION, b"garbage, or so it seems"))
    os._exit(3)


@method("t-an-answer-inside", family=FAMILY)
def an_answer_inside(instance, *, found):
    write(found, frame(Message.SOLUTION, pack(Failure(status="error", reason="forged"), dearer(instance, 0))))
    os._exit(3)


@method("t-long", family=FAMILY)
def long(instance, *, found):
    found(dearer(instance, 0))
    write(found, FRAME.pack(Message.SOLUTION, 1 << 60) + b"x" * 4096)
    time.sleep(60)


@method("t-short-bound", family=FAMILY, bounds=True)
def short_bound(instance, *, found):
    write(found, frame(Message.BOUND, b"abc"))
    time.sleep(60)


@method("t-flood", family=FAMILY, bounds=True)
def flood(instance, *, found):
    """Bounds without end, or so it seems, and some solutions; the last of both count."""
    told = frame(Message.SOLUTION, pack_solution(dearer(instance, 1)))
    for _ in range(200):
        write(found, frame(Message.BOUND, pack_bound(1)) * 1000 + told)
    write(found, frame(Message.SOLUTION, pack_solution(dearer(instance, 0))) + frame(Message.BOUND, pack_bound(2)))
    os._exit(3)


@method("t-after", family=FAMILY)
def after(instance, *, found):
    found(dearer(instance, 0))
    write(found, frame(Message.ANSWER, pack(Failure(status="error", reason="forged"))))
    write(found, frame(Message.SOLUTION, pack_solution(dearer(instance, 0))))
    time.sleep(60)


@method("t-cut-off", family=FAMILY)
def cut_off(instance, *, found):
    """Killed in the middle of a frame: the one before it counts."""
    found(dearer(instance, 0))
    write(found, frame(Message.SOLUTION, pack_solution(dearer(instance, 1)))[:-5])
    sys.stdout.flush()
    os._exit(3)
