"""What a plug-in consists of: its file, and what it imports from beside it. Files are read and parsed, never executed.

The hash of all that is part of a run's key, so that an edited plug-in is measured anew. What its code opens or imports by
a name that it computes is not found.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from dataclasses import replace
from importlib.machinery import all_suffixes
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from schedgap.bench.plugins.discover import GROUP
from schedgap.bench.programs.program import MODULE, Program, files_among, programs_among

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from schedgap.bench.records.record import Record
    from schedgap.bench.records.runs import Run
    from schedgap.instances.method import Method

_IMPORTERS = ("import_module", "__import__")


def plugin_hash(method: Method, plugins: Collection[str | Program]) -> str | None:
    """Return the hash of the code that a method of a plug-in is made of, None of our own methods.

    plugins : the files of `--plugin`; a method that a module beside one of them registers is of that plug-in. A method of
    an installed package goes by the package's version, and by the files of the package that its module imports.
    """
    if method.is_shipped:
        return None
    for program in programs_among(plugins):
        if method.module == MODULE and program.name == method.name:
            return program.hash
    module = method.module
    file = _file_of(module) if method.file is None else Path(method.file).resolve()
    parts: list[str] = []
    for plugin in files_among(plugins):
        path = Path(plugin).resolve()
        files = _files(path, path.parent, None)
        if file in {each.resolve() for each in files}:
            parts += _hashes(files, path.parent, path)
    if not parts and file is not None:
        top = module.partition(".")[0]
        depth = module.count(".") + (file.stem == "__init__")
        root = file.parents[min(depth, len(file.parents) - 1)]
        parts = [*_versions(top), *_hashes(_files(file, root, top), root, file)]
    return hashlib.sha256("\n".join(parts or [module]).encode()).hexdigest()[:16]


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
    points = entry_points(group=GROUP)
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
        return path.read_bytes()
    except OSError:
        # Whoever imports it says so.
        return b""
