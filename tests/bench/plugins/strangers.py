"""Methods as a stranger may send them; each ends as one right row, and leaves nothing that others could notice.

`REACHES` are what only a confinement stops: functions that raise OSError where they are refused. They can be called without a
harness, too (`unconfined.py`), where each of them must do what it is after. The others are methods of any kind.
"""

import asyncio
import atexit
import builtins
import ctypes
import decimal
import fcntl
import fractions
import gc
import json
import locale
import os
import pickle
import resource
import select
import signal
import socket
import struct
import sys
import tempfile
import termios
import threading
import time
import weakref
from contextlib import suppress
from pathlib import Path

import numpy as np

import schedgap.bench.isolation.answer as packing
import schedgap.bench.isolation.child as child
import schedgap.instances.provisioning as problems
from schedgap.instances.errors import MethodError
from schedgap.instances.family import FAMILIES
from schedgap.instances.method import Incumbent, Outcome, method
from schedgap.instances.provisioning import Provisioning

FAMILY = "provisioning"
HERE = Path(__file__).parent
PRECIOUS = HERE / "precious"
LIBRARY = ctypes.CDLL(None, use_errno=True)
BIG = 300 << 20
PERF_EVENT_OPEN, BPF = {"x86_64": (298, 321), "aarch64": (241, 280)}.get(os.uname().machine, (-1, -1))
IO_URING_SETUP, NEW_USER, NEW_PROCESSES, NEW_TIME = 425, 0x10000000, 0x20000000, 0x80
SUBREAPER, NAME, DUMPABLE = 36, 15, 4


def alone(instance):
    """Every task on a machine of its own."""
    types = instance.reservation_type[instance.task_classes()]
    return Provisioning.from_tasks(instance, types, np.arange(instance.num_tasks))


def called(result):
    """The result of a system call, or its error."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def temporary(name):
    return Path(os.environ["TMPDIR"], name)


def opened(path, flags=os.O_WRONLY):
    """Opening is enough to see that it may be changed."""
    os.close(os.open(path, flags))


def reaching(tries):
    """A method that does all of this, and tells which of it was not refused."""

    def run(instance):
        got = []
        for name, each in tries.items():
            with suppress(OSError):
                each()
                got.append(name)
        return Outcome(alone(instance), details={"got": " ".join(got)})

    return run


def signal_by_socket(number):
    """The kernel signals whoever is said to own a socket when something arrives there."""
    parent, (ours, theirs) = os.getppid(), socket.socketpair()
    with ours, theirs:
        fcntl.fcntl(ours, fcntl.F_SETSIG, number)
        fcntl.fcntl(ours, fcntl.F_SETOWN, parent)
        fcntl.fcntl(ours, fcntl.F_SETFL, fcntl.fcntl(ours, fcntl.F_GETFL) | os.O_ASYNC | os.O_NONBLOCK)
        theirs.send(b"!")
        time.sleep(0.1)
    if os.getppid() == parent:
        raise PermissionError


def silence_terminal():
    """What is typed is not shown any more: settings can be changed where only reading is allowed."""
    terminal = os.open(PRECIOUS.with_name("terminal").read_text(), os.O_RDONLY | os.O_NOCTTY)
    try:
        settings = termios.tcgetattr(terminal)
        settings[3] &= ~termios.ECHO
        termios.tcsetattr(terminal, termios.TCSANOW, settings)
    except termios.error as error:
        raise OSError(*error.args) from None
    finally:
        os.close(terminal)


def ring():
    called(LIBRARY.syscall(IO_URING_SETUP, 8, ctypes.create_string_buffer(120)))


def count_of_parent():
    """Its processor's events, which tell what it does."""
    asked = struct.pack("IIQ24xQ64x", 1, 112, 1, 0)
    called(LIBRARY.syscall(PERF_EVENT_OPEN, asked, os.getppid(), -1, -1, ctypes.c_ulong(8)))


def kernel_program():
    called(LIBRARY.syscall(BPF, 0, ctypes.create_string_buffer(struct.pack("4I", 2, 4, 4, 1), 128), 128))


def poison(module):
    """The compiled form of a module of ours, that whoever imports it next would load."""
    path = Path(sys.modules[module].__cached__)
    opened(path if path.exists() else sys.modules[module].__file__)


def next_to_interpreter(name):
    """Whatever Python starts next would run it."""
    path = Path(json.__file__).parent / name
    with path.open("x"):
        path.unlink()


