"""A program whose parameters are searched for: a candidate with a module-level `SEARCH`, which is read and never run here.

    SEARCH = {"weight": (0.0, 1.0), "ties": ["first", "last"], "score": {"size", "price"}}

    @method("candidate", family="provisioning")
    def candidate(instance, weight: float = 0.5, ties: str = "first", score: str = "size / price"): ...

Keys are parameters of its one method or policy. Values: the two ends of a range; choices; names of features, for an expression of
them (`instances.expressions`). The values in the file are where a search starts.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from schedgap.instances.errors import MethodError
from schedgap.instances.expressions import expression
from schedgap.instances.method import method_label

Parameters: TypeAlias = dict[str, Any]
DECORATORS = ("method", "policy")


@dataclass(frozen=True)
class Declared:
    """A program. name : of its method. space : what may be searched, by parameter. first : its own values.

    places : first and last byte of each value in the text.
    """

    text: str
    name: str
    space: Mapping[str, Any]
    first: Parameters
    places: Mapping[str, tuple[int, int]]

    @property
    def digest(self) -> str:
        """Return the hash of the text."""
        return sha256(self.text.encode()).hexdigest()

    def written(self, parameters: Parameters) -> str:
        """Return the text of the program with these values as its own."""
        content = self.text.encode()
        for key, (start, end) in sorted(self.places.items(), key=lambda item: -item[1][0]):
            content = content[:start] + repr(parameters[key]).encode() + content[end:]
        return content.decode()

    def label(self, parameters: Parameters) -> str:
        """Return the method with these values as commands take it."""
        return method_label(self.name, parameters)


def read_program(path: Path) -> Declared:
    """Return what a file declares.

    Raises
    ------
    MethodError
        saying what is missing, or does not fit.
    """
    try:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
    except OSError as error:
        raise MethodError(f"--program: {path} cannot be read ({error.strerror}); give a Python file.") from None
    except (SyntaxError, ValueError) as error:
        raise MethodError(f"{path}: not Python ({error}); mend it.") from None
    function, name = _function(tree, path)
    defaults = _defaults(function)
    space = _space(tree, path)
    first, places = {}, {}
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for key, kind in space.items():
        if key not in defaults:
            known = ", ".join(defaults) or "none"
            raise MethodError(f"{path}: SEARCH names '{key}', which is no parameter of {name}; it has: {known}.")
        node = defaults[key]
        try:
            first[key] = ast.literal_eval(node)
        except ValueError:
            raise MethodError(f"{path}: the default of '{key}' is no plain value; write a number or text.") from None
        _check(f"{path}: parameter '{key}'", kind, first[key])
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        places[key] = (starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset)
    return Declared(text, name, space, first, places)


def _function(tree: ast.Module, path: Path) -> tuple[ast.FunctionDef, str]:
    """Return the one function under `@method` or `@policy`, and its name there."""
    found = [
        (node, str(call.args[0].value))
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        for call in node.decorator_list
        if isinstance(call, ast.Call) and getattr(call.func, "id", getattr(call.func, "attr", "")) in DECORATORS
        if call.args and isinstance(call.args[0], ast.Constant)
    ]
    if len(found) != 1:
        raise MethodError(f"{path} has {len(found)} functions under @method or @policy; a search takes one.")
    return found[0]


def _defaults(function: ast.FunctionDef) -> dict[str, ast.expr]:
    given = function.args
    ordered = [*given.posonlyargs, *given.args]
    late = ordered[len(ordered) - len(given.defaults) :]
    pairs = [*zip(late, given.defaults, strict=True), *zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    return {argument.arg: default for argument, default in pairs if default is not None}


def _space(tree: ast.Module, path: Path) -> dict[str, Any]:
    found: Any = None
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(target, ast.Name) and target.id == "SEARCH" for target in targets):
            try:
                found = ast.literal_eval(node.value)  # type: ignore[attr-defined]
            except ValueError:
                raise MethodError(f"{path}: SEARCH is no plain dictionary; write values, not computations.") from None
    if not isinstance(found, dict) or not found:
        raise MethodError(f'{path} declares nothing to search for; add SEARCH = {{"parameter": (0.0, 1.0)}}.')
    return found


def _check(where: str, kind: Any, value: Any) -> None:
    """Refuse what is no range, no list of choices and no set of features, and a value that is not of it."""
    said = f"{where}: SEARCH gives {kind!r:.60}; give (least, most), a list of choices, or a set of features."
    if isinstance(kind, tuple):
        if len(kind) != 2 or not all(type(end) in (int, float) for end in kind) or not kind[0] < kind[1]:
            raise MethodError(said)
        if type(value) not in (int, float) or not kind[0] <= value <= kind[1]:
            raise MethodError(f"{where} is {value!r:.60}, and SEARCH gives {kind}; start within.")
        if (type(value) is int) != is_whole(kind):
            raise MethodError(f"{where} is {value!r}, and SEARCH gives {kind}; write all whole, or all with a point.")
    elif isinstance(kind, list):
        if not kind or value not in kind:
            raise MethodError(f"{where} is {value!r:.60}, which is none of {kind}; start with one of them.")
    elif isinstance(kind, set) and kind and all(isinstance(each, str) and each.isidentifier() for each in kind):
        expression(str(value), kind)
    else:
        raise MethodError(said)


def is_whole(ends: tuple[float, float]) -> bool:
    """Return whether a range is of whole numbers: both ends are."""
    return all(type(end) is int for end in ends)
