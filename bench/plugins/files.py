"""What a plug-in consists of: its file, and what it imports from beside it. Files are read and parsed, never executed.

The hash of all that is part of a run's key, so that an edited plug-in is measured anew. What its code opens or imports by
a name that it computes is not found.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from importlib.machinery import all_suffixes
from importlib.metadata import entry_points
from pathlib import Path

from msgspec.structs import replace

from schedgap.bench.programs.program import MODULE, Program, files_among, programs_among
from schedgap.bench.records.runs import Record, Run
from schedgap.instances.documents.openings import read_given
from schedgap.instances.errors import MethodError
from schedgap.instances.family import find_family
from schedgap.instances.method import Method, runs_elsewhere

# Entry points of installed packages.
METHODS_GROUP, FAMILIES_GROUP = "schedgap.methods", "schedgap.families"
_IMPORTERS = ("import_module", "__import__")


def plugin_hash(method: Method, plugins: Collection[str | Program]) -> str | None:
    """Return the hash of the code that a method of a plug-in is made of, None of a family's own methods.

    plugins : the files of `--plugin`; a method that a module beside one of them registers is of that plug-in. A method of
    an installed package goes by the package's version, and by the files of the package that its module imports.
    """
    if method.is_shipped:
        return None
    for program in programs_among(plugins):
        if method.module == MODULE and program.name == method.name:
            return program.hash
    module = method.module
    parts: list[str] = []
    for found in _found(method, plugins):
        parts += _parts(found)
    return hashlib.sha256("\n".join(parts or [module]).encode()).hexdigest()[:16]


def code_hash(plugin: str | None, plugins: Iterable[str | Program]) -> str:
    """Return the hash of what runs with a plug-in's method: its own (see `plugin_hash`), and the files imported beside it."""
    contents = [hashlib.sha256(_content(Path(each))).hexdigest() for each in files_among(plugins)]
    return hashlib.sha256(repr((plugin, contents)).encode()).hexdigest()[:32]


def _found(method: Method, plugins: Collection[str | Program]) -> list[Found]:
    """Return the main file, root, package and all files of each plug-in that has a method; see `_files`."""
    file = _file_of(method.module) if method.file is None else Path(method.file).resolve()
    found: list[Found] = []
    for plugin in files_among(plugins):
        path = Path(plugin).resolve()
        files = _files(path, path.parent, None)
        if file in {each.resolve() for each in files}:
            found.append((path, path.parent, None, files))
    if found or file is None:
        return found
    return [_of_module(method.module, file)]


def hash_of_module(module: str) -> str:
    """Return the hash of a module that is imported, with all that it imports from its own package, or from beside its file."""
    file = _file_of(module)
    parts = [] if file is None else _parts(_of_module(module, file, beside="." not in module))
    return hashlib.sha256("\n".join(parts or [module]).encode()).hexdigest()[:16]


@cache
def family_hash(family: str) -> str | None:
    """Return the hash of the code of a family outside of this package, as it was when it was first asked for; None of ours."""
    module = find_family(family).instance.__module__
    return None if module.startswith("schedgap.") else hash_of_module(module)


def with_family(family: str, plugin: str | None) -> str | None:
    """Return the hash of all code of a run that is not of this package: its family's, and its plug-in's."""
    own = family_hash(family)
    return plugin if own is None else hashlib.sha256(f"{own} {plugin}".encode()).hexdigest()[:16]


def line_in(error: BaseException, file: Path) -> int | None:
    """Return the line of a file that raised an error, the last one."""
    if isinstance(error, SyntaxError):
        return error.lineno
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(file):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


Found = tuple[Path, Path, str | None, set[Path]]


def _of_module(module: str, file: Path, *, beside: bool = False) -> Found:
    """Return what `_found` does, of a module. beside : with what it imports from its folder, not from its package alone."""
    top = module.partition(".")[0]
    depth = module.count(".") + (file.stem == "__init__")
    root = file.parents[min(depth, len(file.parents) - 1)]
    return file, root, top, _files(file, root, None if beside else top)


def _parts(found: Found) -> list[str]:
    main, root, top, files = found
    return [*([] if top is None else _versions(top)), *_hashes(files, root, main)]


Seen = dict[str, dict[Path, tuple[int, ...] | None]]