def rename_machine():
    """By the name that it has."""
    name = os.uname().nodename.encode()
    called(LIBRARY.sethostname(name, len(name)))


def set_clock():
    """To what it says."""
    time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME))


def hurry():
    os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) - 1)
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def control_group():
    groups = next(Path("/sys/fs/cgroup").rglob("cgroup.procs"))
    opened(groups)


REACHES = {
    "owner": {"end": lambda: signal_by_socket(signal.SIGTERM)},
    "terminal": {"echo": silence_terminal},
    "kernel": {"ring": ring, "program": kernel_program, "events": count_of_parent},
    "imports": {
        "compiled": lambda: poison("schedgap.instances.errors"),
        "source": lambda: opened(child.__file__),
        "path": lambda: next_to_interpreter("sitecustomize.py"),
        "start": lambda: next_to_interpreter("stranger.pth"),
        "numbers": lambda: opened(np.__file__),
    },
    "machine": {
        "cores": lambda: opened("/proc/sys/kernel/core_pattern"),
        "log": lambda: opened("/dev/kmsg"),
        "name": rename_machine,
        "clock": set_clock,
        "hurry": hurry,
        "groups": control_group,
    },
    "pipes": {
        "fifo": lambda: opened(PRECIOUS.with_name("fifo"), os.O_WRONLY | os.O_NONBLOCK),
        "socket": lambda: os.mknod(PRECIOUS.with_name("left-socket"), 0o140600),
        "exchange": lambda: called(
            LIBRARY.syscall(
                316 if os.uname().machine == "x86_64" else 276,
                -100,
                os.fsencode(PRECIOUS),
                -100,
                os.fsencode(PRECIOUS.with_name("terminal")),
                2,
            )
        ),
    },
}
for _name, _tries in REACHES.items():
    method(f"s-{_name}", family=FAMILY)(reaching(_tries))


def stranger(function):
    """Register a method by the name of its function; on the small instance it is honest, and gives an answer if it has none."""

    def run(instance):
        if instance.num_tasks < 6:
            return alone(instance)
        answer = function(instance)
        return alone(instance) if answer is None else answer

    run.__doc__ = function.__doc__ or function.__name__
    method(f"s-{function.__name__.replace('_', '-')}", family=FAMILY)(run)
    return function


def pipe_of_answer():
    for number in range(3, 64):
        with suppress(OSError):
            if os.readlink(f"/proc/self/fd/{number}").startswith("socket:"):
                return socket.socket(fileno=os.dup(number))
    raise AssertionError("no socket")


