"""An instance on its way to the processes that run methods on it."""

from __future__ import annotations

import pickle
from typing import Any


def compiled_kind(instance: Any) -> str:
    """Return what tells two instances of a family apart for compiled code: which fields are there, of what type."""
    fields = []
    for name in sorted(getattr(type(instance), "__slots__", ())):
        value = getattr(instance, name)
        dtype = getattr(value, "dtype", None)
        fields.append(f"{name}:{type(value).__name__}:{dtype}")
    return ",".join(fields)


def pickled(instance: Any) -> bytes:
    """Return the instance as bytes; arrays that are locked stay locked."""
    return pickle.dumps(instance, 5)
