"""What the kernel forbids a run: to write elsewhere, to touch other processes, to take memory that belongs to no process.

Nothing here needs privileges, and nothing is always there: each part is tried, and the row says which held (`Confinement.held`).
By plain system calls: Landlock (Linux 5.13; its scopes 6.12), seccomp filters on x86_64 and aarch64, and a mount namespace,
for users one with a user namespace, in which all but a few folders is read-only. Sources: the kernel's
`Documentation/userspace-api/landlock.rst` and `seccomp_filter.rst`, and `mount_setattr(2)`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedgap.bench.isolation.processes import c_library, die_with_parent

LANDLOCK, SCOPES, SECCOMP, MOUNTS = "landlock", "scopes", "seccomp", "mounts"
# Where a run may write beside its own folder, separated by colons.
MAY_WRITE = "SCHEDGAP_MAY_WRITE"
SHARED_MEMORY = Path("/dev/shm")

# Bits of Landlock's rights.
_WRITE_FILE, _TRUNCATE, _REFER, _ASK_DEVICES = 1 << 1, 1 << 14, 1 << 13, 1 << 15
_MAKE_DEVICES = 1 << 6 | 1 << 11
# Remove folders and files; make devices, folders, files, sockets, pipes and links.
_CHANGE_FOLDERS = sum(1 << bit for bit in range(4, 13))
_SCOPE_SOCKETS_AND_SIGNALS = 0b11
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_NEW_NAMESPACES = {"mnt": 0x00020000, "user": 0x10000000}
_MOUNT_SETATTR, _RECURSIVE, _HERE, _READ_ONLY = 442, 0x8000, -100, 1
_BIND, _PRIVATE, _BELOW = 0x1000, 1 << 18, 0x4000
_NO_NEW_PRIVILEGES, _SECCOMP_FILTER, _WITHOUT_SLOWING = 38, 1, 1 << 2
# Of root's rights, a run keeps those that open files as before: to own, read, write and search any.
_KEPT_RIGHTS = 0b11111


@dataclass(frozen=True, slots=True)
class _Machine:
    """Numbers of a kind of processor: `audit` as seccomp calls it, and of system calls."""

    audit: int
    seccomp: int
    # Memory that is in no process's pages, keys, calls in passing: refused as by a kernel that has none of that.
    absent: tuple[int, ...]
    # What reaches into other processes, or into the kernel.
    refused: tuple[int, ...]
    # The limits of another process: refused unless the argument of that place is the caller.
    own_only: tuple[tuple[int, int], ...]
    # Priority and processors of another process or thread: left as they are, and no error, since libraries ask for that.
    ignored: tuple[tuple[int, int], ...]


# memfd_create, memfd_secret, shmget, semget, msgget, mq_open, add_key, request_key, keyctl, io_uring_setup
# pidfd_getfd, process_vm_readv, process_vm_writev, process_madvise, ioprio_set, migrate_pages, move_pages, bpf
# prlimit64; sched_setaffinity, sched_setscheduler, sched_setparam, sched_setattr, setpriority (by which, by whom)
_MACHINES = {
    "x86_64": _Machine(
        0xC000003E,
        317,
        (319, 447, 29, 64, 68, 240, 248, 249, 250, 425),
        (438, 310, 311, 440, 251, 256, 279, 321),
        ((302, 0),),
        ((203, 0), (144, 0), (142, 0), (314, 0), (141, 0), (141, 1)),
    ),
    "aarch64": _Machine(
        0xC00000B7,
        277,
        (279, 447, 194, 190, 186, 180, 217, 218, 219, 425),
        (438, 270, 271, 440, 30, 238, 239, 280),
        ((261, 0),),
        ((122, 0), (119, 0), (118, 0), (274, 0), (140, 0), (140, 1)),
    ),
}


@dataclass(frozen=True, slots=True)
class Confinement:
    """How runs of one server are confined, which holds the namespaces and rules for all.

    folder : beneath which runs have theirs. held : what the kernel does, in words. namespaces : descriptors, in the order in
    which they are entered. rules : of Landlock.
    """

    folder: Path
    held: tuple[str, ...]
    namespaces: tuple[int, ...] = ()
    rules: int | None = None

    @classmethod
    def prepared(cls, folder: Path) -> Confinement:
        """Return what this machine can do. folder : beneath which runs have theirs; it is also what they see as /dev/shm."""
        named = filter(None, os.environ.get(MAY_WRITE, "").split(os.pathsep))
        allowed = tuple(Path(path).resolve() for path in named if os.path.exists(path))
        namespaces = _mounted(folder.resolve(), allowed)
        abi = _landlock_abi()
        held = {
            LANDLOCK: abi > 0,
            SCOPES: abi >= 6,
            SECCOMP: platform.machine() in _MACHINES and _can_filter(),
            MOUNTS: bool(namespaces),
        }
        writable = (folder, Path(os.devnull), *allowed, *(() if namespaces else (SHARED_MEMORY,)))
        rules = _rules(abi, writable) if abi else None
        return cls(folder, tuple(name for name, holds in held.items() if holds), namespaces, rules)

    def enter(self) -> None:
        """Confine this process, which has one thread, and all that it will start.

        Raises
        ------
        OSError
            if the kernel does not do what it did when this was prepared.
        """
        if self.namespaces:
            here = os.getcwd()
            for number in self.namespaces:
                _checked(c_library().setns(number, 0), "setns")
            # Entering a mount namespace is entering its root.
            os.chdir(here)
            # Entering a user namespace is a change of rights, which ends that.
            die_with_parent()
        _drop_rights()
        _checked(c_library().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "prctl")
        if self.rules is not None:
            _checked(c_library().syscall(_RESTRICT_SELF, self.rules, 0), "landlock_restrict_self")
        if SECCOMP in self.held:
            _filter(_MACHINES[platform.machine()])

    def close(self) -> None:
        """Let go of the namespaces and rules."""
        for number in (*self.namespaces, *(() if self.rules is None else (self.rules,))):
            os.close(number)


def _checked(result: int, call: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{call}: {os.strerror(code)}")
    return result


def _landlock_abi() -> int:
    """Return the version of Landlock here, 0 where there is none."""
    version: int = c_library().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    return max(0, version)


def _rules(abi: int, writable: Iterable[Path]) -> int:
    """Return the descriptor of rules: nothing but beneath these paths is changed, no process outside is signalled or traced."""
    later = ((_REFER, 2), (_TRUNCATE, 3), (_ASK_DEVICES, 5))
    handled = _WRITE_FILE | _CHANGE_FOLDERS | sum(right for right, since in later if abi >= since)
    scopes = _SCOPE_SOCKETS_AND_SIGNALS if abi >= 6 else 0
    # Older kernels know fewer fields, and refuse a longer structure.
    asked = struct.pack("QQQ", handled, 0, scopes)[: 8 if abi < 4 else 16 if abi < 6 else 24]
    call = c_library().syscall
    rules = _checked(call(_CREATE_RULESET, asked, ctypes.c_size_t(len(asked)), 0), "landlock_create_ruleset")
    for path in writable:
        with suppress(FileNotFoundError, PermissionError):
            beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
            is_folder = stat.S_ISDIR(os.fstat(beneath).st_mode)
            rights = handled & ~_MAKE_DEVICES & (handled if is_folder else _WRITE_FILE | _TRUNCATE | _ASK_DEVICES)
            _checked(call(_ADD_RULE, rules, 1, struct.pack("=Qi", rights, beneath), 0), "landlock_add_rule")
            os.close(beneath)
    return rules


def _drop_rights() -> None:
    """Give up root's rights, and those of a user namespace, but for files: over processes, mounts, limits and devices."""
    header, held = struct.pack("Ii", 0x20080522, 0), ctypes.create_string_buffer(24)
    _checked(c_library().capget(header, held), "capget")
    effective, permitted, *_ = struct.unpack("6I", held.raw)
    kept = struct.pack("6I", effective & _KEPT_RIGHTS, permitted & _KEPT_RIGHTS, 0, 0, 0, 0)
    _checked(c_library().capset(header, kept), "capset")


