"""More methods of strangers: ways round what confines them, memory that nobody holds, and answers that are not what they seem.

As in `strangers.py`, `REACHES` are what only a confinement stops, and can be called without a harness.
"""

import ctypes
import faulthandler
import gc
import math
import mmap
import os
import signal
import sys
import termios
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

import schedgap.bench.isolation.answer as packing
import schedgap.bench.isolation.child as child
from schedgap.instances.method import Incumbent, Outcome, method
from schedgap.instances.provisioning import Provisioning

FAMILY = "provisioning"
PRECIOUS = Path(__file__).parent / "precious"
LIBRARY = ctypes.CDLL(None, use_errno=True)
BIG = 280 << 20
IS_PC = os.uname().machine == "x86_64"
CLONE, TGKILL, SIGQUEUE, HANDLE, OPEN_HANDLE = (56, 234, 129, 303, 304) if IS_PC else (220, 131, 138, 264, 265)
OPEN_TREE, MOVE_MOUNT, PIDFD_SETNS, CLONE_PARENT = 428, 429, 0x00020000, 0x8000


def alone(instance):
    """Every task on a machine of its own."""
    types = instance.reservation_type[instance.task_classes()]
    return Provisioning.from_tasks(instance, types, np.arange(instance.num_tasks))


def called(result):
    """The result of a system call, or its error."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def opened(path, flags=os.O_WRONLY):
    """Opening is enough to see that it may be changed."""
    os.close(os.open(path, flags))


def of_parent(name):
    return Path(f"/proc/{os.getppid()}/{name}")


def by_descriptor(act):
    """Change what was opened to be read."""
    number = os.open(PRECIOUS, os.O_RDONLY)
    try:
        act(number, os.fstat(number))
    finally:
        os.close(number)


def by_handle():
    """A file without its path, as who may read all files can open it."""
    handle, mount = ctypes.create_string_buffer(b"\x80\0\0\0", 136), ctypes.c_int()
    called(LIBRARY.syscall(HANDLE, -100, os.fsencode(PRECIOUS), handle, ctypes.byref(mount), 0))
    folder = os.open(PRECIOUS.parent, os.O_RDONLY)
    try:
        os.close(called(LIBRARY.syscall(OPEN_HANDLE, folder, handle, os.O_WRONLY)))
    finally:
        os.close(folder)


def other_tree():
    """The disk mounted once more, by calls that filters of old do not know."""
    tree = called(LIBRARY.syscall(OPEN_TREE, -100, b"/", 1))
    os.close(tree)


def spaces_of_parent():
    """In which all can be written."""
    called(LIBRARY.setns(os.pidfd_open(os.getppid()), PIDFD_SETNS))


def to_thread_of_parent():
    called(LIBRARY.syscall(TGKILL, os.getppid(), os.getppid(), signal.SIGCONT))


def queued_to_parent():
    told = ctypes.create_string_buffer(bytes([signal.SIGCONT, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]), 128)
    called(LIBRARY.syscall(SIGQUEUE, os.getppid(), signal.SIGCONT, told))


def hold_terminal():
    """Whatever is printed there would wait."""
    terminal = os.open(PRECIOUS.with_name("terminal").read_text(), os.O_RDONLY | os.O_NOCTTY)
    try:
        termios.tcflow(terminal, termios.TCOOFF)
        termios.tcflow(terminal, termios.TCOON)
        termios.tcflush(terminal, termios.TCIOFLUSH)
    except termios.error as error:
        raise OSError(*error.args) from None
    finally:
        os.close(terminal)


REACHES = {
    "doors": {
        "root": lambda: opened(of_parent("root" + str(PRECIOUS))),
        "folder": lambda: opened(of_parent("cwd/" + os.path.relpath(PRECIOUS))),
        "thread": lambda: opened(of_parent(f"task/{os.getppid()}/mem"), os.O_RDWR),
        "maps": lambda: of_parent("maps").read_text(),
        "dump": lambda: opened(of_parent("coredump_filter")),
        "pages": lambda: opened(of_parent("clear_refs")),
        "handle": by_handle,
        "tree": other_tree,
        "spaces": spaces_of_parent,
        "chroot": lambda: os.chroot("/"),
    },
    "by-descriptor": {
        "mode": lambda: by_descriptor(lambda number, known: os.fchmod(number, known.st_mode & 0o7777)),
        "owner": lambda: by_descriptor(lambda number, known: os.fchown(number, known.st_uid, known.st_gid)),
        "times": lambda: by_descriptor(
            lambda number, known: os.utime(number, ns=(known.st_atime_ns, known.st_mtime_ns))
        ),
        "attribute": lambda: by_descriptor(lambda number, known: os.setxattr(number, "user.stranger", b"")),
    },
    "signals": {"thread": to_thread_of_parent, "queue": queued_to_parent},
    "screen": {"hold": hold_terminal},
}


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


for _name, _tries in REACHES.items():
    method(f"i-{_name}", family=FAMILY)(reaching(_tries))


def intruder(function):
    """Register a method by the name of its function; on the small instance it is honest, and gives an answer if it has none."""

    def run(instance):
        if instance.num_tasks < 6:
            return alone(instance)
        answer = function(instance)
        return alone(instance) if answer is None else answer

    run.__doc__ = function.__doc__ or function.__name__
    method(f"i-{function.__name__.replace('_', '-')}", family=FAMILY)(run)
    return function


# Memory, and processes.


@intruder
def shared_and_left(instance):
    """Memory that children fill one after another, each within the limit; it is in no process once they are gone."""
    shared = mmap.mmap(-1, BIG)
    for first in range(0, BIG, BIG // 4):
        if os.fork() == 0:
            shared[first : first + BIG // 4 : 4096] = bytes(BIG // 4 // 4096)
            os._exit(0)
        os.wait()
    time.sleep(5)


@intruder
def full_and_stopped(instance):
    """A child that holds too much, and stands still."""
    if (pid := os.fork()) == 0:
        held = b"x" * BIG
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(len(held) % 2)
    os.waitpid(pid, os.WUNTRACED)
    time.sleep(5)


def sibling(work):
    """A process that is no child of this one, but of its parent."""
    if LIBRARY.syscall(CLONE, CLONE_PARENT | signal.SIGCHLD, 0, 0, 0, 0) == 0:
        with suppress(BaseException):
            work()
        os._exit(0)


@intruder
def siblings(instance):
    """Which would be there when this process has ended, deaf to whoever asks them to end."""
    for _ in range(3):
        sibling(lambda: (signal.signal(signal.SIGTERM, signal.SIG_IGN), time.sleep(1000)))


@intruder
def full_sibling(instance):
    told, tells = os.pipe()
    sibling(lambda: (b"x" * BIG, os.write(tells, b"!"), time.sleep(1000)))
    os.read(told, 1)
    time.sleep(5)


@intruder
def ends_that_do_nothing(instance):
    """Its process would go on as the server that it was forked from."""
    os._exit = lambda *_: None


@intruder
def no_way_out(instance):
    """The same, once its answer cannot be sent."""
    os._exit = lambda *_: None
    os.closerange(3, 64)


@intruder
def dump_later(instance):
    faulthandler.dump_traceback_later(0.05, exit=True)
    time.sleep(5)


@intruder
def exit_in_a_thread(instance):
    threading.Thread(target=lambda: os._exit(0)).start()
    time.sleep(5)


@intruder
def audited(instance):
    """A hook that cannot be taken away refuses all that Python asks for."""

    def refuse(event, arguments):
        raise RuntimeError(event)

    sys.addaudithook(refuse)


@intruder
def profiled(instance):
    def end(frame, event, argument):
        if event == "c_call" and argument.__name__ == "dumps":
            raise KeyboardInterrupt

    sys.setprofile(end)


@intruder
def hunts(instance):
    """All arrays that are there, emptied where they can be, but for its own answer's."""
    answer = alone(instance)
    own = [getattr(answer, name) for name in answer.__dataclass_fields__]
    for name in type(instance).__dataclass_fields__:
        if isinstance(value := getattr(instance, name), np.ndarray):
            with suppress(ValueError):
                value.setflags(write=True)
    for each in gc.get_objects():
        if isinstance(each, np.ndarray) and each.flags.writeable and not any(each is mine for mine in own):
            with suppress(Exception):
                each[...] = 0
    return answer