def fork_and_leave(work):
    """In a process that nobody is the parent of."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            with suppress(BaseException):
                work()
        os._exit(0)
    os.wait()


# What is said of the answer, and when.


@stranger
def out_of_band(instance):
    """A byte beside the stream."""
    pipe_of_answer().send(b"!", socket.MSG_OOB)


@stranger
def sends_descriptors(instance):
    """Descriptors of its own, for the supervisor to keep."""
    body = packing.pack_solution(alone(instance))
    frame = memoryview(b"F" + len(body).to_bytes(8, "little") + body)
    with open(os.devnull) as nothing, pipe_of_answer() as pipe:
        while frame:
            frame = frame[socket.send_fds(pipe, [frame[:16]], [nothing.fileno()] * 20) :]


@stranger
def shuts_the_pipe(instance):
    pipe_of_answer().shutdown(socket.SHUT_RDWR)


@stranger
def half_a_frame(instance):
    pipe_of_answer().sendall(b"D" + (100).to_bytes(8, "little") + b"{")
    os._exit(0)


@stranger
def flood_of_frames(instance):
    """Solutions that are none, as fast as they can be written, before the right one."""
    frames, pipe = (b"F" + (3).to_bytes(8, "little") + b"{}!") * 20_000, pipe_of_answer()
    pipe.sendall(frames)


@stranger
def answers_twice_in_a_thread(instance):
    """A thread that goes on after the call is over, and answers as well."""
    body = packing.pack(packing.Failure(status="error", reason="forged"))
    frame = b"D" + len(body).to_bytes(8, "little") + body
    pipe = pipe_of_answer()
    packs = child.pack

    def late(*given):
        pipe.sendall(frame)
        return packs(*given)

    child.pack = late


@stranger
def thread_without_end(instance):
    threading.Thread(target=time.sleep, args=(1000,)).start()


@stranger
def leaves_a_child_with_the_pipe(instance):
    """Which writes into it once its parent is gone."""
    ours, pipe = os.getpid(), pipe_of_answer()

    def work():
        while Path(f"/proc/{ours}").exists():
            time.sleep(0.001)
        while True:
            pipe.send(b"garbage")

    fork_and_leave(work)


@method("s-tells-afterwards", family=FAMILY)
def tells_afterwards(instance, *, found):
    """Of a solution that it returned none of, in a thread, once its call is over."""

    def late(found):
        while not found._is_closed:
            time.sleep(0.0001)
        found(alone(instance))

    threading.Thread(target=late, args=(found,), daemon=True).start()


@stranger
def handlers_at_the_end(instance):
    """Whatever runs when a process ends: functions, finalisers, timers."""

    class Late:
        def __del__(self):
            time.sleep(1000)

    atexit.register(time.sleep, 1000)
    builtins.kept = [Late(), weakref.finalize(alone, time.sleep, 1000)]


# What is handed over.


class Whole(int):
    """A number that says what it likes of itself."""

    def bit_length(self):
        return 1

    def __index__(self):
        return 7

    def __lt__(self, other):
        return True


class Lying(np.ndarray):
    """An array that turns into another when it is sent."""

    def astype(self, *given, **more):
        return np.zeros(1 << 20, np.int64)

    def tobytes(self, *given, **more):
        return b"x" * 8


@method("s-odd-whole", family=FAMILY, bounds=True)
def odd_whole(instance):
    return Outcome(alone(instance), bound=Whole(2**200))


@method("s-true-as-bound", family=FAMILY, bounds=True)
def true_as_bound(instance):
    return Outcome(alone(instance), bound=np.array([7, 8]))


@stranger
def lying_array(instance):
    answer = alone(instance)
    object.__setattr__(answer, "count", answer.count.view(Lying))
    return answer


@stranger
def array_of_objects(instance):
    answer = alone(instance)
    object.__setattr__(answer, "count", np.array([Boom()] * len(answer.count)))
    return answer


@stranger
def negative_and_huge(instance):
    answer = alone(instance)
    object.__setattr__(answer, "repeat", np.full(len(answer.repeat), np.iinfo(np.int64).min))
    return answer


class Boom:
    """Runs where it is unpickled, or printed."""

    def __reduce__(self):
        return os.system, (f"touch {PRECIOUS.with_name('boom')}",)


@stranger
def pickle_in_details(instance):
    details = {"boom": Boom(), "bytes": pickle.dumps(Boom())}
    return Outcome(alone(instance), details=details, certificate={"bound": 1, "proof": pickle.dumps(Boom()).hex()})


@stranger
def generator(instance):
    return (alone(instance) for _ in range(3))


@stranger
def coroutine(instance):
    return asyncio.sleep(0, alone(instance))


@stranger
def own_class_of_outcome(instance):
    class Mine(Outcome):
        @property
        def claimed_status(self):
            return "optimal"

    return Mine(alone(instance), details={"status": "optimal", "objective": 1})


@stranger
def numbers_without_measure(instance):
    details = {
        "whole": 10**400,
        "long": np.longdouble("1e4000"),
        "exact": decimal.Decimal("NaN"),
        "part": fractions.Fraction(1, 3),
    }
    points = tuple(Incumbent(float("inf"), 2**80, -(2**80)) for _ in range(3))
    return Outcome(alone(instance), details=details, trajectory=points)


@stranger
def names_of_columns(instance):
    """Facts by the names of figures, and text that means something to a terminal, a browser and a pull request."""
    evil = "\x1b]0;evil\x07\x1b[2J<img src=x onerror=alert(1)>|@everyone\n# title\r\u202e"
    return Outcome(alone(instance), details={"objective": 1, "wall_s": 1e-9, evil: evil, "=cmd|' /C calc'!A0": "=1+1"})


@stranger
def words_for_terminals(instance):
    raise ValueError("\x1b]0;evil\x07\x1b[2J<img src=x onerror=alert(1)> | @everyone\n::error::evil\u202e")


@stranger
def half_letters(instance):
    os.write(1, b"\xff\xfe\x00\x1b[31m" * 1000)
    raise ValueError("\udcff\x00" + "x" * 10**7)


# What is raised.


@stranger
def text_without_end(instance):
    class Endless(Exception):
        def __str__(self):
            while True:
                time.sleep(1)

    raise Endless


@stranger
def text_that_exits(instance):
    class Exiting(Exception):
        def __str__(self):
            raise SystemExit(0)

    raise Exiting


@stranger
def not_even_an_exception(instance):
    class Strange(BaseException):
        pass

    raise Strange


@stranger
def keyboard(instance):
    raise KeyboardInterrupt


@stranger
def deep(instance):
    sys.setrecursionlimit(10**9)

    def deeper(held):
        return repr([deeper([held])])

    deeper([])


@stranger
def claims_to_be_the_harness(instance):
    raise MethodError("journal.jsonl cannot be written; delete it and start again")


# What is changed in its own process.


@stranger
def traced(instance):
    """A trace function that ends the process's own frames."""

    def trace(frame, event, argument):
        if frame.f_code.co_name == "_packed":
            raise SystemExit(0)
        return trace

    sys.settrace(trace)