def _can_filter() -> bool:
    """Whether the kernel takes filters: with nothing to read one from, it says that, and not that it knows none."""
    machine = _MACHINES[platform.machine()]
    c_library().syscall(machine.seccomp, _SECCOMP_FILTER, _WITHOUT_SLOWING, None)
    return ctypes.get_errno() == errno.EFAULT


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _filter(machine: _Machine) -> None:
    """Refuse system calls from now on, by a program of classic BPF over `struct seccomp_data`."""
    program = _program(machine, os.getpid())
    given = _Filter(len(program) // 8, program)
    _checked(c_library().syscall(machine.seccomp, _SECCOMP_FILTER, _WITHOUT_SLOWING, ctypes.byref(given)), "seccomp")


def _program(machine: _Machine, pid: int) -> bytes:
    """Return the filter for a process: 8 bytes an instruction (code, jump if true, jump if false, number)."""

    def load(place: int) -> bytes:
        return struct.pack("HBBI", 0x20, 0, 0, place)

    def jump_unless(comparison: int, number: int, steps: int) -> bytes:
        return struct.pack("HBBI", comparison, 0, steps, number)

    def end(code: int | None) -> bytes:
        return struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000 if code is None else 0x00050000 | code)

    equal, at_least, number_at, machine_at, arguments_at = 0x15, 0x35, 0, 4, 16
    # Calls of another kind of processor, or of x32, have other numbers.
    parts = [load(machine_at), struct.pack("HBBI", equal, 1, 0, machine.audit), end(errno.ENOSYS), load(number_at)]
    if machine.audit == _MACHINES["x86_64"].audit:
        parts += [jump_unless(at_least, 0x40000000, 1), end(errno.ENOSYS)]
    for code, numbers in ((errno.ENOSYS, machine.absent), (errno.EPERM, machine.refused)):
        for number in numbers:
            parts += [jump_unless(equal, number, 1), end(code)]
    for code, calls in ((errno.EPERM, machine.own_only), (0, machine.ignored)):
        for number, argument in calls:
            whom = load(arguments_at + 8 * argument)
            itself = struct.pack("HBBI", equal, 2, 0, 0) + struct.pack("HBBI", equal, 1, 0, pid)
            parts += [jump_unless(equal, number, 5), whom, itself, end(code), load(number_at)]
    return b"".join([*parts, end(None)])


