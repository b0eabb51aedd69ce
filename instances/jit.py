"""All Numba policy, in one decorator, and all that is used of Numba's private parts; `compiled_cache` is where code is kept.

Importing this module imports Numba; nothing that `--help` needs does.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from schedgap.instances import compiled_cache

F = TypeVar("F", bound=Callable[..., Any])
# Its stubs do not know its private parts.
_NUMBA: Any = numba
_CODEGEN: Any = import_module("numba.core.codegen")
_LINKAGE: Any = import_module("llvmlite.binding").Linkage
# What Numba does not promise to keep; a version that lacks some of it compiles everything anew.
PRIVATE = {
    "numba.core.caching": ["NullCache.cache_path", "NullCache.load_overload", "NullCache.save_overload"],
    "numba.core.codegen": [
        "CPUCodegen.magic_tuple",
        "JITCodeLibrary._finalize_dynamic_globals",
        "JITCodeLibrary._finalize_final_module",
        "JITCodeLibrary._get_compiled_object",
        "JITCodeLibrary._optimize_final_module",
        "JITCPUCodegen._library_class",
        "JITCPUCodegen.set_env",
    ],
    "numba.core.compiler": ["CompileResult._rebuild", "CompileResult._reduce"],
    "numba.core.dispatcher": ["Dispatcher.enable_caching", "Dispatcher.get_call_template", "Dispatcher.get_overload"],
    "numba.core.environment": ["lookup_environment"],
    "numba.core.serialize": ["dumps"],
    "numba.core.types": ["unliteral"],
}
# What a module imports when it runs: what is imported for types only is indented.
IMPORTED = re.compile(r"^(?:from|import) ([\w.]+)", re.MULTILINE)


def kernel(func: F) -> F:
    """Compile `func` on first use: no GIL, cached on disk, no fastmath (results must not depend on the machine).

    `NUMBA_BOUNDSCHECK=1` turns bounds checks on. With `NUMBA_DISABLE_JIT=1` it stays Python, as everything here.
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
    if _NUMBA.config.DISABLE_JIT:
        return func
    boundscheck = os.environ.get("NUMBA_BOUNDSCHECK") == "1"
    is_kept = options.pop("cache", False)
    njit = partial(_NUMBA.njit, nogil=True, boundscheck=boundscheck, fastmath=False)
    compiled = called = njit(**options)(func)
    if has_private():
        if is_kept:
            # For other kernels it is compiled as a part of them: without what Python needs to call it, which takes longest.
            called = njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(func)
            compiled.get_overload = called.get_overload
            compiled._compiling_counter = called._compiling_counter
            _keep(compiled)
        compiled.get_call_template = partial(_without_literals, called.get_call_template)
    return cast("F", compiled)