@stranger
def collected(instance):
    """Whenever garbage is collected, which is all the time, something is raised."""
    gc.callbacks.append(lambda *_: sys.exit(1))
    gc.set_threshold(1)


@stranger
def other_units(instance):
    """Whoever judges here judges by other measures; nobody does."""
    problems.verify = problems.objective = lambda *_: 1
    FAMILIES.clear()
    np.sum = lambda *_, **__: 0
    json.loads = pickle.loads = None


@stranger
def other_json(instance):
    json.dumps = lambda *_, **__: '{"said":'


@stranger
def in_place(instance):
    """Prices that are locked, in the memory where they are."""
    ctypes.memset(instance.price.ctypes.data, 0, 8)


@stranger
def in_place_and_denied(instance):
    """The same, and nothing is said of it; what it costs is known elsewhere."""
    answer, frame = alone(instance), sys._getframe()
    while "before" not in frame.f_locals:
        frame = frame.f_back
    child.fingerprint = lambda _, before=frame.f_locals["before"]: before
    ctypes.memset(instance.price.ctypes.data, 0, instance.price.nbytes)
    return answer


@stranger
def other_time(instance):
    """A child in which the machine was started at another time, and a clock that stands still."""
    with suppress(OSError):
        called(LIBRARY.unshare(NEW_USER | NEW_TIME))
        Path("/proc/self/timens_offsets").write_text("monotonic 100000 0\n")
    if os.fork() == 0:
        time.sleep(0.5)
        os._exit(0)
    os.wait()
    now = time.perf_counter()
    child.perf_counter = lambda: now


@stranger
def surroundings(instance):
    """All that a process hands down, left as nobody wants it."""
    os.umask(0o777)
    os.environ.clear()
    os.environ.update(TMPDIR="/", PYTHONPATH="/", LD_PRELOAD="evil.so", NUMBA_DISABLE_JIT="1")
    os.chdir("/")
    locale.setlocale(locale.LC_ALL, "C")
    sys.path.insert(0, str(HERE))
    os.nice(19)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    for kind in (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_STACK):
        resource.setrlimit(kind, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE))
    tempfile.tempdir = "/"


@stranger
def alarms(instance):
    """Timers that end what comes after the call."""
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    time.sleep(1)


# What it uses, and leaves.


@stranger
def descriptors(instance):
    """So many that whoever looks through them does nothing else."""
    with open(os.devnull) as nothing:
        for _ in range(200_000):
            os.dup(nothing.fileno())
    for _ in range(20):
        if os.fork() == 0:
            time.sleep(1000)
    time.sleep(1000)


@stranger
def threads(instance):
    threading.stack_size(1 << 16)
    for _ in range(5000):
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    time.sleep(1000)


@stranger
def undumpable(instance):
    """Memory in a process whose books are closed."""
    fork_and_leave(fill)
    time.sleep(20)


def fill():
    LIBRARY.prctl(DUMPABLE, 0, 0, 0, 0)
    held = np.ones(BIG, np.int8)
    time.sleep(1000)
    return held


@stranger
def undead(instance):
    """Children that nobody buries."""
    for _ in range(20):
        if os.fork() == 0:
            os._exit(0)