def _mounted(folder: Path, also: tuple[Path, ...]) -> tuple[int, ...]:
    """Return descriptors of namespaces in which these folders alone can be written; none where they cannot be had.

    Runs enter them: to make them takes 3 ms, most of it when the last process in them ends.
    """
    if folder.is_relative_to(SHARED_MEMORY):
        return ()
    for kinds in (("mnt",), ("user", "mnt")):
        ready, ready_in = os.pipe()
        done_in, done = os.pipe()
        pid = os.fork()
        if pid == 0:
            with suppress(BaseException):
                os.close(done)
                die_with_parent()
                _make_namespaces(kinds, folder, also)
                os.write(ready_in, b"!")
                os.read(done_in, 1)
            os._exit(0)
        os.close(ready_in)
        os.close(done_in)
        try:
            if os.read(ready, 1):
                return tuple(os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC) for kind in kinds)
        finally:
            os.close(ready)
            os.close(done)
            os.waitpid(pid, 0)
    return ()


def _make_namespaces(kinds: tuple[str, ...], folder: Path, also: tuple[Path, ...]) -> None:
    library, user, group = c_library(), os.geteuid(), os.getegid()
    _checked(library.unshare(sum(_NEW_NAMESPACES[kind] for kind in kinds)), "unshare")
    if "user" in kinds:
        # The same user and group inside, so that nothing else changes.
        for name, content in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            Path(f"/proc/self/{name}").write_text(content)
    _mount(None, Path("/"), _BELOW | _PRIVATE)
    # A folder before those in it, which it would hide.
    writable = sorted({folder, *also}, key=lambda path: len(path.parts))
    for path in writable:
        _mount(path, path, _BIND)
    _set_read_only(Path("/"), _RECURSIVE, is_read_only=True)
    for path in writable:
        _set_read_only(path, 0, is_read_only=False)
    # Files in memory are there in no process's pages: what asks for them gets plain files, which go with the run.
    _mount(folder, SHARED_MEMORY, _BIND)


def _mount(source: Path | None, target: Path, flags: int) -> None:
    named = None if source is None else os.fsencode(source)
    _checked(c_library().mount(named, os.fsencode(target), None, ctypes.c_ulong(flags), None), f"mount {target}")


def _set_read_only(path: Path, flags: int, *, is_read_only: bool) -> None:
    changes: Any = struct.pack("QQQQ", int(is_read_only), int(not is_read_only), 0, 0)
    _checked(
        c_library().syscall(_MOUNT_SETATTR, _HERE, os.fsencode(path), flags, changes, ctypes.c_size_t(len(changes))),
        f"mount_setattr {path}",
    )
