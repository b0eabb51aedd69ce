"""Methods that attack what judges, times and watches them; each must end as one right row, and harm nobody else's."""

import gc
import glob
import os
import pickle
import shutil
import signal
import stat
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

import schedgap.bench.isolation.child as child
import schedgap.bench.isolation.clocks as clocks
from schedgap.bench.isolation.answer import Report, pack
from schedgap.bench.isolation.child import instance_from
from schedgap.instances.family import FAMILIES
from schedgap.instances.method import Outcome, method
from schedgap.instances.provisioning import Provisioning, ProvisioningInstance

FAMILY = "provisioning"
OWN_PROCESS = "schedgap.bench.isolation.spawner"

# On import: a verifier that says 7 whatever it gets, and instances that cost three times as much.
FAMILIES[FAMILY] = replace(FAMILIES[FAMILY], verify=lambda instance, solution: 7)
_made = ProvisioningInstance.__post_init__


def _dear(self):
    object.__setattr__(self, "price", np.asarray(self.price) * 3)
    _made(self)


ProvisioningInstance.__post_init__ = _dear


def alone(instance):
    """Every task on a machine of its own."""
    types = instance.reservation_type[instance.task_classes()]
    return Provisioning.from_tasks(instance, types, np.arange(instance.num_tasks))


def everywhere(*frames):
    for kind, body in frames:
        for fd in range(3, 64):
            with suppress(OSError):
                os.write(fd, kind + len(body).to_bytes(8, "little") + body)


def forged(instance, **facts):
    """An answer of its own making, as of a call that is over; none while it is only warmed up."""
    if instance.num_tasks < 6:
        return alone(instance)
    times = {"wall_s": 1e-9, "cpu_s": 0.0, "compile_s": 0.0}
    body = pack(Report(**{**times, "status": "feasible", "mutated": False, **facts}), alone(instance))
    everywhere((b"E", b""), (b"D", body))
    os._exit(0)


@method("a-patched", family=FAMILY, bounds=True)
def patched(instance):
    return Outcome(alone(instance), bound=7)


@method("a-slow-warm-up", family=FAMILY)
def slow_warm_up(instance):
    if instance.num_tasks < 6:
        time.sleep(1000)
    return alone(instance)


@method("a-clock", family=FAMILY)
def clock(instance):
    stopped_at = time.perf_counter()
    child.perf_counter = time.perf_counter = lambda: stopped_at
    time.sleep(0.5)
    return alone(instance)


@method("a-broken-clock", family=FAMILY)
def broken_clock(instance):
    child.perf_counter = time.perf_counter = lambda: float("nan")
    return alone(instance)


@method("a-forged-time", family=FAMILY)
def forged_time(instance):
    time.sleep(0.5)
    return forged(instance)


@method("a-forged-negative", family=FAMILY)
def forged_negative(instance):
    return forged(instance, wall_s=-100.0)


@method("a-forged-ages", family=FAMILY)
def forged_ages(instance):
    return forged(instance, wall_s=1e9)


@method("a-forged-cpu", family=FAMILY)
def forged_cpu(instance):
    return forged(instance, cpu_s=1e9)


@method("a-forged-bound", family=FAMILY)
def forged_bound(instance):
    return forged(instance, bound=2**70)


@method("a-forged-claim", family=FAMILY)
def forged_claim(instance):
    return forged(instance, status="proven", bound=7)


@method("a-early-answer", family=FAMILY)
def early_answer(instance):
    body = pack(Report(wall_s=0.0, cpu_s=0.0, compile_s=0.0, status="feasible", mutated=False))
    everywhere((b"D", body))
    os._exit(0)


@method("a-compiles", family=FAMILY)
def compiles(instance):
    everywhere((b"C", b""))
    time.sleep(1000)


@method("a-looks-around", family=FAMILY)
def looks_around(instance):
    """Looks for its instance while it is warmed up, by name: the small one has another."""
    if not instance.name.endswith("-shrunk"):
        return Outcome(alone(instance), details={"seen": " ".join(sorted(SEEN))})
    frame = sys._getframe()
    while frame is not None:
        look_at(frame.f_locals.values())
        frame = frame.f_back
    look_at(gc.get_objects())
    return alone(instance)


SEEN = set()


def look_at(values):
    for value in values:
        if isinstance(value, ProvisioningInstance):
            SEEN.add(value.name)
        elif isinstance(value, bytes | bytearray) and b"ProvisioningInstance" in value:
            SEEN.add(pickle.loads(value).name)


