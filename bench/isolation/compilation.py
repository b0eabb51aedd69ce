"""How much of a timed call was Numba compiling, or loading compiled code, instead of computing."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType


class CompileClock:
    """Context manager that adds up the seconds spent in Numba's `Dispatcher.compile`, outermost calls only.

    tell : called with True when compiling begins and with False when it ends.
    Numba's own compile events do not tell of code loaded from its cache, which takes milliseconds; hence the wrapper.
    """

    def __init__(self, tell: Callable[[bool], None] | None = None) -> None:
        self.seconds = 0.0
        self._tell = tell
        self._depth = 0
        self._original: Callable[..., Any] | None = None

    def __enter__(self) -> Self:
        dispatcher = self._dispatcher()
        if dispatcher is not None:
            original = self._original = dispatcher.compile
            clock = self

            def compile(dispatcher: Any, signature: Any) -> Any:
                start = time.perf_counter()
                clock._enter_compiler()
                try:
                    return original(dispatcher, signature)
                finally:
                    clock._leave_compiler(start)

            dispatcher.compile = compile
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._original is not None:
            self._dispatcher().compile = self._original

    def _enter_compiler(self) -> None:
        self._depth += 1
        if self._depth == 1 and self._tell is not None:
            self._tell(True)

    def _leave_compiler(self, start: float) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - start
            if self._tell is not None:
                self._tell(False)

    def _dispatcher(self) -> Any:
        module = sys.modules.get("numba.core.dispatcher")
        return None if module is None else module.Dispatcher