def refuse_changed(method: Method, run: Run, plugins: Collection[str | Program], seen: Seen) -> None:
    """Raise `MethodError` if a plug-in is not what it was when a run of its method was planned: who knows what ran.

    seen : what its files looked like when they were read last, by its hash, so that they are read again only if need be.
    """
    # What was sent by value stays as it was, and so does what is imported here.
    if run.plugin is None or method.func is not runs_elsewhere:
        return
    known = seen.get(run.plugin)
    if known is not None and all(_looks(path) == looks for path, looks in known.items()):
        return
    own = [each for each in programs_among(plugins) if method.module == MODULE and each.name == method.name]
    files = [Path(path) for each in own for path in each.files]
    files += [path for *_, found in _found(method, plugins) for path in found]
    seen[run.plugin] = {path: _looks(path) for path in files}
    if with_family(method.family, plugin_hash(method, plugins)) != run.plugin:
        name = method.name if method.file is None else Path(method.file).name
        raise MethodError(f"{name} was changed meanwhile; run again. What was recorded before stays.")


def _looks(path: Path) -> tuple[int, ...] | None:
    try:
        now = path.stat()
    except OSError:
        return None
    return now.st_mtime_ns, now.st_size, now.st_ino


def earlier_rows(
    runs: Mapping[str, Run], records: Mapping[str, Record], plugins: Iterable[str | Program]
) -> tuple[str, ...]:
    """Return a sentence for the recorded rows that would answer runs of plug-ins if their files were what they are now.

    runs : planned, by key. records : the journal's, by key.
    """
    unanswered = {key: run for key, run in runs.items() if run.plugin is not None and key not in records}
    methods = {run.method for run in unanswered.values()}
    same = {replace(run, plugin=None).key for run in unanswered.values()}
    old = [record for record in records.values() if record.run.method in methods and record.key not in runs]
    old = [record for record in old if replace(record.run, plugin=None).key in same]
    files = [each.name if isinstance(each, Program) else Path(each).name for each in plugins]
    names = " or ".join(files) or "the package with their methods"
    changed = sum(record.run.plugin is not None for record in old)
    notes = []
    if changed:
        notes.append(f"{changed} rows are from before {names} was changed; they are not used.")
    if changed < len(old):
        notes.append(f"{len(old) - changed} rows do not say of which state of {names} they are; they are not used.")
    return tuple(notes)


def _file_of(module: str) -> Path | None:
    """Return the file of a module that is loaded."""
    name = getattr(sys.modules.get(module), "__file__", None)
    return None if name is None else Path(name).resolve()


def _versions(top: str) -> list[str]:
    """Return the versions of the packages whose entry points name a module of the package `top`."""
    points = [point for group in (METHODS_GROUP, FAMILIES_GROUP) for point in entry_points(group=group)]
    return sorted({f"{p.dist.name} {p.dist.version}" for p in points if p.dist and p.module.split(".")[0] == top})


def _hashes(files: Iterable[Path], root: Path, main: Path) -> list[str]:
    """Return a line a file. The plug-in's own name and folder are left out: moved, it is the same."""
    lines = []
    for path in sorted(files):
        name = "" if path == main else path.relative_to(root).as_posix()
        lines.append(f"{name} {hashlib.sha256(_content(path)).hexdigest()}")
    return lines


def _files(main: Path, root: Path, top: str | None) -> set[Path]:
    """Return the file and what it imports below the folder `root`, and so on. top : only from this package."""
    found: set[Path] = set()
    here = main.relative_to(root)
    unread = [main, *_located(root, (*here.parent.parts, here.stem))]
    while unread:
        path = unread.pop()
        if path in found:
            continue
        found.add(path)
        package = path.relative_to(root).parent.parts
        for level, name in _imports(_content(path)) if path.suffix == ".py" else ():
            start = package[: max(0, len(package) - level + 1)] if level else ()
            names = (*start, *name.split(".")) if name else start
            if top is None or names[:1] == (top,):
                unread += _located(root, names)
    return found


def _located(root: Path, names: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files that importing the module, or a name of the module above it, executes."""
    folder = root
    for name in names:
        # A name that is no plain one would lead out of the folder.
        if not name.isidentifier():
            return
        for suffix in all_suffixes():
            for path in (folder / f"{name}{suffix}", folder / name / f"__init__{suffix}"):
                if path.is_file():
                    yield path
        folder = folder / name


def _imports(content: bytes) -> Iterator[tuple[int, str]]:
    """Yield (level, name) of all that a file may import: level 0 is absolute, 1 relative to its own package."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # Importing it fails too, and says why.
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            stem = node.module or ""
            yield node.level, stem
            yield from ((node.level, f"{stem}.{alias.name}".lstrip(".")) for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            called = getattr(node.func, "attr", getattr(node.func, "id", None))
            name = node.args[0]
            if called in _IMPORTERS and isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield len(name.value) - len(name.value.lstrip(".")), name.value.lstrip(".")


def _content(path: Path) -> bytes:
    try:
        return read_given(path)
    except OSError:
        # Whoever imports it says so.
        return b""
