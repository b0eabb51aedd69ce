"""Methods that do what no method should; each must end as one row, and the suite must go on."""

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from schedgap.bench.isolation.answer import Failure, pack
from schedgap.instances.method import Outcome, Status, method
from schedgap.instances.provisioning import Provisioning, table7

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


@method("x-ignores-limit", family=FAMILY)
def ignores_limit(instance, *, time_limit_s):
    time.sleep(1000 * time_limit_s)


@method("x-elsewhere", family=FAMILY)
def elsewhere(instance):
    """The solution of another instance, of as many tasks."""
    return alone(table7(instance.num_tasks, seed=99))


@method("x-fork-bomb", family=FAMILY)
def fork_bomb(instance):
    """Children without end; they cost next to nothing and end by themselves, should nobody else end them."""
    while True:
        os.posix_spawn("/bin/sleep", ["sleep", "20"], {})


@method("x-grand-bomb", family=FAMILY)
def grand_bomb(instance):
    """Memory for an orphan in a session of its own, while this process waits."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.alarm(20)
            bomb(instance)
        os._exit(0)
    os.wait()
    time.sleep(20)


@method("x-spike", family=FAMILY)
def spike(instance):
    """Over the limit for so short a time that nobody need see it."""
    held = b"x" * (300 << 20)
    del held
    return alone(instance)


def everywhere(data):
    for fd in range(3, 64):
        with suppress(OSError):
            os.write(fd, data)


def frame(kind, body=b""):
    return kind + len(body).to_bytes(8, "little") + body


@method("x-garbage", family=FAMILY)
def garbage(instance):
    everywhere(b"garbage!" * 100)
    return alone(instance)


@method("x-huge-answer", family=FAMILY)
def huge_answer(instance):
    """Announces an answer of more bytes than there are, and begins with it."""
    everywhere(b"D" + (1 << 60).to_bytes(8, "little") + b"x" * 4096)
    return alone(instance)


@method("x-two-answers", family=FAMILY)
def two_answers(instance):
    everywhere(frame(b"D", pack(Failure(status="error", reason="forged"))))
    return alone(instance)


@method("x-forged", family=FAMILY)
def forged(instance):
    everywhere(frame(b"D", pack(Failure(status="optimal", reason="it says so itself"))))
    os._exit(0)


@method("x-shut-output", family=FAMILY)
def shut_output(instance):
    sys.stdout.close()
    sys.stderr = None
    return alone(instance)


@method("x-restart", family=FAMILY)
def restart(instance):
    """Says again and again that the clock is to start anew."""
    while True:
        everywhere(b"W" + bytes(8))
        time.sleep(0.2)


@method("x-writes", family=FAMILY)
def writes(instance):
    """Beside its own source."""
    Path(__file__).with_name("x-was-here").touch()
    raise AssertionError


@method("x-close", family=FAMILY)
def close(instance):
    os.closerange(0, 1024)
    return alone(instance)


@method("x-kill-parent", family=FAMILY)
def kill_parent(instance):
    """Leaves a daemon as well, for nobody to end."""
    offspring(instance)
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(20)


@method("x-stop", family=FAMILY)
def stop(instance):
    os.kill(os.getpid(), signal.SIGSTOP)


@method("x-stop-group", family=FAMILY)
def stop_group(instance):
    """A process group of its own, stopped as a whole."""
    if os.fork() == 0:
        os.setpgid(0, 0)
        signal.alarm(20)
        os.killpg(0, signal.SIGSTOP)
    os.killpg(0, signal.SIGSTOP)


@method("x-stop-parent", family=FAMILY)
def stop_parent(instance):
    with suppress(PermissionError):
        os.kill(os.getppid(), signal.SIGSTOP)
    return alone(instance)
