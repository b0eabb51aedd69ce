"""Methods that reach for what is beside their run; each tells what it got, which should be nothing."""

import ctypes
import errno
import multiprocessing
import os
import resource
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from schedgap.instances.method import Outcome, method
from schedgap.instances.provisioning import Provisioning

FAMILY = "provisioning"
HERE = Path(__file__).parent
PRECIOUS, JOURNAL = HERE / "precious", HERE / "out" / "journal.jsonl"
LIBRARY = ctypes.CDLL(None, use_errno=True)
PIDFD_GETFD, PR_SET_NAME, REMOUNT, BIND = 438, 15, 0x20, 0x1000
SHMGET, MQ_OPEN = {"x86_64": (29, 240), "aarch64": (194, 180)}.get(os.uname().machine, (-1, -1))


def alone(instance):
    """Every task on a machine of its own."""
    types = instance.reservation_type[instance.task_classes()]
    return Provisioning.from_tasks(instance, types, np.arange(instance.num_tasks))


def ancestors():
    """The server, the spawner and the harness."""
    found, pid = [], os.getppid()
    while len(found) < 3 and pid > 1:
        found.append(pid)
        pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    return found


def called(result):
    """The result of a system call, or its error."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def attack(*tries):
    """Register a method that does all of this, and tells which of it was not refused."""

    def run(instance):
        got = []
        for name, each in tries:
            with suppress(OSError):
                each()
                got.append(name)
        return Outcome(alone(instance), details={"got": " ".join(got)})

    return run


def overwrite(path):
    with open(path, "r+b") as file:
        file.write(b"9")


def through_a_link(make):
    link = Path(os.environ["TMPDIR"], "link")
    link.unlink(missing_ok=True)
    make(PRECIOUS, link)
    overwrite(link)


def by_a_program():
    subprocess.run(["sh", "-c", f"echo spoilt > {PRECIOUS}"], stderr=subprocess.DEVNULL, check=False)


def by_each(act):
    """Do something to the first ancestor that lets it be done."""
    for pid in ancestors():
        with suppress(PermissionError):
            act(pid)
            return
    raise PermissionError


def take_descriptor(pid):
    for number in range(3, 32):
        with suppress(OSError):
            called(LIBRARY.syscall(PIDFD_GETFD, os.pidfd_open(pid), number, 0))
            return
    raise PermissionError


def new_mounts():
    called(LIBRARY.unshare(0x10020000))
    called(LIBRARY.mount(b"none", b"/tmp", b"tmpfs", 0, None))


def writable_again():
    """As this process sees it, and not on the disk."""
    called(LIBRARY.mount(None, b"/", None, ctypes.c_ulong(REMOUNT | BIND), None))


def abstract_socket():
    with socket.socket(socket.AF_UNIX) as ours:
        ours.connect("\0schedgap-" + PRECIOUS.read_text().strip())


ATTACKS = {
    "journal": [("rows", lambda: overwrite(JOURNAL)), ("cut", lambda: os.truncate(JOURNAL, 0))],
    "plug-in": [
        ("times", lambda: os.utime(__file__, (0, 0))),
        ("mode", lambda: os.chmod(__file__, 0)),
        ("content", lambda: overwrite(__file__)),
    ],
    "files": [
        ("new", lambda: (HERE / "left").touch()),
        ("content", lambda: overwrite(PRECIOUS)),
        ("name", lambda: PRECIOUS.rename(HERE / "other")),
        ("end", PRECIOUS.unlink),
        ("folder", (HERE / "folder").mkdir),
        ("device", lambda: os.mknod(Path(os.environ["TMPDIR"], "disk"), 0o60600, os.makedev(7, 0))),
    ],
    "links": [
        ("symbolic", lambda: through_a_link(os.symlink)),
        ("hard", lambda: through_a_link(os.link)),
        ("attribute", lambda: os.setxattr(PRECIOUS, "user.evil", b"1")),
    ],
    "signals": [
        ("stop", lambda: by_each(lambda pid: os.kill(pid, signal.SIGSTOP))),
        ("group", lambda: by_each(lambda pid: os.killpg(os.getpgid(pid), signal.SIGCONT))),
        ("end", lambda: by_each(lambda pid: signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGTERM))),
    ],
    "memory-of-others": [
        ("sockets", lambda: by_each(take_descriptor)),
        ("memory", lambda: by_each(lambda pid: open(f"/proc/{pid}/mem", "r+b").close())),
        ("environment", lambda: by_each(lambda pid: Path(f"/proc/{pid}/environ").read_bytes())),
        ("trace", lambda: by_each(lambda pid: called(LIBRARY.ptrace(16, pid, None, None)))),
    ],
    "limits-of-others": [
        ("files", lambda: by_each(lambda pid: resource.prlimit(pid, resource.RLIMIT_NOFILE, (5, 5)))),
        ("score", lambda: by_each(lambda pid: overwrite(f"/proc/{pid}/oom_score_adj"))),
    ],
    "hidden-memory": [
        ("memfd", lambda: os.memfd_create("hidden")),
        ("system-v", lambda: called(LIBRARY.syscall(SHMGET, 0, 1 << 20, 0o1600))),
        ("queue", lambda: called(LIBRARY.syscall(MQ_OPEN, b"schedgap", 0o102, 0o600, None))),
        ("tmpfs", new_mounts),
        ("read-write", writable_again),
    ],
    "sockets": [("abstract", abstract_socket)],
}
for _name, _tries in ATTACKS.items():
    method(f"r-{_name}", family=FAMILY)(attack(*_tries))


@method("r-program", family=FAMILY)
def program(instance):
    """What it starts is confined as well."""
    by_a_program()
    return alone(instance)


@method("r-priority", family=FAMILY)
def priority(instance):
    """Of the processes that later runs come from."""
    for pid in ancestors():
        os.setpriority(os.PRIO_PROCESS, pid, 19)
        os.sched_setaffinity(pid, {min(os.sched_getaffinity(0))})
    return Outcome(alone(instance), details={"nice": max(os.getpriority(os.PRIO_PROCESS, pid) for pid in ancestors())})


@method("r-daemon", family=FAMILY)
def daemon(instance):
    """Forks twice, in a session of its own, deaf to signals, and holds on to the answer's pipe."""
    name = f"daemon-{os.getpid()}"
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            LIBRARY.prctl(PR_SET_NAME, name.encode(), 0, 0, 0)
            for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
                signal.signal(number, signal.SIG_IGN)
            time.sleep(300)
        os._exit(0)
    return Outcome(alone(instance), details={"name": name})


