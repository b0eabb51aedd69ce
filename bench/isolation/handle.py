"""One warm server, as the harness sees it: start it, ask it, hang up on it, never wait for it without end."""

from __future__ import annotations

import os
import select
import signal
import socket as sockets
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import psutil

from schedgap.bench.isolation.messages import END_S, KEEP_BYTES, Describe, Judge, Request, WarmUp

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    Question = Request | WarmUp | Judge | Describe


LOOK_EVERY_S = 1.0


class Warmth(StrEnum):
    """Where a method is warmed up: in the server, once; in each child; or nowhere, since warming it up failed."""

    PARENT = "parent"
    CHILD = "child"
    NONE = "none"


class ServerLostError(Exception):
    """A server died or stopped answering."""


@dataclass(eq=False)
class ServerHandle:
    """One server, as seen from here.

    pid : also the parent of all that its run starts; 0 before `greet`.
    holds : digest of the instance that it has.
    touch : children of this warm server call the method on the small instance once more, untimed: the first call after
    a fork pays for copying pages, which for the quickest methods is several times the call itself.
    """

    socket: sockets.socket
    connection: Connection
    pid: int = 0
    warm_s: float | None = None
    touch: bool = False
    holds: str = ""

    def greet(self, spawner: int, patience_s: float) -> None:
        """Wait until the server is there and says its `pid`. spawner : process that forks it.

        Raises
        ------
        ServerLostError
            if it does not within the patience.
        """
        deadline = time.monotonic() + patience_s
        try:
            while time.monotonic() < deadline:
                if self.connection.poll(min(LOOK_EVERY_S, patience_s)):
                    self.pid = self.connection.recv()
                    return
                # A method that stops its parent stops this one when it is warmed up in a server.
                wake(spawner)
        except (EOFError, OSError):
            pass
        self.close()
        raise ServerLostError

    def ask(self, question: Question, patience_s: float) -> Any:
        """Return the server's answer.

        Raises
        ------
        ServerLostError
            if none comes within the patience; the server is gone then.
        """
        try:
            self.connection.send(self._known(question))
            deadline = time.monotonic() + patience_s
            while time.monotonic() < deadline:
                if self.connection.poll(min(LOOK_EVERY_S, patience_s)):
                    return self.connection.recv()
                wake(self.pid)
        except (EOFError, OSError):
            pass
        self.end()
        raise ServerLostError

    def _known(self, question: Question) -> Question:
        """Return the question without an instance that the server has, and note which one it has from now on."""
        if isinstance(question, Describe):
            return question
        request = question if isinstance(question, Request) else question.request
        if request.digest == self.holds:
            request = replace(request, instance=None)
        elif request.instance is not None:
            self.holds = request.digest if len(request.instance) <= KEEP_BYTES else ""
        return request if isinstance(question, Request) else replace(question, request=request)

    def end(self) -> None:
        """Make the server end what it runs and itself; kill it only if it does not: what it runs would go on."""
        self.hang_up()
        with suppress(ProcessLookupError):
            watched = os.pidfd_open(self.pid)
            try:
                poller = select.poll()
                poller.register(watched, select.POLLIN)
                if not poller.poll(END_S * 1000):
                    signal.pidfd_send_signal(watched, signal.SIGKILL)
            finally:
                os.close(watched)
        self.close()

    def hang_up(self) -> None:
        """Make the server end its run and itself, and whoever waits for its answer stop waiting."""
        with suppress(OSError):
            self.socket.shutdown(sockets.SHUT_RDWR)

    def close(self) -> None:
        """Hang up and let go; only for the thread that uses the server, or when none does."""
        self.hang_up()
        self.connection.close()
        self.socket.close()


def wake(pid: int) -> None:
    """Let a process go on that was stopped: a run can send SIGSTOP to its parent, which watches it."""
    with suppress(psutil.Error, ProcessLookupError):
        if psutil.Process(pid).status() == psutil.STATUS_STOPPED:
            os.kill(pid, signal.SIGCONT)