def lacking(wanted: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what this version of Numba does not have of its private parts, by module."""
    missing = []
    for module, names in wanted.items():
        for name in names:
            try:
                attrgetter(name)(import_module(module))
            except (AttributeError, ImportError):
                missing.append(f"{module}.{name}")
    return missing


@cache
def has_private() -> bool:
    """Return whether this version of Numba has its private parts; if not, say so once."""
    if missing := lacking(PRIVATE):
        compiled_cache.complain(f"Numba {numba.__version__} has no {', '.join(missing)}; use another version")
    return not missing


class _Library(_CODEGEN.JITCodeLibrary):  # type: ignore[misc]
    """What Python does not call is not optimised or made machine code by itself: kernels that call it have it in them.

    By itself Numba does so for each function, once more in each that calls it, directly or not: half of the time.
    """

    _is_part = False

    def _optimize_final_module(self) -> None:
        own = [function.name for function in self._defined() if function.linkage == _LINKAGE.external]
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
            if (environment := _NUMBA.core.environment.lookup_environment(variable.name)) is not None:
                self._codegen.set_env(variable.name, environment)

    def _defined(self) -> list[Any]:
        return [function for function in self._final_module.functions if not function.is_declaration]

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        if any(function.name == name for function in self._defined()):
            self._to_machine_code()
        pointer: int = super().get_pointer_to_function(name)
        return pointer

    def _get_compiled_object(self) -> bytes:
        self._to_machine_code()
        compiled: bytes = super()._get_compiled_object()
        return compiled

    def _to_machine_code(self) -> None:
        """Make machine code of a part, as what is no kernel may ask for it: a ufunc, a callback."""
        if self._is_part:
            self._is_part = False
            super()._optimize_final_module()
            self._finalize_final_module()


def _set_env(maker: Any, env_name: str, env: object) -> None:
    """Give an environment to what is machine code; a part's goes with the kernels that have it in them."""
    if maker._engine.is_symbol_defined(env_name):
        _numbas_set_env(maker, env_name, env)


if not _NUMBA.config.DISABLE_JIT and has_private():
    _numbas_set_env = _CODEGEN.JITCPUCodegen.set_env
    _CODEGEN.JITCPUCodegen.set_env = _set_env
    _CODEGEN.JITCPUCodegen._library_class = _Library


def _without_literals(template: Callable[..., Any], args: Any, kws: Any) -> Any:
    """Have a kernel that is called with constants be the one for all numbers: by itself Numba compiles one for each."""
    unliteral = _NUMBA.core.types.unliteral
    return template([unliteral(arg) for arg in args], {name: unliteral(arg) for name, arg in kws.items()})


def own_cache(scratch: Path, code: str | None) -> None:
    """Have this process, a run, keep what it compiles in its scratch, be it by Numba's own means; see `compiled_cache`."""
    compiled_cache.write_to(scratch, code)
    _NUMBA.config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"]
    if has_private():
        _NUMBA.core.dispatcher.Dispatcher.enable_caching = _keep


def _keep(compiled: Any) -> None:
    """Have what is compiled for a dispatcher kept on disk, unless nothing tells whether it is the same the next time."""
    function = compiled.py_func
    try:
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:
        # It names what is not defined yet, such as itself.
        return
    if os.path.isfile(function.__code__.co_filename) and all(
        isinstance(cell, bool | int | float | str) for cell in cells
    ):
        compiled._cache = _OnDisk(compiled, cells)


class _OnDisk:
    """The cache of a dispatcher, as Numba asks for it."""

    cache_path = None

    def __init__(self, compiled: Any, cells: list[Any]) -> None:
        function = compiled.py_func
        module = function.__module__
        # A package of ours may move; of others two may have one name.
        place = "" if module.startswith("schedgap.") else function.__code__.co_filename
        self._options = module, place, function.__qualname__, cells, sorted(compiled.targetoptions.items())
        code = hashlib.sha256(function.__code__.co_code).hexdigest()
        # By itself Numba forgets a kernel when its own file changes, and goes on with the old code of all that it calls.
        self._stamp = hashlib.sha256((source_hash(module) + code).encode()).digest()

    def _name(self, signature: Any, codegen: Any) -> str:
        """Return the name of what is compiled for these types on this processor: one for all that it was and will be."""
        about = self._options, signature, codegen.magic_tuple(), _NUMBA.config.OPT, numba.__version__, sys.version_info
        readable = re.sub(r"[^\w.]", "", self._options[2])[:80]
        return f"{readable}-{hashlib.sha256(repr(about).encode()).hexdigest()[:32]}{compiled_cache.SUFFIX}"

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return what was compiled, None if there is nothing that may be loaded."""
        target_context.refresh()
        body = compiled_cache.load(self._name(signature, target_context.codegen()), self._stamp)
        if body is None:
            return None
        try:
            known, parts = pickle.loads(body)
        except (AttributeError, ImportError):
            # It is for classes that have another name or place by now.
            return None
        return _NUMBA.core.compiler.CompileResult._rebuild(target_context, *parts) if known == signature else None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what was compiled, if it means anything in another process."""
        if result.lifted or result.library.has_dynamic_globals:
            return
        body = _NUMBA.core.serialize.dumps((signature, result._reduce()))
        compiled_cache.save(self._name(signature, result.codegen), self._stamp, body)


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
