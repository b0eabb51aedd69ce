"""Modules that are imported when they are first used: compiled code brings Numba, which who only lists or reads does not need."""

from __future__ import annotations

import importlib
from typing import Any


class ModuleOnUse:
    """Stands for a module, and imports it when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, key: str) -> Any:
        return getattr(importlib.import_module(self._name), key)
