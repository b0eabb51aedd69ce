"""How the product is built, in figures: sizes, imports, cycles, functions, kernels. `tests/test_house.py` keeps them.

`--kernel-tests` names the tests of compiled modules, which CI runs with bounds checks.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FLOORS = ("instances", "formulations", "heuristics", "bench")
# A name in backticks: `name`, `module.name`, `name()`.
QUOTED = re.compile(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(\))?`")
# What others have named: a word of Python's or of LP files, system calls, pages of documentation, a user's own method.
OTHERS = {
    "lambda",
    "e9",
    "multiprocessing",
    "perf_event_open",
    "seccomp_filter.rst",
    "gcp_catalog.py",
    "customSmallerIsBetter",
}
OTHERS |= {"BestFit"}
LONGEST_FUNCTION, MOST_ARGUMENTS, MOST_MODULES, LONGEST_FILE = 60, 12, 20, 500


@dataclass
class House:
    """What was found in a tree; each finding says where."""

    modules: int = 0
    lines: int = 0
    imports_in_functions: list[str] = field(default_factory=list)
    module_cycles: list[list[str]] = field(default_factory=list)
    package_cycles: list[list[str]] = field(default_factory=list)
    long_functions: list[str] = field(default_factory=list)
    wide_kernels: list[str] = field(default_factory=list)
    numbered_fields: list[str] = field(default_factory=list)
    crowded_folders: list[str] = field(default_factory=list)
    long_files: list[str] = field(default_factory=list)
    untested_kernels: list[str] = field(default_factory=list)
    names_that_are_gone: list[str] = field(default_factory=list)
    kernel_tests: list[str] = field(default_factory=list)


def measure(root: Path) -> House:
    """Return the figures of a repository."""
    house = House()
    files = {}
    for floor in FLOORS:
        for path in sorted((root / floor).rglob("*.py")):
            parts = ("schedgap", *path.relative_to(root).with_suffix("").parts)
            files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    imports: dict[str, set[str]] = {}
    known, quoted = set(OTHERS), []
    for module, path in files.items():
        text = path.read_text()
        tree = ast.parse(text)
        where = str(path.relative_to(root))
        house.lines += text.count("\n")
        known |= {*path.relative_to(root).with_suffix("").parts, *_named(tree)}
        quoted += [(f"{where}: {name}", name) for name in _quoted(tree, text)]
        if text.count("\n") > LONGEST_FILE:
            house.long_files.append(f"{where}: {text.count(chr(10))} lines")
        imports[module] = {name for _, name in _imports(tree, files)}
        inside = [
            node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        ]
        found = {(line, name) for function in inside for line, name in _imports(function, files)}
        house.imports_in_functions += [f"{where} line {line}: {name}" for line, name in sorted(found)]
        for function in inside:
            if not isinstance(function, ast.Lambda):
                _function(house, function, where)
        if any(name == "schedgap.instances.jit" for name in imports[module]):
            house.numbered_fields += [f"{where} line {line}: {name}" for line, name in _numbered(tree)]
            test = root / "tests" / path.relative_to(root).with_name(f"test_{path.name}")
            if _has_kernels(tree) and test.exists():
                house.kernel_tests.append(str(test.relative_to(root)))
            elif _has_kernels(tree):
                house.untested_kernels.append(where)
    house.modules = len(files)
    # Those of modules that were joined keep their names.
    joined = (root / "tests").rglob("test_kernels_*.py")
    house.kernel_tests = sorted({*house.kernel_tests, *(str(test.relative_to(root)) for test in joined)})
    house.names_that_are_gone = [
        where for where, name in quoted if name not in OTHERS and not known.issuperset(name.split("."))
    ]
    house.module_cycles = _cycles(imports)
    # Below a floor, a package is one whatever is inside of it; the floor's own face imports what it likes.
    between: dict[str, set[str]] = defaultdict(set)
    for module, names in imports.items():
        part = ".".join(module.split(".")[:3])
        between[part] |= {other for name in names if (other := ".".join(name.split(".")[:3])) != part}
    floors = {f"schedgap.{floor}" for floor in FLOORS}
    house.package_cycles = _cycles({part: others - floors for part, others in between.items() if part not in floors})
    crowd = Counter(str(path.parent.relative_to(root)) for path in files.values())
    house.crowded_folders = [f"{folder}: {number}" for folder, number in crowd.items() if number > MOST_MODULES]
    return house


def _imports(tree: ast.AST, files: Mapping[str, Path]) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            known = name
            while known not in files and "." in known:
                known = known.rpartition(".")[0]
            if known in files:
                yield node.lineno, known


def _docstrings(tree: ast.AST) -> list[ast.Constant]:
    holders = (node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef))
    first = (holder.body[0] for holder in holders if holder.body)
    return [node.value for node in first if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]


def _named(tree: ast.AST) -> Iterator[str]:
    """Yield all names that a module defines or uses, and the words of its texts."""
    docstrings = {id(node) for node in _docstrings(tree)}
    for node in ast.walk(tree):
        for field_name in ("id", "attr", "name", "arg"):
            if isinstance(name := getattr(node, field_name, None), str):
                yield from name.split(".")
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield from re.findall(r"\w+", node.value)


def _quoted(tree: ast.AST, text: str) -> Iterator[str]:
    """Yield the names that docstrings and comments quote."""
    for node in _docstrings(tree):
        yield from QUOTED.findall(str(node.value))
    for line in text.splitlines():
        yield from QUOTED.findall(line[line.index("#") :] if "#" in line else "")


def _function(house: House, function: ast.FunctionDef | ast.AsyncFunctionDef, where: str) -> None:
    length = (function.end_lineno or function.lineno) - function.lineno + 1
    if length > LONGEST_FUNCTION:
        house.long_functions.append(f"{where}: {function.name}, {length} lines")
    given = function.args
    number = len(given.args) + len(given.posonlyargs) + len(given.kwonlyargs)
    if _is_kernel(function) and number > MOST_ARGUMENTS:
        house.wide_kernels.append(f"{where}: {function.name}, {number} arguments")


def _is_kernel(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(name, ast.Name) and name.id.endswith("kernel") for name in function.decorator_list)


def _has_kernels(tree: ast.AST) -> bool:
    return any(isinstance(node, ast.FunctionDef) and _is_kernel(node) for node in ast.walk(tree))


def _numbered(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield array positions that are named by constants: `clock[NOW]`, `job[j, PHASE]`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            yield from ((node.lineno, p.id) for p in places if isinstance(p, ast.Name) and p.id.isupper())


def _cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected components of more than one node (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            at = stack.index(node)
            component = stack[at:]
            del stack[at:]
            if len(component) > 1:
                found.append(sorted(component))

    for node in graph:
        if node not in index:
            visit(node)
    return found


if __name__ == "__main__":
    found = measure(Path(__file__).resolve().parent.parent)
    if sys.argv[1:] == ["--kernel-tests"]:
        print("\n".join(found.kernel_tests))
        raise SystemExit
    for name, value in vars(found).items():
        print(f"{name}: {value if isinstance(value, int) else len(value)}")
        for line in [] if isinstance(value, int) or name == "kernel_tests" else value:
            print(f"    {line}")
