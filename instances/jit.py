"""All Numba policy, in one decorator. Importing this module imports Numba; nothing that `--help` needs does."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from llvmlite.binding import Linkage
from numba.core import codegen, types
from numba.core.environment import lookup_environment

F = TypeVar("F", bound=Callable[..., Any])
# What a module imports when it runs: what is imported for types only is indented.
IMPORTED = re.compile(r"^(?:from|import) ([\w.]+)", re.MULTILINE)


def kernel(func: F) -> F:
    """Compile `func` on first use: no GIL, cached on disk, no fastmath (results must not depend on the machine).

    `NUMBA_BOUNDSCHECK=1` turns bounds checks on; give such a run its own `NUMBA_CACHE_DIR`, since Numba's cache does
    not record the choice.
    """
    return _compiled(func, cache=True)


def lean_kernel(func: F) -> F:
    """Like `kernel`, without Numba's memory management: it cannot allocate, and does not count references.

    For loops that run a million times a second: counting costs two atomic instructions an array and call, and took a
    third of the time of the packing loop.
    """
    return _compiled(func, cache=True, _nrt=False)


def inner_kernel(func: F) -> F:
    """Compile `func` for lean kernels only: Python cannot call it, which halves the time to compile it."""
    return _compiled(func, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def inlined_kernel(func: F) -> F:
    """Like `inner_kernel`, and always copied into its callers: for short parts of inner loops."""
    return _compiled(func, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)


def _compiled(func: F, **options: Any) -> F:
    boundscheck = os.environ.get("NUMBA_BOUNDSCHECK") == "1"
    njit: Any = partial(numba.njit, nogil=True, boundscheck=boundscheck, fastmath=False)
    compiled = called = njit(**options)(func)
    if options.pop("cache", False):
        # For other kernels it is compiled as a part of them: without what Python needs to call it, which takes longest.
        called = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(func)
        compiled.get_overload = called.get_overload
        compiled._compiling_counter = called._compiling_counter
        # By itself Numba forgets a kernel when its own file changes, and goes on with the old code of all that it calls.
        cache_file = compiled._cache._cache_file
        cache_file._source_stamp = (cache_file._source_stamp, source_hash(func.__module__))
        cache_file._load_index = partial(_index, cache_file._load_index)
    compiled.get_call_template = partial(_without_literals, called.get_call_template)
    return cast("F", compiled)


class _Library(codegen.JITCodeLibrary):
    """What Python does not call is not optimised or made machine code by itself: kernels that call it have it in them.

    By itself Numba does so for each function, once more in each that calls it, directly or not: half of the time.
    """

    _is_part = False

    def _optimize_final_module(self) -> None:
        own = [function.name for function in self._defined() if function.linkage == Linkage.external]
        self._is_part = not any(name.startswith(("_ZN7cpython", "NRT_")) for name in own)
        if not self._is_part:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if self._is_part:
            self._finalize_dynamic_globals()
            self._finalized = True
            return
        super()._finalize_final_module()
        for variable in self._final_module.global_variables:
            if (environment := lookup_environment(variable.name)) is not None:
                self._codegen.set_env(variable.name, environment)

    def _defined(self) -> list[Any]:
        return [function for function in self._final_module.functions if not function.is_declaration]

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        if self._is_part and any(function.name == name for function in self._defined()):
            self._is_part = False
            super()._optimize_final_module()
            self._finalize_final_module()
        pointer: int = super().get_pointer_to_function(name)
        return pointer


def _set_env(maker: Any, env_name: str, env: object) -> None:
    """Give an environment to what is machine code; a part's goes with the kernels that have it in them."""
    if maker._engine.is_symbol_defined(env_name):
        _numbas_set_env(maker, env_name, env)


_numbas_set_env = codegen.JITCPUCodegen.set_env
codegen.JITCPUCodegen.set_env = _set_env
codegen.JITCPUCodegen._library_class = _Library


def _without_literals(template: Callable[..., Any], args: Any, kws: Any) -> Any:
    """Have a kernel that is called with constants be the one for all numbers: by itself Numba compiles one for each."""
    unliteral: Any = types.unliteral
    return template([unliteral(arg) for arg in args], {name: unliteral(arg) for name, arg in kws.items()})


def _index(load: Callable[[], dict[Any, str]]) -> dict[Any, str]:
    """Return the index of a kernel's cache, empty where it is of classes that have another name or place by now."""
    try:
        return load()
    except (AttributeError, ImportError):
        return {}


@cache
def source_hash(module: str) -> str:
    """Return the SHA-256 (hex) of the sources of a module and of all of ours, or beside it, that it imports."""
    folder, found, to_do = os.path.dirname(_file(module)) + os.sep, {}, [module]
    while to_do:
        name = to_do.pop()
        if name in found or name not in sys.modules:
            continue
        file = _file(name)
        if name == module or name.startswith("schedgap.") or file.startswith(folder):
            found[name], imported = _source(file)
            to_do += imported
    return hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()


def _file(module: str) -> str:
    """Return the file of a module that is imported, empty for none."""
    return getattr(sys.modules.get(module), "__file__", None) or ""


@cache
def _source(file: str) -> tuple[str, list[str]]:
    """Return the hash of a file, and the modules that it imports."""
    if not os.path.isfile(file):
        return "", []
    source = Path(file).read_text(encoding="utf-8")
    return hashlib.sha256(source.encode()).hexdigest(), IMPORTED.findall(source)


def prepare() -> None:
    """Make Numba set itself up, which takes a quarter of a second and otherwise falls on a process's first kernel."""
    _nothing()


@kernel
def _nothing() -> None:
    pass