@intruder
def full_of_words(instance):
    """What terminals obey, on both streams, and an end that has them shown."""
    os.write(1, b"\x1b]0;owned\x07\x1b[2J\x1b[31m" + b"\0\xff" * 100)
    os.write(2, "\u202eowned\u009b2J\r\n<img src=x>\n".encode())
    raise RuntimeError("\x1b[2Jowned")


# Answers that are not what they seem.


def with_arrays(instance, change):
    """A right answer, each of its arrays another."""
    answer = alone(instance)
    for name in answer.__dataclass_fields__:
        value = getattr(answer, name)
        if isinstance(value, np.ndarray):
            object.__setattr__(answer, name, change(value))
    return answer


ARRAYS = {
    "other-end-first": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "backwards": lambda array: array[::-1].copy()[::-1],
    "without-end": lambda array: np.broadcast_to(array.ravel()[:1], 2**40),
    "true-or-false": lambda array: array.astype(bool),
    "halves": lambda array: array + 0.5,
    "not-a-number": lambda array: np.full(array.shape, math.nan),
    "no-sign": lambda array: (array - 1).astype(np.uint64),
    "dates": lambda array: array.astype("datetime64[s]"),
    "records": lambda array: array.astype([("x", np.int64)]),
    "no-shape": lambda array: np.array(array.sum()),
    "more-axes": lambda array: array.reshape(*array.shape, 1),
    "masked": lambda array: np.ma.masked_all_like(array),
    "nothing": lambda array: array[:0],
}