@stranger
def chase(instance):
    """Each forks the next and is gone, for half a minute: what is listed is not there any more when it is killed."""
    until = time.monotonic() + 30

    def run():
        LIBRARY.prctl(NAME, b"stranger-chase", 0, 0, 0)
        while time.monotonic() < until:
            if os.fork() != 0:
                os._exit(0)
            os.setsid()

    for _ in range(3):
        fork_and_leave(run)


@stranger
def names_of_processes(instance):
    """That read like the end of the kernel's line."""
    for name in (b") R 1 1 1 1", b"a\nb", b"((", b"\xff\xfe"):
        fork_and_leave(lambda name=name: (LIBRARY.prctl(NAME, name, 0, 0, 0), time.sleep(1000)))


@stranger
def own_reaper(instance):
    """Orphans go to a process in between, and not to the supervisor; a namespace hides the next."""

    def between():
        LIBRARY.prctl(SUBREAPER, 1, 0, 0, 0)
        with suppress(OSError):
            called(LIBRARY.unshare(NEW_USER | NEW_PROCESSES))
        fork_and_leave(lambda: (LIBRARY.prctl(NAME, b"stranger-reaped", 0, 0, 0), time.sleep(1000)))
        time.sleep(1000)

    fork_and_leave(between)


@stranger
def traps_everything(instance):
    """Each process traces the next, which cannot be waited for by others."""
    if os.fork() == 0:
        LIBRARY.ptrace(0, 0, None, None)
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(1000)


@stranger
def port(instance):
    """A service that others find there afterwards."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        number = server.getsockname()[1]
        fork_and_leave(lambda: (server.listen(), time.sleep(1000)))
    return Outcome(alone(instance), details={"port": number})


@stranger
def sparse(instance):
    """A file of 1 TiB in which nothing is."""
    with temporary("sparse").open("wb") as file:
        file.truncate(1 << 40)
    time.sleep(1.3)


@stranger
def hard_links(instance):
    """One file by twenty names takes its room once."""
    with temporary("0").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, 60 << 20)
    for number in range(1, 20):
        os.link(temporary("0"), temporary(str(number)))
    time.sleep(1.3)


@stranger
def too_deep(instance):
    """A large file whose path is longer than the system takes."""
    os.chdir(os.environ["TMPDIR"])
    for _ in range(20):
        os.mkdir("d" * 250)
        os.chdir("d" * 250)
    with open("large", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, BIG)
    time.sleep(20)


@stranger
def without_name(instance):
    """A file that is in no folder any more."""
    with tempfile.TemporaryFile(dir=os.environ["TMPDIR"]) as file:
        os.posix_fallocate(file.fileno(), 0, BIG)
        time.sleep(20)


@stranger
def locked_folders(instance):
    """Pipes, sockets and folders that nobody may enter."""
    folder = temporary("x" * 255)
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    os.mknod(folder / "socket", 0o140600)
    os.symlink("symlink", folder / "symlink")
    (folder / "\udcff\n\x1b").mkdir()
    folder.chmod(0)


@stranger
def watches(instance):
    """Everything that is told of changes, on what all read."""
    watcher = LIBRARY.inotify_init1(0)
    for path in (HERE, *sys.path, "/tmp", "/proc/self"):
        LIBRARY.inotify_add_watch(watcher, os.fsencode(path), 0xFFF)
    for _ in range(1000):
        select.epoll()


@stranger
def locks(instance):
    """What the harness may want to have for itself; for as long as it lives."""
    for path in (HERE / "out" / "journal.jsonl", HERE / "out" / "plan.json", PRECIOUS):
        with suppress(OSError):
            number = os.open(path, os.O_RDONLY)
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.fcntl(number, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    fork_and_leave(lambda: time.sleep(1000))


@stranger
def core(instance):
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    os.chdir(os.environ["TMPDIR"])
    os.abort()


@method("s-honest", family=FAMILY)
def honest(instance):
    """What it finds around itself, which nobody else's doing changes."""
    mask = os.umask(0)
    os.umask(mask)
    return Outcome(
        alone(instance),
        details={
            "mask": mask,
            "folder": os.getcwd(),
            "variables": len(os.environ),
            "nice": os.nice(0),
            "policy": os.sched_getscheduler(0),
            "processors": len(os.sched_getaffinity(0)),
            "descriptors": sum(1 for _ in os.scandir("/proc/self/fd")),
            "there": " ".join(os.listdir(os.environ["TMPDIR"])),
        },
    )
