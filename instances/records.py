"""Scalars that compiled code changes: fields of a record array of one entry, read as `clock[0].now` there and in Python."""

from __future__ import annotations

from typing import Any

import numpy as np


def record(kind: type, **values: float) -> Any:
    """Return a record array of one entry with the fields that a class names, each an int or a float; 0 unless given."""
    array: Any = np.recarray(1, list(kind.__annotations__.items()))
    array.fill(0)
    for name, value in values.items():
        array[name] = value
    return array
