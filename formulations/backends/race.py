"""HiGHS and another back end on one model at once: where one is open after a minute the other may take ten seconds."""

from __future__ import annotations

import os
import pickle
import select
import signal
from contextlib import suppress
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any, NoReturn

from schedgap.formulations.backends.dispatch import solve
from schedgap.instances.errors import BackendError
from schedgap.instances.method import Status

if TYPE_CHECKING:
    from schedgap.formulations.linear_model import LinearModel, ModelResult


def race(model: LinearModel, rival: str, **options: Any) -> ModelResult:
    """Minimise a model by HiGHS and, in a process of its own, by a rival, until one has proven what it says.

    options : of `solve`, for both. If neither has proven anything at its limit: the better solution with the better bound.

    Raises
    ------
    BackendError
        if both fail.
    """
    beside, own = _Rival(model, rival, options), None
    try:
        try:
            own = solve(model, "highs", stop=lambda: _is_proof(beside.answer(wait=False)), **options)
        except BackendError:
            if beside.answer() is None:
                raise
        if own is not None and _is_proof(own):
            return own
        results = [result for result in (own, beside.answer()) if result is not None]
    finally:
        beside.end()
    if len(results) == 1 or _is_proof(results[1]):
        return results[-1]
    best = min(results, key=lambda result: inf if result.objective is None else result.objective)
    return replace(best, bound=max((result.bound for result in results if result.bound is not None), default=None))


class _Rival:
    """A solve in a forked process. A worker of a cluster may have no children of `multiprocessing`."""

    def __init__(self, model: LinearModel, backend: str, options: dict[str, Any]) -> None:
        read, write = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            _solve_and_exit(write, model, backend, options)
        os.close(write)
        self._pipe = os.fdopen(read, "rb")
        self._answer: ModelResult | None = None
        self._is_read = False

    def answer(self, *, wait: bool = True) -> ModelResult | None:
        """Return its answer; None if it has failed, or has not ended and is not waited for."""
        if not self._is_read and (wait or select.select([self._pipe], [], [], 0)[0]):
            self._is_read = True
            with suppress(EOFError, pickle.UnpicklingError):
                self._answer = pickle.load(self._pipe)
        return self._answer

    def end(self) -> None:
        """End the process."""
        self._pipe.close()
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)


def _solve_and_exit(write: int, model: LinearModel, backend: str, options: dict[str, Any]) -> NoReturn:
    try:
        with os.fdopen(write, "wb") as pipe, suppress(BackendError):
            pickle.dump(solve(model, backend, **options), pipe)
    finally:
        # Whatever happened is no matter of those who called, whose code would go on here.
        os._exit(0)


def _is_proof(result: ModelResult | None) -> bool:
    return result is not None and result.status in (Status.OPTIMAL, Status.INFEASIBLE) and result.unproven is None
