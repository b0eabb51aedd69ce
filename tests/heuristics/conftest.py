"""What tests of all families' players share."""

from __future__ import annotations

import gc
import types
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@pytest.fixture(scope="session")
def leads_to() -> Callable[[object, Iterable[int]], set[int | str]]:
    """Return which of some secret numbers, and of texts with `secret` in them, can be reached from an observation."""
    skipped = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.FrameType)

    def search(observation: object, secrets: Iterable[int]) -> set[int | str]:
        wanted, found = set(secrets), set()
        queue, known = [observation], set()
        while queue:
            thing = queue.pop()
            if id(thing) in known or isinstance(thing, skipped):
                continue
            known.add(id(thing))
            queue.extend(gc.get_referents(thing))
            # What slots hold is among the referents; what an array is a part of is not.
            if isinstance(thing, np.ndarray):
                queue.append(thing.base)
                found |= wanted & set(thing.reshape(-1).tolist())
            elif (isinstance(thing, int) and thing in wanted) or (isinstance(thing, str) and "secret" in thing):
                found.add(thing)
        return found

    return search
