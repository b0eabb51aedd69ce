"""Reading what a run's process sent: data of the families only, never code or classes of the method's own."""

from __future__ import annotations

import io
import pickle
from typing import Any

_ALLOWED = {
    ("builtins", "object"),
    ("builtins", "set"),
    ("builtins", "frozenset"),
    ("builtins", "bytearray"),
    ("builtins", "complex"),
    ("copyreg", "_reconstructor"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    *(
        (f"numpy.{core}.{module}", name)
        for core in ("core", "_core")
        for module, name in (("multiarray", "_reconstruct"), ("multiarray", "scalar"), ("numeric", "_frombuffer"))
    ),
}


class ForeignClassError(Exception):
    """The answer holds an object of a class that is none of the families'."""


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _ALLOWED:
            return super().find_class(module, name)
        if module.startswith("schedgap.instances."):
            # Not what our modules import, nor attributes (`os.system`): a dotted name reaches those.
            found = super().find_class(module, name)
            if isinstance(found, type) and found.__module__.startswith("schedgap.instances."):
                return found
        raise ForeignClassError(f"{module}.{name}")


def loads(data: bytes) -> Any:
    """Return the object.

    Raises
    ------
    ForeignClassError
        if it holds anything but plain values, arrays and classes of `schedgap.instances`.
    """
    return _Unpickler(io.BytesIO(data)).load()
