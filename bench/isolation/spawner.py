"""Imports this package once and forks servers, for one pool after another; `python -m ...isolation.spawner FD LEDGER`.

It starts fresh, not by forking the harness, which has threads; it stays single-threaded, so forking it is safe. It never
imports a plug-in, nor do the servers: one forks a confined child a run and watches it, or judges answers.
"""

from __future__ import annotations

import gc
import os
import pickle
import select
import signal
import socket
import socket as sockets
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil
from msgspec import structs

from schedgap.bench.isolation.answer import pack
from schedgap.bench.isolation.child import caller, instance_from, measured, shrunk, supervised, warm_up
from schedgap.bench.isolation.clocks import Allowance, reference_s
from schedgap.bench.isolation.confinement import Confinement
from schedgap.bench.isolation.judge import judged
from schedgap.bench.isolation.messages import (
    END_S,
    FORK,
    FREE,
    KEEP_BYTES,
    LENGTH,
    Answered,
    Cause,
    Describe,
    Described,
    Ending,
    Judge,
    Question,
    Refusal,
    Request,
    WarmedUp,
    WarmUp,
    loaded,
    packed,
)
from schedgap.bench.isolation.processes import ProcessorClock, adopt_orphans, end_strangers
from schedgap.bench.isolation.runexec import run_in_container
from schedgap.bench.isolation.scratch import Scratch, sweep
from schedgap.bench.isolation.supervise import HarnessGoneError
from schedgap.bench.plugins.discover import described, installed_plugins, load_methods
from schedgap.bench.programs import exchange
from schedgap.bench.records.runs import RUNEXEC, Limits
from schedgap.instances import compiled_cache
from schedgap.instances.compiled_cache import LEDGER, adopt
from schedgap.instances.errors import ExecutorError, SchedgapError
from schedgap.instances.family import find_family
from schedgap.instances.jit import own_cache, prepare
from schedgap.instances.method import find_method

# What a method is told when it is warmed up: one that searches as long as it may does so on a small instance too.
WARM_UP_S = 5.0


# As this process started, in the spawner: a run can change them in its parent.
_PROCESSORS, _NICE = os.sched_getaffinity(0), os.getpriority(os.PRIO_PROCESS, 0)


def serve(socket: sockets.socket) -> None:
    """Answer requests until the harness hangs up."""
    adopt_orphans()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    server = Server(socket)
    try:
        _send(socket, b"")
        while True:
            question, instance = _received(socket)
            _send(socket, packed(server.answer(question, instance)))
            server.clear()
    except (EOFError, OSError, HarnessGoneError):
        return
    finally:
        server.close()


def _received(socket: sockets.socket) -> tuple[Question, int | None]:
    """Return the next question and the descriptor of its instance, if it has one."""
    head, fds, _, _ = sockets.recv_fds(socket, LENGTH.size, 1, sockets.MSG_WAITALL)
    if len(head) < LENGTH.size:
        raise EOFError
    body = socket.recv(LENGTH.unpack(head)[0], sockets.MSG_WAITALL)
    return pickle.loads(body), fds[0] if fds else None


def _send(socket: sockets.socket, body: bytes) -> None:
    socket.sendall(LENGTH.pack(len(body)) + body)


