"""A program whose parameters are searched for: a candidate with a module-level `SEARCH`, which is read and never run here.

    SEARCH = {"weight": (0.0, 1.0), "ties": ["first", "last"], "score": {"size", "price"}}

    @method("candidate", family="provisioning")
    def candidate(instance, weight: float = 0.5, ties: str = "first", score: str = "size / price"): ...

Keys are parameters of its one method or policy. Values: the two ends of a range; choices; names of features, for an expression of
them (`instances.expressions`). The values in the file are where a search starts.

Random values and random changes of what is searched for: numbers in ranges, choices, and expressions of features.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from schedgap.instances.errors import MethodError
from schedgap.instances.expressions import expression, parsed
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


# Operators above each other in an expression, at most.
MOST_DEPTH = 4
# A range of positive numbers whose ends are this many times apart is drawn from by the logarithm.
WIDE = 100
OPERATORS: Sequence[ast.operator] = (ast.Add(), ast.Sub(), ast.Mult(), ast.Div())
# How far a number moves, as a share of its range: from fine to coarse.
STEPS = (0.02, 0.1, 0.4)


def drawn(space: Mapping[str, Any], rng: np.random.Generator) -> Parameters:
    """Return a random value for each parameter."""
    return {key: _draw(kind, rng) for key, kind in space.items()}


def changed(space: Mapping[str, Any], values: Parameters, rng: np.random.Generator) -> Parameters:
    """Return values of which one or a few are changed."""
    keys = list(space)
    chosen = [key for key in keys if rng.random() < 1 / len(keys)] or [keys[int(rng.integers(len(keys)))]]
    return {**values, **{key: _change(space[key], values[key], rng) for key in chosen}}


def _draw(kind: Any, rng: np.random.Generator) -> Any:
    if isinstance(kind, tuple):
        return _number(kind, rng.random())
    if isinstance(kind, list):
        return kind[int(rng.integers(len(kind)))]
    return ast.unparse(_tree(sorted(kind), rng, int(rng.integers(1, MOST_DEPTH + 1))))


def _change(kind: Any, value: Any, rng: np.random.Generator) -> Any:
    if isinstance(kind, tuple):
        moved = _place(kind, value) + rng.normal() * STEPS[int(rng.integers(len(STEPS)))]
        near = _number(kind, min(max(moved, 0.0), 1.0))
        # A whole number moves by one at least.
        return near if near != value else _number(kind, rng.random())
    if isinstance(kind, list):
        return _draw(kind, rng)
    return ast.unparse(_mutated(parsed(value), sorted(kind), rng))


def _is_wide(ends: tuple[float, float]) -> bool:
    return ends[0] > 0 and ends[1] / ends[0] >= WIDE


def _number(ends: tuple[float, float], place: float) -> float:
    """Return the number at a place from 0 to 1 in a range, in four digits."""
    least, most = ends
    value = least * (most / least) ** place if _is_wide(ends) else least + (most - least) * place
    return round(value) if is_whole(ends) else min(max(float(f"{value:.4g}"), least), most)


def _place(ends: tuple[float, float], value: float) -> float:
    least, most = ends
    return math.log(value / least) / math.log(most / least) if _is_wide(ends) else (value - least) / (most - least)


def _tree(names: Sequence[str], rng: np.random.Generator, depth: int) -> ast.expr:
    """Return a random expression of up to so many operators above each other."""
    if depth == 0 or rng.random() < 0.2:
        if rng.random() < 0.75:
            return ast.Name(names[int(rng.integers(len(names)))])
        return ast.Constant(float(f"{math.exp(rng.normal()):.3g}"))
    drawn = rng.random()
    if drawn < 0.1:
        return ast.UnaryOp(ast.USub(), _tree(names, rng, depth - 1))
    two = [_tree(names, rng, depth - 1), _tree(names, rng, depth - 1)]
    if drawn < 0.3:
        return ast.Call(ast.Name("min" if drawn < 0.2 else "max"), two, [])
    return ast.BinOp(two[0], OPERATORS[int(rng.integers(len(OPERATORS)))], two[1])


def _mutated(tree: ast.expr, names: Sequence[str], rng: np.random.Generator) -> ast.expr:
    """Return an expression with one part changed: another one, what is within it, another number, or one more operator."""
    parts = list(_parts(tree, 0))
    part, depth = parts[int(rng.integers(len(parts)))]
    left = MOST_DEPTH - depth
    inner = _inner(part)
    how = rng.random()
    new: ast.expr
    if isinstance(part, ast.Constant) and how < 0.6:
        new = ast.Constant(float(f"{part.value * math.exp(0.5 * rng.normal()):.3g}"))  # type: ignore[operator]
    elif inner and how < 0.3:
        new = inner[int(rng.integers(len(inner)))]
    elif isinstance(part, ast.BinOp) and how < 0.5:
        new = ast.BinOp(part.left, OPERATORS[int(rng.integers(len(OPERATORS)))], part.right)
    elif how < 0.75 and left > _height(part):
        two = [part, _tree(names, rng, min(left - 1, 1))]
        new = ast.BinOp(two[0], OPERATORS[int(rng.integers(len(OPERATORS)))], two[1])
    else:
        new = _tree(names, rng, max(min(left, 2), 0))
    return new if part is tree else _replaced(tree, part, new)


def _inner(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Call):
        return list(node.args)
    return [node.operand] if isinstance(node, ast.UnaryOp) else []


def _parts(node: ast.expr, depth: int) -> Iterator[tuple[ast.expr, int]]:
    yield node, depth
    for each in _inner(node):
        yield from _parts(each, depth + 1)


def _height(node: ast.expr) -> int:
    return max((1 + _height(each) for each in _inner(node)), default=0)


def _replaced(node: ast.expr, old: ast.expr, new: ast.expr) -> ast.expr:
    if node is old:
        return new
    inner = [_replaced(each, old, new) for each in _inner(node)]
    if isinstance(node, ast.BinOp):
        return ast.BinOp(inner[0], node.op, inner[1])
    if isinstance(node, ast.Call):
        return ast.Call(node.func, inner, [])
    return ast.UnaryOp(node.op, inner[0]) if isinstance(node, ast.UnaryOp) else node
