"""What a method tells before it is done, on its way to the supervisor: at once, or soon, and never so often that it costs."""

from __future__ import annotations

import operator
import os
import threading
import time
import traceback
from contextlib import suppress
from typing import Any, Self

from schedgap.bench.isolation.answer import pack_bound, pack_solution
from schedgap.bench.isolation.messages import Message, send
from schedgap.bench.programs.program import ProgramFailure
from schedgap.instances.errors import MethodError, SchedgapError
from schedgap.instances.family import find_family
from schedgap.instances.method import Method, Status

# What is told sooner after a frame waits, so that an end by force loses no more of a search than this.
EVERY_S = 0.2
UNDECLARED = "it returns a bound and is not registered as a method that proves any; add bounds=True to its @method(...)"


class Telling:
    """Context manager around one call of a method, and the `found` that it is given.

    What is due is written before the call of `found` returns, what is not by a thread when it is, only the last of it. All
    frames are written by threads of ours: what a method's own signal handler raises never cuts one off. Other processes of
    the method tell nothing.
    """

    def __init__(self, pipe: int, method: Method) -> None:
        self._pipe, self._method = pipe, method
        self._solution_class = find_family(method.family).solution
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._sender: threading.Thread | None = None
        self._solution: Any = None
        self._bound: int | None = None
        self._highest: int | None = None
        self._due = 0.0
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        """Send what still waits, and nothing more: the run may fail yet, though the method has returned."""
        with self._lock:
            self._is_closed = True
        self._ending.set()
        while (sender := self._sender) is not None:
            sender.join()

    def __call__(self, solution: Any = None, bound: int | None = None) -> None:
        """Tell of a solution, a bound or both.

        Raises
        ------
        MethodError
            for what is no solution of the family, or no whole number of 63 bits.
        ProgramFailure
            for a bound of a method that is not registered as one that proves any.
        """
        bound = self._checked(solution, bound)
        if os.getpid() != self._process:
            return
        with self._lock:
            if self._is_closed:
                return
            if solution is not None:
                self._solution = solution
            if bound is not None and (self._highest is None or bound > self._highest):
                self._bound = self._highest = bound
            if self._sender is not None or (self._solution is None and self._bound is None):
                return
            wait_s = self._due - time.monotonic()
            sender = self._start(wait_s)
        if wait_s <= 0 and sender is not None:
            sender.join()

    def _checked(self, solution: Any, bound: Any) -> int | None:
        name, kind = self._method.name, self._solution_class
        if solution is not None and type(solution) is not kind:
            raise MethodError(
                f"method {name} tells that it found a {type(solution).__name__:.60}; found() takes a {kind.__name__}."
            )
        if bound is None:
            return None
        if not self._method.bounds:
            raise ProgramFailure(Status.INVALID, UNDECLARED)
        try:
            whole = operator.index(bound)
        except TypeError:
            whole = None
        if whole is None or whole.bit_length() > 63:
            raise MethodError(
                f"method {name} tells the bound {bound!s:.60}; found() takes a whole number of at most 63 bits."
            )
        return whole

    def _start(self, wait_s: float) -> threading.Thread | None:
        """Have all that waits sent in so many seconds; what cannot be told is no reason to end a search."""
        self._sender = None
        with suppress(RuntimeError):
            sender = threading.Thread(target=self._send, args=(wait_s,), daemon=True)
            sender.start()
            self._sender = sender
        return self._sender

    def _send(self, wait_s: float) -> None:
        if wait_s > 0:
            self._ending.wait(wait_s)
        with self._lock:
            solution, bound, self._solution, self._bound = self._solution, self._bound, None, None
        try:
            if bound is not None:
                send(self._pipe, Message.BOUND, pack_bound(bound))
            if solution is not None:
                send(self._pipe, Message.SOLUTION, pack_solution(solution))
        except (MemoryError, OSError, SchedgapError):
            traceback.print_exc()
        finally:
            with self._lock:
                self._due = time.monotonic() + EVERY_S
                self._sender = None
                if self._solution is not None or self._bound is not None:
                    self._start(EVERY_S)