class Server:
    """Holds the instance of the last request.

    Where it runs methods of this package, so that the children of a series of runs inherit it without copying. Where it runs
    those of others, as a file that it does not read: a run gets it when its time begins.
    """

    def __init__(self, socket: sockets.socket) -> None:
        self._socket = socket
        # Of this server alone: what it confines sees no other's.
        self._scratch: Scratch | None = None
        self._confinement: Confinement | None = None
        self._processors = ProcessorClock()
        self._given: int | None = None
        self._instance: Any = None
        # Families whose files this process is ready to write and read.
        self._prepared: set[str] = set()

    def answer(self, question: Question, instance: int | None = None) -> Answered:
        """Do what is asked. instance : descriptor of its pickle; None for the one that is here."""
        with suppress(OSError):
            os.sched_setaffinity(0, _PROCESSORS)
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, _NICE)
        if isinstance(question, Describe):
            return self._describe(question)
        request = question if isinstance(question, Request) else question.request
        is_kept = True
        if instance is not None:
            self._forget()
            self._given, is_kept = instance, os.fstat(instance).st_size <= KEEP_BYTES
        try:
            match question:
                case WarmUp():
                    return self._warm(request)
                case Judge():
                    return judged(request, self._held(), question.ending)
            return self._run(request)
        finally:
            if not is_kept:
                self._forget()

    def clear(self) -> None:
        """Delete what the last run left in its folder, and beside it, where its shared memory was; nobody waits for it."""
        if self._scratch is not None:
            self._scratch.clear()

    def close(self) -> None:
        """Let go of all."""
        self._forget()
        if self._scratch is not None:
            self._scratch.remove()

    def _forget(self) -> None:
        if self._given is not None:
            os.close(self._given)
        self._given = self._instance = None

    def _held(self) -> Any:
        if self._given is not None:
            instance = loaded(self._given)
            self._forget()
            self._instance = instance
        return self._instance

    def _folder(self) -> Path:
        """Return a new folder for one run."""
        if self._scratch is None:
            self._scratch = Scratch()
        return self._scratch.fresh()

    def _warm(self, request: Request) -> WarmedUp:
        """Warm up a method of this package; if it takes longer than its limit, that ends this process."""
        method, small = find_method(request.family, request.method), shrunk(find_family(request.family), self._held())
        limits = request.limits
        brief = structs.replace(limits, time_limit_s=min(limits.time_limit_s, WARM_UP_S))
        call = caller(method, replace(request, limits=brief))
        seconds, again_s = (warm_up(call, small, limits.wall_s) for _ in range(2))
        # Nothing of what is alive now will be collected in the children, so their pages stay shared.
        gc.collect()
        gc.freeze()
        return WarmedUp(seconds, again_s, psutil.Process().num_threads())

    def _run(self, request: Request) -> Ending | Refusal:
        # Before anything of the run is there that could slow this process down.
        here_s, scratch = reference_s(), self._folder()
        try:
            ending = self._ended(request, scratch)
        except ExecutorError as error:
            return Refusal(str(error))
        finally:
            adopt(scratch, request.code, is_foreign=request.is_plugin)
        ending.reference_s = here_s
        return ending

    def _ended(self, request: Request, scratch: Path) -> Ending:
        harness = self._socket.fileno()
        if request.isolation == RUNEXEC:
            assert self._given is not None
            return run_in_container(request, self._given, scratch, harness)
        if request.program is not None and request.family not in self._prepared and request.small is not None:
            exchange.prepare(find_family(request.family), pickle.loads(request.small))
            self._prepared.add(request.family)
        given = self._given if request.is_plugin else None
        instance = self._held() if given is None else None

        def work(answers: int) -> bytes:
            own_cache(scratch, request.code)
            taken: Callable[[], Any] = (lambda: instance) if given is None else partial(instance_from, answers)
            return measured(request, taken, answers)

        # For the run, which cannot read it.
        LEDGER.learn()
        return supervised(
            work,
            pack,
            request.limits,
            harness,
            scratch,
            request.allowance,
            self._processors,
            self._confined(scratch.parent) if request.is_plugin else None,
            instance=given,
            is_foreign=request.is_foreign,
            limits_addresses=request.program is None,
        )

    def _describe(self, question: Describe) -> Described:
        limits = Limits(wall_s=question.limit_s)
        scratch = self._folder()
        LEDGER.learn()

        def work(_: int) -> bytes:
            own_cache(scratch, None)
            return described(question.plugins)

        ending = supervised(
            work,
            lambda failure: b"",
            limits,
            self._socket.fileno(),
            scratch,
            Allowance(restarts=0, compile_s=0.0),
            self._processors,
            self._confined(scratch.parent),
        )
        if ending.answer:
            return Described(ending.answer)
        if ending.cause is Cause.WALL:
            return Described(None, f"importing took more than {question.limit_s:g} s")
        if ending.cause is Cause.MEMORY:
            return Described(None, f"importing took more than {limits.memory_mib} MiB of memory")
        printed = ending.output.decode(errors="replace").strip().splitlines()
        return Described(None, printed[-1] if printed else f"its process ended with code {ending.exit_code}")

    def _confined(self, folder: Path) -> Confinement:
        """Return how code of others is confined; our own methods fill the cache of compiled code."""
        if self._confinement is None or self._confinement.folder != folder:
            if self._confinement is not None:
                self._confinement.close()
            self._confinement = Confinement.prepared(folder)
        return self._confinement


def main(fd: int, ledger: int) -> None:
    """Load methods as told, then fork a server for each socket that arrives, until nobody is there."""
    compiled_cache.follow(ledger)
    with Connection(os.dup(fd)) as connection:
        # Collecting garbage while modules are imported finds none and takes a tenth of the time.
        gc.disable()
        try:
            load_methods(connection.recv())
            prepare()
            installed_plugins()
        except SchedgapError as error:
            connection.send_bytes(str(error).encode())
            return
        except BaseException:
            connection.send_bytes(traceback.format_exc().encode())
            return
        # Collections in the servers then leave alone all that is here, and the pages stay shared.
        gc.freeze()
        gc.enable()
        connection.send_bytes(b"")
    sweep()
    # Servers are ended by the harness hanging up; what one that was killed leaves comes here.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    adopt_orphans()
    with socket.socket(fileno=fd) as requests:
        while _fork_servers(requests):
            requests.send(FREE)


def _fork_servers(requests: socket.socket) -> bool:
    """Fork servers for one pool, and see to the end of all; False if there will be no other pool."""
    # By the descriptor that tells of their end.
    servers: dict[int, int] = {}
    poller = select.poll()
    poller.register(requests, select.POLLIN)
    while True:
        events = [ready for ready, _ in poller.poll()]
        for ended in servers.keys() & events:
            poller.unregister(ended)
            os.close(ended)
            del servers[ended]
            end_strangers(servers.values())
        if requests.fileno() not in events:
            continue
        message, fds, _, _ = socket.recv_fds(requests, 1, 1)
        if message != FORK:
            _wait_for(servers)
            sweep()
            return message == FREE
        pid = os.fork()
        if pid == 0:
            requests.close()
            for each in servers:
                os.close(each)
            # The folder for temporary files that was found for an earlier pool may be gone.
            tempfile.tempdir = None
            try:
                serve(socket.socket(fileno=fds[0]))
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0)
        os.close(fds[0])
        watched = os.pidfd_open(pid)
        servers[watched] = pid
        poller.register(watched, select.POLLIN)


def _wait_for(servers: dict[int, int]) -> None:
    """Let the servers end what they run, which the harness has told them to; what is left then is killed."""
    deadline = time.monotonic() + END_S
    for server in servers:
        poller = select.poll()
        poller.register(server, select.POLLIN)
        poller.poll(max(0.0, deadline - time.monotonic()) * 1000)
        os.close(server)
    end_strangers(())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