def of_arrays(change):
    return lambda instance: alone(instance) if instance.num_tasks < 6 else with_arrays(instance, change)


for _name, _change in ARRAYS.items():
    method(f"i-{_name}", family=FAMILY)(of_arrays(_change))


@intruder
def cut_off(instance):
    """Arrays in a file that is empty by the time that they are packed."""
    path = Path(os.environ["TMPDIR"], "arrays")
    path.write_bytes(bytes(1 << 20))
    held = np.memmap(path, np.int64, "r")
    os.truncate(path, 0)
    return with_arrays(instance, lambda array: held[: array.size].reshape(array.shape))


@intruder
def other_at_each_look(instance):
    """The first time it is right."""
    answer, looks = alone(instance), []
    right = {name: getattr(answer, name) for name in answer.__dataclass_fields__}

    def look(name):
        looks.append(name)
        return right[name] if looks.count(name) == 1 else right[name] * 0

    for name in right:
        setattr(Provisioning, name, property(lambda _, name=name: look(name)))
    return answer


@intruder
def equal_to_all(instance):
    """An outcome that says that it is one, and that all is equal to it."""

    class Equal:
        __class__ = Outcome
        __eq__ = __contains__ = lambda *_: True
        __hash__ = lambda self: 0  # noqa: E731
        __len__ = lambda self: 1  # noqa: E731

        def __getattr__(self, name):
            return self

    return Equal()


@intruder
def words_as_keys(instance):
    """Facts whose names cannot be told apart, or not be printed."""

    class Name(str):
        __hash__ = lambda self: 1  # noqa: E731
        __eq__ = lambda *_: False  # noqa: E731
        __str__ = __repr__ = __format__ = lambda *_: 1 / 0

    return Outcome(alone(instance), details={Name("name"): 1, Name("name"): True, "inf": -math.inf, "big": 2**4000})


@intruder
def too_many_facts(instance):
    return Outcome(alone(instance), details=dict.fromkeys(map(str, range(1500)), "x" * 100))


@intruder
def odd_points(instance):
    points = [Incumbent(elapsed, objective, None) for elapsed in (math.nan, -1.0, True) for objective in (True, 2**70)]
    return Outcome(alone(instance), trajectory=points * 1000)


@intruder
def of_the_small(instance):
    """The answer to another question, which is right there."""
    return alone(child.shrunk(child.find_family(FAMILY), instance))


@intruder
def packed_otherwise(instance):
    """The header tells of arrays that overlap, and of more than there is."""
    packs = packing.pack

    def pack(*given):
        body = packs(*given)
        return body[:-64] + body[-32:]

    child.pack = pack