@method("a-asks-early", family=FAMILY)
def asks_early(instance):
    """Asks for its instance while it is warmed up, works on it, and says that the call took no time."""
    callers, frame = set(), sys._getframe()
    while frame is not None:
        callers.add(frame.f_code.co_name)
        frame = frame.f_back
    if "warm_up" in callers:
        (fd,) = (fd for fd in range(3, 64) if is_socket(fd))
        known = instance_from(fd)
        time.sleep(0.5)
        body = pack(Report(wall_s=1e-9, cpu_s=0.0, compile_s=0.0, status="feasible", mutated=False), alone(known))
        for kind, content in ((b"S", b""), (b"E", b""), (b"D", body)):
            os.write(fd, kind + len(content).to_bytes(8, "little") + content)
        os._exit(0)
    return alone(instance)


def is_socket(fd):
    with suppress(OSError):
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    return False


@method("a-packs", family=FAMILY)
def packs(instance):
    """Works while its answer is packed."""

    class Late:
        def __str__(self):
            time.sleep(0.5)
            return "late"

    return Outcome(alone(instance), details={"late": Late()})


@method("a-twice", family=FAMILY)
def twice(instance):
    """Has found it when it is called again, since it says that it was slowed down by compiling."""
    if instance.name not in TWICE:
        TWICE.add(instance.name)
        start = time.perf_counter()
        time.sleep(0.5)
        clocks = [each for each in gc.get_objects() if isinstance(each, child.CompileClock)]
        for each in clocks:
            each.seconds = time.perf_counter() - start
    return alone(instance)


TWICE = set()


@method("a-quick-machine", family=FAMILY)
def quick_machine(instance):
    for module in (child, clocks):
        module.reference_s = lambda: 5e-324
    return alone(instance)


@method("a-deletes-scratch", family=FAMILY)
def deletes_scratch(instance):
    shutil.rmtree(Path(os.environ["TMPDIR"]).parent, ignore_errors=True)
    return alone(instance)


@method("a-odd-facts", family=FAMILY)
def odd_facts(instance):
    details = {
        "nan": float("nan"),
        "bytes": b"x",
        "nested": {"a": [1]},
        7: np.int64(3),
        "none": None,
        "long": "x" * 10**6,
    }
    return Outcome(alone(instance), details=details, backend=b"bytes")


@method("a-odd-times", family=FAMILY)
def odd_times(instance):
    return Outcome(alone(instance), solve_s=-1.0)


@method("a-odd-reason", family=FAMILY)
def odd_reason(instance):
    return Outcome(status="unsupported", details={"reason": ["a", {"b": 1}]})


@method("a-surrogate", family=FAMILY)
def surrogate(instance):
    raise ValueError("lone \ud800 surrogate")


@method("a-real-time-signal", family=FAMILY)
def real_time_signal(instance):
    os.kill(os.getpid(), 40)
    time.sleep(20)


@method("a-memfd", family=FAMILY)
def memfd(instance):
    fill(os.memfd_create("hidden"))


@method("a-shm", family=FAMILY)
def shm(instance):
    # Without a name: the run is killed, and nobody would take a named file away.
    with tempfile.TemporaryFile(dir="/dev/shm") as file:
        fill(file.fileno())


def fill(fd):
    for _ in range(600):
        os.write(fd, b"x" * (1 << 20))
    time.sleep(20)


@method("a-vandal", family=FAMILY)
def vandal(instance):
    """Spoils every file that harnesses keep in the folder of temporary files."""
    root = Path(os.environ["TMPDIR"]).parents[1]
    assert root != Path("/tmp"), "other harnesses run here"
    for path in glob.glob(f"{root}/schedgap-*/**", recursive=True):
        if os.path.isfile(path):
            Path(path).write_bytes(b"spoilt")
    return alone(instance)


@method("a-many-machines", family=FAMILY)
def many_machines(instance):
    """A few numbers that stand for machines without end."""
    honest = alone(instance)
    many = np.full(3, 2**62)
    types, indptr = np.zeros(3, int), np.full(3, honest.indptr[-1])
    return Provisioning(
        np.concatenate((honest.machine_type, types)),
        np.concatenate((honest.repeat, many)),
        np.concatenate((honest.indptr, indptr)),
        honest.task_class,
        honest.count,
    )


@method("a-ignores-end", family=FAMILY)
def ignores_end(instance):
    """Busy for ever, with a daemon beside it, deaf to SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(300)", "schedgap-attack-daemon"])
    while True:
        pass