@method("r-uncounted", family=FAMILY)
def uncounted(instance):
    """Children that nobody waits for use a processor."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    if instance.num_tasks < 6:
        return alone(instance)
    for _ in range(400):
        if os.fork() == 0:
            while time.process_time() < 0.05:
                pass
            os._exit(0)
        time.sleep(0.06)
    return alone(instance)


@method("r-honest", family=FAMILY)
def honest(instance):
    """Writes where it may; nothing of an earlier run is there."""
    own = f"left-{os.getpid()}"
    seen = sorted(each for each in os.listdir("/dev/shm") if each not in ("run", own))
    for path in ("/dev/null", f"/dev/shm/{own}", Path(os.environ["TMPDIR"], "file")):
        Path(path).write_text("x")
    folder = Path(os.environ["TMPDIR"], "folder")
    folder.mkdir(exist_ok=True)
    os.rename(folder.with_name("file"), folder / "moved")
    with multiprocessing.get_context("fork").Pool(2) as pool:
        squares = pool.map(abs, range(4))
    facts = {
        "seen": " ".join(seen),
        "sum": sum(squares),
        "nice": os.nice(0),
        "processors": len(os.sched_getaffinity(0)),
    }
    return Outcome(alone(instance), details=facts)


@method("r-writes", family=FAMILY)
def writes(instance):
    (HERE / "asked").mkdir(exist_ok=True)
    (HERE / "asked" / "file").write_text("x")
    raise RuntimeError(errno.errorcode[errno.EPERM])
